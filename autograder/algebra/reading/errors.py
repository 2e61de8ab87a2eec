"""The one exception that a student's text can cause."""

from __future__ import annotations

_WINDOW = 36  # characters shown on each side of the caret


class ParseError(ValueError):
    """A text cannot be read as a formula; ``str()`` of it is a message for the student.

    Parameters
    ----------
    reason : str
        What is wrong, in one sentence.
    text : str
        What the student wrote.
    position : int, optional
        Offset into `text` of the place that is wrong.

    Examples
    --------
    >>> print(ParseError("expected a number, a name or '('", "p1*/Z", 3))
    expected a number, a name or '('
        p1*/Z
           ^
    """

    def __init__(self, reason: str, text: str = "", position: int | None = None) -> None:
        super().__init__(reason if position is None else f"{reason}\n{_point_at(text, position)}")
        self.reason = reason
        self.text = text
        self.position = position

    def __reduce__(self) -> tuple[type[ParseError], tuple[str, str, int | None]]:
        # Results travel between processes; the default would lose the text and the position.
        return type(self), (self.reason, self.text, self.position)


def _point_at(text: str, position: int) -> str:
    start, stop = max(0, position - _WINDOW), position + _WINDOW
    before, after = "…" * (start > 0), "…" * (stop < len(text))
    shown = "".join(c if c.isprintable() else " " for c in text[start:stop])
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + position - start)}^"
