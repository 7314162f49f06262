"""Plans as code: generated modules, the bundled runtime, and the tree they are written to."""
