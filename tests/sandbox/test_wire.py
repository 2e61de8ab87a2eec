import collections
import enum
import json
import math
import struct
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.sandbox import wire
from autograder.sandbox.wire import MAGIC, PREFIX, Tensor, WireError, decode, encode, frame_lengths

LIMIT = 1 << 20


def split(buffers):
    frame = b"".join(map(bytes, buffers))
    header, payload = frame_lengths(frame[: PREFIX.size], LIMIT)
    assert len(frame) == PREFIX.size + header + payload
    return frame[PREFIX.size : PREFIX.size + header], frame[PREFIX.size + header :]


def sent(value, **kwargs):
    return decode(*split(encode(value)), **kwargs)


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (Fraction(-2, 3), Fraction(-2, 3)),
        (Decimal("2.50"), Fraction(5, 2)),
        (sympy.Rational(1, 3), Fraction(1, 3)),
        (sympy.Integer(7), Fraction(7)),
        (sympy.sqrt(2), 2**0.5),
        ([sympy.Float("0.07")], [0.07]),
    ],
)
def test_exact_numbers_arrive(value, arrives):
    assert sent(value) == arrives


@pytest.mark.parametrize("value", [Decimal("nan"), sympy.I, sympy.Symbol("x"), sympy.eye(2)])
def test_what_is_no_real_number_is_refused_by_its_name(value):
    with pytest.raises(WireError, match=f"an? {type(value).__name__} object"):
        encode(value)


