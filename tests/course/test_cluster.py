"""Graders on other machines: the same grades, whoever is lost, and nothing for strangers."""

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest

from autograder.course.classes.classroom import grade_class
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.graders import cluster
from autograder.course.graders.batches import Pace
from autograder.course.graders.cluster import Cluster
from autograder.course.graders.messages import SECRET
from autograder.course.graders.serial import Serial
from autograder.course.graders.tls import make_certificates
from autograder.course.release.handed_out import Release
from autograder.course.secret import FILE
from autograder.course.submissions.bundle import Bundle
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import submissions
from autograder.course.submissions.job import job_of
from autograder.delivery.department.grading import grade_and_save

from ..courses import MOTION as A
from ..processes import descendants, gone

pytestmark = [pytest.mark.sandbox, pytest.mark.slow, pytest.mark.xdist_group("cluster")]

AUTOGRADER = [sys.executable, "-c", "from autograder.cli import main; main()"]
#: Begins what makes a worker another one than it is; Dask runs it more than once.
PATCH = """
from autograder.course.graders import station
if "patched" not in vars(station):
    station.patched = True
"""


def wait_for(condition, what, seconds=60):
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"there is no {what} after {seconds} s"
        time.sleep(0.05)
    return found


@contextmanager
def started(folder, name, *command, **environment):
    """Run a command in the background, and end it with all that it has started."""
    log = folder / f"{name}.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | environment,
            cwd=folder,
        )
    try:
        yield process, log
    finally:
        below = descendants(process.pid)
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pid in below:
            if not gone(pid):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def scheduler(folder, *options):
    """Start a scheduler and return its address."""
    file = folder / "scheduler.json"
    module = "distributed.cli.dask_scheduler"
    command = [sys.executable, "-m", module, "--port", 0, "--no-dashboard", "--host", "127.0.0.1"]
    with started(folder, "scheduler", *command, "--scheduler-file", file, *options) as (process, _):
        address = wait_for(lambda: file.exists() and file.read_text(), "scheduler")
        yield address.split('"address": "')[1].split('"')[0], process


@contextmanager
def worker(folder, address, name="worker", *options, first="", **environment):
    """Start one of our workers; ``first`` is run in it before it grades."""
    if first:
        (folder / "first.py").write_text(PATCH + indent(first, "    "))
        environment["DASK_DISTRIBUTED__WORKER__PRELOAD"] = str(folder / "first.py")
    if address.startswith("tcp"):
        options = ("--insecure", *options)
    command = [*AUTOGRADER, "worker", address, "--processes", 1, *options]
    with started(folder, name, *command, **environment) as found:
        yield found


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv(SECRET, "a long random text")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with scheduler(tmp_path_factory.mktemp("scheduler")) as (address, _):
        yield address


@pytest.fixture
def work(course):
    simulate(course, A, 4)
    return submissions(course, A)


def grade(course, work, address, **options):
    """Grade by a cluster, and return the records without their times."""
    return records(
        grade_class(
            course,
            work,
            GradingOptions(force=True),
            open_graders=lambda _: Cluster(
                course, address, insecure="tls" not in options, **options
            ),
        )
    )


def records(found):
    return {g.grade.student: replace(g.grade, runtime={}).to_json() for g in found}


def here(course, work):
    return records(
        grade_class(course, work, GradingOptions(force=True), open_graders=lambda _: Serial(course))
    )


def there(course, address):
    return Cluster(course, address, insecure=True)


def refused(course, address):
    """Return why no worker was found."""
    with pytest.raises(CourseError) as error, Cluster(course, address, insecure=True):
        pass
    return str(error.value)


def test_other_machines_give_the_same_records_and_keep_nothing(course, work, address, tmp_path):
    # Too long for the name of a socket, which a process of its own is asked for by.
    (there := tmp_path / ("there" * 20)).mkdir()
    with worker(there, address, TMPDIR=str(there)):
        with Cluster(course, address, insecure=True):
            assert list(there.rglob(FILE))
        assert not list(there.rglob(FILE))
        assert grade(course, work, address) == here(course, work)


def test_a_killed_worker_costs_nothing_but_time(course, work, address, tmp_path):
    (tmp_path / "one").mkdir()
    first = "import time\nreal = station.Station.grade\n"
    first += "station.Station.grade = lambda *a: (time.sleep(1), real(*a))[1]\n"
    with worker(tmp_path / "one", address, first=first) as (one, _), worker(tmp_path, address):
        found = []
        used = Cluster(course, address, insecure=True)
        for graded in grade_class(
            course, work, GradingOptions(force=True), open_graders=lambda _: used
        ):
            found.append(graded)
            for pid in descendants(one.pid):
                if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)  # what grades; another is started in its place
        assert records(found) == here(course, work)
        (note,) = used.notes
        assert re.match(
            r"workers that were lost, and others did .* doing: tcp://127.0.0.1:\d+", note
        )


