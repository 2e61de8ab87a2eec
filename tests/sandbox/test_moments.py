"""Calls are turned back to an earlier moment where nothing they use can have changed since."""

import functools
import types
import warnings
import weakref

import numpy as np
import pytest

from autograder.sandbox.inside.snapshots import Snapshots


@pytest.fixture
def notebook():
    names = vars(types.ModuleType("__main__"))
    moments = Snapshots(names)

    def run(source):
        exec(source, names)

    return names, moments, run


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return x",
        "import numpy as np\ndef f(x): return np.exp(x - np.max(x))",
        "from numpy import exp\nfrom math import sqrt\ndef f(x): return exp(sqrt(x))",
        "scale = 2.0\nnames = ('a', (1, None))\ndef f(x, y=3): return scale * names[1][0]",
        "def f(x): return 1 if x == 0 else x * f(x - 1)",
        "def g(x): return x\ndef f(x): return [g(y) for y in x]",
        "from fractions import Fraction\ndef f(x): return Fraction(x)",
        "data = []\ndef f(x): return x",
        "g = 1",
        "import numpy as np\nf = np.sin",
        "class C: scale = 2\ndef f(x): return C.scale * x",
        "class f:\n    'A layer.'\n    d: int = 3\n    def __init__(self): self.d = [2]\n"
        "    @staticmethod\n    def g(x): return x\n    @classmethod\n    def h(cls): return cls\n"
        "    @property\n    def size(self): return self.g(self.d)",
        "class B:\n    def g(self): return 1\nclass f(B):\n    def g(self): return super().g() + 1",
        "import random\nclass f(random.Random): pass",
    ],
)
def test_what_depends_on_names_alone_is_kept(notebook, source):
    _, moments, run = notebook
    run(source)
    assert moments.keep("m", ["f"])


@pytest.mark.parametrize(
    "source",
    [
        "data = []\ndef f(x): return data",
        "import numpy as np\nW = np.ones(3)\ndef f(x): return W @ x",
        "import numpy as np\nrng = np.random.default_rng(0)\ndef f(x): return rng.normal()",
        "data = {}\ndef g(): return data\ndef f(x): return [g() for _ in x]",
        "def f(x, seen=[]): return seen",
        "def f(x, *, seen={}): return seen",
        "def f(x): return f.count\nf.count = 0",
        "import functools\n@functools.cache\ndef f(x): return x",
        "class C:\n    def __call__(self, x): return x\nf = C()",
        "def outer():\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n"
        "        return n\n    return inner\nf = outer()",
        "a = 1\ndef f(x): return globals()['a']",
        "a = 1\ndef f(x): return eval('a')",
        "data = ([],)\ndef f(x): return data",
        "import numpy as np\nf = np.vectorize(lambda x: x)",
        "class f:\n    seen = []\n    def g(self): return self.seen",
        "data = []\nclass f:\n    def g(self): return data",
        "class B: seen = []\nclass f(B): pass",
        "import abc\nclass f(abc.ABC): pass",
        "import functools\nclass f:\n    @functools.cache\n    def g(self): return 1",
        "class f:\n    def __init__(self, seen=[]): self.seen = seen",
        "class M(type): pass\nclass f(metaclass=M): pass",
        "f = [1, 2].pop",
        "import numpy as np\ndraw = np.random.default_rng(0).normal\ndef f(): return draw()",
    ],
)
def test_what_can_be_changed_is_not(notebook, source):
    _, moments, run = notebook
    run(source)
    assert not moments.keep("m", ["f"])


def test_names_are_as_they_were(notebook):
    names, moments, run = notebook
    run("a = 1\ndef helper(): return a\ndef f(): return helper()")
    assert moments.keep("m", ["f"])
    run("a = 2\ndef helper(): return -1\nf = None")
    assert moments.recall("m")
    assert names["f"]() == 1


def test_names_that_were_not_there_are_not_there_again(notebook):
    names, moments, run = notebook
    run("def f(): return late()")
    assert moments.keep("m", ["f", "g"])
    run("def late(): return 1\ndef g(): return 2")
    assert moments.recall("m")
    assert "g" not in names
    with pytest.raises(NameError):
        names["f"]()


LAYER = (
    "class B:\n    def g(self): return n\nclass f(B):\n    def h(self): return self.g()\nn = 1\n"
)


