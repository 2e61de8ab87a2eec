"""Ids, class lists, addresses, pages: what comes in is checked, and what lies there is shut."""

import json
import os
import random
import re
import stat
import struct
import zlib
from base64 import b64encode
from html import unescape
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.strings import clean_html as nbconvert_s
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.config import Course, CourseError
from autograder.course.people.roster import LARGEST, declared
from autograder.course.people.roster_import import import_roster
from autograder.course.server import shown
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.records import write_record
from autograder.delivery.nbgrader.database import open_gradebook
from autograder.delivery.nbgrader.moving import copy_gradebook
from autograder.delivery.nbgrader_settings import configure
from autograder.delivery.pages.sanitise import clean_html, markdown2html, sanitised
from autograder.grading.results import Grade
from autograder.sandbox import outputs
from autograder.sandbox.pictures import MOST

IDS = [
    ".",
    "..",
    "./",
    "../..",
    "/",
    "/etc",
    "ada/..",
    "ada/../bob",
    "",
    "*",
    "-rf",
    "=ada",
    "a\nb",
]


@pytest.fixture
def handed_in(course):
    """A course in which two have handed in."""
    for student in ("ada", "bob"):
        path = course.submission(student, "m01_motion")
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    return course


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("words", ["remove {}", "rename {} new", "rename ada {}", "merge {} ada"])
def test_no_command_takes_what_is_no_id(handed_in, id, words):
    arguments = [word.replace("{}", id) for word in words.split(" ")]
    command = ["student", arguments[0], "--yes", f"--course={handed_in.root}", "--"]
    done = CliRunner().invoke(app, [*command, *arguments[1:]])
    assert done.exit_code != 0, done.output
    assert sorted(path.name for path in handed_in.folder("submitted").iterdir()) == ["ada", "bob"]
    assert not (handed_in.root / "removed").exists()


@pytest.mark.parametrize("id", ["..", "ada/../bob", ""])
def test_no_other_door_takes_it(handed_in, id):
    where = f"--course={handed_in.root}"
    until = ["--until", "2030-01-01 00:00 UTC"]
    done = CliRunner().invoke(app, ["extension", where, *until, "--", id, "m01"])
    assert done.exit_code != 0
    config = handed_in.root / "course_config.py"
    config.write_text(f"{config.read_text()}\nc.Course.students = [{id!r}]\n")
    with pytest.raises(CourseError, match="can't be a student's id"):
        declared(Course.load(handed_in.root))


def test_a_folder_that_is_named_so_would_be_moved(handed_in):
    """The control: what `remove .` did, by the same means."""
    folder = handed_in.folder("submitted") / "."
    assert sorted(path.name for path in folder.iterdir()) == ["ada", "bob"]


@pytest.mark.parametrize("id", ["../../evil", "/tmp/evil-of-autograder", "=1+1", "a\x1b[2J", "a/b"])
def test_a_student_whom_nbgrader_has_under_no_id_is_nobody(handed_in, id, monkeypatch):
    """`progress` wrote a page for each, in the folder of that name."""
    monkeypatch.chdir(handed_in.root)  # where grades are exported to
    with open_gradebook(handed_in) as gradebook:
        gradebook.add_student(id)
        gradebook.add_student("cy")
        assert id in [row.id for row in gradebook.students]  # the control
    before = {*handed_in.root.parent.rglob("*")}
    for command in (["progress"], ["export", "--to", "csv"], ["grade"], ["feedback"]):
        done = CliRunner().invoke(app, [*command, f"--course={handed_in.root}"])
        assert done.exit_code == 0, done.output
        assert id not in done.output
    new = {*handed_in.root.parent.rglob("*")} - before
    assert all(path.is_relative_to(handed_in.root) for path in new)
    assert "cy" in {path.name for path in handed_in.folder("feedback").iterdir()}
    assert not Path("/tmp/evil-of-autograder").exists()


