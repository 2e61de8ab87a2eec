"""Notebooks as they come from crashed editors, bad disks and mischief: real ones, broken.

`broken` breaks one in a way that its number chooses; the same number breaks it the same way again.
A few are tried in tests, a thousand by bench/notebooks.py.
"""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

#: What stands where something else is expected.
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1e308,
    float("nan"),
    float("-inf"),
    "",
    "x",
    "\ud800",
    "a\x00b",
    "\u202e\u2028 ﷽ 🤖",
    "<script>alert(1)</script>",
    "../../../etc/passwd",
    "{{ 7 * 7 }} %(x)s \\u0041 \x1b[31m",
    "x" * 100_000,
    [],
    {},
    [None, 3, {}],
    {"": {"": []}},
    [[[[[[[[]]]]]]]],
]

#: What a student may have left in a cell, or an editor.
SOURCES: list[Any] = [
    "\ud83d",
    "x = 1\x00\n",
    "(" * 5_000,
    "x = " + "-" * 20_000 + "1",
    "x = " + "[" * 90 + "]" * 90,
    "\tx = 1\n  y = 2\n\t z = 3",
    "x = 1\r\ry = 2\r\n\x0c",
    "x = 9 ** 9 ** 5",
    "# -*- coding: utf-7 -*-\nx = 1",
    "﻿x = 1",
    "x = '" + "é" * 100_000 + "'",
    "if True:\n" * 200 + "pass",
    "%%writefile x\n%",
    "!",
    "?",
    "%",
    "x??;;;",
    'f"{' * 50,
    "print('" + "y" * 3_000_000 + "')",
    "raise SystemExit",
    "del check, student",
    "check = None",
    "from __future__ import braces",
    "async def f(): await f()\nawait f()",
    "return 1",
    "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> b",
    "import numpy\nnumpy.set_printoptions(threshold=1)\nraise ValueError('\ud800')",
    ["x", None, 3, "\n", ["y"]],
    [["x = 1"]],
    {"x": 1},
    17,
]

Notebook = dict[str, Any]


def _cell(rng: random.Random, notebook: Notebook) -> dict[str, Any]:
    return rng.choice(notebook["cells"])


def _places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return every container with a key of it."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in pairs:
        found.append((value, key))
        if isinstance(entry, dict | list):
            _places(entry, found)
    return found


def flipped(rng: random.Random, content: bytes) -> bytes:
    """Change some bytes."""
    changed = bytearray(content)
    for _ in range(rng.choice((1, 3, 30))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut_off(rng: random.Random, content: bytes) -> bytes:
    """Lose the end."""
    return content[: rng.choice((0, 1, len(content) - 1, rng.randrange(len(content))))]


def lacking(rng: random.Random, content: bytes) -> bytes:
    """Lose something in between."""
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.choice((1, 40, 4096)) :]


def zeroed(rng: random.Random, content: bytes) -> bytes:
    """A block of a disk was never written."""
    start = rng.randrange(len(content))
    end = min(len(content), start + 4096)
    return content[:start] + bytes(end - start) + content[end:]


def doubled(rng: random.Random, content: bytes) -> bytes:
    """Written twice, the second time over the first or behind it."""
    start = rng.randrange(len(content))
    return rng.choice((content + content, content[:start] + content, content[start:] + content))


def recoded(rng: random.Random, content: bytes) -> bytes:
    """In another encoding, with or without a mark."""
    text = content.decode()
    kind = rng.choice(("utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7"))
    return text.encode(kind, "replace")


def other_ends(rng: random.Random, content: bytes) -> bytes:
    """With other ends of lines."""
    return content.replace(b"\n", rng.choice((b"\r\n", b"\r", b"\n\n", b"\x00\n")))


def merged(rng: random.Random, content: bytes) -> bytes:
    """Two versions, and nobody chose."""
    lines = content.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    mark = [b"<<<<<<< mine\n", lines[at], b"=======\n", lines[at], b">>>>>>> theirs\n"]
    return b"".join([*lines[:at], *mark, *lines[at + 1 :]])


