"""The class report in a browser: its one script searches, filters and sorts."""

import pytest

from autograder.delivery.pages.report import write_report
from tests.chromium import browsing

pytestmark = pytest.mark.browser
A = "a01_tiny"
SHOWN = "[...document.querySelectorAll('#score-table tbody tr')].filter(r => !r.hidden)" + (
    ".map(r => r.cells[0].textContent.trim()).join(' ')"
)


def test_a_class_is_searched_filtered_and_sorted(tiny, graded, save, tmp_path):
    blank = {"answer": "Write here.", "changed": False}
    save(tiny, graded("ada", qk=1.5, **blank), graded("bob", qk=0.25, **blank))
    save(tiny, graded("bea", norm=None, **blank), graded("cy", qk=0.5))
    write_report(tiny, [A])
    page = tiny.root / "reports" / f"{A}.html"
    with browsing(tmp_path) as tab:
        tab.open(page.as_uri())
        tab.wait("document.querySelector('.tools output')?.value === '4 of 4'")
        for expected in ("bob cy ada bea", "bea ada cy bob"):  # up, then down
            tab.ask("document.querySelectorAll('#score-table thead button')[2].click()")
            assert tab.ask(SHOWN) == expected
        search = "(t => {const e = document.querySelector('.tools %s'); e.value = t;"
        search += "e.dispatchEvent(new Event('input', {bubbles: true}))})('%s')"
        tab.ask(search % ("input", "B"))
        assert tab.ask(SHOWN) == "bea bob"
        tab.ask(search % ("input", ""))
        tab.ask(search % ("select", "withheld"))
        assert tab.ask(SHOWN) == "bea"
        tab.ask(search % ("select", "open"))
        assert tab.ask(SHOWN) == "bea cy"
        tab.resize(390, 800)
        assert tab.ask("document.documentElement.scrollWidth <= innerWidth")
        tab.open((page.parent / "class.html").as_uri())  # over all assignments
        tab.wait("document.querySelector('.tools output')?.value === '4 of 4'")
        tab.ask("document.querySelectorAll('#score-table thead button')[1].click()")
        assert tab.ask(SHOWN) == "bob cy bea ada"
        tab.ask(search % ("select", "withheld"))
        assert tab.ask(SHOWN) == "bea"
        offered = "[...document.querySelector('.tools select').options].map(o => o.value).join()"
        assert tab.ask(offered) == ",open,withheld"
