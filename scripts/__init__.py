"""Programs about shardc that are no part of it."""
