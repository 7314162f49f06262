"""Pages for eyes: the report of a checkpoint, and a diff with pictures before beside after."""
