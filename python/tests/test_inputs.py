"""Every kind of data, and what is said about data that cannot be."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import tracenorm
from tracenorm._data import as_prepared


def prepared(data, **options):
    arguments = {
        "shape": None,
        "columns": None,
        "weights": None,
        "units": ("none", "absolute"),
        "dense": False,
        **options,
    }
    return as_prepared(data, **arguments).data


def solve(data, **options):
    return tracenorm.solve(data, **{"radius": 40.0, "iterations": 30, "threads": 1, **options})


def same(a, b):
    return a.objective == b.objective and np.array_equal(a.left, b.left) and np.array_equal(a.values, b.values)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.coo_matrix, sp.lil_array])
def test_sparse_formats_agree_with_three_arrays(corrupted, make):
    triplets = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    expected = solve(triplets, shape=corrupted["shape"])
    coo = sp.coo_array((triplets[2], triplets[:2]), shape=corrupted["shape"])
    assert same(solve(make(coo)), expected)
    shuffled = np.random.default_rng(1).permutation(len(triplets[0]))
    assert same(solve(tuple(part[shuffled] for part in triplets), shape=corrupted["shape"]), expected)


def test_a_stored_zero_is_data_and_an_unstored_entry_is_not():
    matrix = sp.csr_array((np.array([0.0, 3.0], np.float32), ([0, 1], [1, 0])), shape=(2, 2))
    assert prepared(matrix).observed == 2


def test_nan_is_missing_in_arrays_whatever_the_dtype_and_order(corrupted):
    dense = np.full(corrupted["shape"], np.nan, np.float32)
    dense[corrupted["rows"], corrupted["cols"]] = corrupted["values"]
    dense[:8] = corrupted["truth"][:8]  # more than half is there: a full matrix with holes
    expected = solve(dense)
    assert prepared(dense).sparse is False
    for other in (np.asfortranarray(dense), dense.astype(np.float64), dense.tolist(), dense.astype(object)):
        assert same(solve(other), expected)
    frozen = dense.copy()
    frozen.flags.writeable = False
    assert same(solve(frozen), expected)
    assert same(solve(np.repeat(dense, 2, axis=1)[:, ::2]), expected)
    for under in (5, 1e300, np.inf):  # what a mask hides does not matter
        masked = np.ma.masked_array(np.where(np.isnan(dense), under, dense.astype(float)), mask=np.isnan(dense))
        assert same(solve(masked), expected)
        assert same(tracenorm.fit(masked, radius=40, iterations=5), tracenorm.fit(dense, radius=40, iterations=5))
    hidden = np.ma.masked_array(np.where(np.isnan(dense), "none", dense.astype(object)), mask=np.isnan(dense))
    assert same(solve(hidden), expected)


def test_an_array_that_is_mostly_holes_is_solved_on_its_entries(corrupted):
    dense = np.full(corrupted["shape"], np.nan)
    few = slice(0, 600)
    rows, cols, values = corrupted["rows"][few], corrupted["cols"][few], corrupted["values"][few]
    dense[rows, cols] = values
    assert prepared(dense).sparse is True
    assert same(solve(dense), solve((rows, cols, values), shape=dense.shape))
    assert prepared(dense, dense=True).sparse is False


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.longdouble, np.int8, np.int64, np.uint16, bool])
def test_any_real_dtype_works(dtype):
    matrix = np.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    assert same(solve(matrix), solve(matrix.astype(np.float32)))


def test_frame_ids_become_names(corrupted):
    frame = pd.DataFrame(
        {"user": [f"u{k}" for k in corrupted["rows"]], "item": corrupted["cols"] + 100, "rating": corrupted["values"]}
    )
    result = solve(frame)
    assert result.row_names[0] == "u0" and result.col_names == [str(k + 100) for k in range(40)]
    by_position = solve((corrupted["rows"], corrupted["cols"], corrupted["values"]))
    assert np.array_equal(result.predict(["u3", "u5"], [101, 139]), by_position.predict([3, 5], [1, 39]))
    wide = frame.assign(time=0)[["time", "rating", "item", "user"]]
    assert same(solve(wide, columns=("user", "item", "rating")), result)
    assert same(solve(frame.astype({"item": "float64"})), result)
    assert same(solve(frame.assign(item=frame["item"].astype(str))), result)


def test_a_pivoted_frame_is_the_matrix(corrupted):
    frame = pd.DataFrame(
        {"user": [f"u{k:02d}" for k in corrupted["rows"]], "item": corrupted["cols"], "stars": corrupted["values"]}
    )
    wide = frame.pivot(index="user", columns="item", values="stars")
    result = solve(wide)
    assert same(result, solve(frame)) and result.row_names == solve(frame).row_names
    assert result.col_names == [str(k) for k in range(40)]
    assert np.array_equal(tracenorm.fit(wide, radius=40).left, tracenorm.fit(frame, radius=40).left)
    unnamed = wide.rename_axis(index=None, columns=None)
    assert same(solve(unnamed, columns="all"), result)
    assert solve(unnamed, columns="all").predict("u03", 5) == result.predict("u03", 5)
    nullable = unnamed.convert_dtypes()
    assert same(solve(nullable, columns="all"), result)
    weights = np.where(np.arange(40) % 2 == 0, 1.0, 3.0)
    weighted = solve(wide, weights=np.broadcast_to(weights, wide.shape))
    assert same(weighted, solve(frame, weights=weights[frame["item"]]))


def test_a_frame_whose_index_was_reset_is_not_taken_for_a_matrix(corrupted):
    """The columns keep their name, and the ids would pass for data."""
    frame = pd.DataFrame({"user": corrupted["rows"], "item": corrupted["cols"], "stars": corrupted["values"]})
    wide = frame.pivot(index="user", columns="item", values="stars").reset_index()
    assert wide.columns.name == "item"
    with pytest.raises(ValueError, match="columns='all'"):
        solve(wide)


def test_integer_ids_are_in_numerical_order_also_as_text():
    frame = pd.DataFrame({"r": ["10", "9", "9"], "c": [5, -2, 5], "v": [1.0, 2.0, 3.0]})
    result = solve(frame)
    assert result.row_names == ["9", "10"] and result.col_names == ["-2", "5"]


def test_a_number_is_the_same_id_whatever_stands_beside_it():
    mixed = pd.DataFrame({"r": pd.Series([1, "2", 2.0, np.float32(3)], dtype=object), "c": [1, 1, 2, 1]})
    result = solve(mixed.assign(v=[1.0, 2.0, 3.0, 4.0]))
    assert result.row_names == ["1", "2", "3"]
    halves = solve(pd.DataFrame({"r": [0.5, 2.0, 1e300], "c": [1, 2, 1], "v": [1.0, 2.0, 3.0]}))
    assert halves.row_names == ["0.5", "2", "1e+300"]
    assert halves.predict([2.0], [2]) == halves.predict(["2"], [2.0])


def test_weights_count(corrupted):
    rows, cols, values = corrupted["rows"], corrupted["cols"], corrupted["values"]
    weights = np.where(np.arange(len(values)) % 2 == 0, 1.0, 3.0)
    triplets = solve((rows, cols, values), weights=weights)
    assert not same(triplets, solve((rows, cols, values)))
    csr = sp.csr_array((values, (rows, cols)))
    assert same(solve(csr, weights=weights), triplets)  # the entries are in the order of the rows
    frame = pd.DataFrame({"r": rows, "c": cols, "v": values, "w": weights})
    assert same(solve(frame, columns=("r", "c", "v"), weights="w"), triplets)


def test_a_million_entries_pass_without_a_copy():
    rng = np.random.default_rng(3)
    rows, cols, count = 2000, 5000, 1_000_000
    places = np.sort(rng.choice(rows * cols, size=count, replace=False))
    values = rng.normal(size=count).astype(np.float32)
    begin = np.searchsorted(places, np.arange(rows + 1) * cols).astype(np.int32)
    csr = sp.csr_array((values, (places % cols).astype(np.int32), begin), shape=(rows, cols))
    assert csr.has_canonical_format
    tracemalloc.start()
    data = prepared(csr)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.shares_memory(data.values, csr.data) and np.shares_memory(data.columns, csr.indices)
    assert peak < 400_000  # a copy of one of the arrays would be four million bytes
    assert data.observed == count
    del csr
    assert data.values[0] == values[0]


def test_a_full_float_matrix_passes_without_a_copy():
    matrix = np.ones((300, 400), np.float32)
    assert np.shares_memory(prepared(matrix).values, matrix)


BAD = [
    (np.zeros((3, 3), complex), {}, TypeError, "complex"),
    (np.array([["a", "b"]]), {}, TypeError, "real numbers"),
    (np.array([[object(), 1]], dtype=object), {}, TypeError, "not numbers"),
    (np.array([["2020-01-01"]], dtype="datetime64[D]"), {}, TypeError, "datetime64"),
    (np.zeros(3), {}, ValueError, "1 dimension"),
    (np.zeros((2, 2, 2)), {}, ValueError, "3 dimension"),
    (np.zeros((0, 3)), {}, ValueError, "shape"),
    (np.full((2, 2), np.nan), {}, ValueError, "no entry is observed"),
    (np.array([[1.0, np.inf]]), {}, ValueError, "row 0, column 1 holds inf"),
    (np.array([[1.0, 1e300]]), {}, ValueError, "too large"),
    (sp.csr_array((2, 2), dtype=np.float32), {}, ValueError, "no entry is observed"),
    (sp.csr_array(np.array([[1.0, np.nan]])), {}, ValueError, "holds nan"),
    (sp.csr_array(np.array([[1.0 + 1j]])), {}, TypeError, "complex"),
    (sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)), {}, ValueError, "given twice"),
    (([0, 1], [0, 1], [1.0]), {}, ValueError, "equally long"),
    (([0, -1], [0, 1], [1.0, 2.0]), {}, ValueError, "holds -1"),
    (([0, 1.5], [0, 1], [1.0, 2.0]), {}, TypeError, "integers"),
    (([True, False], [0, 1], [1.0, 2.0]), {}, TypeError, "bool"),
    (([0, 2**40], [0, 1], [1.0, 2.0]), {}, ValueError, "at most"),
    (([], [], []), {}, ValueError, "at least one"),
    (([[0]], [[0]], [[1.0]]), {}, ValueError, "dimensions"),
    (([0, 3], [0, 1], [1.0, 2.0]), {"shape": (3, 2)}, ValueError, "row 3 is not in 0..2"),
    (([0], [0], [1.0]), {"shape": 7}, TypeError, "pair"),
    (([0, 0], [1, 1], [1.0, 2.0]), {}, ValueError, "given twice"),
    (([0, 1], [0, 1], [1.0, 2.0]), {"weights": [1.0]}, ValueError, "weights has shape"),
    (([0, 1], [0, 1], [1.0, 2.0]), {"weights": [1.0, 0.0]}, ValueError, "weight"),
    (np.eye(2), {"shape": (2, 2)}, ValueError, "shape belongs"),
    (np.eye(2), {"columns": ("a", "b", "c")}, ValueError, "pandas frame"),
    (pd.DataFrame({"a": [1], "b": [2]}), {}, ValueError, "three columns"),
    (pd.DataFrame({"a": [1], "b": [2], "c": [3.0]}), {"columns": ("a", "b", "x")}, ValueError, "'x'"),
    (pd.DataFrame({"a": [1], "b": [2], "c": ["x"]}), {}, TypeError, "column 'c'"),
    (pd.DataFrame({"a": [np.nan, 1], "b": [2, 2], "c": [3.0, 4.0]}), {}, ValueError, "not finite"),
    (pd.DataFrame({"a": [None, "u"], "b": [2, 2], "c": [3.0, 4.0]}), {}, (TypeError, ValueError), "id"),
    (pd.DataFrame({"a": pd.array([pd.NA, 7], object), "b": [2, 2], "c": [3.0, 4.0]}), {}, TypeError, "= <NA>; an id"),
    (pd.DataFrame({"a": pd.array(["u", pd.NA], "string"), "b": [2, 2], "c": [3.0, 4.0]}), {}, TypeError, "= <NA>; an"),
    (pd.DataFrame({"a": [], "b": [], "c": []}), {}, ValueError, "empty"),
    (pd.DataFrame({"a": [1.0], "b": [2.0], "c": ["x"]}), {"columns": "all"}, TypeError, "column 'c' has dtype"),
    (pd.DataFrame([[1.0], [2.0]], index=["u", "u"]), {"columns": "all"}, ValueError, "index holds 'u' twice"),
    (pd.DataFrame([[1.0, 2.0]], columns=[1, "1"]), {"columns": "all"}, ValueError, "columns holds '1' twice"),
    (pd.DataFrame([[np.nan]]), {"columns": "all"}, ValueError, "no entry is observed"),
    (pd.DataFrame([[1.0]]), {"columns": "none"}, TypeError, "or 'all'"),
    ("ratings.csv", {}, TypeError, "real numbers"),
    (None, {}, ValueError, "dimension"),
]


@pytest.mark.parametrize(("data", "options", "kind", "words"), BAD)
def test_bad_data_are_named(data, options, kind, words):
    with pytest.raises(kind, match=words):
        solve(data, **options)


@pytest.mark.parametrize("fit", [solve, tracenorm.fit])
def test_a_sparse_vector_is_no_matrix(fit):
    with pytest.raises(ValueError, match="1 dimension"):
        fit(sp.coo_array(np.arange(4.0)))


def test_broken_compressed_rows_are_found():
    csr = sp.csr_array(np.eye(3, dtype=np.float32))
    csr.indices[1] = 7
    with pytest.raises(ValueError, match="column 7"):
        solve(csr)
    csr = sp.csr_array(np.eye(3, dtype=np.float32))
    csr.indptr[1] = 3
    with pytest.raises(ValueError, match="indptr must ascend"):
        solve(csr)


def test_duplicates_in_compressed_rows_are_refused():
    csr = sp.csr_array((np.ones(2, np.float32), np.array([1, 1], np.int32), np.array([0, 2], np.int32)), shape=(1, 2))
    with pytest.raises(ValueError, match="twice"):
        solve(csr)


def test_unsorted_compressed_rows_are_sorted():
    csr = sp.csr_array((np.array([1, 2], np.float32), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    assert prepared(csr).values.tolist() == [2.0, 1.0]
    assert csr.data.tolist() == [1.0, 2.0]  # the user's matrix is as it was