@pytest.mark.parametrize("words", ["rename bob ADA", "rename bob aDa"])
def test_nobody_becomes_another_but_for_capitals(handed_in, words):
    """The class list couldn't be read any more."""
    (handed_in.root / "students.csv").write_text("id\nada\nbob\n")
    where = f"--course={handed_in.root}"
    done = CliRunner().invoke(app, ["student", *words.split(), "--yes", where])
    assert done.exit_code == 1
    assert "but for capital letters" in str(done.exception)
    assert [person.id for person in declared(handed_in)] == ["ada", "bob"]
    done = CliRunner().invoke(app, ["student", "rename", "bob", "BOB", "--yes", where])
    assert done.exit_code == 0  # the control: his own


@pytest.mark.parametrize("id", ["../x", "\x1b[2J", "a\nb", "[red]x[/red]", "[/x]", "x" * 100_000])
def test_an_id_that_is_typed_in_a_notebook_writes_nothing_but_itself(course, tmp_path, id):
    notebook = json.loads((course.root / "release/m01_motion/m01_motion.ipynb").read_text())
    typed = {"cell_type": "code", "source": f"student('{id}')", "metadata": {}, "outputs": []}
    notebook["cells"] = [None, 7, typed, *notebook["cells"]]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook))
    done = CliRunner().invoke(app, ["grade-file", str(path), f"--course={course.root}"])
    assert done.exit_code == 0, done.exception
    assert all(sign.isprintable() for line in done.output.split("\n") for sign in line)


PASSWORDS = [
    "postgresql+psycopg://ada@db/course?password=hunter2",
    "postgresql+psycopg://ada@db/course?sslmode=require&password=hunter2",
    "postgresql+psycopg://ada@db/course?PASSWORD=hunter2",
    "postgresql+psycopg://ada@db/course?p%61ssword=hunter2",
    "postgresql+psycopg://db/course?user=ada&sslpassword=hunter2",
    "postgresql+psycopg://ada@db/course?passwd=hunter2",
]


@pytest.mark.parametrize("url", PASSWORDS)
def test_a_password_behind_the_question_mark_is_refused_and_never_printed(course, url):
    assert "hunter2" not in shown(url)
    with pytest.raises(CourseError) as refused:
        copy_gradebook(course, url)
    assert "hunter2" not in str(refused.value)
    config = course.root / "course_config.py"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {url!r}\n")
    for command in (["grade"], ["doctor"], ["report"], ["collect"]):
        done = CliRunner().invoke(app, [*command, f"--course={course.root}"])
        assert done.exit_code == 1
        assert "hunter2" not in done.output


@pytest.mark.parametrize(
    "url",
    [
        "postgres//ada:hunter2@db",
        "x y z?password=hunter2",
        "://a:hunter2@",
        "host=db password=hunter2",
        "postgresql://ada:hunter2@hunter2@db/c",
        "postgresql://ada%3Ahunter2@db/c",
        "postgresql://ada@db/c#password=hunter2",
        "postgresql://ada@db/c? password=hunter2",
        "postgresql://ada@db/c?PGPASSWORD=hunter2",
        "postgresql://ada@db/c?token=hunter2",
        "postgresql://ada@db/c?options=-c%20password%3Dhunter2",
    ],
)
def test_nor_is_one_of_what_is_no_address(url):
    assert "hunter2" not in shown(url)


def test_an_address_without_one_is_an_address():
    """The control."""
    for url in (
        "postgresql+psycopg://ada@db/course?sslmode=require",
        "postgresql+psycopg://ada@[::1]:5432/course",
        "sqlite:////srv/course/gradebook.db",
    ):
        assert shown(url) == url


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("setting", "file", "folder"), [("", 0o600, 0o700), ("True", 0o660, 0o2770)]
)
def test_marks_are_for_the_course_s_people_alone(course, setting, file, folder):
    config = course.root / "course_config.py"
    shared = f"c.CourseDirectory.groupshared = {setting}\n" if setting else ""
    config.write_text(f"{config.read_text()}\n{shared}")
    course = Course.load(course.root)
    (course.root / "gradebook.db").unlink(missing_ok=True)
    with open_gradebook(course):
        pass
    assert mode(course.root / "gradebook.db") == file
    (course.root / "records").mkdir(exist_ok=True)
    (course.root / "records").chmod(0o755)  # as earlier versions made it
    write_record(course, Graded.of(Grade("m01_motion", "ada", "A", []), {"cells": []}))
    assert mode(course.root / "records") == folder
    assert mode(course.record("ada", "m01_motion")) == file


