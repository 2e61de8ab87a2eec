"""Whoever can write to the exchange or to an inbox hands in as himself, or not at all."""

import os
import pwd
import shutil
import socket
import stat
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from nbgrader.exchange.default.collect import ExchangeCollect
from nbgrader.exchange.default.release_assignment import ExchangeReleaseAssignment
from nbgrader.utils import parse_utc
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.config import Course, CourseError
from autograder.course.opening import NotOrdinary, read_once
from autograder.course.submissions.hand_in import teams
from autograder.course.submissions.handed_in import Unreadable, read_content
from autograder.delivery.department.arrivals import Arrivals
from autograder.delivery.department.releasing import hand_out
from autograder.delivery.nbgrader import exchange
from autograder.delivery.nbgrader.database import parsed_time, small_text
from autograder.delivery.nbgrader.exchange_owners import faults, unsafe
from autograder.delivery.nbgrader.handed_over import NotTaken, read_name
from autograder.delivery.platforms.collect import collect
from autograder.delivery.platforms.lms_files import opened_source

from ..courses import copied

A = "m01_motion"
ROOT_ALONE = pytest.mark.skipif(os.geteuid() != 0, reason="files of other users take root")
#: Accounts of every system; whoever hands in has one of them.
EVE, ADA = "nobody", "daemon"


def uid(name):
    return pwd.getpwnam(name).pw_uid


@pytest.fixture
def classroom(tmp_path, generated, monkeypatch):
    """A course whose assignment is released to an exchange of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    course = copied(tmp_path / "course", generated)
    config = course.root / "course_config.py"
    config.write_text(f"{config.read_text()}\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n")
    course = Course.load(course.root)
    hand_out(course, [A], "exchange")
    return course


@pytest.fixture
def invoke():
    """Give a command."""
    return lambda *words: CliRunner().invoke(app, [*map(str, words)])


def now(**earlier):
    return f"{datetime.now(UTC) - timedelta(**earlier):%Y-%m-%d %H:%M:%S.%f} UTC"


def hand_in(course, student, owner, *, time=None, stamp=None, text='{"cells": []}', random="x"):
    """Hand in as nbgrader does, with whatever name and time."""
    time = time or now()
    folder = exchange.inbound(course) / f"{student}+{A}+{time}+{random}"
    folder.mkdir()
    (folder / f"{A}.ipynb").write_text(text)
    (folder / "timestamp.txt").write_text(stamp or time)
    (folder / "submission_secret.txt").write_text("s")
    for path in (folder, *folder.iterdir()):
        os.chown(path, uid(owner), -1)
    folder.chmod(0o777)
    return folder


def taken(course):
    return {path.parents[1].name: path for path in course.root.glob(f"submitted/*/{A}/*.ipynb")}


@pytest.fixture
def as_nbgrader(monkeypatch):
    """nbgrader's own collecting, which the tests below are controls of."""
    for name in ("init_src", "copy_files"):
        monkeypatch.setattr(exchange.CollectFiles, name, getattr(ExchangeCollect, name))


def eve_says_that_she_is_ada(course):
    hand_in(course, ADA, EVE)


def eve_comes_after_ada(course):
    hand_in(course, ADA, ADA, time=now(minutes=2))
    hand_in(course, ADA, EVE, text='{"cells": ["eve"]}')


def eve_says_that_she_came_early(course):
    hand_in(course, EVE, EVE, time=now(days=3))


def eve_writes_an_early_time_inside(course):
    hand_in(course, EVE, EVE, stamp=now(days=3))


def eve_replaces_what_ada_handed_in(course):
    """She has guessed the name; nbgrader leaves the folder open to everybody."""
    path = hand_in(course, ADA, ADA) / f"{A}.ipynb"
    path.unlink()
    path.write_text('{"cells": ["eve"]}')
    os.chown(path, uid(EVE), -1)


def eve_changes_hers_later(course):
    """The name stays as it was three days ago."""
    folder = hand_in(course, EVE, EVE, time=now(days=3))
    os.utime(folder, (0, 0))


def eve_links_the_notebook(course):
    path = hand_in(course, EVE, EVE) / f"{A}.ipynb"
    path.unlink()
    path.symlink_to(course.root / "course_config.py")


def eve_links_the_folder(course):
    secret = course.root / "elsewhere"
    shutil.copytree(hand_in(course, ADA, ADA), secret)
    shutil.rmtree(exchange.inbound(course) / next(exchange.inbound(course).iterdir()).name)
    (exchange.inbound(course) / f"{EVE}+{A}+{now()}+x").symlink_to(secret)