def nested(rng: random.Random, content: bytes) -> bytes:
    """Nested more deeply than anybody reads."""
    depth = rng.choice((900, 20_000, 300_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    inner = opening * depth + b"1" + closing * depth
    return content.replace(b'"metadata": {}', b'"metadata": {"x": ' + inner + b"}", 1)


def exchanged(rng: random.Random, notebook: Notebook) -> None:
    """Something is of another type."""
    for _ in range(rng.choice((1, 1, 3, 10))):
        container, key = rng.choice(_places(notebook, []))
        container[key] = deepcopy(rng.choice(ODD))


def lost_keys(rng: random.Random, notebook: Notebook) -> None:
    """Fields are missing."""
    for _ in range(rng.choice((1, 5, 30))):
        container, key = rng.choice(_places(notebook, []))
        del container[key]
        if not notebook:
            return


def odd_cells(rng: random.Random, notebook: Notebook) -> None:
    """The list of cells is another one, or none."""
    cells = notebook["cells"]
    kind = rng.randrange(6)
    if kind == 0:
        rng.shuffle(cells)
    elif kind == 1:
        del cells[rng.randrange(len(cells)) :]
    elif kind == 2:
        notebook["cells"] = cells * rng.choice((2, 3))
    elif kind == 3:
        cells[:] = rng.sample(cells, rng.randint(1, len(cells)))
    elif kind == 4:
        notebook["cells"] = deepcopy(rng.choice(ODD))
    else:
        del cells[rng.randrange(len(cells)) :: 3]


def odd_kinds(rng: random.Random, notebook: Notebook) -> None:
    """Cells have become cells of another kind."""
    for _ in range(rng.choice((1, 3, 20))):
        kinds = ["code", "markdown", "raw", "heading", "Code", "", *ODD[:6]]
        _cell(rng, notebook)["cell_type"] = rng.choice(kinds)


def odd_sources(rng: random.Random, notebook: Notebook) -> None:
    """Cells hold what no student means to write."""
    for _ in range(rng.choice((1, 2, 5))):
        _cell(rng, notebook)["source"] = deepcopy(rng.choice(SOURCES))


def odd_ids(rng: random.Random, notebook: Notebook) -> None:
    """The ids by which cells are known are others."""
    marked = [c["metadata"]["nbgrader"] for c in notebook["cells"] if "nbgrader" in c["metadata"]]
    names = [each["grade_id"] for each in marked]
    for _ in range(rng.choice((1, 3, 10))):
        others = [*names, "check_", "check_x", "\u0430ttn", *ODD]
        rng.choice(marked)["grade_id"] = deepcopy(rng.choice(others))
    rng.choice(notebook["cells"])["id"] = deepcopy(rng.choice(ODD))


def odd_metadata(rng: random.Random, notebook: Notebook) -> None:
    """Metadata of nbgrader, of the cell or of the notebook say something else."""
    for _ in range(rng.choice((1, 4))):
        metadata = _cell(rng, notebook)["metadata"]
        place = metadata.get("nbgrader", metadata)
        keys = ["points", "grade", "solution", "locked", "task", "schema_version", "tags", "x"]
        place[rng.choice(keys)] = deepcopy(rng.choice(ODD))
    if rng.random() < 0.5:
        place = rng.choice((notebook, notebook["metadata"]))
        place[rng.choice(("metadata", "kernelspec", "language_info", "nbformat"))] = rng.choice(ODD)


def odd_outputs(rng: random.Random, notebook: Notebook) -> None:
    """Outputs and attachments are not what nbformat knows."""
    for _ in range(rng.choice((1, 4))):
        stream = {"output_type": "stream", "name": "stdout", "text": rng.choice(ODD)}
        picture = {"output_type": "display_data", "data": {"image/png": rng.choice(ODD)}}
        outputs = [[stream], [picture], [stream] * 2_000, [{"output_type": rng.choice(ODD)}]]
        cell = _cell(rng, notebook)
        cell["outputs"] = rng.choice([*outputs, *ODD])
        cell["execution_count"] = rng.choice(ODD)
        data = {rng.choice(("a.png", "\ud800", "x" * 9_000)): {"image/png": rng.choice(ODD)}}
        cell["attachments"] = rng.choice([data, {"a": 3}, *ODD])


def of_another_format(rng: random.Random, notebook: Notebook) -> None:
    """Saved by a program that is much older, much newer, or no Jupyter."""
    kind = rng.randrange(4)
    if kind == 0:
        cells = notebook.pop("cells")
        for cell in cells:
            cell["input"] = cell.pop("source")
        notebook.update(worksheets=[{"cells": cells}], nbformat=3, nbformat_minor=0)
    elif kind == 1:
        notebook.update(nbformat=rng.choice((0, 5, 99)), nbformat_minor=rng.choice((-1, 77)))
    elif kind == 2:
        for cell in notebook["cells"]:  # as some converters leave them
            cell["metadata"] = {"colab": {"base_uri": "x"}, "id": "".join(rng.choices("abc", k=9))}
    else:
        for cell in notebook["cells"]:
            if isinstance(cell["source"], str):
                cell["source"] = cell["source"].splitlines(keepends=True)


def huge(rng: random.Random, notebook: Notebook) -> None:
    """Very much of it."""
    kind = rng.randrange(3)
    if kind == 0:
        notebook["cells"] += [{"cell_type": "markdown", "metadata": {}, "source": "x"}] * 30_000
    elif kind == 1:
        _cell(rng, notebook)["source"] = "# " + "long " * 400_000
    else:
        notebook["metadata"] = {str(i): [i] * 3 for i in range(100_000)}


BYTES: list[Callable[[random.Random, bytes], bytes]] = [
    flipped,
    cut_off,
    lacking,
    zeroed,
    doubled,
    recoded,
    other_ends,
    merged,
    nested,
]
JSON: list[Callable[[random.Random, Notebook], None]] = [
    exchanged,
    lost_keys,
    odd_cells,
    odd_kinds,
    odd_sources,
    odd_ids,
    odd_metadata,
    odd_outputs,
    of_another_format,
    huge,
]
WAYS = [way.__name__ for way in (*JSON, *BYTES)]


def broken(content: bytes, number: int) -> tuple[str, bytes]:
    """Return the name of a way to break a notebook, and the notebook broken so.

    Numbers go through all ways, one after the other.
    """
    rng = random.Random(number)
    place = number % len(WAYS)
    if place >= len(JSON):
        return WAYS[place], BYTES[place - len(JSON)](rng, content)
    notebook = json.loads(content)
    JSON[place](rng, notebook)
    return WAYS[place], json.dumps(notebook, indent=1).encode()
