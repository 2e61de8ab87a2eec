"""What c.Course in course_config.py may say, checked when the course is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.exercise.nearest import meant
from autograder.sandbox.isolation import ISOLATING

#: When `watch` publishes feedback: at once, after the due date and its last extension, or never.
WHEN = ("now", "due", "never")


@dataclass(frozen=True)
class _Setting:
    fits: Callable[[Any], bool]
    is_one_that: str


def _of(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def _counts(value: object) -> bool:
    return isinstance(value, dict) and all(type(k) is int and k > 0 for k in value.values())


def _is_excused(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return False
    share, reason = value
    return isinstance(share, float) and 0 < share <= 1 and isinstance(reason, str) and bool(reason)


_ENTRIES = (
    'c.Course.assignments is a list of {{"id": ..., "title": ...}}, and every entry needs both; '
    "one is {!r}"
)
_SWITCH = _Setting(_of(bool), "True or False")
_SETTINGS = {
    "assignments": _Setting(_of(list), 'a list of {"id": ..., "title": ...}'),
    "limits": _Setting(_of(dict), 'names with numbers, like {"cell_seconds": 10.0}'),
    "exercise_limits": _Setting(
        _of(dict), 'limits by exercise, like {"an_exercise": {"cell_seconds": 30.0}}'
    ),
    "minimum_tier": _Setting(
        lambda tier: tier in ISOLATING,
        f"one of {', '.join(map(repr, ISOLATING))}, or left out",
    ),
    "gpu": _SWITCH,
    "given": _Setting(_names, "a list of assignments of this course"),
    "hint_cost": _Setting(
        lambda cost: isinstance(cost, int | float) and 0 <= cost < 1, "a share, like 0.05"
    ),
    "look": _Setting(
        lambda price: type(price) in (int, float) and 0 <= price <= 0.2,
        "0, or a share of a part's points of at most 0.2, or left out",
    ),
    "demo": _Setting(_names, "a list of assignments of this course"),
    "solutions": _SWITCH,
    "quartiles": _SWITCH,
    "typed_ids": _SWITCH,
    "watch_feedback": _Setting(lambda when: when in WHEN, f"one of {', '.join(WHEN)}"),
    "moodle_language": _Setting(_of(str), 'the language of your Moodle pages, like "en" or "de"'),
    "students": _Setting(
        _of(str, list, dict), "the name of a file, a list of ids, or names with ids"
    ),
}
_EXERCISES = _Setting(_names, 'a list of exercises, like ["an_exercise"]')
_ENTRY = {
    "id": _Setting(_of(str), "a text"),
    "title": _Setting(_of(str), "a text"),
    "due": _Setting(
        _of(str, type(None)), "a text, a time with its zone, like '2027-03-01 23:59 UTC'"
    ),
    "best": _Setting(_counts, 'how many of the parts of a name count, like {"essay": 4}'),
    "guessed": _Setting(
        _is_excused, 'a share of the points and a reason, like (0.05, "one choice of three parts")'
    ),
    "stars": _EXERCISES,
    "core": _EXERCISES,
    "choice": _Setting(
        lambda most: type(most) in (int, float) and most >= 0, "a number of points, like 12"
    ),
    "without": _EXERCISES,
    "optional": _SWITCH,
}


class Unfit(ValueError):
    """A setting is none, or is of another type; ``written`` is how the file says it."""

    def __init__(self, message: str, written: str) -> None:
        super().__init__(message)
        self.written = written


def check_settings(settings: Mapping[str, Any]) -> None:
    """Check names and types of all of ``c.Course``, and that what names assignments names some.

    Raises
    ------
    Unfit
        If a setting is none, or is of another type; the message begins with the setting.
    """
    _check(settings, _SETTINGS, "c.Course.{}")
    for entry in settings.get("assignments", []):
        if not isinstance(entry, dict):
            raise Unfit(_ENTRIES.format(entry), "assignments")
        id = entry.get("id")
        _check(entry, _ENTRY, f'"{{}}" of {id}')
        if not entry.keys() >= {"id", "title"}:
            raise Unfit(_ENTRIES.format(entry), f'"{id}"' if id else "assignments")
    ids = [entry["id"] for entry in settings.get("assignments", [])]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise Unfit(f"c.Course.assignments has {', '.join(twice)} twice", f'"{twice[0]}"')
    for name in ("given", "demo"):
        if unknown := [id for id in settings.get(name, []) if id not in ids]:
            raise Unfit(
                f"c.Course.{name} is {settings[name]!r}; it is a list of assignments of this "
                f"course, which are {', '.join(ids)}{meant(unknown[0], ids)}",
                f"c.Course.{name}",
            )


def _check(given: Mapping[str, Any], known: Mapping[str, _Setting], where: str) -> None:
    """Hold names and values against those that there are; ``where`` says whose, in the file."""
    for name, value in given.items():
        written = where.partition(" ")[0].format(name)
        if name not in known:
            raise Unfit(
                f"{where.format(name)} is no setting{meant(name, known)}; there are "
                f"{', '.join(known)}",
                written,
            )
        if not known[name].fits(value):
            said = f"{where.format(name)} is {value!r}; it is {known[name].is_one_that}"
            raise Unfit(said, written)
