"""On a cluster nobody passes for somebody else, and what comes back is data."""

import pickle
import shutil
from dataclasses import replace

import pytest

from autograder.course.config import Course, CourseError
from autograder.course.graders import station
from autograder.course.graders.messages import (
    SECRET,
    Forged,
    Meeting,
    packed_grades,
    packed_jobs,
    unpacked_grades,
    unpacked_jobs,
)
from autograder.course.graders.tls import certificates, make_certificates
from autograder.course.limits import check_limits
from autograder.course.submissions.bundle import Bundle
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.job import Job
from autograder.grading.results import ExerciseGrade, Grade, Item, Status

OURS = "a long random text"
HONEST = Meeting("a" * 32, "b" * 32, "tls://10.0.0.2:1", OURS)
KEY = b"k" * 32
JOB = Job("ada", "m01", key="k", content=b"\x00\xff{}", notices=("a",), runs={"r": b"\x01"})
OTHER = replace(JOB, student="ben", looks=(("fall", "time"),))
ITEM = Item("part", "A part.", Status.PARTIAL, 0.5, 1.0, "note", "Half \ud800 of it.")
GRADE = Grade("m01", "ada", "A", [ExerciseGrade.of("e", [ITEM])], ["a notice"], {"seconds": 1.0})
GRADED = Graded.of(GRADE, {"cells": [{"source": "x = float('nan')"}]}, "k", {"r": b"\x01"})


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv(SECRET, OURS)


@pytest.fixture
def worker(monkeypatch):
    """A worker's side, at an address of its own, which opens nothing."""

    class Here:
        address = "tls://10.0.0.2:1"

    monkeypatch.setattr(station.distributed, "get_worker", lambda: Here)
    opened = []
    monkeypatch.setattr(station, "Station", lambda bundle, *_, **__: opened.append(bundle))
    for name in ("_stations", "_seals", "_numbers"):
        monkeypatch.setattr(station, name, type(getattr(station, name))())
    return opened


def stand(numbers, proof, digest="d"):
    return station.stand(digest, b"zip", 1, False, numbers, proof)


def test_who_knows_the_secret_is_believed(worker):
    """The control of all that follow."""
    number, (proof,) = station.meet("a")
    meeting = Meeting("a", number, "tls://10.0.0.2:1", OURS)
    assert meeting.proven(proof, "worker")
    assert stand(("a", number), meeting.proof("asker", "d")) == ""
    assert len(worker) == 1


def test_a_proof_that_is_relayed_proves_nothing(worker):
    """A worker without the secret has another one answer: that one names its own address."""
    number, (proof,) = station.meet("a")
    relaying = Meeting("a", number, "tls://10.0.0.66:1", OURS)
    assert not relaying.proven(proof, "worker")


@pytest.mark.parametrize("field", ["asker", "worker", "address", "secret"])
def test_a_proof_is_for_one_meeting(field):
    other = replace(HONEST, **{field: "c" * 32})
    assert not other.proven(HONEST.proof("worker"), "worker")
    assert other.seal("d") != HONEST.seal("d")


@pytest.mark.parametrize(
    ("of", "about"), [("asker", ""), ("asker", "d"), ("seal", "d"), ("worker", "d"), ("", "worker")]
)
def test_a_proof_is_for_one_side_and_one_course(of, about):
    assert not HONEST.proven(HONEST.proof("worker"), of, about)


def test_a_worker_s_proof_does_not_serve_the_one_who_asks(worker):
    """Whoever reflects what a worker has said is not believed."""
    number, (proof,) = station.meet("a")
    assert "does not know the secret" in stand(("a", number), proof)
    assert not worker


def test_a_number_serves_once(worker):
    number, _ = station.meet("a")
    proof = Meeting("a", number, "tls://10.0.0.2:1", OURS).proof("asker", "d")
    assert stand(("a", number), proof) == ""
    assert "does not know the secret" in stand(("a", number), proof)


def test_a_worker_takes_no_course_of_a_stranger(worker):
    """A course is a program."""
    number, _ = station.meet("a")
    proof = Meeting("a", number, "tls://10.0.0.2:1", "guessed").proof("asker", "d")
    assert "does not know the secret" in stand(("a", number), proof)
    assert not worker


@pytest.mark.parametrize(
    ("secret", "believed"), [("one", True), ("two", True), ("one\ntwo", False)]
)
def test_a_worker_of_several_courses_believes_who_knows_any_secret(
    worker, monkeypatch, secret, believed
):
    monkeypatch.setenv(SECRET, "one\n\ntwo\n")
    number, proofs = station.meet("a")
    meeting = Meeting("a", number, "tls://10.0.0.2:1", secret)
    assert sum(meeting.proven(proof, "worker") for proof in proofs) == believed
    assert (stand(("a", number), meeting.proof("asker", "d")) == "") == believed


def test_who_knows_one_secret_reads_nothing_that_goes_under_another():
    mine, theirs = (replace(HONEST, secret=secret).seal("d") for secret in ("one", "two"))
    with pytest.raises(Forged):
        unpacked_grades(packed_grades([GRADED], theirs), mine)
    with pytest.raises(Forged):
        unpacked_jobs(packed_jobs([JOB], mine), theirs)


