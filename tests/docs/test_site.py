"""The site that `make docs` builds: complete, whole in itself, and silent about answers."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from autograder.course.release.leak import leaks
from autograder.exercise.answers.registry import kinds

from ..chromium import browsing
from ..loaded import COURSE, ROOT, assigned

GUIDES = [page.relative_to(ROOT).with_suffix("") for page in sorted(ROOT.glob("docs/*.md"))]
OWN = ["index", "README", "CONTRIBUTING", "CHANGELOG", "bench/README", "search"]
MADE = ["exercises", "api", "api_exercise", "api_algebra"]
CATALOGUE = "docs/site/exercises.html"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("site")]  # built once


class Page(HTMLParser):
    """What a page says, where it links to, what can be linked to in it, and what it loads."""

    def __init__(self, html):
        super().__init__()
        self.links, self.anchors, self.loaded, self.text = [], {""}, [], ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.add(given.get("id"))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon"):
            self.loaded.append(given["href"])
        elif tag != "a" and given.get("src"):
            self.loaded.append(given["src"])

    def handle_data(self, data):
        self.text += f"{data} "


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built anew as `make docs` builds it."""
    if not os.environ.get("AUTOGRADER_REQUIRE_BROWSER"):  # in CI nothing may be missing
        for module in ("sphinx", "myst_parser", "furo"):
            pytest.importorskip(module, reason=f"not installed: {module}")
    folder = tmp_path_factory.mktemp("site")
    command = re.search(
        r"^\t\$\(BIN\)/sphinx-build (.*) site$", (ROOT / "Makefile").read_text(), re.M
    )
    options = command[1].split()
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.resolve(): Page(path.read_text()) for path in site.rglob("*.html")}


def test_every_page_is_there(site):
    for name in [*GUIDES, *OWN, *(f"docs/site/{name}" for name in MADE)]:
        assert (site / f"{name}.html").is_file(), name


def test_every_link_leads_somewhere(pages):
    count = 0
    for path, page in pages.items():
        for link in page.links:
            url = urlsplit(link)
            if url.scheme:
                assert url.scheme == "https", f"{path} links to {link}"
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            assert target.is_file(), f"{path} links to {link}"
            if target in pages:
                assert unquote(url.fragment) in pages[target].anchors, f"{path} links to {link}"
            count += 1
    assert count > 1000


def test_a_link_to_a_source_file_leads_to_its_page(site, pages):
    page = pages[(site / "docs/architecture.html").resolve()]
    assert "../autograder/delivery/department/watch.html" in page.links
    assert "def " in pages[(site / "autograder/delivery/department/watch.html").resolve()].text


@pytest.fixture(scope="module")
def sections(site):
    """What the catalogue says of each assignment."""
    _, *sections = re.split(r"(?=<h2)", (site / CATALOGUE).read_text())
    return dict(zip(COURSE.titles, (Page(html).text for html in sections), strict=True))


@pytest.mark.parametrize("id", COURSE.titles)
def test_the_catalogue_has_every_exercise(sections, id):
    text = " ".join(sections[id].split())
    assert text.startswith(COURSE.titles[id])
    for exercise in assigned(id).sound.values():
        assert f"( {exercise.id} )" in text


def test_the_catalogue_tells_source_kinds_points_and_minutes(sections):
    text = " ".join(sections["a02_attention_by_hand"].split())
    row = "( attn_hand ) numbers, choice · Bahdanau et al. (2015), eq. 5 and 6 15 4 "
    assert f"○ choice One query, three keys {row}" in text
    assert "1 The function to compute it" in " ".join(sections["a01_softmax"].split())


def test_every_kind_of_answer_has_its_rows(site):
    html = (site / "docs/site/api_exercise.html").read_text()
    text = Page(html.partition("<tbody>")[2].partition("</tbody>")[0]).text
    assert "Numbers(tolerance=0.05)" in text
    for kind in kinds().values():
        for declared, _, _ in kind.table:
            assert " ".join(declared.split()) in " ".join(text.split())


