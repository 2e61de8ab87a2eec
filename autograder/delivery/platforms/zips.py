"""Zip files that are the same, bit for bit, for the same content."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping


def zipped(files: Mapping[str, bytes], *, programs: Collection[str] = ()) -> bytes:
    """Return a zip of files by name, with a fixed time; `programs` may be run."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if name in programs else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return content.getvalue()
