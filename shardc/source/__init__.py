"""YAML text to data with positions."""

from shardc.source.document import Document, Path_, load, loads

__all__ = ["Document", "Path_", "load", "loads"]
