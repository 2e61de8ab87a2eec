"""What has passed and can't have changed is not run again: ``pytest --changed``, in `make test`.

A group of tests (those of one file and, where a file is about all assignments or pages, of one of
them) is left out if all of it has passed, on a machine of this kind, and its key is the same since:
a hash of all that these tests depend on (`dependencies`).

What has passed here is in pytest's cache.  ``proved.json`` is committed: by kinds of machine, since
what is graded in a sandbox is graded in the one that there is.  A whole run that leaves nothing out
writes it (``AUTOGRADER_PROVE_ALL=1``, as in `.ci/run`), and keeps of other machines what still has
its key.  ``AUTOGRADER_PROVE_HERE=1`` adds a machine to it: what files alone decide is left out.
While such a run lasts, every file that a test opens is held against its key: a group that has read
what its key does not know is named, and not remembered.
"""

import json
import os
from collections import defaultdict

import pytest

from .dependencies import RECORD, Group, group_of, opened_files

ALL = bool(os.environ.get("AUTOGRADER_PROVE_ALL"))
RECORDS = ALL or bool(os.environ.get("AUTOGRADER_PROVE_HERE"))
GROUP = pytest.StashKey[Group]()
_PHASES = ("setup", "call", "teardown")
_CACHE = "proved by machine"
_TOLD = 20


def committed():
    """What has passed in whole runs: by machine, groups by name, with their keys."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


class Proved:
    """Leaves groups of tests out, and remembers which have passed."""

    def __init__(self, config):
        self._cache = getattr(config, "cache", None)
        self._groups = {}  # by name, the kind of machine, the key, and the number of tests
        self._passed = defaultdict(int)
        self._unknown = defaultdict(set)
        self._left_out = 0
        self._opened = opened_files() if RECORDS else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        groups = defaultdict(list)
        for item in items:
            if name := group_of(item):
                groups[name].append(item)
        known = self._known() if config.getoption("--changed") and not ALL else []
        left_out = set()
        for name, own in groups.items():
            group = Group.of(name, own)
            if any(each.get(group.machine, {}).get(name) == group.key for each in known):
                left_out.update(own)
            for item in own:
                item.stash[GROUP] = group
        if left_out:
            items[:] = [item for item in items if item not in left_out]
            config.hook.pytest_deselected(items=list(left_out))
        self._left_out = len(left_out)

    def _known(self):
        return [committed()] if RECORDS else [committed(), self._here()]

    def _here(self):
        return self._cache.get(_CACHE, {}) if self._cache else {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        if self._opened is not None:
            self._opened.clear()  # what was read to collect tests

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item):
        report = yield
        report.proves = None
        if group := item.stash.get(GROUP, None):  # goes with it to the process that counts
            unknown = [] if self._opened is None else group.unknown(self._opened)
            report.proves = group.name, group.machine, group.key, group.size, unknown
        return report

    def pytest_runtest_logreport(self, report):
        if proves := getattr(report, "proves", None):  # a process that has crashed tells nothing
            name, *self._groups[name], unknown = proves
            self._unknown[name].update(unknown)
            self._passed[name] += report.passed  # what fails in any phase, or is skipped, is not

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node):
        self._left_out = getattr(node, "workeroutput", {}).get(_CACHE, 0)

    def pytest_sessionfinish(self, session, exitstatus):
        config = session.config
        if hasattr(config, "workeroutput"):
            config.workeroutput[_CACHE] = self._left_out
            return
        found = defaultdict(dict)
        for name, (machine, key, size) in sorted(self._groups.items()):
            if self._passed[name] == size * len(_PHASES) and not self._unknown[name]:
                found[machine][name] = key
        if self._cache:
            here = self._here()
            self._cache.set(_CACHE, here | {m: here.get(m, {}) | new for m, new in found.items()})
        some = config.option.keyword or config.option.markexpr
        whole = config.args_source is config.ArgsSource.TESTPATHS and not some
        if RECORDS and whole and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            self._write(found)

    def _write(self, found):
        """Write what has passed; of other machines, and what was left out, what holds still."""
        before = committed()
        both = {
            machine: {
                **{
                    n: key
                    for n, key in before.get(machine, {}).items()
                    if self._holds(machine, n, key)
                },
                **found.get(machine, {}),
            }
            for machine in sorted({*before, *found})
        }
        text = json.dumps({m: groups for m, groups in both.items() if groups}, indent=0)
        RECORD.write_text(f"{text}\n", "utf-8")

    def _holds(self, machine, name, key):
        """Tell whether a group that this run has not seen pass has passed so before."""
        if name not in self._groups:
            return not ALL  # it was left out; or is no more
        here, now, _ = self._groups[name]
        return here != machine and now == key

    def pytest_terminal_summary(self, terminalreporter):
        if self._left_out:
            terminalreporter.write_line(
                f"left out, since they have passed and nothing that they depend on has changed: "
                f"{self._left_out:,} tests (all run with AUTOGRADER_PROVE_ALL=1)"
            )
        for name, unknown in sorted(self._unknown.items()):
            if unknown:
                terminalreporter.write_line(
                    f"{name} is not remembered: it has read what its key does not know: "
                    f"{', '.join(sorted(unknown)[:_TOLD])} (tests/dependencies.py)"
                )