def eve_links_hard(course):
    victim = course.root / "marks.ipynb"
    victim.write_text("MARKS")
    path = hand_in(course, EVE, EVE) / f"{A}.ipynb"
    path.unlink()
    os.chown(victim, uid(ADA), -1)
    os.link(victim, path)


def eve_puts_a_pipe_there(course):
    path = hand_in(course, EVE, EVE) / "pipe"
    os.mkfifo(path)


ATTACKS = {
    f.__name__: f
    for f in (
        eve_says_that_she_is_ada,
        eve_comes_after_ada,
        eve_says_that_she_came_early,
        eve_writes_an_early_time_inside,
        eve_replaces_what_ada_handed_in,
        eve_changes_hers_later,
        eve_links_the_notebook,
        eve_links_the_folder,
        eve_links_hard,
        eve_puts_a_pipe_there,
    )
}
#: Whose submission is there afterwards: Ada's own stays hers.
STAYS = {"eve_comes_after_ada": {ADA}}


@ROOT_ALONE
@pytest.mark.parametrize("attack", ATTACKS)
def test_it_is_left_and_named(classroom, attack, tmp_path, invoke):
    ATTACKS[attack](classroom)
    done = invoke("collect", A, "--course", classroom.root)
    assert done.exit_code == 1, done.output
    assert "is not collected" in done.output
    assert taken(classroom).keys() == STAYS.get(attack, set())
    assert all("eve" not in path.read_text() for path in taken(classroom).values())


@ROOT_ALONE
@pytest.mark.parametrize("attack", [name for name in ATTACKS if "pipe" not in name])
def test_nbgrader_s_own_takes_it(classroom, attack, as_nbgrader):
    """The control of each attack; a pipe would be waited for."""
    ATTACKS[attack](classroom)
    collect(classroom, [A])
    who = ADA if attack in ("eve_says_that_she_is_ada", "eve_comes_after_ada") else None
    assert taken(classroom).keys() & {who or EVE, ADA}


@ROOT_ALONE
def test_what_is_their_own_is_taken(classroom):
    """The positive control: handed in a moment ago, by themselves, twice."""
    hand_in(classroom, EVE, EVE, time=now(minutes=3), text='{"cells": [1]}')
    hand_in(classroom, EVE, EVE, text='{"cells": [2]}', random="y")
    hand_in(classroom, ADA, ADA)
    result = collect(classroom, [A])
    assert (sorted(result.new), result.problems) == ([(ADA, A), (EVE, A)], [])
    assert taken(classroom)[EVE].read_text() == '{"cells": [2]}'
    assert collect(classroom, [A]).unchanged


@ROOT_ALONE
def test_what_a_student_says_of_platform_number_and_team_is_not_collected(classroom):
    folder = hand_in(classroom, EVE, EVE)
    forged = folder / "collected.json"
    forged.write_text(f'{{"platform": "moodle", "number": "15", "team": ["{EVE}", "{ADA}"]}}')
    os.chown(forged, uid(EVE), -1)
    assert collect(classroom, [A]).new == [(EVE, A)]
    assert teams(classroom, A) == {}
    assert not taken(classroom)[EVE].with_name("collected.json").exists()


@ROOT_ALONE
def test_what_whoever_collects_has_copied_is_taken(classroom):
    """So a hand-in that was left for good reasons can be taken after all."""
    folder = hand_in(classroom, EVE, EVE, time=now(days=3))
    copy = folder.with_name(f"{folder.name}2")
    shutil.copytree(folder, copy)
    shutil.rmtree(folder)
    assert collect(classroom, [A]).new == [(EVE, A)]


@ROOT_ALONE
def test_an_earlier_submission_stays_where_a_later_one_is_not_taken(classroom):
    hand_in(classroom, EVE, EVE, text='{"cells": [1]}', time=now(minutes=5))
    collect(classroom, [A])
    (hand_in(classroom, EVE, EVE, random="y") / "more").symlink_to("/etc/passwd")
    assert collect(classroom, [A]).problems
    assert taken(classroom)[EVE].read_text() == '{"cells": [1]}'


