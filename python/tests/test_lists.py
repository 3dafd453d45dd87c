"""Recommendations, similar rows and columns, pictures and tables of a model."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import tracenorm


@pytest.fixture
def frame(corrupted):
    return pd.DataFrame(
        {"user": [f"u{k}" for k in corrupted["rows"]], "item": corrupted["cols"] + 1, "stars": corrupted["values"]}
    )


@pytest.fixture
def result(frame):
    return tracenorm.solve(frame, radius=60, iterations=60, prepare="both")


def test_recommendations_are_the_largest_predictions(result, frame):
    lists = result.recommend(["u3", "u7"], top=5)
    assert lists.dtype.names == ("row", "place", "column", "prediction")
    assert lists["row"].tolist() == ["u3"] * 5 + ["u7"] * 5 and lists["place"].tolist() == [1, 2, 3, 4, 5] * 2
    for name in ("u3", "u7"):
        everything = result.predict(name, result.col_names)
        order = np.argsort(-everything, kind="stable")[:5]
        mine = lists[lists["row"] == name]
        assert mine["column"].tolist() == [result.col_names[k] for k in order]
        assert np.array_equal(mine["prediction"], everything[order])
    assert pd.DataFrame(lists).shape == (10, 4)


def test_what_is_seen_is_left_out(result, frame):
    lists = result.recommend(top=40, seen=frame)
    assert len(lists) == 60 * 40 - len(frame)
    pairs = set(zip(frame["user"], frame["item"].astype(str), strict=True))
    assert not pairs & set(zip(lists["row"], lists["column"], strict=True))
    wide = frame.pivot(index="user", columns="item", values="stars")
    assert np.array_equal(result.recommend(top=40, seen=wide), lists)


def test_lists_by_position_and_of_nobody():
    by_position = tracenorm.solve(np.outer([1.0, 2.0], [1.0, 3.0, 2.0]), radius=20, iterations=50)
    assert by_position.recommend(1, top=2)["column"].tolist() == [1, 2]
    assert by_position.recommend(1, seen=([1], [1], [0.0]))["column"].tolist() == [2, 0]
    assert len(by_position.recommend([])) == 0
    with pytest.raises(IndexError, match="row 2"):
        by_position.recommend(2)


def test_lists_of_strangers(result):
    with pytest.raises(KeyError, match="no row 'nobody'"):
        result.recommend("nobody")
    best = result.recommend("nobody", top=3, unknown="center")
    levels = result.predict("nobody", result.col_names, unknown="center")
    assert best["prediction"].tolist() == sorted(levels, reverse=True)[:3]
    with pytest.raises(ValueError, match="unknown = 'nan'"):
        result.recommend("u1", unknown="nan")
    with pytest.raises(ValueError, match="top = 0"):
        result.recommend("u1", top=0)


@pytest.mark.parametrize("named", ["rows", "columns"])
def test_names_on_one_side_alone(program, tmp_path, named):
    """As the program's models have them of a table without a header, or without ids of its rows."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 20))
    table = pd.DataFrame(matrix, [f"r{k}" for k in range(30)], [f"c{k}" for k in range(20)])
    table.to_csv(tmp_path / "wide.csv", index=named == "rows", header=named == "columns")
    options = ["--radius", "60", "--iterations", "40", "--model", "model.npz", "--quiet"]
    subprocess.run([program, "complete", "wide.csv", *options], cwd=tmp_path, check=True)
    model = tracenorm.load(tmp_path / "model.npz")
    assert (bool(model.row_names), bool(model.col_names)) == (named == "rows", named == "columns")
    row, cols = ("r3", list(range(20))) if named == "rows" else (3, list(table.columns))
    best = model.recommend(row, top=20)["column"].tolist()
    assert sorted(best) == sorted(cols)
    assert model.recommend(row, top=20, seen=([row] * 2, best[:2], [1.0, 1.0]))["column"].tolist() == best[2:]
    newcomer = "nina" if named == "rows" else 0
    folded = model.fold_in(([newcomer] * 20, cols, matrix[3]))
    assert folded.shape == (31, 20)
    assert folded.predict("nina" if named == "rows" else 30, cols) == pytest.approx(model.predict(row, cols), abs=0.3)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    residuals = model.plot(([row] * 20, cols, matrix[3]))[-1]
    assert sum(bar.get_height() for bar in residuals.patches) == 20


def test_similar_columns_by_hand():
    # Columns 0 and 1 are parallel, 2 is opposite to them, 3 is at a right angle, 4 is never fitted.
    data = np.array([[1.0, 2.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0, 0.0]])
    result = tracenorm.solve(data, radius=20, loss="squared", gap=1e-6, iterations=2000)
    found = result.similar(column=0)
    assert found.dtype.names == ("place", "id", "similarity")
    told = {int(name): cosine for name, cosine in zip(found["id"], found["similarity"], strict=True)}
    assert told[1] == pytest.approx(1, abs=1e-3) and told[2] == pytest.approx(-1, abs=1e-3)
    assert told[3] == pytest.approx(0, abs=1e-2) and found["id"][0] == 1 and found["id"][-1] == 2
    assert (np.diff(found["similarity"]) <= 0).all() and 0 not in told


def test_similar_is_the_cosine_in_the_fitted_matrix(result):
    fitted = (result.left * result.values) @ result.right.T
    cosines = fitted @ fitted[3] / np.linalg.norm(fitted, axis=1) / np.linalg.norm(fitted[3])
    found = result.similar(row="u3", top=4)
    order = [k for k in np.argsort(-cosines) if k != 3][:4]
    assert found["id"].tolist() == [result.row_names[k] for k in order]
    assert found["similarity"] == pytest.approx(cosines[order])


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({}, ValueError, "similar to what"),
        ({"row": "u1", "column": 1}, ValueError, "similar to what"),
        ({"row": ["u1", "u2"]}, TypeError, "one id"),
        ({"row": "nobody"}, KeyError, "no row 'nobody'"),
        ({"column": 99}, KeyError, "no column 99"),
    ],
)
def test_bad_questions(result, options, kind, words):
    with pytest.raises(kind, match=words):
        result.similar(**options)


def test_nothing_is_similar_to_what_was_not_fitted():
    zero = tracenorm.solve(np.zeros((2, 2)), radius=1.0, iterations=3)
    with pytest.raises(ValueError, match="says nothing about 0"):
        zero.similar(row=0)


def test_tables_for_notebooks(result, tmp_path):
    text = result._repr_html_()
    assert "certified gap" in text and "60 x 40" in text and "tracenorm.Result" in text
    result.save(tmp_path / "model.npz")
    assert "tracenorm.Model" in tracenorm.load(tmp_path / "model.npz")._repr_html_()


def test_plots(result, frame, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    axes = result.plot(frame)
    assert [axis.get_title() for axis in axes] == ["convergence", f"singular values (rank {result.rank})", "residuals"]
    gaps = axes[0].lines[0].get_ydata()
    # Terms that are not worth keeping were left out of the answer: up to 0.2 % of what is not certified.
    assert gaps[-1] == pytest.approx(100 * result.relative_gap, rel=3e-3)
    assert sum(bar.get_height() for bar in axes[2].patches) == len(frame)
    assert len(result.plot()) == 2
    result.save(tmp_path / "model.npz")
    assert len(tracenorm.load(tmp_path / "model.npz").plot()) == 1
    axes[0].figure.savefig(tmp_path / "run.png")
    plt.close("all")


def test_a_plot_without_matplotlib_says_what_to_install(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        result.plot()
