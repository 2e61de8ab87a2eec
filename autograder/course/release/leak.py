r"""Does a release hold anything of the references?  It shouldn't be possible; this looks anyway.

Searched are all texts in the release's files: sources, outputs and metadata of the notebook's
cells, every string of check.json, check.py as a whole.  Blanks and line breaks don't count, so
that code written in another layout is found too.  It is a leak if one of these stands there:

*code*
    a statement of a function or of the module, as written or as ``ast.unparse`` writes it; of a
    loop or condition its head and, by itself, each statement inside.  Trivial ones are left out:
    shorter than 20 characters, or with fewer than two operations (calls, operators, indexing),
    such as ``n, d = X.shape``.
*text*
    a sentence, of 20 characters or more, of a docstring of a misconception, an alternative or a
    hidden check, of an Essay's rubric, of a text in the code (so of its model answer) or of a
    comment.
*names*
    a misconception's or a hidden check's, as a whole word.  Names without an underscore are
    left out: they are words of the course, such as ``degrees``.

Not searched for is what is published on purpose: signatures of functions, imports, titles and
sources, the sentences of parts and visible checks, what a function does without, the line that a
derivation starts from, the docstring of the reference.  That authors wrote a statement into
assignments/ themselves is no excuse.  A function that students are given says so on its first line,
``def mean(z):  # given``, or by ``@exercise.given``, and its body is left out.  What is said of
a mistake to those who practise stands in help.json, and nowhere else.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from autograder.course.discover import Assignment
from autograder.course.release.practising import HELP, practisable
from autograder.exercise import Exercise

SHORTEST = 20
_GIVEN = "exercise.given"

_OPERATIONS = (
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.comprehension,
    ast.IfExp,
    ast.Subscript,
    ast.UnaryOp,
)


@dataclass(frozen=True)
class Secret:
    """A piece of a reference that must not ship; ``where`` is its file and line or role."""

    text: str
    where: str
    word: bool = False


def leaks(assignment: Assignment, files: Mapping[str, bytes]) -> list[str]:
    """Return a sentence for every piece of a reference that stands in the release."""
    texts = [(place, text, _dense(text)) for place, text in _texts(files)]
    # Nearly every secret stands nowhere: one search of everything tells.
    whole = _Searched("\0".join(text for _, text, _ in texts))
    whole_packed = _Searched("\0".join(packed for _, _, packed in texts))
    published, practised = _published(assignment), _practised(assignment)
    found: dict[tuple[str, str], str] = {}
    for secret in _secrets(assignment):
        dense = _dense(secret.text)
        somewhere = secret.text in whole if secret.word else dense in whole_packed
        if dense in published or not somewhere:
            continue
        pattern = re.compile(rf"(?<!\w){re.escape(secret.text)}(?!\w)")
        for place, text, packed in texts:
            if place == HELP and not secret.word and dense in practised:
                continue
            if pattern.search(text) if secret.word else dense in packed:
                shown = " ".join(secret.text.split())
                shown = shown if len(shown) <= 70 else f"{shown[:67]}..."
                found.setdefault((dense, place), f"{place} holds `{shown}` from {secret.where}")
    return list(found.values())


class _Searched:
    """A long text in which thousands of others are looked for, and hardly any is found.

    It is cut into pieces: where another text stands in it, each of its pieces is one of these, if
    it is cut at the right places.
    """

    _SIZE, _STEP = 8, 4  # characters of a piece, and from one to the next

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces = {text[at : at + self._SIZE] for at in range(0, len(text), self._STEP)}

    def __contains__(self, sought: str) -> bool:
        return any(map(partial(self._may_hold, sought), range(self._STEP))) and sought in self._text

    def _may_hold(self, sought: str, first: int) -> bool:
        places = range(first, len(sought) - self._SIZE + 1, self._STEP)
        return all(sought[at : at + self._SIZE] in self._pieces for at in places)


def _texts(files: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """Yield where a text stands, and the text."""
    for name, content in files.items():
        text = content.decode("utf-8", "replace")
        if name.endswith(".ipynb"):
            for number, cell in enumerate(json.loads(text)["cells"], 1):
                yield f"{name}, cell {number}", "\n".join(_strings(cell))
        elif name.endswith(".json"):
            yield name, "\0".join(_strings(json.loads(text)))
        else:
            yield name, text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(entry, str) for entry in value):
            yield "".join(value)  # the lines of a source or of an output
        else:
            for entry in value:
                yield from _strings(entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from _strings(entry)


def _dense(text: str) -> str:
    return "".join(text.split())


def _published(assignment: Assignment) -> set[str]:
    """Return what a release says on purpose, without blanks."""
    said: set[str] = set()
    for exercise in assignment.sound.values():
        said |= {exercise.id, exercise.title, exercise.source}
        for part in exercise.parts:
            said |= {part.name, *_sentences(part.asks)}
        for check in exercise.checks:
            if check.visible:
                said |= {check.name, *_sentences(check.rubric)}
        for text in (text for part in exercise.parts for text in part.answer.published()):
            said |= {text, *_sentences(text)}
        for function in exercise.functions:
            said |= {function.name, *_sentences(function.solution.__doc__ or ""), *function.without}
    return {_dense(text) for text in said}


def _practised(assignment: Assignment) -> str:
    """Return what may be said to those who practise, without blanks."""
    parts = [part for exercise in assignment.sound.values() for part in practisable(exercise)]
    told = [wrong.feedback for part in parts for wrong in part.misconceptions]
    functions = [each for exercise in assignment.sound.values() for each in exercise.functions]
    told += [wrong.feedback for each in functions for wrong in each.misconceptions]
    every = (part.answer.statement for e in assignment.sound.values() for part in e.parts)
    for other in filter(None, every):
        told += [*other["right"], *other["rule"].get("definitions", {}).values()]
    return "\0".join(map(_dense, told))


def _secrets(assignment: Assignment) -> Iterator[Secret]:
    for exercise in assignment.sound.values():
        yield from _spoken(exercise)
    references = assignment.course.root / "reference"
    for path in sorted([*references.glob("*.py"), *references.glob(f"{assignment.id}/*.py")]):
        where = path.relative_to(references.parent).as_posix()
        yield from _written_down(path.read_text(encoding="utf-8"), where)


@lru_cache(maxsize=256)  # an assignment's hints are looked through one exercise after the other
def _written_down(source: str, where: str) -> tuple[Secret, ...]:
    """Return the secrets in the text of a module."""
    return (*_code(source, where), *_comments(source, where))


def _spoken(exercise: Exercise) -> Iterator[Secret]:
    """Yield names and sentences of misconceptions, alternatives, hidden checks and rubrics."""
    wrong = [*exercise.misconceptions, *(m for part in exercise.parts for m in part.misconceptions)]
    hidden = [check for check in exercise.checks if not check.visible]
    other = [*exercise.alternatives, *(a for part in exercise.parts for a in part.alternatives)]
    told = [
        *((m.name, m.feedback, f"the misconception {exercise.id}.{m.name}") for m in wrong),
        *((c.name, c.rubric, f"the hidden check {exercise.id}.{c.name}") for c in hidden),
        *(("", a.__doc__ or "", f"an alternative of {exercise.id}") for a in other),
        *(
            ("", text, f"the rubric of {exercise.id}.{p.name}")
            for p in exercise.parts
            for text in [p.asks, *p.scheme, *(sample.why for sample in p.samples)]
        ),
    ]
    for name, text, where in told:
        if "_" in name:
            yield Secret(name, where, word=True)
        for sentence in _sentences(text):
            yield Secret(sentence, where)


def _code(source: str, where: str) -> Iterator[Secret]:
    """Yield statements and the texts in them."""
    lines = source.splitlines()

    def walk(body: list[ast.stmt]) -> Iterator[Secret]:
        for node in body:
            at = f"{where}:{node.lineno}"
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                given = any(ast.unparse(mark) == _GIVEN for mark in node.decorator_list)
                if not given and not re.search(r"#\s*given\b", lines[node.lineno - 1]):
                    yield from walk(node.body)
            elif not _is_public(node):
                inner = _inner(node)
                outside = {id(n) for statement in inner for n in ast.walk(statement)}
                nodes = [n for n in ast.walk(node) if id(n) not in outside]
                if sum(isinstance(n, _OPERATIONS) for n in nodes) >= 2:
                    stop = inner[0] if inner else None
                    for text in _written(node, stop, lines):
                        yield Secret(text, at)
                for n in nodes:
                    if isinstance(n, ast.Constant) and isinstance(n.value, str):
                        for sentence in _sentences(_without_reason(n.value)):
                            yield Secret(sentence, at)
                yield from walk(inner)

    yield from walk(ast.parse(source).body)


def _without_reason(text: str) -> str:
    """Return a line of a derivation without ``# definition``: which reasons there are is said."""
    return re.sub(r"\s*#[ \w]*$", "", text)


