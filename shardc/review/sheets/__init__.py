"""Plan sheets: what every rank keeps of a recorded checkpoint, as text that is committed."""