@pytest.mark.parametrize("id", COURSE.titles)
def test_the_catalogue_holds_no_answer(sections, id):
    assert leaks(assigned(id), {"exercises": sections[id].encode()}) == []
    for hint in (hint for e in assigned(id).sound.values() for hint in e.hints):
        assert hint not in sections[id]


def test_an_answer_in_it_would_be_found(sections):
    id = "a02_attention_by_hand"
    wrong = assigned(id).sound["attn_hand_scaled"].parts[1].misconceptions[0].feedback
    assert leaks(assigned(id), {"exercises": f"{sections[id]} {wrong}".encode()})


def test_nothing_comes_from_elsewhere(site, pages):
    for path, page in pages.items():
        for address in page.loaded:
            assert not urlsplit(address).netloc, f"{path} loads {address}"
    for style in site.rglob("*.css"):
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", style.read_text()), style


ROWS = "[...document.querySelectorAll('tr:has(.kinds)')].filter(row => row.checkVisibility())"


@pytest.mark.browser
def test_exercises_are_filtered_by_notebook_kind_core_and_minutes(site, tmp_path):
    every = [(assigned(id), e) for id in COURSE.titles for e in assigned(id).sound.values()]
    with browsing(tmp_path) as tab:
        tab.resize(1200, 800)
        tab.open((site / CATALOGUE).as_uri())
        assert tab.ask(f"{ROWS}.length") == len(every)
        choose = "(() => {{const e = [...document.querySelectorAll('.filters select')][{}];"
        choose += "e.value = '{}'; e.dispatchEvent(new Event('input'))}})()"
        tab.ask(choose.format(3, 15))
        short = [e for _, e in every if e.minutes <= 15]
        assert tab.ask(f"{ROWS}.length") == len(short)
        tab.ask(choose.format(1, "derivation"))
        tab.ask(choose.format(3, 30))
        lines = {e.id for _, e in every if any(p.answer.kind == "derivation" for p in e.parts)}
        wanted = {id for id in lines for _, e in every if e.id == id and e.minutes <= 30}
        shown = f"{ROWS}.map(row => row.querySelector('code').textContent)"
        assert {*tab.ask(shown)} == wanted
        tab.ask(choose.format(2, "● core"))
        core = {e.id for a, e in every if COURSE.counting[a.id].role(e.id) == "core"}
        assert {*tab.ask(shown)} == wanted & core
        tab.ask(choose.format(0, 0))
        assert {*tab.ask(shown)} == wanted & core & {*assigned("a01_softmax").sound}
        assert (
            tab.ask("[...document.querySelectorAll('h2')].filter(h => h.checkVisibility()).length")
            == 1
        )
        tab.resize(390, 800)
        tab.open((site / "README.html").as_uri())
        tab.open((site / CATALOGUE).as_uri())
        assert tab.ask(f"{ROWS}.length") == len(assigned("a01_softmax").sound)
        assert tab.ask("document.documentElement.scrollHeight") < 4000


@pytest.mark.browser
@pytest.mark.parametrize("page", ["README", "docs/instructor", "docs/author"])
def test_a_line_of_text_has_70_to_80_characters(site, tmp_path, page):
    with browsing(tmp_path) as tab:
        tab.resize(1400, 800)
        tab.open((site / f"{page}.html").as_uri())
        widths = tab.ask(
            "[...document.querySelectorAll('article p')].filter(p => p.offsetHeight > 60"
            " && p.innerText.length > 200).map(p => {"
            "const lines = Math.round(p.offsetHeight / parseFloat(getComputedStyle(p).lineHeight));"
            "return p.innerText.length / (lines - 0.5)})"
        )
        assert 68 < sum(widths) / len(widths) < 82


@pytest.mark.browser
def test_it_is_searched_without_a_server(site, tmp_path):
    with browsing(tmp_path) as tab:
        tab.open(f"{(site / 'search.html').as_uri()}?q=forkserver")
        assert tab.wait("document.querySelector('#search-results a')?.innerText")
        parts = "[...document.querySelectorAll('script[src], link[href], img[src]')]"
        loaded = tab.ask(f"{parts}.map(part => part.src || part.href).join(' ')").split()
        assert f"{(site / 'searchindex.js').as_uri()}" in loaded
        assert all(address.startswith("file:") for address in loaded)
