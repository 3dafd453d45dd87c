"""Estimators by scikit-learn's rules."""

import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import tracenorm
from tracenorm import MatrixCompletion, RobustImputer, SparseLowRankCovariance

# No expected failures: every check of scikit-learn passes for every estimator.
EXPECTED_FAILURES: dict[str, str] = {}


@parametrize_with_checks(
    [
        RobustImputer(),
        RobustImputer(radius=20.0, loss="squared", keep_observed=False, scale=False),
        MatrixCompletion(),
        MatrixCompletion(radius=10.0, loss="huber:0.5"),
        SparseLowRankCovariance(),
        SparseLowRankCovariance(l1="auto", cv=2, max_iter=50),
        SparseLowRankCovariance(l1="auto", radius="auto", cv=2, max_iter=50),
    ],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.fixture
def pairs(corrupted):
    X = np.column_stack([corrupted["rows"], corrupted["cols"]])
    return X, corrupted["values"].astype(np.float64)


def test_completion_is_solve_on_pairs(corrupted, pairs):
    X, y = pairs
    model = MatrixCompletion(radius=90.0).fit(X, y)
    result = tracenorm.solve((X[:, 0], X[:, 1], y), radius=90.0, prepare="zscore")
    assert np.array_equal(model.predict(X), result.predict(X[:, 0], X[:, 1]))
    assert model.n_iter_ == result.iterations and model.radius_ == 90.0
    assert model.dual_gap_ == result.objective - result.lower_bound > 0


def test_completion_takes_any_ids_and_frames(pairs):
    X, y = pairs
    expected = MatrixCompletion(radius=90.0).fit(X, y).predict(X)
    frame = pd.DataFrame({"when": 0, "user": X[:, 0], "item": X[:, 1]})
    named = MatrixCompletion(radius=90.0, features=("user", "item")).fit(frame, y)
    assert np.array_equal(named.predict(frame), expected)
    text = np.array([[f"u{a:03d}", f"i{b:03d}"] for a, b in X], dtype=object)
    assert np.allclose(MatrixCompletion(radius=90.0).fit(text, y).predict(text), expected, atol=1e-4)
    with pytest.raises(ValueError, match="'nobody'"):
        MatrixCompletion(features=("user", "nobody")).fit(frame, y)


def test_completion_of_unseen_ids_is_the_center(pairs):
    X, y = pairs
    model = MatrixCompletion(radius=90.0).fit(X, y)
    assert model.predict([[999, 0], [0, 999]]) == pytest.approx([y.mean()] * 2)


def test_completion_merges_repeated_pairs():
    X, y = [[0, 0], [0, 1], [0, 1], [1, 0]], [1.0, 2.0, 4.0, 5.0]
    merged = MatrixCompletion(radius=5.0).fit([[0, 0], [0, 1], [1, 0]], [1.0, 3.0, 5.0], sample_weight=[1, 2, 1])
    assert np.array_equal(MatrixCompletion(radius=5.0).fit(X, y).predict(X), merged.predict(X))


def test_completion_in_the_tools_of_scikit_learn(pairs):
    X, y = pairs
    folds = KFold(3, shuffle=True, random_state=0)  # unshuffled, whole rows would be unseen
    model, error = MatrixCompletion(max_iter=60), "neg_mean_absolute_error"
    search = GridSearchCV(model, {"radius": [1.0, 20.0]}, cv=folds, scoring=error)
    assert search.fit(X, y).best_params_ == {"radius": 20.0}
    scores = cross_val_score(MatrixCompletion(radius=20.0), X, y, cv=folds, scoring="neg_median_absolute_error")
    assert scores.mean() > -0.5 * np.median(np.abs(y))
    cubed = TransformedTargetRegressor(MatrixCompletion(radius=90.0), func=np.cbrt, inverse_func=lambda z: z**3)
    assert np.isfinite(cubed.fit(X, y).predict(X)).all()


def test_completion_predicts_what_the_program_predicts(program, tmp_path):
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(50, 1)) + rng.normal(size=40) + np.outer(rng.normal(size=50), rng.normal(size=40))
    X = rng.permutation(np.argwhere(rng.random(truth.shape) < 0.5))
    y = np.round(3 + truth[X[:, 0], X[:, 1]] + 0.3 * rng.normal(size=len(X)), 2)
    test, train = np.arange(len(X)) % 5 == 0, np.arange(len(X)) % 5 != 0
    (tmp_path / "train.tsv").write_text(
        "".join(f"{a}\t{b}\t{c}\n" for (a, b), c in zip(X[train], y[train], strict=True))
    )
    for options, arguments in [
        ({}, []),
        ({"gap": 0.05}, ["--gap", "0.05"]),
        ({"radius": 30.0}, ["--radius", "30"]),
        ({"penalty": ("complement-squared", 0.05)}, ["--complement", "0.05"]),
    ]:
        command = [program, "complete", "train.tsv", "--model", "m.npz", "-q", *arguments]
        assert subprocess.run(command, cwd=tmp_path).returncode in (0, 1)  # 1: the gap was not reached
        theirs = tracenorm.load(tmp_path / "m.npz")
        ours = MatrixCompletion(**options).fit(X[train], y[train])
        assert np.array_equal(ours.predict(X[test]), theirs.predict(X[test, 0], X[test, 1])), options
        assert ours.radius_ == theirs.radius


