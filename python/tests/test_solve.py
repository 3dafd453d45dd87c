"""Answers: against a cone solver, and the options that shape a run."""

import inspect

import numpy as np
import pandas as pd
import pytest

import tracenorm

from .conftest import optima

OPTIMA = optima()


def triplets(problem):
    return tuple(np.array(problem[name]) for name in ("row", "col", "value"))


def solve_fixture(problem, **options):
    return tracenorm.solve(
        triplets(problem),
        shape=(problem["rows"], problem["cols"]),
        weights=problem["weight"],
        penalty=problem["penalty"],
        radius=problem["radius"],
        **{"loss": problem["loss"], "iterations": 10000, **options},
    )


@pytest.mark.parametrize("problem", OPTIMA, ids=[problem["name"] for problem in OPTIMA])
def test_the_optimum_of_a_cone_solver_is_met(problem):
    result = solve_fixture(problem)
    scale = max(1.0, abs(problem["optimum"]))
    assert result.lower_bound <= problem["optimum"] + 1e-6 * scale
    assert result.objective >= problem["optimum"] - 1e-6 * scale
    # Of what there is to gain: some optima are zero.
    assert result.objective <= problem["optimum"] + 0.005 * max(scale, result.trace["objective"][0])
    assert result.trace_norm <= problem["radius"] * (1 + 1e-9)