def test_what_whoever_asked_should_know_stands_at_the_end_of_a_run(course, work, monkeypatch):
    monkeypatch.setattr(Serial, "notes", ["1 worker was lost"])
    outcome = grade_and_save(
        course, [A], GradingOptions(trust_students=True), open_graders=lambda _: Serial(course)
    )
    assert outcome.lines() == [f"{A}: {len(work)} graded", "1 worker was lost"]


def test_a_connection_that_is_lost_for_a_moment_costs_nothing_but_time(
    course, work, address, tmp_path
):
    first = "import time\nreal = station.Station.grade\n"
    first += "station.Station.grade = lambda *a: (time.sleep(1), real(*a))[1]\n"
    opened = []

    def open_cluster(_):
        opened.append(Cluster(course, address, insecure=True))
        return opened[0]

    with worker(tmp_path, address, first=first):
        found = []
        for graded in grade_class(
            course, work, GradingOptions(force=True), open_graders=open_cluster
        ):
            found.append(graded)
            if len(found) == 1:
                client = opened[0]._client
                client.loop.add_callback(client.scheduler_comm.comm.abort)
        assert records(found) == here(course, work)


def test_a_run_that_has_lost_its_last_worker_ends_with_a_sentence(
    course, work, address, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "_UNMANNED", 3.0)
    first = "import time\nreal = station.Station.grade\n"
    first += "station.Station.grade = lambda *a: (time.sleep(1), real(*a))[1]\n"
    done = grade_class(
        course,
        work,
        GradingOptions(force=True),
        open_graders=lambda _: Cluster(course, address, insecure=True),
    )
    with worker(tmp_path, address, first=first):
        next(done)
    with pytest.raises(CourseError, match="has had no worker for 3 s.*what was graded is kept"):
        list(done)


@pytest.mark.parametrize("fault", ["os._exit(1)", "1 / 0"])
@pytest.mark.parametrize(("class_size", "victim"), [(4, 1), (14, 12)], ids=["alone", "in a batch"])
def test_who_ends_workers_is_withheld_and_nobody_else(
    course, address, tmp_path, monkeypatch, fault, class_size, victim
):
    monkeypatch.setattr(Pace, "took", lambda self, _: self._seconds.append(0.1))
    simulate(course, A, class_size)
    work = submissions(course, A)
    victim = work[victim].student
    first = "import os\nreal, batch = station.Station.grade, station.unpacked_jobs\n"
    first += f"station.Station.grade = lambda s, job: {fault} if job.student == {victim!r} "
    first += "else real(s, job)\n"
    first += "def unpacked(*a):\n    jobs = batch(*a)\n"
    first += f"    open({str(tmp_path / 'sizes')!r}, 'a').write(f'{{len(jobs)}}\\n')\n"
    first += "    return jobs\nstation.unpacked_jobs = unpacked\n"
    with worker(tmp_path, address, first=first):
        found = grade(course, work, address)
    right = here(course, work)
    assert {k: v for k, v in found.items() if k != victim} == {
        k: v for k, v in right.items() if k != victim
    }
    items = [item for exercise in found[victim]["exercises"] for item in exercise["items"]]
    assert {item["status"] for item in items} == {"errored"}
    sizes = [int(size) for size in (tmp_path / "sizes").read_text().split()]
    assert (max(sizes) > 1) == (class_size > 4)


BOMBS = """
import os, pickle
class Bomb(Exception):
    def __reduce__(self):
        return os.system, ("echo $PPID >> {marks}",)
def grade(*_):
    station.distributed.get_worker().log_event("warn", {{"message": pickle.dumps(Bomb())}})
    if calls.append(1) or len(calls) % 2:
        return Bomb()
    raise Bomb()
calls, station.grade = [], grade
"""


