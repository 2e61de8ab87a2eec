"""Letters and labels: of a choice, of steps in order, of a table."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from autograder.student.display import brief
from autograder.student.reading import Reading, is_blank
from autograder.student.unreadable import FormatError, refuse_set

_NONE = ("none", "[]", "()", "{}", "∅")
_SEPARATORS = r"\band\b|[\s,;.()\[\]{}&+/|'\"`*$]"
# Arrows and numbers between steps in order.
_BETWEEN = re.compile(r"[-–→⟶⇒>=]|\\(?:to|(?:long)?rightarrow|Rightarrow)\b|\bthen\b|\b\d+[.:)]")
_ALSO = {"true": "t", "t": "true", "false": "f", "f": "false"}


def read_choice(raw: object, hint: Any) -> Reading:
    """Read letters in either case; several come back in the order of the options."""
    options, several = hint["options"], hint.get("multiple", False)
    letters = _letters(raw, several)
    if letters is not None and {*letters} <= {*options} and (several or len({*letters}) == 1):
        text = "".join(option for option in options if option in letters)
        words = hint.get("shown", {})
        said = [f"{letter}, {words[letter]}" for letter in text if letter in words]
        return Reading(text, "\n".join(said) or text or "none")
    if not several:
        raise FormatError(f"one of {', '.join(options)} is expected, not {brief(raw)}")
    raise FormatError(
        f'letters out of {", ".join(options)} are expected, such as "{options[:2]}", or "none" '
        f"where no statement applies, not {brief(raw)}"
    )


def read_ordering(raw: object, hint: Any) -> Reading:
    """Read the letters of steps in the order in which they were written, each at most once."""
    known = hint["letters"]
    refuse_set(raw, "letters")
    text = _BETWEEN.sub(" ", raw) if isinstance(raw, str) and len(raw) <= 200 else raw
    letters = _letters(text, several=False)
    if not letters or not {*letters} <= {*known}:
        example = " ".join(known[2::-1])
        raise FormatError(
            f'letters from {known[0]} to {known[-1]} in order are expected, such as "{example}", '
            f"not {brief(raw)}"
        )
    if twice := [letter for letter in known if letters.count(letter) > 1]:
        raise FormatError(f"each step stands there once, and {', '.join(twice)} more often")
    return Reading(tuple(letters), f"{' '.join(letters)}: {len(letters)} steps in this order")


def read_labels(raw: object, hint: Any) -> Reading:
    """Read a label for each name of a table; one that is missing is no label."""
    labels = {label.casefold(): label for label in hint["labels"]}
    names = {str(name): str(name) for name in (raw if isinstance(raw, dict) else ())}
    names = {name.casefold(): name for name in hint.get("names", names)}
    if not isinstance(raw, dict) or not raw:
        example = f'{{"{next(iter(names.values()), "C1")}": "{hint["labels"][0]}"}}'
        raise FormatError(f"a dictionary such as {example} is expected, not {brief(raw)}")
    value: dict[str, Any] = dict.fromkeys(names.values())
    for name, label in raw.items():
        key = names.get(str(name).strip().casefold())
        if key is None:
            known = ", ".join(names.values())
            raise FormatError(f"there is no {brief(name)} in this table, but {known}")
        if is_blank(label):
            continue
        word = str(label).strip(" .").casefold() if isinstance(label, (str, bool)) else ""
        word = word if word in labels else _ALSO.get(word, "")
        if word not in labels:
            one = ", ".join(hint["labels"])
            raise FormatError(f"{key}: one of {one} is expected, not {brief(label)}")
        value[key] = labels[word]
    missing = [name for name, label in value.items() if label is None]
    text = ", ".join(f"{name} {label}" for name, label in value.items() if label is not None)
    return Reading(value, text, f"no label yet: {', '.join(missing)}" if missing else "")


def _letters(raw: object, several: bool) -> list[str] | None:
    """Return the letters that were written, None if there is anything but letters."""
    if isinstance(raw, str):
        if several and raw.strip().lower() in _NONE:
            return []
        text = re.sub(_SEPARATORS, "", unicodedata.normalize("NFKC", raw[:201]))
        raw = list(text) if text and len(raw) <= 200 else None
    if not isinstance(raw, (list, tuple, set, frozenset)) or len(raw) > 200:
        return None
    letters = [entry.strip().upper() if isinstance(entry, str) else "" for entry in raw]
    return letters if all(len(letter) == 1 for letter in letters) else None
