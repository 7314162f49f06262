"""The algebra of layouts: formulas, axes and their splits, regions."""
