"""A name says where something is: modules and classes have names of their own, and are short."""

import ast
from collections import defaultdict

from ..loaded import ROOT

MODULES = sorted((ROOT / "autograder").rglob("*.py"))


def test_no_two_modules_have_one_name():
    named = defaultdict(list)
    for path in MODULES:
        named[path.stem].append(path.parent.name)
    del named["__init__"]
    assert not {name: rooms for name, rooms in named.items() if len(rooms) > 1}


def test_no_two_classes_have_one_name():
    named = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                named[node.name].append(path.stem)
    assert not {name: modules for name, modules in named.items() if len(modules) > 1}


def test_modules_are_read_in_one_go():
    lines = {path.name: len(path.read_text("utf-8").splitlines()) for path in MODULES}
    assert lines
    assert not {name: count for name, count in lines.items() if count > 350}


def test_whoever_catches_everything_says_why():
    for path in MODULES:
        lines = path.read_text("utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.ExceptHandler):
                caught = node.type
            elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                caught = node.args[0]
            else:
                continue
            if caught is None or ast.unparse(caught) in ("Exception", "BaseException"):
                assert "  # " in lines[node.lineno - 1], f"{path.name}, line {node.lineno}"


def test_a_quick_round_asks_for_tests_that_there_are():
    for line in (ROOT / "tests" / "quick.txt").read_text("utf-8").splitlines():
        path, *names = line.partition("[")[0].split("::")
        text = (ROOT / path).read_text("utf-8")
        assert all(f"def {name}(" in text or f"class {name}" in text for name in names), line