@pytest.mark.parametrize("content", [[1], [1, 0], [1, -2], [1.0, 2], ["1", 2], [1, 2, 3]])
def test_a_fraction_has_two_whole_numbers(content):
    header = json.dumps({"q": content}).encode()
    with pytest.raises(WireError, match="fraction"):
        decode(header, b"")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def same(a, b):
    """Equality of type and value, in which NaN equals itself."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and a.tobytes() == b.tobytes()
    return repr(a) == repr(b)


text = st.text(st.characters(exclude_categories=["Cs"]))
dtypes = st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u8", "f2", "f4", "f8", "c8", "c16"])
arrays = hnp.arrays(dtypes, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 200), 1 << 200)
    | st.floats()
    | st.complex_numbers()
    | text
    | arrays
    | arrays.map(lambda a: a.ravel()[0] if a.size else None)
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(text | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


class TestRoundTrip:
    @given(values)
    def test_every_value_comes_back(self, value):
        assert same(sent(value), value)

    @pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, 5e-324, 1j, 2**4095])
    def test_extreme_numbers(self, value):
        assert same(sent(value), value)

    @pytest.mark.parametrize("text", ["√d_k", "x" * 100_000, "\0\x1b[31m", "é" * 5000])
    def test_texts_of_any_length(self, text):
        assert sent([text, {text: 1}]) == [text, {text: 1}]

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(6.0).reshape(2, 3).T,
            np.arange(10)[::-2],
            np.arange(3, dtype=">f4"),
            np.zeros((3, 0, 2)),
            np.array(2.5),
            np.arange(100_000.0).reshape(10, -1)[:, ::3],
            np.asfortranarray(np.arange(40_000).reshape(200, 200)),
        ],
    )
    def test_arrays_of_any_layout(self, array):
        result = sent(array)
        np.testing.assert_array_equal(result, array)
        assert type(result) is np.ndarray
        assert result.flags.writeable
        assert result.flags.owndata or result.size == 0
        header, payload = split(encode(array))
        again = decode(header, bytearray(payload), copy=False)
        np.testing.assert_array_equal(again, array)
        assert again.flags.writeable
        assert again.flags.aligned
        assert result.shape == array.shape

    def test_a_bool_is_one_of_two(self):
        header, _ = split(encode(np.array([True, False])))
        result = decode(header, b"\x07\x00")
        assert result.view(np.uint8).tolist() == [1, 0]


class TestLongLists:
    """What trainings collect comes back as it was, in a few pieces and without much ado."""

    @pytest.mark.parametrize(
        "value",
        [
            [np.float64(i) for i in range(1500)],
            tuple(np.float32(i) for i in range(20_000)),
            [np.array(2.5)] * 20,
            [np.arange(3, dtype="i2")] * 9_000,
            [np.arange(i % 3) for i in range(3_000)],
            [[0.5, 1.5]] * 10_000,
            [[0.5 if i == j else 0 for i in range(150)] for j in range(150)],
            [[float(i)] * (i % 4) for i in range(10_000)],
            [(i, i / 2) for i in range(10_000)],
            [[[True, False], [False, True]]] * 30,
            [[]] * 20,
            [[1, 2], [3, 2**70]] * 20,
            [[1, 2.0]] * 20,
            [[1, 2], [3]] * 20,
            ["word"] * 10_000,
            [True, 1] * 10,
            [1j] * 40_000,
        ],
        ids=lambda value: repr(value[:2])[:40],
    )
    def test_they_come_back_as_they_were(self, value):
        assert same(sent(value), value)
        assert len(encode(value)) < 1_000

    def test_tensors_that_require_a_gradient(self, torch):
        losses = [torch.tensor(float(i), requires_grad=True) * 2 for i in range(1500)]
        found = sent([losses, [torch.zeros(3).bfloat16()] * 9])
        assert [float(loss.array) for loss in found[0]] == list(range(0, 3000, 2))
        assert found[1][8].dtype == "bfloat16"
        assert torch.equal(sent(losses, torch_tensors=True)[7], losses[7])

    def test_what_numpy_takes_for_a_list_is_one(self):
        value = [range(3), collections.deque([1]), {np.int64(3): np.str_("a")}]
        assert same(sent(value), [[0, 1, 2], [1], {3: "a"}])
        assert sent(np.longdouble(0.5)) == 0.5

    def test_a_list_of_itself_many_times_over(self):
        value = []
        value += [value] * 8
        with pytest.raises(WireError, match="more values in lists|nested"):
            encode(value)

    @given(values)
    def test_what_is_sent_is_received(self, value):
        many = [value] * 300
        try:
            frame = encode(many)
        except WireError:
            return
        assert same(decode(*split(frame)), many)


class TestSubclasses:
    """They travel as their base type, and none of their methods runs."""

    def test_text(self):
        class Sly(str):
            __slots__ = ()

            def __eq__(self, other):
                return True

            __hash__ = str.__hash__

        result = sent(Sly("a"))
        assert type(result) is str
        assert result != "b"

    def test_numbers(self):
        class Colour(enum.IntEnum):
            RED = 3

        class Half(float):
            def __float__(self):
                raise AssertionError

        assert same(sent([Colour.RED, Half(0.5)]), [3, 0.5])

    def test_containers(self):
        Point = collections.namedtuple("Point", "x y")

        class Endless(list):
            def __iter__(self):
                raise AssertionError

        value = [Point(1, 2), Endless([1]), collections.Counter("a"), collections.OrderedDict(b=1)]
        assert same(sent(value), [(1, 2), [1], {"a": 1}, {"b": 1}])

    def test_sets_travel_as_lists_without_an_order(self):
        for entries in ({2, 1}, set(range(20)), frozenset({frozenset("a")})):
            found = sent([entries])[0]
            assert found.unordered
            assert {frozenset(e) if isinstance(e, list) else e for e in found} == entries
        assert not hasattr(sent([1, 2]), "unordered")

    @pytest.mark.parametrize("content", [[], [1], [[1], [2]], [{"s": [[1]]}], [{"d": []}]])
    def test_a_set_is_a_list(self, content):
        with pytest.raises(WireError, match="a set without a list"):
            decode(json.dumps({"s": content}).encode(), b"")

    def test_arrays(self):
        class Sly(np.ndarray):
            def __array__(self, *args, **kwargs):
                raise AssertionError

            def tobytes(self, *_):
                raise AssertionError

        assert same(sent(np.arange(3.0).view(Sly)), np.arange(3.0))
        assert same(sent(np.str_("a")), "a")


class TestRefused:
    @pytest.mark.parametrize(
        ("value", "why"),
        [
            (object(), "an object object"),
            (b"a", "a bytes object"),
            (print, "a builtin_function_or_method object"),
            ({(0, 1): 2}, "a dictionary with a tuple object as a key"),
            (np.array([object()]), "an array of dtype object"),
            (np.array(["a"]), "an array of dtype <U1"),
            (np.datetime64("2024-01-01"), "a numpy datetime64 object"),
            (np.ma.masked_array([1, 2], [True, False]), "a masked array"),
            (np.zeros((1,) * 9), "an array with 9 axes"),
            (np.broadcast_to(0.0, (1 << 16, 1 << 16)), "an array with too many items"),
            (2**4097, "an integer of more than 4096 bits"),
            ({1.5: 2}, "a dictionary with a float object as a key"),
            ("\ud800", "text with unpaired surrogates"),
            ("\ud800" * 5000, "text with unpaired surrogates"),
            ([0] * 1_001_000, "more values in lists"),
            ([[0], []] * 20_000, "more values in lists"),
            ([np.float32(0), np.float64(0)] * 3_000, "more values in lists"),
            ([[[[[[[[[[[[[1]]]]]]]]]]]]], "lists nested too deeply"),
            ((i for i in "abc"), "a generator object"),
        ],
    )
    def test_what_cannot_be_sent_is_named(self, value, why):
        with pytest.raises(WireError, match=why):
            encode(value)

    def test_a_list_that_holds_itself(self):
        value = []
        value.append(value)
        with pytest.raises(WireError, match="nested"):
            encode(value)

    def test_the_sender_knows_the_limit(self):
        encode(np.zeros(100), max_payload=800)
        with pytest.raises(WireError, match="more data"):
            encode(np.zeros(101), max_payload=800)


class TestTensors:
    @pytest.mark.parametrize(
        "name", ["float32", "float64", "float16", "int64", "bool", "uint8", "complex64"]
    )
    def test_round_trip(self, torch, name):
        tensor = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
        here = sent(tensor)
        assert type(here) is Tensor
        assert here.dtype == name
        np.testing.assert_array_equal(here.array, tensor.numpy())
        there = sent(tensor, torch_tensors=True)
        assert there.dtype == tensor.dtype
        assert torch.equal(there, tensor)

    def test_bfloat16(self, torch):
        tensor = torch.tensor([1.0, 1 / 3, -2.5e20, 0.0]).bfloat16()
        here = sent(tensor)
        assert here.dtype == "bfloat16"
        np.testing.assert_array_equal(here.array, tensor.float().numpy())
        assert torch.equal(sent(tensor, torch_tensors=True), tensor)

    def test_a_parameter_with_gradient_and_any_layout(self, torch):
        weights = torch.nn.Parameter(torch.rand(3, 2))
        np.testing.assert_array_equal(sent(weights.T).array, weights.detach().numpy().T)

    def test_sparse_is_refused(self, torch):
        with pytest.raises(WireError, match="ordinary dense"):
            encode(torch.eye(3).to_sparse())


class TestHostileFrames:
    def test_prefix(self):
        for prefix in (
            b"",
            PREFIX.pack(b"EVIL", 1, 1),
            PREFIX.pack(MAGIC, wire.MAX_HEADER + 1, 0),
            PREFIX.pack(MAGIC, 2, LIMIT + 1),
            PREFIX.pack(MAGIC, 2, (1 << 64) - 1),
        ):
            with pytest.raises(WireError):
                frame_lengths(prefix, LIMIT)

    @pytest.mark.parametrize(
        "header",
        [
            '{"a":["f8",1099511627776,1099511627776]}',
            '{"a":["f8",0,1099511627776,1099511627776]}',
            '{"a":["f8",true]}',
            '{"a":["f8",-1]}',
            '{"a":["f8",1.0]}',
            '{"a":["f8",[1]]}',
            '{"a":["O",1]}',
            '{"a":["bf16",1]}',
            '{"a":[]}',
            '{"a":[["f8"],1]}',
            '{"a":{"f8":1}}',
            '{"a":["f8",1,1,1,1,1,1,1,1,1]}',
            '{"n":["f8"]}',
            '{"n":null}',
            '{"T":[]}',
            '{"u":-1}',
            '{"u":true}',
            '{"u":1e3}',
            '{"u":9}',
            '{"u":8}',
            '{"c":[1,2]}',
            '{"c":[1.0]}',
            '{"d":["k"]}',
            '{"d":[null,1]}',
            '{"d":[[],1]}',
            '{"d":{}}',
            '{"t":"abc"}',
            '{"x":[]}',
            '{"t":[],"d":[]}',
            '{"p":[]}',
            '{"p":["d"]}',
            '{"p":["d",-1]}',
            '{"p":["d",1,0]}',
            '{"p":["d",true]}',
            '{"p":["d",1073741824,1073741824]}',
            '{"p":["d",1,1,1,1,1,1,1,1,1,1,1,1,1]}',
            '{"p":["x",1]}',
            '{"l":[]}',
            '{"l":["n","f8",1,1]}',
            '{"l":["a","f8",99999999,0]}',
            '{"l":["a","f8",0]}',
            '{"l":["a","f8"]}',
            '{"l":["x","f8",1]}',
            '{"l":["T","f8",true]}',
            '{"l":[[],[],1]}',
            '{"l":["n",["f8"],1]}',
            "{}",
            "",
            "1 2",
            '"\\ud800"',
            '"' + "x" * 5000 + '"',
            "9" * 1300,
            "9" * 5000,
            "[" * 100_000,
            "[" * 13 + "]" * 13,
            '{"t":' * 5000 + "[]" + "}" * 5000,
            "[" + "0," * 300_000 + "0]",
            "\udcff",
            "ÿ".encode("latin-1"),
            "1".encode("utf-16"),
        ],
    )
    def test_header(self, header):
        if isinstance(header, str):
            header = header.encode("utf-8", "surrogatepass")
        with pytest.raises(WireError):
            decode(header, b"\xff" * 8)

    def test_the_payload_must_fit_exactly(self):
        header, payload = split(encode(np.arange(4.0)))
        for wrong in (payload[:-1], payload + b"\0", b""):
            with pytest.raises(WireError):
                decode(header, wrong)

    @given(st.binary(max_size=200), st.binary(max_size=64))
    def test_random_bytes(self, header, payload):
        self.decodes_or_refuses(header, payload)

    @settings(max_examples=300)
    @given(values, st.data())
    def test_mutated_frames(self, value, data):
        try:
            header, payload = split(encode(value))
        except WireError:
            return
        header = bytearray(header)
        for _ in range(data.draw(st.integers(1, 4))):
            i = data.draw(st.integers(0, max(len(header) - 1, 0)))
            junk = data.draw(
                st.binary(min_size=1, max_size=2)
                | st.sampled_from(
                    [b"[", b"]", b"{", b"}", b'"', b"null", b"-1", b"1e400", b"9" * 20]
                )
                | st.sampled_from([b'{"a":["f8",2]},', b'{"u":3},', b'"T"', b'"n"', b'"d"', b","])
            )
            header[i : i + data.draw(st.integers(0, 3))] = junk
        cut = data.draw(st.integers(0, len(payload)))
        self.decodes_or_refuses(bytes(header), payload[:cut])

    @given(st.binary(min_size=PREFIX.size, max_size=PREFIX.size))
    def test_random_prefixes(self, prefix):
        try:
            frame_lengths(prefix, LIMIT)
        except WireError:
            return
        assert struct.unpack("<4sIQ", prefix)[0] == MAGIC

    def decodes_or_refuses(self, header, payload):
        try:
            value = decode(header, payload)
        except WireError:
            return
        encode(value)  # what is accepted is a value like any other