NAMES = [
    f"{EVE}+{A}+junk",
    f"{EVE}+{A}+",
    f"..+{A}+2026-05-04 10:00:00 UTC",
    f".+{A}+2026-05-04 10:00:00 UTC",
    f"+{A}+2026-05-04 10:00:00 UTC",
    f"-rf+{A}+2026-05-04 10:00:00 UTC",
    f"=1+{A}+2026-05-04 10:00:00 UTC",
    f"{EVE}+{A}+99999999999999999999",
    f"{EVE}+{A}+0 0 UTC0",
    f"{EVE}\n[ERROR]+{A}+2026-05-04 10:00:00 UTC",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_can_t_be_read_stops_nobody_else(classroom, name):
    (exchange.inbound(classroom) / name).mkdir()
    folder = exchange.inbound(classroom) / f"ada+{A}+{now()}+x"
    folder.mkdir()
    for file in (f"{A}.ipynb", "timestamp.txt", "submission_secret.txt"):
        (folder / file).write_text("{}")
    result = collect(classroom, [A])
    assert result.new == [("ada", A)]
    assert len(result.problems) == 1
    assert {path.name for path in (classroom.root / "submitted").iterdir()} == {"ada"}
    assert not (classroom.root / A).exists()


@pytest.mark.parametrize("name", NAMES[:2])
def test_nbgrader_s_own_is_stopped_by_it(classroom, name, as_nbgrader):
    """The control."""
    (exchange.inbound(classroom) / name).mkdir()
    with pytest.raises((CourseError, ValueError)):
        collect(classroom, [A])


def test_a_plus_in_an_id_is_part_of_it():
    for more in ("", "+abc-_1"):
        name = read_name(f"a+b+{A}+2026-05-04 10:00:00 UTC{more}", A)
        assert (name.student, name.time) == ("a+b", datetime(2026, 5, 4, 10))
    with pytest.raises(NotTaken):
        read_name(f"a+{A}2+2026-05-04 10:00:00 UTC", A)


@pytest.mark.parametrize(
    "text", ["x" * 900, "1 2 3", "0 0 /etc/shadow", "TZ", "∞", "1" * 400, "\0"]
)
def test_no_text_for_a_time_ends_anything(text):
    parsed_time(text)


@pytest.mark.parametrize("zone", ["{}", ":{}", "//{}"])
def test_the_zone_of_a_time_opens_no_file(zone, tmp_path, monkeypatch):
    (zones := tmp_path / "zones").write_text("of somebody else's")
    opened = []
    monkeypatch.setattr("dateutil.tz.tz.tzfile", lambda name, **_: opened.append(name))
    text = f"2026-05-04 10:00:00 {zone.format(zones)}"
    assert parsed_time(text) is None
    assert not opened
    parse_utc(text)
    assert opened  # the control, nbgrader's own


def test_releasing_makes_folders_sticky(classroom, tmp_path):
    root, inbound = tmp_path / "exchange", exchange.inbound(classroom)
    assert stat.S_IMODE(root.stat().st_mode) == 0o1777
    assert stat.S_IMODE(inbound.stat().st_mode) == 0o3733
    hand_out(classroom, [A], "exchange")  # again: nbgrader finds nothing to put right
    assert stat.S_IMODE(root.stat().st_mode) == 0o1777
    assert not faults(classroom.root, root, classroom.id)


def test_nbgrader_s_own_leaves_them_open(classroom, tmp_path, monkeypatch, invoke):
    """The control, and what is said of it."""
    shutil.rmtree(tmp_path / "exchange")
    for name in ("ensure_root", "init_dest"):
        monkeypatch.setattr(exchange.ReleaseFiles, name, getattr(ExchangeReleaseAssignment, name))
    hand_out(classroom, [A], "exchange")
    assert stat.S_IMODE((tmp_path / "exchange").stat().st_mode) == 0o777
    assert "chmod +t" in unsafe(tmp_path / "exchange")
    assert "chmod +t" in collect(classroom, [A]).notes[-1]
    done = invoke("doctor", "--course", classroom.root)
    assert done.exit_code == 1
    assert "chmod +t" in done.output


def as_user(name, work):
    """Do something as another user; return the exit status."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(pwd.getpwnam(name).pw_gid)
            os.setuid(uid(name))
            work()
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@ROOT_ALONE
def test_nobody_replaces_the_course_or_a_hand_in(classroom, tmp_path):
    for path in [tmp_path, *tmp_path.parents]:
        path.chmod(path.stat().st_mode | 0o111)
    root, course = tmp_path / "exchange", tmp_path / "exchange" / classroom.id
    sent = hand_in(classroom, ADA, ADA)
    replaced = lambda path: lambda: path.rename(path.with_name("gone"))  # noqa: E731
    assert as_user(EVE, replaced(course)) == 1
    assert as_user(EVE, replaced(sent)) == 1
    exchange.inbound(classroom).chmod(0o2733)  # the controls: as nbgrader leaves them
    assert as_user(EVE, replaced(sent)) == 0
    root.chmod(0o777)
    assert as_user(EVE, replaced(course)) == 0


@ROOT_ALONE
@pytest.mark.parametrize("place", ["", "inbound", "outbound"])
def test_nothing_is_taken_from_a_course_that_is_somebody_else_s(classroom, place, invoke):
    hand_in(classroom, EVE, EVE)
    folder = exchange.inbound(classroom).parent / place
    os.chown(folder, uid(EVE), -1)
    with pytest.raises(CourseError, match=f"belongs to {EVE}"):
        collect(classroom, [A])
    with pytest.raises(CourseError, match=f"belongs to {EVE}|don't own"):
        hand_out(classroom, [A], "exchange")
    assert not taken(classroom)
    done = invoke("doctor", "--course", classroom.root)
    assert done.exit_code == 1
    assert f"belongs to {EVE}" in done.output
    os.chown(folder, 0, -1)  # the control
    assert collect(classroom, [A]).new == [(EVE, A)]


def before_the_course(root, course):
    """Eve makes the course's folder before anybody releases."""
    (root / course / "inbound").mkdir(parents=True)
    os.chown(root / course, uid(EVE), -1)


def a_link_to_hers(root, course):
    (root.parent / "hers").mkdir()
    (root / course).symlink_to(root.parent / "hers")


def a_link_to_nothing_yet(root, course):
    (root / course).symlink_to(root.parent / "later")


def a_link_to_the_instructor_s(root, course):
    """What is released there is put into a folder that has nothing to do with it."""
    (root.parent / "elsewhere").mkdir()
    (root / course).symlink_to(root.parent / "elsewhere")


def a_link_for_what_students_fetch(root, course):
    (root / course).mkdir()
    (root.parent / "hers").mkdir()
    (root / course / "outbound").symlink_to(root.parent / "hers")


def a_file_for_the_course(root, course):
    (root / course).write_text("")


BEFOREHAND = {
    f.__name__: f
    for f in (
        before_the_course,
        a_link_to_hers,
        a_link_to_nothing_yet,
        a_link_to_the_instructor_s,
        a_link_for_what_students_fetch,
        a_file_for_the_course,
    )
}


@ROOT_ALONE
@pytest.mark.parametrize("attack", BEFOREHAND)
@pytest.mark.parametrize("action", ["release_assignment", "release_feedback"])
def test_nothing_is_put_where_somebody_was_first(classroom, tmp_path, attack, action, invoke):
    root = tmp_path / "exchange"
    shutil.rmtree(root / classroom.id)
    BEFOREHAND[attack](root, classroom.id)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(CourseError, match="belongs to"):
        exchange.run(classroom, action, A)
    assert sorted(tmp_path.rglob("*")) == before
    done = invoke("doctor", "--course", classroom.root)
    assert done.exit_code == 1
    assert "in the place of yours" in done.output


@pytest.mark.parametrize(
    "attack",
    [a_link_to_hers, a_link_to_the_instructor_s, a_link_for_what_students_fetch],
)
def test_nbgrader_s_own_puts_it_there(classroom, tmp_path, attack, monkeypatch):
    """The control: who may write there is who puts the link there."""
    shutil.rmtree(tmp_path / "exchange" / classroom.id)
    attack(tmp_path / "exchange", classroom.id)
    monkeypatch.setattr(exchange, "not_the_instructors", lambda *_: [])
    exchange.run(classroom, "release_assignment", A)
    folders = [*tmp_path.glob("hers"), *tmp_path.glob("elsewhere")]
    assert [path for folder in folders for path in folder.rglob("check.py")]


@ROOT_ALONE
@pytest.mark.parametrize("place", ["", "outbound", f"outbound/{A}", "feedback"])
def test_doctor_names_every_folder_that_is_open_and_whose_it_is(classroom, tmp_path, place, invoke):
    folder = tmp_path / "exchange" / classroom.id / place
    folder.mkdir(exist_ok=True)
    assert invoke("doctor", "--course", classroom.root).exit_code == 0  # the control
    folder.chmod(0o777)
    done = invoke("doctor", "--course", classroom.root)
    assert done.exit_code == 1
    assert f"chmod +t {folder}" in done.output
    folder.chmod(0o755)
    os.chown(folder, uid(EVE), -1)
    assert f"belongs to {EVE}" in invoke("doctor", "--course", classroom.root).output


@ROOT_ALONE
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # nbgrader's file
def test_feedback_is_not_published_into_a_folder_of_hers(classroom, tmp_path):
    folder = tmp_path / "exchange" / classroom.id / "feedback"
    folder.mkdir(mode=0o777)
    page = classroom.folder("feedback") / ADA / A
    page.mkdir(parents=True)
    for name in (f"{A}.html", "timestamp.txt", "submission_secret.txt"):
        (page / name).write_text(now())
    exchange.run(classroom, "release_feedback", A)
    assert len(list(folder.iterdir())) == 1  # the control
    shutil.rmtree(folder)
    folder.mkdir(mode=0o777)
    os.chown(folder, uid(EVE), -1)
    with pytest.raises(CourseError, match=f"belongs to {EVE}"):
        exchange.run(classroom, "release_feedback", A)
    assert not list(folder.iterdir())


class Swapping(threading.Thread):
    """Puts a link in the place of a file, and the file back, without end."""

    def __init__(self, path, target):
        super().__init__(daemon=True)
        self.path, self.ended = Path(path), threading.Event()
        self.link, self.kept = self.path.with_name(".link"), self.path.with_name(".kept")
        self.link.symlink_to(target)
        shutil.copytree(path, self.kept) if self.path.is_dir() else shutil.copy(path, self.kept)

    def run(self):
        while not self.ended.is_set():
            os.rename(self.path, self.path.with_name(".away"))  # noqa: PTH104
            os.rename(self.link, self.path)  # noqa: PTH104
            os.rename(self.path, self.link)  # noqa: PTH104
            os.rename(self.path.with_name(".away"), self.path)  # noqa: PTH104

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self.join()


@pytest.fixture
def inbox(tmp_path):
    """An inbox with Eve's notebook, and another student's elsewhere."""
    for student, folder in (("eve", "inbox/eve"), ("ada", "secret")):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"{A}.ipynb").write_text(f'{{"cells": [], "of": "{student}"}}')
        (tmp_path / folder / "timestamp.txt").write_text("2026-05-04 10:00:00 UTC")
    return tmp_path / "inbox"


