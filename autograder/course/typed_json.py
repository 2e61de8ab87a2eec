"""One way to read and write the files that hold typed data; docs/formats.md shows the types."""

from __future__ import annotations

import json
from typing import TypeVar

import msgspec

T = TypeVar("T")


def decoded(content: bytes | str, form: type[T]) -> T:
    """Read JSON as a type: a dataclass, a TypedDict, a dictionary of these.

    Entries that the type doesn't have are let be.

    Raises
    ------
    ValueError
        If it is no JSON, or an entry is missing or of another type: which one, and where.

    Examples
    --------
    >>> decoded('{"score": "4"}', dict[str, float])
    Traceback (most recent call last):
        ...
    ValueError: Expected `float`, got `str` - at `$[...]`
    """
    try:
        return msgspec.json.decode(content, type=form)
    except (msgspec.DecodeError, UnicodeError):  # it reads no NaN, and no half of a character
        return converted(json.loads(content), form)


def converted(data: object, form: type[T]) -> T:
    """Do the same with what was read already."""
    try:
        return msgspec.convert(data, form)
    except msgspec.ValidationError as error:
        raise ValueError(f"{error}") from error


def encoded(value: object, *, indent: int | None = None) -> bytes:
    """Write a value of such a type as JSON, in characters that every file can hold."""
    return json.dumps(msgspec.to_builtins(value), indent=indent).encode() + b"\n"