def _inner(node: ast.AST) -> list[ast.stmt]:
    """Return the statements directly inside one: of its branches, handlers and cases."""
    inner: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            inner.append(child)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            inner += _inner(child)
    return inner


def _written(node: ast.stmt, inner: ast.stmt | None, lines: list[str]) -> set[str]:
    """Return a statement, or the head of one with others in it, as written and as unparsed."""
    if inner is None:
        texts = {_segment(node, lines), ast.unparse(node)}
    else:
        texts = {"\n".join(lines[node.lineno - 1 : max(node.lineno, inner.lineno - 1)])}
        texts.add(ast.unparse(node).partition("\n")[0])
    return {text for text in texts if _long(text)}


def _segment(node: ast.stmt, lines: list[str]) -> str:
    """Return a statement as written; `ast.get_source_segment` splits the whole file each time."""
    written = [line.encode() for line in lines[node.lineno - 1 : node.end_lineno]]
    written[-1] = written[-1][: node.end_col_offset]
    written[0] = written[0][node.col_offset :]
    return b"\n".join(written).decode()


def _is_public(node: ast.stmt) -> bool:
    """Tell imports, docstrings and ``exercise = Exercise(…)`` from the rest."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    value = getattr(node, "value", None)
    if isinstance(node, ast.Expr):
        return isinstance(value, ast.Constant)
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id
    return called == Exercise.__name__


def _comments(source: str, where: str) -> Iterator[Secret]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            for sentence in _sentences(token.string.lstrip("# ")):
                yield Secret(sentence, f"{where}:{token.start[0]}")


def _sentences(text: str) -> list[str]:
    """Split at the ends of sentences, paragraphs and points (1), (2); short ones are left out."""
    parts = re.split(r"(?<=[.!?:;])\s+|\n\s*\n|\(\w\)\s+", text)
    return [part.strip() for part in parts if _long(part)]


def _long(text: str) -> bool:
    return len(" ".join(text.split())) >= SHORTEST