def test_the_penalty_takes_part_in_choosing_the_radius(pairs):
    X, y = pairs
    heavy = MatrixCompletion(penalty=("complement-squared", 100.0), prepare="none", max_iter=50).fit(X, y)
    plain = MatrixCompletion(norm_power=0.0, prepare="none", max_iter=50).fit(X, y)
    assert heavy.result_.penalty == "complement-squared:100" and heavy.radius_ != plain.radius_
    # Held-out entries are not seen, so what is chosen on them must have met the penalty.
    errors = [[step["validation_error"] for step in model.result_.radius_path] for model in (heavy, plain)]
    assert min(errors[0]) > 1.5 * min(errors[1])


def test_automatic_radius_is_good(corrupted, pairs):
    X, y = pairs
    model = MatrixCompletion().fit(X, y)
    rows, cols = np.indices(corrupted["shape"]).reshape(2, -1)
    error = np.abs(model.predict(np.column_stack([rows, cols])) - corrupted["truth"].ravel()).mean()
    assert error < 0.35 * np.abs(corrupted["truth"]).mean()


def test_imputer_beats_the_column_mean_with_outliers(corrupted):
    truth = corrupted["truth"] * np.linspace(1, 50, 40) + 7
    X = np.full(truth.shape, np.nan)
    X[corrupted["rows"], corrupted["cols"]] = truth[corrupted["rows"], corrupted["cols"]]
    rng = np.random.default_rng(0)
    bad = (rng.random(X.shape) < 0.05) & ~np.isnan(X)
    X[bad] += 500
    missing = np.isnan(X)
    filled = RobustImputer().fit_transform(X)
    assert not np.isnan(filled).any() and np.array_equal(filled[~missing], X[~missing])
    scale = np.abs(truth - 7).mean(axis=0)
    ours = (np.abs(filled - truth) / scale)[missing].mean()
    simple = (np.abs(SimpleImputer(strategy="median").fit_transform(X) - truth) / scale)[missing].mean()
    assert ours < 0.4 * simple
    cleaned = RobustImputer(radius=100.0, keep_observed=False).fit(X).transform(X)
    assert (np.abs(cleaned - truth) / scale)[bad].mean() < 0.4


def test_imputer_fills_new_rows_by_robust_regression(corrupted):
    truth = corrupted["truth"]
    imputer = RobustImputer(scale=False).fit(truth[:50])
    new = truth[50:].copy()
    holes = np.random.default_rng(1).random(new.shape) < 0.5
    new[holes] = np.nan
    spoiled = new.copy()
    spoiled[:, 3] = 100.0
    for X in (new, spoiled):
        fill = imputer.transform(X)
        assert np.abs(fill - truth[50:])[holes & (np.arange(40) != 3)].mean() < 0.1
    empty = imputer.transform(np.full((1, 40), np.nan))
    assert np.allclose(empty, 0)


@pytest.mark.parametrize(("loss", "power"), [("absolute", 66), ("squared", 40)])
def test_imputer_does_not_mind_the_units(corrupted, loss, power):
    few = np.random.default_rng(1).random((60, 40)) < 0.95  # of most rows fewer entries than the rank
    X = np.where(few, np.nan, corrupted["truth"])
    imputer = RobustImputer(radius=60.0, loss=loss, scale=False, gap=1e-3)
    filled = imputer.fit(corrupted["truth"]).transform(X)
    for unit in (2.0**power, 2.0**-power):
        imputer = RobustImputer(radius=60.0 * unit, loss=loss, scale=False, gap=1e-3)
        assert imputer.fit(corrupted["truth"] * unit).transform(X * unit) / unit == pytest.approx(filled, abs=1e-3)


