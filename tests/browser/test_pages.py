"""Pages as a browser shows them: nothing wider than a phone, nothing from the network."""

import re

import pytest

from autograder.delivery.pages.rendering import STATUS

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.slow]


def test_pages_fit_a_phone_and_need_no_network(pages, tab):
    for name, path in pages.items():
        assert "</body>" in path.read_text(), name
        assert "default-src 'none'" in path.read_text(), name
        assert not re.search(r"(?:src|href)=.?(?:https?:)?//", path.read_text()), name
        tab.open(path.as_uri())
        for width in (1200, 390, 320):  # the last one is also a desk of 1280 at 400 %
            tab.resize(width, 800)
            assert tab.ask("document.documentElement.scrollWidth") <= width, f"{name} at {width}"


def test_an_outcome_is_told_in_words(pages, tab):
    shown = ""
    for name, path in pages.items():
        if name.startswith("feedback"):
            tab.open(path.as_uri())
            shown += tab.ask("document.body.innerText")
    for words in (*(word for _, word in STATUS.values()), "Free fall", "marked by hand"):
        assert words in shown
