"""Who of the class a learning platform means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace

from autograder.course.people.roster import Person
from autograder.course.people.student_ids import STUDENT_ID
from autograder.delivery.platforms.layouts import Origin

#: How names are written where a platform takes no such letters.
_WRITTEN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "æ": "ae"})
_WRITTEN |= str.maketrans({"å": "aa", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


#: What helps where a platform hides who handed in.
_REVEAL = {
    "moodle": "download the grading worksheet while names are shown and `autograder roster import` "
    "it, or reveal the identities and download again",
    "canvas": "post the grades, so that names are shown, and download again, or write what stands "
    "behind anon_ into the column canvas",
}


def identify(origin: Origin, known: Mapping[str, Person]) -> str:
    """Return the id of a student whom a platform gives by its number, an id or a name.

    The number decides, where the roster has it: two people of one name are two people.

    Raises
    ------
    ValueError
        If nobody can be meant, or several.

    Examples
    --------
    >>> identify(Origin("Zoë Ångström", "7"), {})
    'zoe-angstrom'
    """
    platform = origin.platform
    if numbered := _numbered(origin, known):
        return numbered
    mail = origin.email.casefold()
    if mailed := [p.id for p in known.values() if mail and p.email.casefold() == mail]:
        return mailed[0]
    if origin.hidden:
        raise ValueError(
            f"{platform} hides whose it is, and its number {origin.number} is not in students.csv: "
            + _REVEAL[platform]
        )
    who = _as_called(origin, known)
    if who in known:
        return who
    found = named(who, known)
    if platform == "canvas":  # a person there has one number: with another it is somebody else
        found = [person for person in found if platform not in person.numbers]
    if len(found) > 1:
        ids = ", ".join(sorted(person.id for person in found))
        raise ValueError(
            f"{who!r} may be any of {ids}: "
            + (f"put {platform}'s number {origin.number} " if origin.number else "put the number ")
            + "into students.csv, or let `autograder roster import` do it"
        )
    return found[0].id if found else _new(who, origin, known)


def _as_called(origin: Origin, known: Mapping[str, Person]) -> str:
    """Return the name or id that a platform says, as it is meant there."""
    who = origin.who
    if origin.platform == "gradescope":  # its numbers and addresses are people's own
        own = [id for id in (origin.number, origin.email) if id]
        who = next((id for id in own if id in known), who)
        if who not in known and not any(_keys(who) & _names(p) for p in known.values()):
            who = next(iter(own), who)
    if origin.platform == "blackboard":  # <title>_<id>: both may hold the sign between them
        pieces = who.split("_")
        ends = ("_".join(pieces[i:]) for i in range(1, len(pieces)))
        who = next((end for end in ends if end in known), pieces[-1])
    return who


def _new(who: str, origin: Origin, known: Mapping[str, Person]) -> str:
    """Return the id of somebody who is not on the roster."""
    if origin.number and not STUDENT_ID.fullmatch(who):
        who = _slug(who)
    if not STUDENT_ID.fullmatch(who):
        raise ValueError(
            f"{origin.who!r} is no student's name that is known, and no id: letters, digits and "
            ". _ @ + - only, a letter, digit or _ first, at most 80"
        )
    if like := next((id for id in known if id.casefold() == who.casefold()), ""):
        raise ValueError(f"{origin.who!r} may be {like}, or somebody else: only {like} would be")
    return who


def as_meant(origin: Origin, person: Person | None) -> Origin:
    """Return what a platform says, with that reading of it in which the number is the person's.

    >>> said = Origin("x", "47", "canvas", otherwise=(("x_47_90_y", "48"),))
    >>> as_meant(said, Person("eve", numbers={"canvas": ("48",)})).number
    '48'
    """
    own = person.numbers.get(origin.platform, ()) if person else ()
    readings = [(origin.who, origin.number), *origin.otherwise]
    who, number = next((reading for reading in readings if reading[1] in own), readings[0])
    return replace(origin, who=who, number=number)


def _numbered(origin: Origin, known: Mapping[str, Person]) -> str:
    """Return whose a platform's number is; empty where the roster has it not.

    Students choose names, and a name may hold numbers: so the name before a number has to be that
    person's, too.
    """
    readings = [(origin.who, origin.number), *origin.otherwise]
    listed = [
        (who, person)
        for who, number in readings
        for person in known.values()
        if number and number in person.numbers.get(origin.platform, ())
    ]
    if not listed:
        return ""
    ids = list(dict.fromkeys(person.id for _, person in listed))
    if origin.hidden or origin.platform == "gradescope":  # there is no name to compare
        fitting = listed
    else:
        fitting = [(w, p) for w, p in listed if fits(w, p, exactly=len(ids) > 1)]
    # Who puts another's name and number into their own begins with them.
    imitated = len(ids) > 1 and listed[0] in fitting
    if len({person.id for _, person in fitting}) == 1 and not imitated:
        return fitting[0][1].id
    if len(ids) > 1:
        raise ValueError(
            f"its name holds the numbers of {', '.join(ids)}, and students choose names: look into "
            "it, and collect it from a folder of its student's id"
        )
    who, person = listed[0]
    raise ValueError(
        f"{origin.platform}'s number there is that of {person.id} ({person.name}), and the name "
        f"before it, {who!r}, is another: a group's, or one that was changed. Where it is the same "
        "person, write that name into students.csv; else collect it from a folder of the "
        "student's id"
    )


def named(who: str, known: Mapping[str, Person]) -> list[Person]:
    """Return who has a name, however a platform writes it."""
    return [person for person in known.values() if _keys(who) & _names(person)]


def fits(who: str, person: Person, *, exactly: bool = False) -> bool:
    """Tell whether a name can be a person's; if not ``exactly``, with more or fewer middle names.

    >>> fits("lovelaceadaking", Person("ada", "Ada", "Lovelace")), fits("x", Person("ada", "Ada"))
    (True, False)
    """
    words = person.name.split()
    if words == [person.id] or _keys(who) & (_names(person) | _keys(person.id)):
        return True
    ends = (words[0], words[-1])
    return (
        len(words) > 1
        and not exactly
        and any(
            all(any(key in squashed for key in _keys(word) if key) for word in ends)
            for squashed in _keys(who)
        )
    )


def _names(person: Person) -> set[str]:
    """Return a person's name as platforms write it, with whichever of its words first."""
    words = f"{person.first_name} {person.last_name}".split() if person.last_name else []
    turned = (" ".join(words[i:] + words[:i]) for i in range(len(words)))
    return {key for name in turned for key in _keys(name)}


def _keys(name: str) -> set[str]:
    """Return what stays of a name whatever a platform does to its letters.

    >>> sorted(_keys("Jörg Müller")), sorted(_keys("muellerjoerg"))
    (['joergmueller', 'jorgmuller', 'jörgmüller'], ['muellerjoerg'])
    """
    text = unicodedata.normalize("NFC", name).casefold()
    spelt = (text, text.translate(_WRITTEN), _bare(text))
    return {"".join(filter(str.isalnum, way)) for way in spelt}


def _bare(text: str) -> str:
    letters = unicodedata.normalize("NFD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _slug(name: str) -> str:
    """Make an id of a name; of letters with accents, not of those that merely look alike."""
    return re.sub(r"[ ,.']+", "-", _bare(name).lower()).strip("-")
