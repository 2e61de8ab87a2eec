"""Whoever works for us, or stands between, sends a pickle: nothing that it names is called."""

import contextlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import distributed
import pytest
from distributed import protocol
from distributed.core import clean_exception
from distributed.protocol import numpy as arrays
from distributed.protocol.serialize import Pickled, Serialized

from autograder.course.graders.plain_reading import plainly, read_plainly

RAN = []


def run(*_, **__):
    """Be what must not be called."""
    RAN.append(1)
    return b"ran"


class Bomb:
    """Calls a function where it is unpickled."""

    def __reduce__(self):
        return run, ()


class BombError(Exception):
    """An error that does."""

    def __reduce__(self):
        return run, ()


class Later:
    """One whose state is what calls it."""

    def __reduce__(self):
        return list, (), None, iter([Bomb()])


BOMB = pickle.dumps(Bomb())
#: Everything that Dask reads a pickle for where it asks, and how it does.
DOORS = {
    "a message": lambda: through({"result": Pickled({"pickled-obj": BOMB}, [])}),
    "a result": lambda: through(
        {"result": Serialized({"serializer": "pickle", "writeable": ()}, [BOMB])}
    ),
    "one of many results": lambda: through(
        {
            "result": Serialized(
                {
                    "is-collection": True,
                    "type-serialized": "list",
                    "frame-lengths": [1],
                    "sub-headers": [{"serializer": "pickle", "writeable": ()}],
                },
                [BOMB],
            )
        }
    ),
    "the kind of a result": lambda: through(
        {"result": Serialized({"serializer": "dask", "type-serialized": BOMB}, [b""])}
    ),
    "the kind of an array": lambda: arrays.deserialize_numpy_ndarray(
        {"dtype": (1, BOMB), "shape": (1,), "writeable": (True,), "strides": (1,)}, [b"x"]
    ),
    "an error": lambda: clean_exception(BOMB),
    "where an error was": lambda: clean_exception(b"", BOMB),
    "what a task has made": lambda: distributed.client.loads(BOMB),
    "a warning": lambda: distributed.client._handle_warn((0, {"message": BOMB})),
    "the kind of a warning": lambda: distributed.client._handle_warn(
        (0, {"message": pickle.dumps("w"), "category": BOMB})
    ),
}


def through(message):
    """Send a message, and read it."""
    frames = [bytes(frame) for frame in protocol.dumps(message)]
    return protocol.loads(frames)


def went_off(door):
    """Send a bomb through it; return whether what it names was called."""
    RAN.clear()
    with contextlib.suppress(Exception):
        DOORS[door]()
    return bool(RAN)


def tried(plain):
    """Print which bombs went off, and whether what is no bomb came as it was."""
    if plain:
        read_plainly()
    honest = [b"", b"x", b"x" * 100_000, ("number", "proof"), "", None, 1.5, {"a": [1]}]
    came = [through({"result": protocol.to_serialize(one)})["result"] for one in honest]
    print(json.dumps([[door for door in DOORS if went_off(door)], came == honest]))


@pytest.fixture(scope="module", params=[False, True], ids=["as Dask reads", "plainly"])
def process(request):
    """Who asks, in a process of its own: it never reads otherwise again."""
    command = f"from tests.hostile.test_plain import tried; tried({request.param})"
    root = Path(__file__).parents[2]
    words = [sys.executable, "-c", command]
    said = subprocess.run(words, cwd=root, capture_output=True, check=True)
    return request.param, json.loads(said.stdout)


@pytest.mark.parametrize("door", DOORS)
def test_nothing_that_a_message_names_is_called(process, door):
    plain, (ran, _) = process
    assert (door in ran) is not plain  # the control: as Dask reads, it is


def test_data_come_as_they_were(process):
    assert process[1][1]


PICKLES = {
    "a function": pickle.dumps(run),
    "a call": BOMB,
    "a call in a list": pickle.dumps([b"a", Bomb()]),
    "an error": pickle.dumps(ValueError("x")),
    "an error that calls": pickle.dumps(BombError()),
    "what calls later": pickle.dumps(Later()),
    "in the first protocol": pickle.dumps(Bomb(), 0),
    "by a number": b"\x80\x02\x82\x01.",
    "an instance": b"(ios\nsystem\n.",
    "by another name": b"cos\nsystem\n(S'true'\ntR.",
    "a method of bytes": b"cbuiltins\nbytes.fromhex\n(S'00'\ntR.",
    "what stands elsewhere": b"Pos\n.",
    "a state of nothing": b"ca\nb\n)\x81}S'x'\nI1\nsb.",
    "half of one": BOMB[:-2],
    "nothing": b"",
    "no bytes": None,
}


@pytest.mark.parametrize("what", PICKLES)
def test_what_a_pickle_names_is_nothing(what):
    RAN.clear()
    found = plainly(PICKLES[what])
    assert found is None or found == [b"a", None] or isinstance(found, type) or found == b""
    assert not RAN


def test_a_pickle_calls_what_it_names():
    """The control."""
    RAN.clear()
    assert pickle.loads(BOMB) == b"ran"
    assert pickle.loads(PICKLES["what calls later"]) is not None
    assert len(RAN) == 2
