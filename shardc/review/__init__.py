"""What a reviewer reads: a semantic diff of specs, plan sheets, and a report for eyes."""
