"""The compiled loop counts what NumPy counts, and nobody needs it."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgelab import _kernel, counts
from judgelab._kernel import build, count_pairs
from judgelab.counts import contingency_table, tie_counts, win_counts
from judgelab.errors import ValidationError

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"]
COMPILER = os.environ.get("CC") or any(map(shutil.which, ("cc", "gcc", "clang")))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile the loop as it stands, whenever the package was installed."""
    if not COMPILER:
        pytest.skip("no C compiler")
    place = tmp_path_factory.mktemp("kernel") / "count.so"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "LIBRARY", place)
        patch.setattr(_kernel, "LIBRARY", place)
        patch.delenv("JUDGELAB_KERNEL", raising=False)
        assert build.compiled()
        _kernel.library.cache_clear()
        assert _kernel.library() is not None
        yield
    _kernel.library.cache_clear()


@pytest.fixture
def numpy_only(monkeypatch):
    monkeypatch.setattr(counts, "count_pairs", lambda *games: None)


def laid_out(values, dtype, layout):
    """Lay the same numbers out in another way."""
    column = np.array(values, dtype)
    if layout == "backwards":
        return column[::-1].copy()[::-1]
    if layout == "of a table":
        table = np.full((column.size, 3), 99, dtype)
        table[:, 1] = column
        return table[:, 1]
    if layout == "of a record":
        record = np.zeros(column.size, np.dtype([("odd", "i1"), ("value", dtype)]))
        record["value"] = column
        return record["value"]
    if layout == "read only":
        column.flags.writeable = False
    return column


layouts = st.sampled_from(
    ["plain", "backwards", "of a table", "of a record", "read only"]
)
columns = st.tuples(st.sampled_from(DTYPES), layouts)


@st.composite
def games(draw):
    n = draw(st.integers(1, 120))
    position = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(position, position), max_size=60))
    return n, np.array(pairs, int).reshape(-1, 2).T


@given(games(), columns, columns)
def test_every_type_and_layout_is_counted(compiled, games, one, other):
    n, pairs = games
    first, second = laid_out(pairs[0], *one), laid_out(pairs[1], *other)
    want = np.zeros((n, n), int)
    np.add.at(want, tuple(pairs), 1)
    table = count_pairs(first, second, n)
    assert table is not None
    assert table.dtype == np.int64
    assert np.array_equal(table, want)
    assert np.array_equal(counts._cell_counts(first, second, n, None), want)


@given(
    games(),
    columns,
    st.integers(0, 60),
    st.sampled_from([-(2**63), -129, -1, 0, 1, 2**31, 2**62]),
    st.booleans(),
)
def test_a_position_out_of_range_is_seen_anywhere(compiled, games, how, at, by, second):
    n, pairs = games
    wrong = by if by < 0 else n + by
    dtype, layout = how
    info = np.iinfo(dtype)
    if not info.min <= wrong <= info.max:
        wrong = info.max if info.max >= n else None
    if wrong is None:
        return
    rows = pairs.shape[1]
    columns = [np.insert(pairs[k], min(at, rows), 0).astype(dtype) for k in (0, 1)]
    columns[second][min(at, rows)] = wrong
    a, b = (laid_out(column, dtype, layout) for column in columns)
    assert count_pairs(a, b, n) is None


def test_a_large_table_of_games(compiled):
    rng = np.random.default_rng(5)
    for n, dtype in ((100, "i1"), (200, "u1"), (1000, "i2"), (1000, "i8")):
        pairs = rng.integers(n, size=(2, 300_000)).astype(dtype)
        want = np.bincount(pairs[0].astype(int) * n + pairs[1], minlength=n * n)
        assert np.array_equal(count_pairs(*pairs, n), want.reshape(n, n))


@pytest.mark.parametrize("way", ["compiled", "numpy_only"])
@pytest.mark.parametrize(
    ("winners", "losers", "message"),
    [
        ([0, 1, 5], [1, 0, 0], r"winners holds \[5\] at \[2\]; positions run from 0"),
        ([0, 1, 0], [1, -1, 9], r"losers holds \[-1, 9\] at \[1, 2\]"),
        (np.array([0, -1], ">i4"), [1, 0], r"winners holds \[-1\] at \[1\]"),
        ([0, 1, 1], [1, 0, 1], r"meets itself in the games \[2\]"),
    ],
)
def test_the_same_errors_either_way(request, way, winners, losers, message):
    request.getfixturevalue(way)
    with pytest.raises(ValidationError, match=message):
        win_counts(winners, losers, players=2)
    with pytest.raises(ValidationError, match=r"positions run from 0 to -1"):
        win_counts(winners, losers, players=0)


