"""The checks, by concern, and the long texts of all codes (`explain/`)."""