def test_doctor_says_that_others_can_read_a_gradebook(course):
    def said(mode):
        (course.root / "gradebook.db").chmod(mode)
        return CliRunner().invoke(app, ["doctor", "--course", str(course.root)]).output

    with open_gradebook(course):
        pass
    assert "chmod 600" in said(0o644)
    assert "chmod 600" not in said(0o600)  # the control


def test_the_pack_for_gradescope_is_shut(course, tmp_path):
    where = f"--course={course.root}"
    done = CliRunner().invoke(app, ["gradescope", "m01", where, "--to", str(tmp_path / "g.zip")])
    assert done.exit_code == 0, done.output
    assert mode(tmp_path / "g.zip") == 0o600


HEADERS = ["Student,ID,SIS Login ID", "SID,Email", "First name,Last name,Email address"]


def fuzzed(seed):
    """A platform's table, or JupyterHub's list, with something wrong with it."""
    rng = random.Random(seed)
    rows = [
        f"Ada {i},{rng.randint(0, 9)},u{rng.randint(0, 20)}@x" for i in range(rng.randint(0, 9))
    ]
    text = "\n".join([rng.choice(HEADERS), *rows])
    hub = json.dumps([{"name": f"u{i}"} for i in range(5)])
    content = bytearray(rng.choice([text, text, hub]).encode(rng.choice(["utf-8", "utf-16"])))
    for _ in range(rng.randint(0, 8)):
        at = rng.randrange(len(content) + 1)
        junk = [b"\0", b'"', b"\r", b"\xff\xfe", b",,,", b"\xed\xa0\x80", b"\n" * 9, b"[" * 5000]
        junk += [b'"' + b"x" * 200_000, rng.randbytes(9), b"\\ud800", b"=cmd()", "ß\u202e".encode()]
        content[at : at + rng.randint(0, 9)] = rng.choice(junk)
    return bytes(content)


def test_no_class_list_makes_a_traceback(course, tmp_path):
    path, list_ = tmp_path / "people.csv", course.root / "students.csv"
    known, said = 0, []
    for seed in range(250):
        list_.unlink(missing_ok=True)
        path.write_bytes(fuzzed(seed))
        try:
            known += len(import_roster(course, path).new)
            declared(course)  # what was written is read again
        except CourseError as error:
            said.append(str(error))
    assert max(map(len, said)) < 2000
    assert known > 100  # the control: many are read


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "large", "deep"])
def test_what_is_no_class_list_is_not_read(course, tmp_path, kind):
    path = tmp_path / "people"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"[" * (LARGEST + 1 if kind == "large" else 1_000_000))
    with pytest.raises(CourseError):
        import_roster(course, path)


def test_ids_that_differ_by_capitals_are_said(course, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("SID,Email\nada,a@x\nADA,b@x\nbob,c@x\n")
    done = import_roster(course, path)
    assert done.new == ["ada", "bob"]
    assert "ADA is ada but for capital letters" in done.notes[0]
    assert [person.id for person in declared(course)] == ["ada", "bob"]  # it can be read again


def test_a_large_class_list_is_taken_over_in_one_go(course, tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"u{i},u{i}@example.org" for i in range(30_000)]
    path.write_text("\n".join(["SID,Email", *rows]))
    assert len(import_roster(course, path).new) == 30_000
    assert len(import_roster(course, path).completed) == 0


@pytest.mark.parametrize("row", ["u{},same@example.org", "ada,u{}@example.org", "same,same@x"])
def test_thousands_under_one_name_or_address_take_no_square_of_that(course, tmp_path, row):
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["SID,Email", *(row.format(i) for i in range(30_000))]))
    done = import_roster(course, path)
    [person] = declared(course)
    assert len(done.new) == 1
    assert len(person.aliases) + sum(map(len, person.numbers.values())) <= 100
    path.write_text("SID,Email\nbob,b@x\nrobert,b@x\n")  # the control: two names of one
    import_roster(course, path)
    assert "robert" in next(p for p in declared(course) if p.id == "bob").aliases or (
        "robert" in str(next(p for p in declared(course) if p.id == "bob").numbers)
    )