def test_what_a_result_says(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    result = tracenorm.solve(data, radius=100, gap=0.05, iterations=2000, loss=("huber", 0.25))
    assert result.status == "gap_reached" and result.relative_gap <= 0.05
    assert result.relative_gap == (result.objective - result.lower_bound) / abs(result.lower_bound)
    assert result.method == "corrective" and result.loss == "huber:0.25" and result.penalty == "none"
    assert result.radius == 100 and result.trace_norm <= 100 * (1 + 1e-9)
    assert result.proof in ("exact", "cholesky", "probabilistic")
    assert result.environment["version"] == tracenorm.__version__
    assert result.left.shape == (60, result.rank) and result.right.shape == (40, result.rank)
    assert np.allclose(result.left.T @ result.left, np.eye(result.rank), atol=1e-8)
    assert (np.diff(result.values) <= 0).all()
    assert "60 x 40" in repr(result)
    with pytest.raises(ValueError, match="read-only"):
        result.left[0, 0] = 1


def test_the_trace_is_a_structured_array(corrupted):
    result = tracenorm.solve((corrupted["rows"], corrupted["cols"], corrupted["values"]), radius=100, iterations=50)
    trace = result.trace
    assert trace.dtype.names[:5] == ("k", "seconds", "objective", "lower_bound", "relative_gap")
    assert trace["k"].tolist() == list(range(51))
    assert (np.diff(trace["lower_bound"]) >= 0).all() and (np.diff(trace["seconds"]) >= 0).all()
    assert trace["lower_bound"][-1] == result.lower_bound


def test_robust_beats_squares_on_outliers(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    radius = np.linalg.norm(corrupted["truth"], "nuc")
    errors = [
        np.linalg.norm(tracenorm.solve(data, radius=radius, loss=loss).to_dense() - corrupted["truth"])
        for loss in ("absolute", "squared")
    ]
    assert errors[0] < 0.5 * errors[1]


def test_same_seed_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(400, 300)).astype(np.float32)
    results = [tracenorm.solve(data, radius=200, iterations=20, seed=5, threads=t) for t in (1, 2, 5)]
    assert all(np.array_equal(results[0].left, other.left) for other in results[1:])
    other_seed = tracenorm.solve(data, radius=200, iterations=20, seed=6)
    assert not np.array_equal(results[0].left, other_seed.left)


def test_a_gap_takes_the_method_for_it(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    result = tracenorm.solve(data, radius=100, gap=0.002)
    assert result.method == "corrective" and result.relative_gap <= 0.002 and result.status == "gap_reached"
    assert tracenorm.solve(data, radius=100, gap=0.3, width="paper").method == "fwua"
    assert tracenorm.solve(data, radius=100, iterations=3).method == "fwua"


@pytest.mark.parametrize("method", sorted(tracenorm.methods()))
def test_every_method_runs(corrupted, method):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    loss = "huber" if method == "genfb" else "absolute"
    bounded = tracenorm.methods()[method]["bounded"]
    result = tracenorm.solve(data, method=method, loss=loss, radius=100 if bounded else None, iterations=30)
    assert result.method == method and np.isfinite(result.objective)
    assert result.trace["objective"][-1] < result.trace["objective"][0]


def test_method_options_change_the_run_and_are_checked():
    data = np.arange(12.0).reshape(3, 4)

    def objective(**options):
        return tracenorm.solve(data, radius=20, iterations=15, **options).objective

    assert objective(method="sccg", mu=0.5) != objective(method="sccg")
    assert objective(width="paper") != objective()
    assert objective(step="line-search") == objective(method_options={"step": "line-search"}) != objective()
    assert objective(method="genfb", loss="squared", step=0.5, trace_penalty=2) > 0
    for options, kind, words in [
        ({"mu": 1}, ValueError, "mu: method fwua does not have this option, it belongs to sccg; it has: width, step"),
        ({"method": "sccg", "mu": -1}, ValueError, "mu = -1"),
        ({"method": "sccg", "mu": "wide"}, ValueError, "mu = 'wide'; it must be a number"),
        ({"method": "sccg", "mu": [1]}, TypeError, r"mu = \[1\]; it must be a number"),
        ({"gap": 0.1, "steps": 2.5}, ValueError, "steps = 2.5; it must be a whole number"),
        ({"method": "rlrmc", "rank": 1.5}, ValueError, "rank = 1.5; it must be a whole number"),
        ({"width": "narrow"}, ValueError, "width = 'narrow'; method fwua takes one of balanced, paper, hybrid"),
        ({"width": "constant"}, ValueError, "one of balanced, paper, hybrid"),
        ({"method": "rlrmc", "width": "paper"}, ValueError, "width: method rlrmc does not have this option"),
        ({"step": "long"}, ValueError, "open-loop, measured, line-search"),
        ({"method": "newton"}, ValueError, "unknown method 'newton'; there are: fwua"),
    ]:
        with pytest.raises(kind, match=words):
            objective(**options)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"radius": None}, ValueError, "tracenorm.fit"),
        ({"radius": -1}, ValueError, "radius = -1"),
        ({"radius": float("nan")}, ValueError, "radius = nan"),
        ({"radius": "3"}, TypeError, "radius = '3'"),
        ({"loss": "median"}, ValueError, "unknown loss 'median'; there are: absolute"),
        ({"loss": 3}, TypeError, "loss = 3"),
        ({"loss": "hinge"}, ValueError, "row 0, column 0 holds"),
        ({"penalty": "l2:1"}, ValueError, "unknown penalty"),
        ({"penalty": ("l1", -1)}, ValueError, "l1"),
        ({"prepare": "rank"}, ValueError, "unknown preparation"),
        ({"iterations": -1}, ValueError, "iterations = -1"),
        ({"iterations": 2.5}, ValueError, "iterations = 2.5; it must be a whole number from 0 to 10000000"),
        ({"gap": -0.1}, ValueError, "gap = -0.1"),
        ({"gap": "small"}, TypeError, "gap = 'small'"),
        ({"seed": -1}, ValueError, "seed = -1"),
        ({"threads": -2}, ValueError, "threads = -2"),
        ({"callback": 3}, TypeError, "callback = 3"),
        ({"validation": ([0], [9], [1.0])}, ValueError, "validation entry 0"),
        ({"validation": ([0], [0])}, TypeError, "three arrays"),
        ({"validation": ([0], [0, 1], [1.0])}, ValueError, "1 rows, 2 columns and 1 values"),
    ],
)
def test_bad_arguments_are_named(options, kind, words):
    with pytest.raises(kind, match=words):
        tracenorm.solve(np.arange(12.0).reshape(3, 4) + 2, **{"radius": 5.0, **options})