def test_a_class_is_as_it_was(notebook):
    names, moments, run = notebook
    run(LAYER)
    assert moments.keep("m", ["f"])
    run("n = 2\nclass f(f):\n    def g(self): return -n")
    assert names["f"]().h() == -2
    assert moments.recall("m")
    assert names["f"]().h() == 1
    assert moments.recall()
    assert names["f"]().h() == -2


@pytest.mark.parametrize(
    "change",
    [
        "f.g = lambda self: 2",
        "B.g = lambda self: 2",
        "f.seen = []",
        "del f.h",
        "f.count = getattr(f, 'count', 0) + 1",
    ],
)
def test_a_class_that_was_changed_since_is_not(notebook, change):
    _, moments, run = notebook
    run(LAYER)
    assert moments.keep("m", ["f"])
    assert moments.recall("m")
    run(change)
    assert not moments.recall("m")


def test_one_moment_does_not_disturb_another(notebook):
    names, moments, run = notebook
    run("def f(): return late()")
    assert moments.keep("early", ["f"])
    run("def late(): return 1")
    assert moments.keep("later", ["f"])
    assert moments.recall("early")
    assert moments.recall("later")
    assert names["f"]() == 1


@pytest.mark.parametrize(
    "earlier",
    [
        "import numpy as np\ndef f(x): return np.sqrt(x)",
        "def f(x):\n    from math import sqrt\n    return sqrt(x)",
        "def f(x):\n    import math as sqrt\n    return x",
        "def f(x):\n    return sqrt(x)",
        "class sqrt: pass\ndef f(x, sqrt=None): return x",
    ],
)
def test_names_that_come_later_are_there_again_after_every_turn(notebook, earlier):
    names, moments, run = notebook
    run(earlier)
    assert moments.keep("m", ["f"])
    run("from math import sqrt\nroots = []\ndef g(x): return sqrt(x)")
    assert moments.recall("m")
    assert moments.recall()
    assert names["g"](9) == 3
    assert moments.recall("m")
    assert moments.recall("m")
    assert moments.recall()
    assert names["g"](9) == 3


@pytest.mark.parametrize(
    "earlier",
    [
        "import numpy as np\ndef f(x): return np.sqrt(x)",
        "def f(x):\n    from math import sqrt\n    return sqrt(x)",
    ],
)
def test_an_attribute_or_a_local_import_takes_no_name_away(notebook, earlier):
    names, moments, run = notebook
    run(earlier)
    assert moments.keep("m", ["f"])
    run("def sqrt(x): return -1")
    assert moments.recall("m")
    assert names["sqrt"](9) == -1


def test_what_a_call_has_assigned_is_gone_after_the_next_turn(notebook):
    names, moments, run = notebook
    run("a = 1\ndef f():\n    global a, b\n    a, b = 2, 2")
    assert moments.keep("m", ["f"])
    assert moments.recall("m")
    names["f"]()
    assert moments.recall()
    assert names["a"] == 1
    assert "b" not in names


def test_nothing_large_is_kept(notebook):
    names, moments, run = notebook
    run("import numpy as np\nlarge = np.ones(1000)\ndef f(): return 1")
    seen = weakref.ref(names["large"])
    assert moments.keep("m", ["f"])
    run("large = None")
    assert seen() is None


def test_random_numbers_are_as_they_were(notebook):
    names, moments, run = notebook
    run("import random\nimport numpy as np\ndef f(): return 0")
    moments.keep("m", ["f"])
    draw = "drawn = random.random(), np.random.random()"
    run(draw)
    before = names["drawn"]
    assert moments.recall("m")
    run(draw)
    assert names["drawn"] == before


@pytest.mark.parametrize(
    "change", ["np.seterr(over='raise')", "warnings.filterwarnings('error', 'late')"]
)
def test_settings_that_later_cells_change_are_noticed(notebook, change):
    _, moments, run = notebook
    run("import numpy as np, warnings\ndef f(): return 0")
    moments.keep("m", ["f"])
    with np.errstate(), warnings.catch_warnings():
        run(change)
        assert not moments.recall("m")
    assert moments.recall("m")


def test_what_libraries_made_is_taken_for_theirs(notebook):
    names, moments, _ = notebook
    names["f"] = functools.reduce
    assert moments.keep("m", ["f"])
