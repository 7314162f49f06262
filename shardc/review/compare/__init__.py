"""Two versions of a spec compared: their text, and what the ranks keep by them."""