def test_foreign_byte_order_without_the_loop(numpy_only):
    first, second = np.array([0, 1, 2], ">i4"), np.array([1, 2, 0], ">u8")
    assert (
        win_counts(first, second, players=3).tolist() == np.eye(3)[[1, 2, 0]].tolist()
    )


@given(games())
def test_wins_and_ties_are_the_same_either_way(compiled, games):
    n, (first, second) = games
    apart = first != second
    names = [f"model {k}" for k in range(n)]
    for count in (win_counts, tie_counts):
        tables = []
        for way in (count_pairs, lambda *games: None):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(counts, "count_pairs", way)
                a, b = first[apart], second[apart]
                tables.append(count(a, b, players=n))
                named = count(
                    [names[k] for k in a], [names[k] for k in b], players=names
                )
                assert np.array_equal(named, tables[-1])
        assert np.array_equal(*tables)
        assert tables[0].dtype == tables[1].dtype


SCRIPT = """
from judgelab import _kernel
from judgelab.counts import win_counts
print(_kernel.library(), win_counts([0, 0, 1], [1, 1, 0], players=2).tolist())
"""


@given(games(), st.sampled_from(["i1", "u1", "i2", "i8", "f8", "O"]), st.booleans())
def test_a_table_of_labels_is_the_same_either_way(compiled, games, dtype, gaps):
    k, pairs = max(games[0], 2), games[1]
    assume(pairs.size)
    first, second = pairs.astype(dtype)
    if gaps and dtype in "f8 O" and first.size:
        first[::3] = np.nan if dtype == "f8" else None
    want = np.zeros((k, k), int)
    for a, b in zip(first, second, strict=True):
        if a is not None and a == a:
            want[int(a), int(b)] += 1
    with pytest.MonkeyPatch.context() as patch:
        for _ in range(2):
            table = contingency_table(first, second, scale=range(k), missing="drop")
            np.testing.assert_array_equal(table, want)
            assert table.dtype == np.int64
            patch.setattr(counts, "count_pairs", lambda *pairs: None)


def test_it_can_be_switched_off():
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=os.environ | {"JUDGELAB_KERNEL": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "None [[0, 2], [1, 0]]"


def test_a_library_that_is_not_there_or_broken_is_none(tmp_path, monkeypatch):
    broken = tmp_path / "count.so"
    monkeypatch.setattr(_kernel, "LIBRARY", broken)
    for content in (None, b"", b"no library"):
        if content is not None:
            broken.write_bytes(content)
        _kernel.library.cache_clear()
        assert _kernel.library() is None
        assert win_counts([0], [1], players=2).tolist() == [[0, 1], [0, 0]]
    _kernel.library.cache_clear()


@pytest.mark.parametrize("compiler", ["false", "true", "no-such-compiler -x"])
def test_without_a_compiler_the_wheel_is_for_every_platform(
    tmp_path, monkeypatch, compiler
):
    left = tmp_path / "count.so"
    left.write_bytes(b"of an earlier build")
    monkeypatch.setattr(build, "LIBRARY", left)
    monkeypatch.setenv("CC", compiler)
    about = {"artifacts": [], "pure_python": True}
    build.initialize(None, "standard", about)
    assert about == {"artifacts": [], "pure_python": True}
    assert not left.exists()


@pytest.mark.skipif(not COMPILER, reason="no C compiler")
def test_with_a_compiler_the_wheel_is_for_this_platform(tmp_path, monkeypatch):
    place = tmp_path / "count.so"
    monkeypatch.setattr(build, "LIBRARY", place)
    about = {"artifacts": [], "pure_python": True}
    build.initialize(None, "standard", about)
    assert place.exists()
    assert about["artifacts"] == ["/judgelab/_kernel/count.so"]
    assert not about["pure_python"]
    # Any Python 3 on this platform, and not only this version of it.
    assert about["tag"].startswith("py3-none-")