def test_a_worker_that_has_the_secret_runs_nothing_where_it_is_asked(
    course, work, address, tmp_path
):
    marks = tmp_path / "marks"

    def ran_in(command):
        """Return what the command said, and whether a bomb went off there: one does in a worker."""
        marks.unlink(missing_ok=True)
        with subprocess.Popen(command, cwd=course.root, stdout=-1, stderr=-2, text=True) as process:
            said, _ = process.communicate(timeout=120)
        return said, str(process.pid) in (marks.read_text().split() if marks.exists() else [])

    plain = "import sys; from distributed import Client; from autograder.course.graders import "
    plain += "station; print(Client(sys.argv[1]).submit(station.grade, pure=False).result())"
    with worker(tmp_path, address, first=BOMBS.format(marks=marks)):
        command = [*AUTOGRADER, "grade", A, "--scheduler", address, "--insecure"]
        said, ran = ran_in(command)
        assert f"{len(work)} graded" in said
        assert not ran
        _, ran = ran_in([sys.executable, "-c", plain, address])
        assert ran  # the control


def test_a_stranger_gets_nothing(course, address, tmp_path):
    (there := tmp_path / "there").mkdir()
    with worker(there, address, TMPDIR=str(there), **{SECRET: "guessed"}):
        assert f"does not know the secret in {SECRET}" in refused(course, address)
        assert not list(there.rglob(FILE))


def test_two_courses_with_secrets_of_their_own_share_a_worker(
    course, address, tmp_path, monkeypatch
):
    monkeypatch.setattr(Pace, "took", lambda self, _: self._seconds.append(0.3))
    other = Course.load(shutil.copytree(course.root, tmp_path / "other"))
    config = other.root / "course_config.py"
    config.write_text(f"{config.read_text()}\n# another course\n")
    opened = []
    with worker(tmp_path, address, **{SECRET: "the first\nthe second"}), ExitStack() as stack:
        for one, secret in ((course, "the first"), (other, "the second")):
            monkeypatch.setenv(SECRET, secret)
            opened.append(stack.enter_context(there(one, address)))
        assert len({worker.seal for used in opened for worker in used._workers.values()}) == 2
        done = []
        for one, graders in zip((course, other), opened, strict=True):
            simulate(one, A, 12)
            release = Release.load(one, A)
            for handed in submissions(one, A):  # the first has asked for all before the second asks
                future = graders.submit(job_of(handed, release))
                future.add_done_callback(lambda _, graders=graders: done.append(graders))
            graders.finish()
        wait_for(lambda: len(done) == 24, "end", 300)
    last = done[-1]
    alone = len(done) - 1 - max(i for i, graders in enumerate(done) if graders is not last)
    assert alone <= 4  # what the second has to do when the first one is done


def test_who_comes_while_workers_are_busy_has_the_next_turn(
    course, work, address, tmp_path, monkeypatch
):
    other = Course.load(shutil.copytree(course.root, tmp_path / "other"))
    config = other.root / "course_config.py"
    config.write_text(f"{config.read_text()}\n# another course\n")
    first = "import time\nreal = station.Station.grade\n"
    first += "station.Station.grade = lambda *a: (time.sleep(3), real(*a))[1]\n"
    release = Release.load(course, A)
    with worker(tmp_path, address, first=first), there(course, address) as one:
        futures = [one.submit(job_of(handed, release)) for handed in work]
        one.finish()
        monkeypatch.setattr(cluster, "_FIRST", 1.0)  # of which a worker that is there needs more
        with there(other, address):
            assert not futures[-1].done()
        assert [future.result(60).grade.student for future in futures] == [h.student for h in work]


def test_a_worker_that_isolates_too_little_is_refused(course, address, tmp_path):
    first = "from dataclasses import replace\nreal = station.probe()\n"
    first += "station.probe = lambda: type(real)('C', ())\n"
    (there := tmp_path / "there").mkdir()
    with worker(there, address, first=first, TMPDIR=str(there)):
        assert "can't isolate student code" in refused(course, address)
        assert not list(there.rglob(FILE))


def test_a_worker_without_the_course_s_packages_is_refused(course, address, tmp_path):
    module = course.root / "reference" / A / "fall.py"
    module.write_text(f"import not_there_yet\n{module.read_text()}")
    (there := tmp_path / "there").mkdir()
    with worker(there, address, TMPDIR=str(there)):
        said = refused(course, address)
        assert "not_there_yet (reference/m01_motion/fall.py imports it)" in said
        assert "install them on that machine" in said
        assert not list(there.rglob(FILE))


def test_a_worker_of_another_version_is_refused(course, address, tmp_path):
    first = (
        "from autograder.course.submissions import bundle\n"
        "bundle.engine_digest = lambda: b'older'\n"
    )
    with worker(tmp_path, address, first=first):
        assert "another version of the autograder" in refused(course, address)


