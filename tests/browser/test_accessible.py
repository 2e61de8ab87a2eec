"""Pages for everybody: axe-core finds nothing, and a keyboard is enough."""

import pytest

from ..accessibility import COLOURS, violations

pytestmark = [pytest.mark.browser, pytest.mark.sandbox, pytest.mark.slow]

#: Width in the page's own pixels, and how many of the screen each takes: a desk, a phone, a desk
#: of 1280 at 200 %.
SCREENS = [(1200, 1), (390, 1), (640, 2)]
#: All that the keyboard can reach, in the order in which a screen reader comes to it.
REACHABLE = (
    "[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')]"
    ".filter(one => one.checkVisibility())"
)
#: Whether what has the focus is the next of these, shows it, and isn't covered by anything.
FOCUS = f"""(number => {{
    const one = {REACHABLE}[number];
    const box = one.getClientRects()[0];  // of a link that is broken, the first line
    const middle = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2;
    const seen = document.elementFromPoint(
        middle(box.left, box.right, innerWidth), middle(box.top, box.bottom, innerHeight));
    return one !== document.activeElement ? `${{one.outerHTML}} is skipped`
        : getComputedStyle(one).outlineStyle !== 'solid' ? `${{one.outerHTML}} shows no focus`
        : !one.contains(seen) ? `${{one.outerHTML}} is behind ${{seen?.outerHTML}}` : '';
}})"""
#: A table that scrolls below its head, as that of a large class does.
LARGE_CLASS = "document.querySelectorAll('.tall').forEach(one => one.style.maxHeight = '12rem')"
ROWS = "[...document.querySelectorAll('#score-table tbody tr')].filter(row => !row.hidden)"
FIRST = f"{ROWS}[0].cells[0].textContent.trim()"


def test_axe_finds_nothing_on_any_page(pages, tab):
    found = {}
    for name, path in pages.items():
        tab.open(path.as_uri())
        for width, zoom in SCREENS:
            tab.resize(width, 800, zoom)
            for one in violations(tab):
                found.setdefault(one, []).append(f"{name} at {width}")
        tab.prefer("dark")
        for one in violations(tab, rules=COLOURS):
            found.setdefault(one, []).append(f"{name}, dark")
        tab.prefer("light")
    assert not found, "\n".join(f"{', '.join(where)}: {one}" for one, where in found.items())


def test_axe_finds_what_is_wrong(pages, tab):
    tab.open(pages["feedback 1"].as_uri())
    tab.ask("document.querySelector('img').alt = ''")
    tab.ask("document.querySelector('img').removeAttribute('alt')")
    tab.ask("document.querySelector('h1').style.color = '#ccc'")
    assert {one.partition(":")[0] for one in violations(tab)} == {"image-alt", "color-contrast"}


@pytest.mark.parametrize("width", [1200, 390])
def test_the_keyboard_reaches_everything_in_the_order_of_the_text(pages, tab, width):
    tab.resize(width, 800)
    for name in ("feedback 1", "class", "assignment", "copies", "portfolio"):
        tab.open(pages[name].as_uri())
        tab.ask(LARGE_CLASS)
        count = tab.ask(f"{REACHABLE}.length")
        assert count, name
        there = [("Tab", number) for number in range(count)]
        back = [("Shift+Tab", number) for number in reversed(range(count - 1))]
        for key, number in there + back:
            tab.press(key)
            assert tab.ask(f"{FOCUS}({number})") == "", f"{key} on {name} at {width}"
        tops = tab.ask("[...document.querySelectorAll('h1, h2, h3')].map(h => h.offsetTop)")
        assert tops == sorted(tops)


def test_a_class_is_searched_filtered_and_sorted_with_the_keyboard(pages, tab):
    def go(wanted):
        for _ in range(100):
            tab.press("Tab")
            if tab.ask(f"document.activeElement.matches(`{wanted}`)"):
                return
        raise AssertionError(f"the keyboard doesn't come to {wanted}")

    tab.resize(390, 800)
    tab.open(pages["assignment"].as_uri())
    go("[type=search]")
    tab.press(*"_00")
    assert tab.ask(f"{ROWS}.length") == 9
    tab.press(*["Backspace"] * 3)
    go("select")
    tab.press("ArrowDown")
    assert tab.ask("document.activeElement.value") == "open"
    assert 0 < tab.ask(f"{ROWS}.length") < 12
    tab.press("ArrowUp")
    go(".scroll")
    assert tab.ask("document.activeElement.scrollLeft") == 0
    tab.press("ArrowRight")
    tab.wait("document.activeElement.scrollLeft > 0")
    go("[aria-label='Sort by Free fall']")
    tab.press("Enter")
    assert tab.ask("document.activeElement.closest('th').ariaSort") == "ascending"
    worst = tab.ask(FIRST)
    tab.press(" ")
    assert tab.ask("document.activeElement.closest('th').ariaSort") == "descending"
    assert tab.ask(FIRST) != worst