def test_imputer_leaves_empty_columns_out_as_scikit_learn_does(corrupted):
    frame = pd.DataFrame(corrupted["truth"][:, :4], columns=list("abcd")).assign(b=np.nan)
    frame.iloc[::3, 2] = np.nan
    imputer, theirs = RobustImputer().fit(frame), SimpleImputer().fit(frame)
    for each in (imputer, theirs):
        with pytest.warns(UserWarning, match=r"Skipping features without any observed values: \['b'\]"):
            assert each.transform(frame).shape == (60, 3)
    assert list(imputer.get_feature_names_out()) == list(theirs.get_feature_names_out()) == ["a", "c", "d"]
    with pytest.warns(UserWarning, match="Skipping features"):
        assert imputer.transform(frame.assign(b=1.0)).shape == (60, 3)
        filled = imputer.transform(frame)
    kept = RobustImputer(keep_empty_features=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        everything = kept.fit_transform(frame)
    assert (everything[:, 1] == 0).all() and list(kept.get_feature_names_out()) == list("abcd")
    assert np.array_equal(everything[:, [0, 2, 3]], filled)


def test_imputer_in_a_pipeline_and_with_frames(corrupted):
    frame = pd.DataFrame(corrupted["truth"][:, :5], columns=list("abcde"))
    target = frame.sum(axis=1)
    frame.iloc[::3, 2] = np.nan
    pipeline = make_pipeline(RobustImputer().set_output(transform="pandas"), FunctionTransformer(), LinearRegression())
    assert pipeline.fit(frame, target).score(frame, target) > 0.8
    assert list(pipeline[0].get_feature_names_out()) == list("abcde")


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (RobustImputer(radius="wide"), "radius = 'wide'"),
        (RobustImputer(loss="hinge"), "smallest where prediction and datum agree"),
        (RobustImputer(loss="median"), "unknown loss"),
        (SparseLowRankCovariance(l1=-1.0), "l1"),
        (SparseLowRankCovariance(method="newton"), "unknown method"),
    ],
)
def test_bad_parameters_are_named(estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(np.random.default_rng(0).normal(size=(12, 5)))


def test_imputer_with_a_loss_in_python(corrupted):
    X = corrupted["truth"].copy()
    X[::2, ::3] = np.nan
    mine = RobustImputer(radius=60.0, loss=lambda x, y: np.abs(x - y)).fit_transform(X)
    named = RobustImputer(radius=60.0, loss="absolute").fit_transform(X)
    assert np.abs(mine - named).mean() < 0.1 * np.abs(named).mean()


def test_covariance_finds_groups():
    rng = np.random.default_rng(0)
    truth = np.kron(np.eye(3), np.ones((5, 5)))
    X = rng.multivariate_normal(np.zeros(15), truth + 0.3 * np.eye(15), size=100) + 4.0
    model = SparseLowRankCovariance(l1=0.25).fit(X)
    assert np.array_equal(model.covariance_, model.covariance_.T) and model.location_ == pytest.approx(X.mean(axis=0))
    empirical = np.cov(X.T)
    assert np.abs(model.covariance_[truth == 0]).mean() < 0.3 * np.abs(empirical[truth == 0]).mean()
    assert model.covariance_[truth == 1].min() > 0.3
    assert model.dual_gap_ >= 0 and model.n_iter_ > 0 and model.result_.relative_gap <= 0.03
    search = GridSearchCV(SparseLowRankCovariance(), {"l1": [0.05, 50.0]}, cv=3).fit(X)
    assert search.best_params_ == {"l1": 0.05}
    assert clone(model).get_params()["l1"] == 0.25


def test_covariance_chooses_its_penalty():
    rng = np.random.default_rng(0)
    truth = np.kron(np.eye(3), np.ones((5, 5)))
    X = rng.multivariate_normal(np.zeros(15), truth + 0.3 * np.eye(15), size=60)
    model = SparseLowRankCovariance(l1="auto", cv=3).fit(X)
    tried, scores = model.cv_results_["l1"], model.cv_results_["mean_test_score"]
    assert model.l1_ == tried[np.argmax(scores)] and tried.min() < model.l1_ < tried.max()
    same = SparseLowRankCovariance(l1=model.l1_).fit(X)
    assert np.array_equal(same.covariance_, model.covariance_)
    # A grid search of scikit-learn's over the same penalties finds the same one.
    search = GridSearchCV(SparseLowRankCovariance(), {"l1": tried}, cv=3).fit(X)
    assert search.best_params_["l1"] == model.l1_
    assert search.cv_results_["mean_test_score"] == pytest.approx(scores)
    with pytest.raises(ValueError, match="l1 = 'some'"):
        SparseLowRankCovariance(l1="some").fit(X)
    one = SparseLowRankCovariance(l1="auto").fit(X[:, :1])
    assert one.l1_ == 0 and one.covariance_[0, 0] == pytest.approx(X[:, 0].var(), rel=0.02)


def test_covariance_is_semidefinite_and_exactly_sparse():
    random = np.random.default_rng(5)
    truth = np.kron(np.eye(4), np.ones((6, 6)))
    X = random.multivariate_normal(np.zeros(24), truth, size=80) + 0.5 * random.standard_normal((80, 24))
    for psd in (True, False):
        model = SparseLowRankCovariance(l1=0.35, psd=psd).fit(X)
        assert np.array_equal(model.covariance_, model.covariance_.T)
        assert (model.covariance_[truth == 0] == 0).mean() > 0.8
        assert (model.covariance_[truth == 1] != 0).all()
        sparse = model.result_.sparse
        assert sparse.zeros == (sparse.matrix == 0).sum() and 0 <= sparse.proved <= sparse.zeros
    model = SparseLowRankCovariance(l1=0.35).fit(X)
    assert np.linalg.eigvalsh(model.covariance_).min() > -1e-9
    assert np.isfinite(model.mahalanobis(X)).all() and (model.mahalanobis(X) >= -1e-9).all()
    result = model.result_
    assert np.array_equal(result.left, result.right) and (result.values > 0).all()


def test_covariance_with_holes_chooses_everything():
    rng = np.random.default_rng(1)
    truth = np.kron(np.eye(3), np.ones((5, 5))) + 0.3 * np.eye(15)
    X = rng.multivariate_normal(np.zeros(15), truth, size=150)
    X[rng.random(X.shape) < 0.1] = np.nan
    wrong = X.copy()
    wrong[rng.random(X.shape) < 0.02] = 100.0
    settings = {"l1": "auto", "radius": "auto"}
    model = SparseLowRankCovariance(**settings).fit(X)
    assert np.linalg.norm(model.covariance_ - truth) < 0.3 * np.linalg.norm(truth)
    assert np.diag(model.covariance_) == pytest.approx(np.nanvar(X, axis=0, ddof=1))
    assert np.array_equal(model.covariance_, model.covariance_.T) and np.linalg.eigvalsh(model.covariance_)[0] > 0
    assert np.abs(model.precision_ @ model.covariance_ - np.eye(15)).max() < 1e-8
    assert (model.covariance_[truth == 0] == 0).mean() > 0.3
    best = np.argmax(model.cv_results_["mean_test_score"])
    assert model.radius_ == model.cv_results_["radius"][best] and model.l1_ == model.cv_results_["l1"][best]
    robust = SparseLowRankCovariance(**settings, estimate="trimmed").fit(wrong)
    assert np.linalg.norm(robust.covariance_ - truth) < 0.35 * np.linalg.norm(truth)
    assert np.isfinite(robust.mahalanobis(np.zeros((2, 15)))).all()
    for name, value in (("estimate", "best"), ("cv", "x"), ("psd", False), ("l1", -1.0)):
        bad = {name: value}
        with pytest.raises((ValueError, TypeError), match=name):
            SparseLowRankCovariance(**{**settings, **bad}).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        SparseLowRankCovariance().fit(X)
    with pytest.raises(ValueError, match="radius = 'some'"):
        SparseLowRankCovariance(radius="some").fit(X)
    with pytest.raises(ValueError, match="is 1 in every sample"):
        SparseLowRankCovariance(**settings).fit(np.column_stack([X, np.ones(150)]))


def test_covariance_is_the_programs(tmp_path, program):
    X = np.random.default_rng(2).normal(size=(60, 8)).astype(np.float32) @ np.ones((8, 8), dtype=np.float32)
    X += np.random.default_rng(3).normal(size=X.shape).astype(np.float32)
    np.save(tmp_path / "samples.npy", X)
    subprocess.run([program, "covariance", "samples.npy", "--output", "c.npy", "-q"], cwd=tmp_path, check=True)
    model = SparseLowRankCovariance(l1="auto", radius="auto").fit(X.astype(np.float64))
    assert np.array_equal(model.covariance_, np.load(tmp_path / "c.npy"))
