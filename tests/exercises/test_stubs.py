"""What students are given fits what they are graded by."""

import doctest
import inspect

import numpy as np
import pytest

from ..loaded import COURSE, assigned

FUNCTIONS = [
    pytest.param(cell.source, function, id=f"{id}.{function.name}")
    for assignment in map(assigned, COURSE.ids())
    for id, exercise in assignment.sound.items()
    for function in exercise.functions
    for cell in assignment.cells
    if cell.exercise == id and not cell.part
]


def stub_of(source, function):
    names = {}
    exec(source, names)
    return names[function.name]


@pytest.mark.parametrize(("source", "function"), FUNCTIONS)
def test_arguments_are_those_of_the_reference(source, function):
    assert arguments(stub_of(source, function)) == arguments(function.solution)


def arguments(function):
    """Names and defaults; a function that is a default by its name."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, getattr(p.default, "__name__", p.default)) for p in found]


@pytest.mark.parametrize(("source", "function"), FUNCTIONS)
def test_example_is_right(source, function):
    name = function.name
    names = {"np": np}
    exec(source, names)
    examples = doctest.DocTestParser().get_doctest(
        inspect.getdoc(names[name]),
        names | {name: function.solution},
        name,
        filename=None,
        lineno=None,
    )
    assert examples.examples, "a stub shows an example"
    assert doctest.DocTestRunner(verbose=False).run(examples).failed == 0