COVERS = [
    '<a class="navbar-fixed-top navbar-fixed-bottom" href="https://x.example">mark here</a>',
    '<div class="modal-backdrop in">x</div>',
    '<div class="modal fade in" role="dialog">x</div>',
    '<span class="navbar navbar-fixed-top">x</span>',
    '<p id="notebook">x</p>',
    '<div id="comment-box-1">x</div>',
    '<a href="https://x.example" style="position:fixed;inset:0">x</a>',
    '<input form="f" type="submit" autofocus>',
    '<form action="https://x.example"><button>Save</button></form>',
    '<dialog open class="modal">x</dialog>',
    '<label for="score">x</label>',
    '<img src="https://x.example/seen.png" class="modal">',
    '<base href="https://x.example">',
    '<meta http-equiv="refresh" content="0;url=https://x.example">',
]
_TELLING = (
    "navbar",
    "modal",
    'id="',
    "style=",
    "<input",
    "<form",
    "<dialog",
    "for=",
    "<base",
    "<meta",
)


def page(vector, filters):
    cell = nbformat.v4.new_raw_cell(vector, metadata={"raw_mimetype": "text/html"})
    config = Config()
    configure(config)
    config.HTMLExporter.filters = {**config.HTMLExporter.filters, **filters}
    exporter = HTMLExporter(config=config, template_name="classic")
    html, _ = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    return html.partition("<body")[2].partition('id="notebook-container"')[2]


@pytest.mark.parametrize("vector", COVERS)
def test_a_raw_cell_covers_nothing(vector):
    for html in (page(vector, {}), clean_html(vector.encode())):
        its_own = html.replace(' style="contain:paint;overflow:auto"', "")
        assert not [word for word in _TELLING if word in its_own]


#: What MathJax would make a link, a class, a place or a macro of.
FORMULAS = [
    r"\\href{javascript:x()}{y}",
    r"\\\\href{javascript:x()}{y}",
    r"\verb\x\\href{javascript:x()}{y}",
    r"\h<wbr>ref{javascript:x()}{y}",
    r"\h<!-- -->ref{javascript:x()}{y}",
    r"&#92;href{javascript:x()}{y}",
    r"\mmlToken{mi}[href='javascript:x()' style='position:fixed' class='modal']{x}",
    r"\csname href\endcsname{javascript:x()}{y}",
    r"\let\x\href \x{javascript:x()}{y}",
    r"\href\href{javascript:x()}{y}",
    r"\html\htmlClass{modal}{x}",
    r"\htmlStyle{position:fixed}{x}",
    r"\cssId{comment-box}{x}",
    r"\unicode[x;position:fixed]{x41}",
    r"\require{html}",
    r"\class{navbar-fixed-top}{x}",
    r"\style{position:fixed}{x}",
]
_MACRO = re.compile(
    r"\\(?:<wbr>)?(?:h(?:<wbr>)?ref|mmlToken|csname|html|cssId|unicode|require|class|style)"
)


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("text", ["${}$", "<div>$${}$$</div>", r"\({}\)"])
def test_a_formula_makes_no_link_and_takes_no_place(formula, text):
    text = text.replace("{}", formula, 1)
    for html in (clean_html(text), markdown2html({}, text)):
        assert not _MACRO.search(html.replace("&#92;", "\\"))
    assert _MACRO.search(re.sub("<!--.*?-->", "", unescape(text)))  # the control


