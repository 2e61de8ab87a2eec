"""What is in check.json."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from autograder.student.released_files import (
        CheckFile,
        Help,
        RecordedExercise,
        RecordedPart,
    )


#: The form of check.json that is read here; one that earlier code can't read has the next number.
SCHEMA = 1

#: Where a variant holds, by part, in which order its statements are shown: "CAB" shows first the
#: third one of those that the part's hint lists.
ORDERS = "orders"


def pick(course: str, student: str, exercise: str, pool: int) -> int:
    """Return which of the ``pool`` variants of an exercise a student has."""
    digest = hashlib.sha256(f"{course}\0{student}\0{exercise}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % pool


def decode(value: object) -> Any:
    """Turn a value of check.json back into numbers, text, tuples and arrays."""
    if isinstance(value, list):
        return [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        torch = importlib.import_module("torch")
        return torch.from_numpy(decode(value["tensor"])).to(getattr(torch, value["dtype"]))
    if "array" in value:
        return np.array(value["array"], dtype=value["dtype"]).reshape(value["shape"])
    if "scalar" in value:
        return np.dtype(value["dtype"]).type(value["scalar"])
    if "tuple" in value:
        return tuple(decode(entry) for entry in value["tuple"])
    if "dict" in value:
        return {decode(key): decode(entry) for key, entry in value["dict"]}
    return float(value["float"])  # "nan", "inf" or "-inf"


def contents() -> CheckFile:
    """Return check.json."""
    known: CheckFile = json.loads(Path(__file__).with_name("check.json").read_text("utf-8"))
    return known


def statements(parts: list[RecordedPart], orders: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return what there is to choose from by letter, in the orders of a variant.

    What is one list for several parts is called by all of them.
    """
    found: dict[str, dict[str, str]] = {}
    for part in parts:
        if order := orders.get(part["name"]):
            options, texts = part["hint"]["options"], part["hint"]["statements"]
            shown = {options[i]: texts[options.index(letter)] for i, letter in enumerate(order)}
            same = next((name for name, other in found.items() if other == shown), "")
            found.pop(same, None)
            found[f"{same}, {part['name']}" if same else part["name"]] = shown
    return found


def file_problems() -> list[str]:
    """Say which files beside the notebook are missing, or aren't those that were given."""
    found = []
    for name, digest in contents().get("data", {}).items():
        path = Path(__file__).with_name(name)
        if not path.is_file():
            found.append(f"{name} is missing: put it beside this notebook, as you were given it.")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            found.append(
                f"{name} isn't the file that you were given, which grading uses: put that one back."
            )
    return found


def find(exercise: str) -> tuple[RecordedExercise | None, str]:
    """Return what check.json says about an exercise, or None and what to do."""
    try:
        known = contents()
        exercises, later = known["exercises"], known["schema"] > SCHEMA
    except FileNotFoundError:
        return None, "check.json is missing: put it beside check.py, as you were given it."
    except (ValueError, KeyError, TypeError):
        return None, "check.json can't be read: put it back as you were given it."
    if later:
        return None, "check.json belongs to a later check.py: put both here as you were given them."
    if exercise in exercises:
        return exercises[exercise], ""
    near = " or ".join(difflib.get_close_matches(str(exercise), exercises))
    there_are = f"Did you mean {near}?" if near else f"There are {', '.join(exercises)}."
    return None, f"There is no exercise {exercise!r} here. {there_are}"


def help_with(exercise: str) -> Help:
    """Return what help.json holds for an exercise, which may be nothing."""
    path = Path(__file__).with_name("help.json")
    found: dict[str, Help] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return found.get(exercise, {})


def variant_of(exercise: str, found: RecordedExercise, student: str) -> int | None:
    """Return which variant is a student's, or None where that can't be known yet."""
    if len(found["pool"]) == 1:
        return 0
    return pick(contents()["course"], student, exercise, len(found["pool"])) if student else None
