"""shardc: a checkpoint's tensor-parallel layout, declared once, proved, and compiled to a loader."""

__version__ = "0.1.0"
