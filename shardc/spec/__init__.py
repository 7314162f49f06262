"""The spec file: its fields, its kinds, and the library of formats and contracts."""
