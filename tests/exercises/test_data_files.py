"""Data files are asked for while a module is loaded: then it is known whose course it is."""

import ast

import pytest

from ..loaded import ROOT

USERS = [p for p in sorted((ROOT / "reference").rglob("*.py")) if "data_file(" in p.read_text()]


@pytest.mark.parametrize("path", USERS, ids=lambda path: path.stem)
def test_no_function_asks_for_a_data_file(path):
    functions = (ast.FunctionDef, ast.Lambda)
    inside = [
        f"line {call.lineno}"
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, functions)
        for call in ast.walk(function)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "data_file"
    ]
    assert inside == []