def test_labels_are_solved_by_label_losses():
    labels = np.sign(np.outer(np.linspace(-1, 1, 20), np.linspace(-1, 1, 16)))
    result = tracenorm.solve(labels, loss="logistic", radius=200, gap=0.1, iterations=2000)
    assert (np.sign(result.to_dense()) == labels).mean() > 0.95


def test_preparation_is_undone_in_predictions():
    data = 1000 + np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0, 0.5])
    for kind in ("center", "zscore"):
        result = tracenorm.solve(data, radius=100, prepare=kind, loss="squared", gap=1e-4, step="line-search")
        assert result.preparation == kind
        assert np.allclose(result.to_dense(), data, atol=0.2)


def test_validation_returns_the_best_iterate(corrupted):
    rows, cols, values = corrupted["rows"], corrupted["cols"], corrupted["values"]
    held = np.arange(len(values)) % 5 == 0
    train = tuple(part[~held] for part in (rows, cols, values))
    validation = tuple(part[held] for part in (rows, cols, corrupted["truth"][rows, cols]))
    result = tracenorm.solve(train, shape=corrupted["shape"], radius=800, validation=validation, patience=40)
    rmse = result.trace["validation_rmse"]
    assert result.solution_iteration == 10 * int(np.argmin(rmse[::10]))
    assert result.status == "validation_limit" and result.iterations < 500


def test_validation_goes_by_name_where_the_data_have_names(corrupted):
    rows, cols, values = corrupted["rows"], corrupted["cols"], corrupted["values"]
    frame = pd.DataFrame({"r": [f"r{k}" for k in rows], "c": cols + 1, "v": values})
    held = (["r5", "r7", "nobody"], [3, 40, 1], [0.5, -0.5, 9.0])
    with pytest.warns(UserWarning, match="1 of 3 validation entries"):
        named = tracenorm.solve(frame, radius=50, iterations=20, validation=held)
    placed = tracenorm.solve((rows, cols, values), radius=50, iterations=20, validation=([5, 7], [2, 39], [0.5, -0.5]))
    assert np.array_equal(named.trace["validation_rmse"], placed.trace["validation_rmse"])


def test_numbers_that_overflow_are_warned_of():
    with pytest.warns(RuntimeWarning, match="numerical failure"):
        result = tracenorm.solve(np.full((3, 3), 1e30), loss="squared", radius=1e31)
    assert result.status == "numerical_failure"


def test_keywords_and_defaults_are_the_librarys():
    for function, tables in [
        (tracenorm.solve, [tracenorm._core.run_options()]),
        (tracenorm.fit, [tracenorm._core.run_options(), tracenorm._core.fit_options()]),
    ]:
        keywords = inspect.signature(function).parameters
        for name, about in ((name, about) for table in tables for name, about in table.items()):
            assert keywords[name].default == ("auto" if name == "radius" else about["default"]), name


