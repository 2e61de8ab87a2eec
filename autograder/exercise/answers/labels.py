"""Tables of labels: each entry is given one of a few words, such as true, false or open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.exercise.answers.kind import Answer, Array, Attempt, Judgement, Scaffold, mistaken
from autograder.student.letters import read_labels


@dataclass(frozen=True)
class Labels(Answer):
    """A label for each name of a table, written as a dictionary.

    Of n labels r are right, and the commonest stands m times: (r − m)/(n − m) is earned, so that
    one label for all earns nothing, nor do labels at random on average.  All mistakes that a table
    shows are named, whatever stands beside them.

    Attributes
    ----------
    labels
        The labels, separated by blanks.
    wrong
        By the name of a mistake, the labels that show it and the sentence that says why: one
        label, or several that go together.

    Examples
    --------
    >>> kind = Labels("T F", {"taken_for_one": ({"C1": "T"}, "It is none.")})
    >>> right = kind.read({"C1": "F", "C2": "T", "C3": "F"})
    >>> found = kind.judge(kind.read({"C1": "t", "C2": "T", "C3": "F"}, like=right), right)
    >>> found.credit, found.note, found.feedback
    (0.0, 'taken_for_one', '2 of 3 labels are right. It is none.')
    """

    kind = "labels"
    reader = staticmethod(read_labels)
    table = (
        (
            'Labels("T F")',
            '`{name: label}`, such as `{"C1": "T"}`',
            "credit for each right label, above what one label everywhere has",
        ),
    )
    scaffold = Scaffold(
        asks="Say of each number: is it prime (P), composite (C) or neither (N)?",
        stub='numbers = {"two": None, "four": None, "six": None, "one": None}  # "P", "C" or "N"',
        reference='''
@exercise.part(
    points=2,
    answer=Labels("P C N", {"one_is_prime": ({"one": "P"}, "A prime has exactly two divisors.")}),
)
def numbers():
    """Which of these numbers are prime, composite or neither?"""
    return {"two": "P", "four": "C", "six": "C", "one": "N"}
''',
    )

    labels: str
    wrong: Mapping[str, tuple[Mapping[str, str], str]] = field(default_factory=dict)

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Equality, label by label."""
        return bool(given == expected)

    def judge(self, given: Any, expected: Any, *, slack: float | Array = 0.0) -> Judgement:
        """Give credit for each right label, and name every mistake that the table shows."""
        if given == expected:
            return Judgement(1.0)
        number = len(expected)
        right = sum(given[name] == label for name, label in expected.items())
        common = max(Counter(expected.values()).values())
        credit = max(0.0, (right - common) / max(number - common, 1))
        shown = [
            (name, why)
            for name, (labels, why) in self.wrong.items()
            if all(given.get(key) == label for key, label in labels.items())
        ]
        said = [f"{right} of {number} labels are right.", *(why for _, why in shown)]
        return Judgement(credit, shown[0][0] if shown else "", " ".join(said))

    def mistakes(self, compute: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
        """Return for each mistake the right table with its labels."""
        for name, (labels, why) in self.wrong.items():

            def spoiled(right: Any, labels: Mapping[str, str] = labels) -> Any:
                return {**right, **labels}

            yield mistaken(compute, name, why, spoiled)

    def attempts(self, right: Any) -> Iterable[Attempt]:
        """Try one label everywhere, and labels in other clothes."""
        yield Attempt("small letters", {n: label.lower() for n, label in right.items()}, at_least=1)
        for label in self.labels.split():
            yield Attempt(f"{label} everywhere", dict.fromkeys(right, label), at_most=0)

    def guess(self, number: int, right: Any) -> Any:
        """Return one label everywhere."""
        labels = self.labels.split()
        return dict.fromkeys(right, labels[number % len(labels)])

    def hint(self, expected: Any) -> dict[str, Any]:
        """Names and labels."""
        found: dict[str, Any] = {"kind": "labels", "labels": self.labels.split()}
        return found if expected is None else found | {"names": list(expected)}
