"""Who of the class a learning platform means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from autograder.course.roster import Person
from autograder.course.student_ids import STUDENT_ID
from autograder.delivery.layouts import Origin

#: How names are written where a platform takes no such letters.
_WRITTEN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "oe", "æ": "ae"})
_WRITTEN |= str.maketrans({"å": "aa", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


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
    who, platform = origin.who, origin.platform
    numbered = [p.id for p in known.values() if origin.number in p.numbers.get(platform, ())]
    if origin.number and numbered:
        return numbered[0]
    mail = origin.email.casefold()
    if mailed := [p.id for p in known.values() if mail and p.email.casefold() == mail]:
        return mailed[0]
    if platform == "gradescope":  # its numbers and addresses are people's own
        own = [id for id in (origin.number, origin.email) if id]
        who = next((id for id in own if id in known), who)
        if who not in known and not any(_keys(who) & _names(p) for p in known.values()):
            who = next(iter(own), who)
    if platform == "blackboard":  # <title>_<id>: both may hold the sign between them
        pieces = who.split("_")
        ends = ("_".join(pieces[i:]) for i in range(1, len(pieces)))
        who = next((end for end in ends if end in known), pieces[-1])
    if who in known:
        return who
    named = [p for p in known.values() if _keys(who) & _names(p)]
    if platform == "canvas":  # a person there has one number: with another it is somebody else
        named = [person for person in named if platform not in person.numbers]
    if len(named) > 1:
        ids = ", ".join(sorted(person.id for person in named))
        raise ValueError(
            f"{who!r} may be any of {ids}: "
            + (f"put {platform}'s number {origin.number} " if origin.number else "put the number ")
            + "into students.csv, or let `autograder roster import` do it"
        )
    if named:
        return named[0].id
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


def _names(person: Person) -> set[str]:
    """Return a person's name as platforms write it: either name first."""
    if not person.last_name:
        return set()
    both = (person.first_name, person.last_name)
    return _keys(" ".join(both)) | _keys(" ".join(reversed(both)))


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
