"""What is installed is what was pinned, and may be used."""

import re
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
BUILDS_DIFFER = {"torch"}
NOT_IN_WHEELS = {"docutils"}  # GPL is its Emacs mode alone
MAY_BE_USED = re.compile(r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|Zlib|CC0")
#: LGPL: who imports a library that is installed beside it owes nothing for that.
LIBRARIES = {"psycopg", "psycopg-binary"}


def pins(text):
    return dict(re.findall(r"^([\w.-]+)==([\w.+]+)", text, re.MULTILINE))


def test_the_lock_has_a_hash_for_every_pin():
    pinned = pins((ROOT / "constraints.txt").read_text())
    locked = (ROOT / "requirements.lock").read_text()
    expected = {name: v for name, v in pinned.items() if name not in BUILDS_DIFFER}
    assert pins(locked) == expected, "after a change of constraints.txt: make lock"
    for entry in re.split(r"\n(?=\w)", locked.partition("\n\n")[0])[1:]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}$", entry), entry


def installed(name, extras=(), found=None):
    """Return the distributions that one needs, itself among them, as far as they are installed."""
    found = {} if found is None else found
    try:
        distribution = metadata.distribution(name)
    except metadata.PackageNotFoundError:  # of another system
        return found
    found[canonicalize_name(name)] = distribution
    for line in distribution.requires or ():
        need = Requirement(line)
        wanted = need.marker is None or any(
            need.marker.evaluate({"extra": extra}) for extra in ("", *extras)
        )
        if wanted and canonicalize_name(need.name) not in found:
            installed(need.name, need.extras, found)
    return found


def licence(distribution):
    said = distribution.metadata
    classifiers = [c for c in said.get_all("Classifier") or () if c.startswith("License ::")]
    stated = said.get("License-Expression") or " ".join(classifiers).replace("OSI Approved", "")
    text = (said.get("License") or "").strip() or _licence_file(distribution)
    return stated.strip() or text.strip().partition("\n")[0]


def _licence_file(distribution):
    """Return the text of a licence that only a file states."""
    names = distribution.metadata.get_all("License-File") or ()
    texts = (path.read_text() for path in distribution.files or () if path.name in names)
    return next(texts, "")


def test_everything_that_is_installed_may_be_used():
    found = installed("autograder-engine", ("course", "docs", "test"))
    assert len(found) > 100
    licences = {name: licence(each) for name, each in found.items() if name != "autograder-engine"}
    refused = {
        name: said
        for name, said in licences.items()
        if not (name in LIBRARIES and said.startswith("LGPL"))
        and (not MAY_BE_USED.search(said) or ("GPL" in said and name not in NOT_IN_WHEELS))
    }
    assert refused == {}


def test_everything_that_is_installed_is_pinned():
    pinned = {canonicalize_name(n) for n in pins((ROOT / "constraints.txt").read_text())}
    here = installed("autograder-engine", ("course", "docs", "test")).keys() - {"autograder-engine"}
    assert here - pinned == set()
