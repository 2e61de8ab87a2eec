"""formgrader's own buttons, clicked in a browser."""

import json

import pytest

from autograder.course.classes.simulate import simulate
from autograder.delivery.nbgrader.marks import scores

from ..chromium import browsing
from ..courses import EARNED
from ..courses import MOTION as A
from ..servers import serving

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.browser]

CLICK = "document.querySelector('td.{} a').click() || true"
DIALOGUE = "(document.querySelector('#success-modal, #error-modal') || {}).innerText"


def closed(tab, button):
    """Click a button, wait for what formgrader says of it, and return that."""
    tab.wait(f"document.querySelector('td.{button} a') !== null")
    tab.ask(CLICK.format(button))
    return tab.wait(DIALOGUE)


def test_assignments_are_listed_released_and_autograded_from_there(course, configure, tmp_path):
    course = configure(course.root, f"c.Exchange.root = {str(tmp_path / 'exchange')!r}")
    simulate(course, A, 1)
    release = course.folder("release") / A
    files = {path.name: path.read_bytes() for path in release.glob("*.*")}
    home, exchange = tmp_path / "home", tmp_path / "exchange"
    for folder in (home, exchange):
        folder.mkdir()
    exchange.chmod(0o777)  # as nbgrader wants it
    with serving(course, home) as server, browsing(tmp_path / "browser") as tab:
        tab.open(f"{server}/formgrader/manage_assignments")
        tab.wait("document.querySelectorAll('td.name').length > 0")
        assert tab.ask("document.querySelector('td.name').innerText").strip() == A
        assert tab.ask("document.querySelector('td.num-submissions').innerText").strip() == "1"
        assert "Success" in closed(tab, "assign")
        assert {p.name: p.read_bytes() for p in release.glob("*.*")} == files
        tab.open(f"{server}/formgrader/manage_assignments?again")
        assert "Success" in closed(tab, "release")
        handed_out = exchange / course.id / "outbound" / A
        assert json.loads((handed_out / f"{A}.ipynb").read_text())["cells"]
        tab.open(f"{server}/formgrader/manage_submissions/{A}")
        assert "Success" in closed(tab, "autograde")
        assert scores(course, A)["student_001"].score == EARNED
