"""What can be wrong with a formula or a split, before anybody knows where in a spec it stands."""

from __future__ import annotations


class FormulaError(Exception):
    """A formula that can't be read or worked out. `at` are the columns [start, stop) of the offending part."""

    def __init__(self, code: str, message: str, at: tuple[int, int] = (0, 0), help: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.help = code, message, at, help


class SplitError(Exception):
    """An axis that can't be dealt to the ranks of its mesh dim. `hint` is a short reading of the arithmetic."""

    def __init__(self, code: str, axis: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.axis, self.message, self.hint = code, axis, message, hint