@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_a_race_never_yields_what_a_link_leads_to(inbox, swapped):
    path = inbox / "eve" / f"{A}.ipynb"
    secret = inbox.parent / "secret"
    what, target = (path, secret / path.name) if swapped == "file" else (path.parent, secret)
    found, naive = Counter(), Counter()
    with Swapping(what, target):
        until = time.monotonic() + 30
        while (found["eve"] < 100 or not naive["ada"]) and time.monotonic() < until:
            try:
                found[read_once(path, 1000, beneath=inbox).decode()[-5:-2]] += 1
            except (NotOrdinary, OSError):
                found["refused"] += 1
            try:  # the control: looked at as a file, and read as a link
                if not path.is_symlink() and path.is_file():
                    naive[path.read_bytes().decode()[-5:-2]] += 1
            except OSError:
                pass
    assert found["ada"] == 0
    assert found["eve"] > 0
    assert naive["ada"] > 0


@pytest.mark.parametrize("kind", ["link", "link on the way", "pipe", "folder", "socket", "large"])
def test_what_is_no_file_is_read_by_nobody(inbox, kind, monkeypatch):
    path = inbox / "eve" / f"{A}.ipynb"
    secret = inbox.parent / "secret"
    if kind == "link on the way":
        shutil.rmtree(path.parent)
        path.parent.symlink_to(secret)
    else:
        path.unlink()
        if kind == "link":
            path.symlink_to(secret / path.name)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "socket":
            with socket.socket(socket.AF_UNIX) as server:  # its addresses are short
                monkeypatch.chdir(path.parent)
                server.bind(path.name)
        else:
            path.write_text("x" * 2000)
    with pytest.raises((NotOrdinary, OSError)):
        read_once(path, 1000, beneath=inbox)
    if kind != "link on the way":
        assert small_text(path) == ""
    if kind not in ("link on the way", "large"):
        with pytest.raises(Unreadable):
            read_content(path)
    with opened_source(inbox) as source:
        for file in source.files:
            assert kind in ("large", "pipe", "socket")
            if kind != "large":
                with pytest.raises(ValueError, match="no ordinary file"):
                    file.read()
    watched = Arrivals(inbox)
    watched.look()
    assert "ada" not in str(watched.unfinished)


def test_what_changes_while_it_is_collected_is_left(course, inbox, monkeypatch):
    from autograder.delivery.platforms import collector as module

    path = inbox / "eve" / f"{A}.ipynb"
    store = module.Collector.store

    def changed(self):
        path.write_text('{"cells": [], "of": "another"}')
        store(self)

    monkeypatch.setattr(module.Collector, "store", changed)
    result = collect(course, [A], inbox)
    assert "it changed while it was collected" in str(result.problems[0])
    assert not taken(course)
