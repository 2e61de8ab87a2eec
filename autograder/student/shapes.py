"""Shapes: how one is read, or several, with names for sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from autograder.student.display import brief
from autograder.student.entries import as_fraction, as_whole, entries
from autograder.student.reading import Reading, is_blank
from autograder.student.typeset import without_latex
from autograder.student.unreadable import FormatError, refuse_set

_BEFORE = re.compile(r"\A\s*(?:torch\.Size\b|(?:R|ℝ)\s*\^)")
#: What the names in shapes stand for while two shapes are compared.
PRIMES = (1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121)


def read_shape(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read a tuple or list of sizes, or text such as ``"(2, 3)"`` and ``"2 × n"``; or several."""
    if "shapes" not in hint:
        return _one_shape(raw, hint)
    wanted = hint["shapes"]
    refuse_set(raw, "shapes")
    if isinstance(raw, str):
        raw = _several(raw, wanted)
    given = raw if isinstance(raw, dict) else {}
    if isinstance(raw, (list, tuple)) and len(raw) == len(wanted):
        given = {name: raw[i] for i, name in enumerate(wanted)}
    given = {str(name): shape for name, shape in given.items() if len(given) <= len(wanted)}
    if not given or not given.keys() <= set(wanted):
        raise FormatError(f"a dictionary with {', '.join(wanted)} is expected, not {brief(raw)}")
    value: dict[str, Any] = {}
    lines, missing = [], []
    for name in wanted:
        value[name] = None
        if is_blank(given.get(name)):
            missing.append(name)
            continue
        try:
            found = _one_shape(given[name], hint)
        except FormatError as error:
            raise FormatError(f"{name}: {error}") from None
        value[name] = found.value
        lines.append(f"{name}: {found.shown}")
    return Reading(value, "\n".join(lines), f"missing: {', '.join(missing)}" if missing else "")


def _one_shape(raw: Any, hint: Mapping[str, Any]) -> Reading:
    """Read one shape; a size with names counts as its value for certain large primes."""
    names, text, shown = hint.get("names", []), isinstance(raw, str), raw
    refuse_set(raw, "sizes")
    if names and re.search("ceil|floor|[⌈⌊]", str(raw)):  # of the primes that says nothing
        raise FormatError(f"sizes without rounding are expected, not {brief(shown)}")
    if names and isinstance(raw, (list, tuple)):
        raw = [_with_primes(size, names) for size in raw]
    if text:
        raw = _BEFORE.sub("", without_latex(raw))
        raw = re.sub(r"(?<=[\d)])\s*[xX×]\s*(?=[\d(])", ", ", _with_primes(raw, names))
    try:
        shape, numbers = entries([] if text and not raw.strip(" ()[],") else raw)
        if len(shape) != 1 and not (text and shape == ()):
            raise FormatError("")
        read = as_fraction if names else as_whole
        sizes = tuple(_whole_or_not(read(number, shown)) for number in numbers)
    except FormatError as error:
        example = f"({', '.join(['2', *names[:2]])})" if names else "(2, 3)"
        known = f" with sizes in {', '.join(names)}" if names else ""
        if str(error) and not names:
            raise
        raise FormatError(
            f"a tuple such as {example}{known} is expected, not {brief(shown)}"
        ) from None
    if names:
        said = shown.strip() if text else f"({', '.join(map(str, shown))})"
        return Reading(sizes, f"{said}: {len(sizes)} ax{'i' if len(sizes) == 1 else 'e'}s")
    return Reading(sizes, f"({', '.join(map(str, sizes))})")


def _several(text: str, wanted: Any) -> Any:
    """Take shapes apart: by semicolons, lines or their brackets, with names before them or none."""
    inner = re.sub(r"\A\s*\[(?=\s*[(\[])|(?<=[)\]])\s*\]\s*\Z", "", text)
    pieces = [p for p in re.split(r"[;\n]|(?<=[)\]])\s*,\s*(?=[(\[])", inner) if p.strip()]
    named = [re.fullmatch(r"\s*(\w+)\s*[:=](.*)", piece) for piece in pieces]
    found = {match[1]: match[2] for match in named if match and match[1] in wanted}
    return found if found and len(found) == len(pieces) else pieces


def _with_primes(size: Any, names: Any) -> Any:
    """Put a prime in the place of each name of a text: 2n is 2*1000003."""
    if not isinstance(size, str) or not names:
        return size
    primes = {name: PRIMES[i] for i, name in enumerate(names)}

    def number(match: re.Match[str]) -> str:
        return f"{match[1]}*{primes[match[2]]}" if match[1] else str(primes[match[2]])

    known = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![A-Za-z_])(\d*)({known})(?![A-Za-z0-9_])", number, size)


def _whole_or_not(size: Any) -> Any:
    return int(size) if size.denominator == 1 else size
