"""How many pixels a picture has, by its first bytes: some hundred of them can be gigabytes."""

from __future__ import annotations

import struct

#: Pixels that a page shows: a plot in print quality has a third of them.
MOST = 25_000_000
_PNG, _GIF, _JPEG = b"\x89PNG\r\n\x1a\n", (b"GIF87a", b"GIF89a"), b"\xff\xd8"
_SIZES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # the markers of JPEG with a size behind them


def showable(content: bytes) -> bool:
    r"""Say whether it is a PNG, GIF or JPEG of a size that a page can show.

    Examples
    --------
    >>> showable(b"GIF89a" + struct.pack("<HH", 640, 480)), showable(b"GIF89a" + b"\xff" * 4)
    (True, False)
    """
    return 0 < _pixels(content) <= MOST


def too_large(content: bytes) -> bool:
    """Say whether a picture has more pixels than a page can show; what is none has none."""
    return _pixels(content) > MOST


def _pixels(content: bytes) -> int:
    try:
        width, height = _size(content)
    except (struct.error, IndexError):
        return 0
    return width * height


def _size(content: bytes) -> tuple[int, int]:
    if content.startswith(_PNG):
        width, height = struct.unpack_from(">II", content, 16)
        return (width, height) if content[12:16] == b"IHDR" else (0, 0)
    if content.startswith(_GIF):
        width, height = struct.unpack_from("<HH", content, 6)
        return width, height
    if content.startswith(_JPEG):
        return _jpeg(content)
    return 0, 0


def _jpeg(content: bytes) -> tuple[int, int]:
    """Go from marker to marker to the first with a size; what a thumbnail holds is inside one."""
    at = 2
    while True:
        marker, length = struct.unpack_from(">HH", content, at)
        if marker >> 8 != 0xFF or length < 2:
            return 0, 0
        if marker & 0xFF in _SIZES:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        at += 2 + length
