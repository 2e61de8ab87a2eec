"""Pages as a browser shows them: nothing wider than a phone, nothing from the network."""

import re
import subprocess

import pytest

from autograder.course.simulate import simulate
from autograder.delivery.feedback import write_feedback
from autograder.delivery.grading import grade_and_save
from autograder.delivery.report import write_report

from ..courses import MOTION as A

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.slow]

ENDS = {"assignment": "", "quality": "_quality"}
CHROMIUM = (
    "chromium",
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--dump-dom",
)
MEASURE = (
    "<script>document.title = document.documentElement.scrollWidth + ' of ' + innerWidth</script>"
)


@pytest.fixture(scope="module")
def pages(shared_course):
    simulate(shared_course, A, 12)
    grade_and_save(shared_course, [A])
    feedback = write_feedback(shared_course, [A])
    report = write_report(shared_course, [A])
    beside = {name: report.with_name(f"{A}{end}.html") for name, end in ENDS.items()}
    return {"feedback": feedback[-1], "report": report, **beside}


def dom(path, width, profile):
    """Return the page as the browser builds it, its width in the title."""
    measured = path.with_name("measured.html")
    free = path.read_text().replace("Content-Security-Policy", "")  # it lets no script measure
    measured.write_text(free.replace("</body>", f"{MEASURE}</body>"))
    done = subprocess.run(
        [*CHROMIUM, f"--user-data-dir={profile}", f"--window-size={width},900", measured.as_uri()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def test_pages_fit_a_phone_and_need_no_network(pages, tmp_path):
    for name, path in pages.items():
        assert "</body>" in path.read_text(), name
        assert "default-src 'none'" in path.read_text(), name
        assert not re.search(r"(?:src|href)=.?(?:https?:)?//", path.read_text()), name
        for width in (500, 1200):  # chromium makes no window narrower than 500
            found = re.search(r"<title>(\d+) of (\d+)", dom(path, width, tmp_path / "profile"))
            assert found, f"{name} was not measured"
            assert int(found[1]) <= int(found[2]), f"{name} at {width}"


def test_an_outcome_is_told_in_words(pages, tmp_path):
    text = re.sub(r"<[^>]*>", " ", dom(pages["feedback"], 500, tmp_path / "profile"))
    for words in ("not right yet", "not run", "Free fall", "marked by hand"):
        assert words in text