def test_a_worker_that_may_start_no_processes_says_so(course, address, tmp_path):
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-dashboard"]
    with started(tmp_path, "worker", *command, "--nworkers", 1):
        assert "use `autograder worker`" in refused(course, address)


def test_a_scheduler_that_ends_is_said_and_the_next_run_goes_on(
    course, work, tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "_SILENT", 2)
    monkeypatch.setattr(cluster, "_CONNECT", 3)
    with scheduler(tmp_path) as (address, process), worker(tmp_path, address):
        done = grade_class(
            course, work, open_graders=lambda _: Cluster(course, address, insecure=True)
        )
        graded = [next(done)]
        process.kill()
        with pytest.raises(CourseError, match="is gone.*the next run goes on"):
            graded += done
        assert not logging.getLogger("distributed.batched").isEnabledFor(logging.ERROR)
    again = list(grade_class(course, work, open_graders=lambda _: Serial(course)))
    assert records(again) == here(course, work)


@pytest.mark.skipif(not shutil.which("openssl"), reason="not installed: openssl")
def test_encrypted_with_certificates_and_closed_to_others(course, work, tmp_path):
    tls, other = tmp_path / "tls", tmp_path / "other"
    for folder in (tls, other):
        make_certificates(folder, 2)
    names = {"ca-file": "ca", "cert": "cert", "key": "key"}
    options = [f"--tls-{option}={tls / name}.pem" for option, name in names.items()]
    with scheduler(tmp_path, "--protocol", "tls", *options) as (address, _):
        assert address.startswith("tls://")
        (tmp_path / "stranger").mkdir()
        with (
            worker(tmp_path / "stranger", address, "stranger", "--tls", other),
            worker(tmp_path, address, "worker", "--tls", tls) as (_, log),
        ):
            assert grade(course, work, address, tls=tls) == here(course, work)
            assert "Registered" in log.read_text()
            assert "Registered" not in (tmp_path / "stranger" / "stranger.log").read_text()
            with pytest.raises(CourseError, match="no scheduler answers"):
                Cluster(course, address, tls=other).__enter__()


def test_a_bundle_is_the_course_without_what_people_did(course, work, tmp_path):
    bundle = Bundle.of(course)
    assert bundle == Bundle.of(course)
    other = bundle.unpack(tmp_path / "other")
    assert other.titles == course.titles
    names = {path.relative_to(other.root).parts[0] for path in other.root.rglob("*")}
    assert names == {"course_config.py", FILE, "reference", "release"}
    with pytest.raises(CourseError, match="another version"):
        replace(bundle, digest="0" * 64).unpack(tmp_path / "third")
    assert not (tmp_path / "third").exists()


@pytest.mark.parametrize(
    ("address", "tls", "message"),
    [
        ("tls://h:1", None, "takes certificates"),
        ("tcp://h:1", "", "begins with tls://"),
        ("tcp://127.0.0.1:1", None, "use tls://"),
        ("tls://h:1", "", "ca.pem is missing"),
    ],
)
def test_address_and_certificates_go_together(address, tls, message, tmp_path):
    with pytest.raises(CourseError, match=message):
        cluster.certificates(address, None if tls is None else tmp_path)


def test_without_the_secret_nothing_is_sent(course, monkeypatch):
    monkeypatch.delenv(SECRET)
    with pytest.raises(CourseError, match=f"{SECRET} is not set"):
        Cluster(course, "tcp://127.0.0.1:1", insecure=True)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["grade", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"], "are for this machine"),
        (["grade", "--tls", "keys"], "--tls goes with --scheduler"),
        (["grade", "--scheduler", "tcp://127.0.0.1:1"], "use tls://"),
        (["grade", "--scheduler", "tcp://10.0.0.1:1", "--insecure"], "use tls://"),
        (["grade", "--insecure"], "--insecure goes with --scheduler"),
        (["grade", "--scheduler", "tcp://localhost:1", "--insecure"], "there are no submissions"),
        (["worker", "127.0.0.1:1"], "takes certificates"),
        (["worker", "tls://127.0.0.1:1"], "takes certificates"),
    ],
)
def test_commands_say_what_they_lack(course, command, message):
    done = subprocess.run(
        [*AUTOGRADER, *command], cwd=course.root, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_loaded_course_is_of_the_folder_that_it_was_unpacked_to(course, tmp_path):
    assert Bundle.of(course).unpack(tmp_path / "x").root == Path(tmp_path / "x")
    assert Course.load(tmp_path / "x").ids() == course.ids()
