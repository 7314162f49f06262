"""A diff of specs as text, as Markdown, as JSON and as findings."""
