"""Files that a release holds beside its notebook: read by name, changed by nobody."""

import pytest

from autograder.sandbox import Isolation, Limits, Zygote

from ..tiers import isolation_of

pytestmark = pytest.mark.sandbox

CHANGES = {
    "writing": "open('words.txt', 'w')",
    "adding": "open('words.txt', 'a')",
    "truncating": "os.truncate('words.txt', 0)",
    "making it writable": "os.chmod('words.txt', 0o666); open('words.txt', 'w')",
    "removing": "os.remove(os.path.realpath('words.txt'))",
    "exchanging": "os.replace('words.txt', os.path.realpath('words.txt'))",
}


@pytest.fixture(scope="module", params=["A", "A-", "B"])
def zygote(request):
    files = {"words.txt": b"one two", "more.npz": bytes(1 << 20)}
    with Zygote(isolation=isolation_of(request.param), limits=Limits(), data=files) as zygote:
        yield zygote


def test_they_are_read_by_their_names(zygote):
    with zygote.session() as session:
        session.execute(
            "text = open('words.txt').read(); size = len(open('more.npz', 'rb').read())"
        )
        assert session.read("text") == "one two"
        assert session.read("size") == 1 << 20


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_they_cannot_be_changed(zygote, change):
    with zygote.session() as session:
        session.execute(f"import os\n{change}")
        session.execute("text = open('words.txt').read()")
        if "replace" not in change:  # in a scratch folder of one's own the name may point elsewhere
            assert session.read("text") == "one two"
    with zygote.session() as session:
        session.execute("text = open('words.txt').read()")
        assert session.read("text") == "one two"


def test_nobody_holds_them_back_where_nothing_isolates():
    files = {"words.txt": b"one two"}
    with (
        Zygote(isolation=Isolation("C"), trust=True, data=files) as zygote,
        zygote.session() as session,
    ):
        session.execute("text = open('words.txt').read()")
        assert session.read("text") == "one two"
