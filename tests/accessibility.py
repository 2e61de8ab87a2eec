"""Whether a page is accessible, as far as a program can tell: axe-core in the browser."""

import json
from functools import cache
from importlib import metadata

#: All of WCAG 2.2 A and AA that axe-core knows, and what it calls best practice.
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
#: Whatever else a page may be asked: these depend on its colours.
COLOURS = ["color-contrast", "link-in-text-block"]


def violations(tab, *, rules=STANDARDS, left_out=(), where="document"):
    """Return what axe-core finds wrong with the page as it is shown now, one line each.

    Parameters
    ----------
    rules
        Tags of rules, or rules.
    left_out
        Rules that don't apply; whoever leaves one out says why.
    where
        The part of the page that is looked at: axe-core's context, as an expression.
    """
    if not tab.ask("'axe' in window"):
        tab.ask(_axe())
    # What is folded away would not be looked at.
    tab.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    options = {"runOnly": rules, "rules": {rule: {"enabled": False} for rule in left_out}}
    line = "`${one.id}: ${node.target.join(' ')}\n${node.failureSummary}`"
    lines = f"found => found.violations.flatMap(one => one.nodes.map(node => {line}))"
    found = tab.ask(f"axe.run({where}, {json.dumps(options)}).then({lines})")
    assert found is not None, "axe-core did not run"
    return found


@cache
def _axe():
    """Return axe-core; of the package that brings it nothing else is needed."""
    package = metadata.distribution("axe-playwright-python")
    return package.locate_file("axe_playwright_python/axe.min.js").read_text("utf-8")