def test_formulas_stay():
    """The control."""
    text = r"$\frac{a}{b} \\ \sum_{i \lt n} \mathbb{R} \hrefs \dataset \classy$"
    assert text in clean_html(text)


DEEP = ["<div>", "<b><p>", "<div></b>", "<blockquote>", "<div><table><td></div>", "<ul><li>"]


@pytest.mark.parametrize("tag", DEEP)
def test_what_stands_too_deeply_is_shown_as_it_was_written(tag):
    html = sanitised(tag * 100_000)
    assert html.startswith("<pre>&lt;")
    assert not sanitised(tag * 100).startswith("<pre>")  # the control


@pytest.mark.parametrize("text", ["\\" * 400_000, r"\begin{a}" * 50_000, "*a " * 100_000])
def test_markdown_without_end_is_shown_as_it_was_written(text):
    assert "<pre>" in markdown2html({}, text)
    assert "<pre>" not in markdown2html({}, text[:1000])  # the control


def test_a_picture_does_not_make_markdown_long():
    picture = b64encode(png(9, 9) + bytes(200_000)).decode()
    assert picture in markdown2html({}, f"*see* ![it](data:image/png;base64,{picture})")


@pytest.mark.parametrize("size", ["99999", "1e9", "100000%"])
@pytest.mark.parametrize("what", ['<hr width="{}">', '<hr size="{}">', '<img alt="x" height="{}">'])
def test_no_size_is_larger_than_a_page(what, size):
    assert size not in sanitised(what.format(size))
    assert "640" in sanitised(what.format("640"))  # the control


@pytest.mark.parametrize("vector", COVERS[:6])
def test_nbconvert_s_own_cleaner_lets_it_cover(vector):
    """The control."""
    html = page(vector, {"clean_html": "nbconvert.filters.clean_html"})
    assert [word for word in _TELLING if word in html]
    assert nbconvert_s(vector)


def test_code_is_shown_in_its_colours():
    cell = nbformat.v4.new_code_cell("def f(x):\n    return 'a' < x")
    config = Config()
    configure(config)
    html, _ = HTMLExporter(config=config).from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    assert '<span class="k">def</span>' in html
    assert "&lt;" in html


def png(width, height):
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + header
        + struct.pack(">I", zlib.crc32(header))
    )


def jpeg(width, height):
    thumbnail = b"\xff\xd8\xff\xc0" + struct.pack(">HBHH", 11, 8, 1, 1)
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 3)
    return b"\xff\xd8\xff\xe0" + struct.pack(">H", len(thumbnail) + 2) + thumbnail + frame


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height)


MAKERS = {"png": png, "jpeg": jpeg, "gif": gif}
SIZES = [(60_000, 60_000), (65_000, 400), (0, 5)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_picture_of_too_many_pixels_is_on_no_page(kind, size):
    data = b64encode(MAKERS[kind](*size)).decode()
    assert "src" not in sanitised(f'<img src="data:image/{kind};base64,{data}">')
    assert size[0] * size[1] > MOST or not size[0]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_picture_of_a_usual_size_is(kind):
    """The control."""
    data = b64encode(MAKERS[kind](4000, 3000)).decode()
    assert data in sanitised(f'<img src="data:image/{kind};base64,{data}">')


@pytest.mark.parametrize("size", SIZES[:2])
def test_nor_is_it_an_output(size):
    def shown_of(size):
        data = {"image/png": b64encode(png(*size)).decode()}
        return outputs.clean([{"output_type": "display_data", "data": data}], 1)[0]["data"]

    assert shown_of(size).keys() == {"text/plain"}
    assert shown_of((4000, 3000)).keys() == {"image/png"}  # the control


def test_a_picture_that_only_says_so_is_none():
    for content in (
        b"",
        b"\x89PNG\r\n\x1a\n",
        png(10, 10)[:15],
        b"\xff\xd8" + b"\xff" * 9,
        b"<svg/>",
    ):
        data = b64encode(content).decode()
        assert "src" not in sanitised(f'<img src="data:image/png;base64,{data}">')
