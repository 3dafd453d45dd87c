"""Rows that came after the fit, from a few of their entries."""

import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.optimize

import tracenorm


@pytest.fixture
def people():
    """Triplets of 60 people for 40 films; the last ten came late."""
    rng = np.random.default_rng(11)
    taste = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 40)) + rng.normal(size=(60, 1)) + rng.normal(size=40)
    user, film = np.nonzero(rng.random(taste.shape) < 0.7)
    stars = taste[user, film] + 0.2 * rng.normal(size=len(user))
    frame = pd.DataFrame({"user": [f"u{k}" for k in user], "film": [f"f{k}" for k in film], "stars": stars})
    return frame[user < 50], frame[user >= 50]


def entries_of(frame, name):
    return frame[frame["user"] == name]


def row_by_scipy(path, loss, cols, values):
    """A new row by the definition, from a saved model alone: its offset, and its weights of the right vectors.

    Minimises the sum of loss(v_j w + b, y_j) + price / 2 * w' S^-1 w + b^2 / (2 variance of the offsets).
    """
    with np.load(path) as model:
        s, v = model["values"], model["right"][cols]
        multiplier, mean_count, power, smoothing = model["row_price"]
        offset, scale = model["offset"], model["scale"]
        row_offset, col_offset = model["row_offset"], model["col_offset"]
    price = multiplier * ((1 - smoothing) * len(cols) / mean_count + smoothing) ** (2 * power)
    y = (values - offset - col_offset[cols]) / scale
    variance = np.mean(row_offset**2) / scale**2

    def value(z):
        return loss(v @ z[1:] + z[0] - y).sum() + price / 2 * (z[1:] ** 2 / s).sum() + z[0] ** 2 / (2 * variance)

    best = scipy.optimize.minimize(value, np.zeros(1 + len(s)), method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    return scale * best.x[0], best.x[1:]


def huber(x, delta=0.5):
    return np.where(np.abs(x) <= delta, x**2 / 2, delta * (np.abs(x) - delta / 2))


@pytest.mark.parametrize(("name", "loss"), [("squared", np.square), ("huber:0.5", huber)])
def test_a_new_row_solves_its_own_problem(tmp_path, people, name, loss):
    old, new = people
    result = tracenorm.fit(old, loss=name, radius=40, prepare="both", norm_power=0.5, gap=0.01)
    result.save(tmp_path / "model.npz")
    mine = entries_of(new, "u55")
    cols = np.array([result.col_names.index(film) for film in mine["film"]])
    offset, weights = row_by_scipy(tmp_path / "model.npz", loss, cols, mine["stars"].to_numpy())
    with np.load(tmp_path / "model.npz") as model:
        expected = model["offset"] + model["col_offset"] + offset + model["scale"] * (model["right"] @ weights)
    folded = result.fold_in(new)
    # The ascent of the library ends at a relative gap of a millionth, which leaves a distance of about its root.
    assert folded.predict("u55", result.col_names) == pytest.approx(expected, abs=5e-3)


def test_newcomers_are_known_and_everybody_else_stays(tmp_path, people, program):
    old, new = people
    result = tracenorm.fit(old)
    known, asked = new[::2], new[1::2]
    folded = result.fold_in(known)
    assert type(folded) is type(result) and folded.shape == (60, 40) and result.shape == (50, 40)
    assert folded.row_names[:50] == result.row_names and "10 rows folded in" in repr(folded)
    assert folded.metadata["folded_in"] == 10 and "folded_in" not in result.metadata
    everybody = old["user"], old["film"]
    assert np.array_equal(folded.predict(*everybody), result.predict(*everybody))
    pairs = asked["user"], asked["film"]
    with pytest.raises(KeyError, match="fold_in fits it"):
        result.predict(*pairs)
    errors = [folded.predict(*pairs) - asked["stars"], result.predict(*pairs, unknown="center") - asked["stars"]]
    assert np.square(errors[0]).mean() < 0.35 * np.square(errors[1]).mean()
    # The program's --new-rows, from the same model and entries.
    result.save(tmp_path / "model.npz")
    known.to_csv(tmp_path / "known.csv", index=False)
    asked.to_csv(tmp_path / "asked.csv", index=False)
    command = [program, "predict", "model.npz", "asked.csv", "--new-rows", "known.csv"]
    lines = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.splitlines()
    assert folded.predict(*pairs) == pytest.approx([float(line.split("\t")[2]) for line in lines], rel=2e-6)
    # A file of it is a model like any other.
    folded.save(tmp_path / "folded.npz")
    assert np.array_equal(tracenorm.load(tmp_path / "folded.npz").predict(*pairs), folded.predict(*pairs))


def test_one_after_the_other_is_all_at_once(people):
    old, new = people
    result = tracenorm.fit(old, radius=40)
    first, second = new[new["user"] < "u55"], new[new["user"] >= "u55"]
    together, in_turn = result.fold_in(new), result.fold_in(first).fold_in(second)
    assert in_turn.metadata["folded_in"] == 10
    assert np.array_equal(together.predict(new["user"], new["film"]), in_turn.predict(new["user"], new["film"]))
    # Who is known is fitted anew: all entries of u55 say more than the first three.
    few = result.fold_in(entries_of(new, "u55")[:3])
    assert np.array_equal(few.fold_in(second).predict("u55", "f1"), in_turn.predict("u55", "f1"))


def test_lists_of_newcomers(people):
    old, new = people
    folded = tracenorm.fit(old, radius=40).fold_in(new)
    best = folded.recommend("u55", top=40, seen=new)
    assert set(best["column"]) == set(folded.col_names) - set(entries_of(new, "u55")["film"])


def test_positions_and_tables():
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    result = tracenorm.solve(matrix[:35], radius=300, loss="squared", gap=1e-3)
    half = np.where(rng.random((5, 30)) < 0.5, matrix[35:], np.nan)
    folded = result.fold_in(half)
    assert folded.shape == (40, 30)
    assert np.abs(folded.to_dense(slice(35, 40)) - matrix[35:]).max() < 0.3 < np.abs(matrix[35:]).max()
    rows, cols = np.nonzero(~np.isnan(half))
    assert np.array_equal(result.fold_in((rows, cols, half[rows, cols])).left, folded.left)


def test_what_cannot_be_folded_in(people):
    old, new = people
    result = tracenorm.fit(old, radius=40, iterations=20)
    with pytest.raises(ValueError, match="no entry has a column of the model"):
        result.fold_in(new.assign(film="unheard of"))
    with pytest.warns(UserWarning, match="1 of 3 entries have a column that the model does not have"):
        result.fold_in((["nina"] * 3, ["f1", "f2", "unheard of"], [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="wants any finite numbers, but a new row holds nan"):
        result.fold_in((["nina"], ["f1"], [np.nan]))
    with pytest.raises(TypeError, match="data must be three arrays"):
        result.fold_in(np.ones((1, 40)))
    lopsided = tracenorm.solve(old, radius=40, iterations=5, loss=lambda x, y: np.maximum(3 * (x - y), y - x))
    with pytest.raises(ValueError, match="is a function of Python"):
        lopsided.fold_in(new)


def test_a_function_with_the_name_of_a_loss_is_none(people):
    def huber(x, y):
        return np.maximum(3 * (x - y), y - x)

    old, new = people
    for result in (
        tracenorm.solve(old, radius=40, iterations=5, loss=huber),
        tracenorm.fit(old, radius=40, iterations=5, loss=huber),
    ):
        assert result.loss == "huber()"
        with pytest.raises(ValueError, match=r"'huber\(\)' is a function of Python"):
            result.fold_in(new)


def test_strangers_stay_within_the_range():
    rng = np.random.default_rng(2)
    level = np.linspace(1, 5.4, 40)
    stars = np.clip(np.round(level[:, None] + rng.normal(size=(40, 30)) + np.linspace(-2, 2, 30)), 1, 5)
    user, film = np.nonzero(rng.random(stars.shape) < 0.6)
    frame = pd.DataFrame({"user": [f"u{k}" for k in user], "film": [f"f{k}" for k in film], "stars": stars[user, film]})
    result = tracenorm.fit(frame)
    assert max(result.predict(result.row_names, "unheard of", unknown="center")) <= 5
    assert min(result.recommend("nobody", top=30, unknown="center")["prediction"]) >= 1


def test_the_estimator_learns_about_new_rows(people):
    old, new = people
    known, asked = new[::2], new[1::2]
    model = tracenorm.MatrixCompletion().fit(old[["user", "film"]], old["stars"])
    before = model.predict(asked[["user", "film"]]) - asked["stars"]
    assert model.fold_in(known[["user", "film"]], known["stars"]) is model
    after = model.predict(asked[["user", "film"]]) - asked["stars"]
    assert np.square(after).mean() < 0.35 * np.square(before).mean()
    with pytest.raises(ValueError, match="feature names"):
        model.fold_in(known[["film", "user"]], known["stars"])