def test_nor_another_course_than_was_proven_for(worker):
    number, _ = station.meet("a")
    proof = Meeting("a", number, "tls://10.0.0.2:1", OURS).proof("asker", "d")
    assert "does not know the secret" in stand(("a", number), proof, digest="another")
    assert not worker


def test_no_stranger_has_it_forget_a_course(worker, monkeypatch):
    station._stations["d"] = object()
    station.leave("d", "guessed")
    assert "d" in station._stations


def test_jobs_and_grades_come_as_they_were():
    """The control of what follows."""
    assert unpacked_jobs(packed_jobs([JOB, OTHER], KEY), KEY) == [JOB, OTHER]
    found, none = unpacked_grades(packed_grades([GRADED, None], KEY), KEY)
    assert none is None
    assert found == replace(GRADED, grade=found.grade)
    assert found.record == GRADED.record
    assert replace(found).record == found.record  # what was read is what was written


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return exec, ("raise SystemExit('ran')",)


def test_a_pickle_runs_where_pickles_are_read():
    """The control of the next one: so grades came before."""
    with pytest.raises(SystemExit):
        pickle.loads(pickle.dumps(Bomb()))


FORGED = {
    "a pickle": pickle.dumps(Bomb()),
    "nothing": b"",
    "a short seal": b"x",
    "a seal alone": b"x" * 32,
    "with another key": packed_grades([GRADED], b"other"),
    "jobs for grades": packed_jobs([JOB], KEY),
    "a byte more": packed_grades([GRADED], KEY) + b"x",
    "a byte changed": packed_grades([GRADED], KEY)[:-1] + b"\x00",
    "text": "x",
    "an object": Bomb(),
    "None": None,
}


@pytest.mark.parametrize("what", FORGED)
def test_what_is_forged_is_no_grade(what):
    with pytest.raises(Forged):
        unpacked_grades(FORGED[what], KEY)


def sealed(body):
    from autograder.course.graders import messages

    return messages._sealed(body, KEY, b"grades")


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"{}", b'[{"grade": {}}]', b"[" * 100_000, pickle.dumps(Bomb())],
    ids=["nothing", "a list", "empty", "half", "deep", "a pickle"],
)
def test_what_is_sealed_and_no_grade_is_none(body):
    with pytest.raises((ValueError, RecursionError)):
        unpacked_grades(sealed(body), KEY)


OPEN = ["tcp://10.0.0.1:1", "tcp://example.org:1", "tcp://0.0.0.0:1", "tcp://127.0.0.1.nip.io:1"]


@pytest.mark.parametrize("address", OPEN)
def test_nothing_leaves_the_machine_without_encryption(address):
    for insecure in (False, True):
        with pytest.raises(CourseError, match="use tls://"):
            certificates(address, None, insecure=insecure)


def test_a_trial_on_this_machine_may():
    """The control."""
    for address in ("tcp://127.0.0.1:1", "tcp://localhost:1", "tcp://[::1]:1"):
        assert certificates(address, None, insecure=True) == {}
        with pytest.raises(CourseError, match="--insecure"):
            certificates(address, None)


def test_a_key_that_others_read_is_refused(tmp_path):
    make_certificates(tmp_path / "keys", 1)
    assert certificates("tls://h:1", tmp_path / "keys").keys() == {"ca", "cert", "key"}
    (tmp_path / "keys" / "key.pem").chmod(0o644)
    with pytest.raises(CourseError, match="chmod 600"):
        certificates("tls://h:1", tmp_path / "keys")
    with pytest.raises(CourseError, match="already"):
        make_certificates(tmp_path / "keys", 1)


def test_a_worker_gets_the_assignments_that_it_grades(course, tmp_path):
    def holds(ids, folder):
        root = Bundle.of(course, ids).unpack(tmp_path / folder).root
        return {path.parent.name for path in root.glob("re*/m*/*")}

    assert holds(["m01_motion"], "one") == {"m01_motion"}
    assert holds([], "all") == set(course.ids())  # the control


def test_limits_of_exercises_that_it_does_not_get_stop_no_grader(course, tmp_path):
    config = course.root / "course_config.py"
    limits = "c.Course.exercise_limits = {'fall': {'call_seconds': 3.0}}"
    config.write_text(f"{config.read_text()}\n{limits}\n")
    part = Bundle.of(Course.load(course.root), ["m02_energy"]).unpack(tmp_path / "one")
    with pytest.raises(CourseError, match="no exercise 'fall'"):
        check_limits(part)  # the control
    with Grader(part, GradingOptions(trust_students=True)):
        pass


def test_nor_one_that_is_not_declared_yet(course, tmp_path):
    """An author's next one lies there already."""
    folder = course.root / "reference"
    shutil.copytree(folder / "m02_energy", folder / "m03_next")
    (folder / "helpers.py").write_text("")
    root = Bundle.of(course).unpack(tmp_path / "one").root
    assert {path.name for path in (root / "reference").iterdir()} == {*course.ids(), "helpers.py"}


def test_and_those_whose_functions_these_carry_on(course, tmp_path):
    module = course.root / "reference" / "m02_energy" / "more.py"
    module.write_text('speed = exercise.carries("m01_motion/fall", "speed")\n')
    root = Bundle.of(course, ["m02_energy"]).unpack(tmp_path / "two").root
    assert (root / "reference" / "m01_motion" / "fall.py").is_file()