def test_fit_finds_a_radius_that_predicts(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    result = tracenorm.fit(data, shape=corrupted["shape"], loss="absolute", prepare="none")
    path = result.radius_path
    assert [step["radius"] for step in path if step["chosen"]] == [result.radius] and len(path) >= 3
    errors = {step["radius"]: step["validation_error"] for step in path}
    assert errors[result.radius] <= 1.001 * min(errors.values()) < 0.7 * errors[0.0]  # there are outliers held out too
    assert np.abs(result.to_dense() - corrupted["truth"]).mean() < 0.35 * np.abs(corrupted["truth"]).mean()
    assert tracenorm.fit(data, radius=50.0, iterations=5).radius_path == []
    for bad, words in [
        ({"radius": "wide"}, "radius = 'wide'"),
        ({"radius": -1}, "radius = -1; it must be a number above"),
    ]:
        with pytest.raises(ValueError, match=words):
            tracenorm.fit(data, **bad)
    with pytest.raises(ValueError, match="radius: 3 entries are too few"):
        tracenorm.fit(([0, 1, 2], [0, 1, 2], [1.0, 2.0, 3.0]))


def test_fit_with_a_radius_is_the_papers_model(corrupted):
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    fitted = tracenorm.fit(data, radius=50.0, iterations=20)
    solved = tracenorm.solve(data, radius=50.0, iterations=20, loss="absolute", prepare="zscore")
    assert np.array_equal(fitted.left, solved.left) and fitted.loss == "absolute"


def test_fit_uses_validation_entries_by_name(corrupted, tmp_path):
    rows, cols, values = corrupted["rows"], corrupted["cols"], corrupted["values"]
    frame = pd.DataFrame({"r": [f"r{k}" for k in rows], "c": cols + 1, "v": values})
    train, held = frame[::2], frame[1::2]
    result = tracenorm.fit(train, validation=(held["r"], held["c"], held["v"]))
    known = held["r"].isin(train["r"]) & held["c"].isin(train["c"])
    predicted = result.predict(held["r"][known], held["c"][known])
    assert len(result.radius_path) > 2 and np.isfinite(predicted).all()
    best = min(step["validation_error"] for step in result.radius_path)
    result.save(tmp_path / "m.npz")
    error = np.abs(predicted - held["v"][known].to_numpy()) / np.load(tmp_path / "m.npz")["scale"]
    huber = np.where(error < 1, error**2 / 2, error - 0.5)  # what settings are judged by, at answers that are rougher
    assert huber.mean() == pytest.approx(best, rel=0.01)


def test_validation_takes_frames_and_matrices(corrupted):
    rows, cols, values = corrupted["rows"], corrupted["cols"], corrupted["values"]
    frame = pd.DataFrame({"r": [f"r{k:02d}" for k in rows], "c": cols, "v": values})
    train, held = frame[::2], frame[1::2]
    options = {"radius": 60, "iterations": 60}
    arrays = tracenorm.solve(train, validation=(held["r"], held["c"], held["v"]), **options)
    wide = held.pivot(index="r", columns="c", values="v")
    for validation in (held, wide):
        result = tracenorm.solve(train, validation=validation, **options)
        assert np.array_equal(result.trace["validation_rmse"], arrays.trace["validation_rmse"])
    extended = held.assign(when=0)[["when", "v", "c", "r"]]
    result = tracenorm.solve(train.assign(when=0), columns=("r", "c", "v"), validation=extended, **options)
    assert np.array_equal(result.trace["validation_rmse"], arrays.trace["validation_rmse"])
    positions = tracenorm.solve(
        (rows[::2], cols[::2], values[::2]),
        shape=(60, 40),
        validation=(rows[1::2], cols[1::2], values[1::2]),
        **options,
    )
    dense = np.full((60, 40), np.nan)
    dense[rows[1::2], cols[1::2]] = values[1::2]
    by_matrix = tracenorm.solve((rows[::2], cols[::2], values[::2]), shape=(60, 40), validation=dense, **options)
    assert by_matrix.trace["validation_rmse"] == pytest.approx(positions.trace["validation_rmse"], rel=1e-6)


def test_validation_entries_that_cannot_count_are_told(corrupted):
    frame = pd.DataFrame({"r": [f"r{k}" for k in corrupted["rows"]], "c": corrupted["cols"], "v": corrupted["values"]})
    strangers = frame[:10].assign(r="nobody")
    with pytest.warns(UserWarning, match="10 of 20 validation entries"):
        tracenorm.solve(frame, radius=60, iterations=3, validation=pd.concat([frame[:10], strangers]))
    with pytest.raises(ValueError, match="no validation entry"):
        tracenorm.solve(frame, radius=60, iterations=3, validation=strangers)
    with pytest.raises(TypeError, match="three arrays"):
        tracenorm.solve(frame, radius=60, iterations=3, validation=np.eye(3))
