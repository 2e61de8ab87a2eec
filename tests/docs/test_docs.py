"""Docs are run: every console block, in order, in a copy of the course."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def commands(page):
    """Return the page's commands with the output that is shown, lines of … standing for any."""
    found = []
    for block in BLOCK.findall(page.read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def matches(shown, output):
    """Tell whether the output is what is shown, with … for the rest of a line or any lines."""
    pattern = "".join(
        r"(?:.*\n)*?"
        if line.strip() == "…"
        else re.escape(line.rstrip()).replace("…", ".*") + r"\s*?\n"
        for line in shown
    )
    return re.fullmatch(pattern, output) is not None


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.stem)
def test_commands_do_what_the_page_shows(page, course):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in commands(page):
        done = subprocess.run(
            command,
            shell=True,
            cwd=course.root,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        assert matches(shown, done.stdout), f"{command} printed\n{done.stdout}"


def test_links_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize(
    ("shown", "output", "fits"),
    [
        (["a", "…", "c"], "a\nb\nb\nc\n", True),
        (["a …"], "a longer line\n", True),
        (["a"], "b\n", False),
        (["a"], "a\nb\n", False),
    ],
)
def test_the_comparison_can_fail(shown, output, fits):
    assert matches(shown, output) is fits
