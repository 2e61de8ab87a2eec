"""How many attacks the hostile suite holds, what became of them, and what each took to judge.

It runs tests/hostile and counts: an attack that gained, leaked or left anything, or took longer
than it may, is a test that fails.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

SLOWEST = 10
ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / "tests" / "hostile"

#: Which tests try the attacks of which family, and what names an attack in them.
FAMILIES = {
    "test_a_probe_is_denied": ("submissions", "name"),
    "test_a_trick_costs_no_more_than_it_must": ("submissions", "name"),
    "test_what_a_cell_does_at_the_end_costs_no_exercise": ("submissions", "damage"),
    "test_what_becomes_of_an_argument_is_seen_by_the_grader": ("submissions", "deceit"),
    "test_what_is_handed_over_earns_nothing": ("submissions", "name"),
    "test_it_is_graded_as_if_nothing_had_happened": ("submissions", "attack"),
    "test_it_is_refused_in_a_sentence": ("submissions", "what"),
    "test_feedback_tells_next_to_nothing_of_what_came": ("submissions", "spy"),
    "test_a_name_inside_an_upload_names_nobody": ("uploads", "name"),
    "test_who_looks_like_another_replaces_nothing_of_hers": ("uploads", "name"),
    "test_it_earns_nothing_and_takes_little": ("answers of each kind", "what"),
    "test_no_door_is_broken_by_it": ("texts to be parsed", "what"),
    "test_it_is_left_and_named": ("hand-ins to the exchange", "attack"),
    "test_a_name_that_can_t_be_read_stops_nobody_else": ("hand-ins to the exchange", "name"),
    "test_nothing_is_put_where_somebody_was_first": ("folders in the exchange", "attack"),
    "test_it_stops_nobody_else_and_says_nothing_by_itself": ("inboxes", "odd"),
    "test_it_costs_the_time_of_one_call": ("what a call does to its process", "what"),
    "test_it_is_not_said": ("questions about the machine", "query"),
    "test_no_command_takes_what_is_no_id": ("ids and addresses", "id"),
    "test_a_password_behind_the_question_mark_is_refused_and_never_printed": (
        "ids and addresses",
        "url",
    ),
    "test_a_raw_cell_covers_nothing": ("raw cells", "vector"),
    "test_what_is_forged_is_no_grade": ("messages on a cluster", "what"),
}
#: The same where one test tries all that its module has under a name.
TOGETHER = {
    "test_none_runs_in_nbgrader_s_feedback": ("browser vectors", "VECTORS"),
    "test_none_runs_in_formgrader": ("browser vectors", "VECTORS"),
    "test_none_runs_in_our_own_pages": ("browser vectors", "VECTORS"),
    "test_none_is_run": ("planted files", "NAMES"),
}


class Count:
    """A plugin of pytest that counts attacks and what they took."""

    def __init__(self) -> None:
        self._what: dict[str, tuple[str, list[str]]] = {}
        self.tried: dict[str, set[str]] = defaultdict(set)
        self.failed: dict[str, set[str]] = defaultdict(set)
        self.tests = self.skipped = 0
        self.seconds: dict[str, float] = defaultdict(float)
        self.most = {"cpu_seconds": 0.0, "peak_mb": 0.0}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Learn which attack each test is."""
        for item in items:
            if item.originalname in FAMILIES:
                family, parameter = FAMILIES[item.originalname]
                attack = item.callspec.params[parameter]
                self._what[item.nodeid] = family, [getattr(attack, "__name__", str(attack))]
            elif item.originalname in TOGETHER:
                family, name = TOGETHER[item.originalname]
                self._what[item.nodeid] = family, list(map(str, getattr(item.module, name)))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test that has ended, or failed before it began."""
        self.skipped += report.skipped
        self.seconds[report.nodeid.partition("hostile/")[2]] += report.duration
        family, attacks = self._what.get(report.nodeid, ("everything else", [report.nodeid]))
        for name, value in report.user_properties:  # those of a test come when it is over
            if name in self.most and family in ("submissions", "answers of each kind"):
                self.most[name] = max(self.most[name], value)
        if report.when != "call" and not report.failed:
            return
        self.tests += 1
        if not report.skipped:
            self.tried[family].update(attacks)
        if report.failed:
            self.failed[family].update(attacks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("only", nargs="*", help="passed on to pytest")
    options = parser.parse_args()
    count = Count()
    os.chdir(ROOT)
    chosen = options.only or [str(SUITE)]
    code = pytest.main(["-q", "-p", "no:cacheprovider", *chosen], plugins=[count])
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "tiers": os.environ.get("AUTOGRADER_TIERS", "A B").split(),
        "tests": count.tests,
        "skipped": count.skipped,
        "attacks": {
            family: {"tried": len(tried), "gained_leaked_or_left": len(count.failed[family])}
            for family, tried in sorted(count.tried.items())
        },
        "slowest": {
            name: round(seconds, 1)
            for name, seconds in sorted(count.seconds.items(), key=lambda of: -of[1])[:SLOWEST]
        },
        "load": [round(load, 1) for load in os.getloadavg()],
        "most_of_one": {name: round(value, 1) for name, value in count.most.items()},
    }
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")
    sys.exit(int(code))


if __name__ == "__main__":
    main()
