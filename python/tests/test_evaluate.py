"""Judging predictions: by hand, and as the program does."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import tracenorm
from tracenorm._evaluate import _area_under_curve


@pytest.fixture
def frame(corrupted):
    """Ratings in the order in which they were given."""
    order = np.random.default_rng(5).permutation(len(corrupted["values"]))
    return pd.DataFrame(
        {
            "user": [f"u{k}" for k in corrupted["rows"][order]],
            "item": corrupted["cols"][order] + 1,
            "stars": corrupted["values"][order],
            "when": pd.date_range("2020-01-01", periods=len(order)),
        }
    )


def test_folds_are_those_of_the_program(program, frame, tmp_path):
    ratings = frame[["user", "item", "stars"]]
    lines = (f"{user}\t{item}\t{float(stars)!r}\n" for user, item, stars in ratings.itertuples(index=False))
    (tmp_path / "r.tsv").write_text("".join(lines))
    options = ["--radius", "60", "--iterations", "40", "--folds", "3", "--top", "4", "--relevant", "0.5"]
    subprocess.run([program, "evaluate", "r.tsv", *options, "--json", "s.json", "-q"], cwd=tmp_path, check=True)
    said = json.loads((tmp_path / "s.json").read_text())["scores"]
    ours = tracenorm.evaluate(ratings, radius=60, iterations=40, folds=3, top=4, relevant=0.5)
    assert len(ours.scores["rmse"]) == 3
    for name in ("rmse", "mae", "precision@4", "recall@4", "ndcg@4", "hit_rate@4", "mrr@4", "coverage@4", "rank"):
        assert ours.scores[name] == pytest.approx(said[name]["values"], rel=1e-5), name
        assert ours[name] == pytest.approx(said[name]["mean"], rel=1e-5)
        assert ours.deviation[name] == pytest.approx(said[name]["deviation"], rel=1e-4, abs=1e-12)


def test_measures_by_hand():
    """The outer product of descending numbers ranks the columns 0 1 2 3 for every row."""
    truth = np.outer([4.0, 3.0, 2.0], [4.0, 3.0, 2.0, 1.0])
    places = [(0, 3), (1, 1), (1, 3), (2, 0), (2, 2)]  # rows 0, 1, 2 have seen the rest
    test = tuple(np.array(part) for part in zip(*[(i, j, truth[i, j]) for i, j in places], strict=True))
    data = truth.copy()
    for i, j in places:
        data[i, j] = np.nan
    options = {"radius": 32.0, "loss": "squared", "prepare": "none"}
    found = tracenorm.evaluate(data, test=test, top=1, relevant=4.0, **options)
    # Relevant are (0, 3) of value 4, (1, 1) of 9, (2, 0) of 8 and (2, 2) of 4. Each row's list is its best unseen one.
    assert found["precision@1"] == 1 and found["hit_rate@1"] == 1 and found["mrr@1"] == 1 and found["ndcg@1"] == 1
    assert found["recall@1"] == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert found["coverage@1"] == 3 / 4  # columns 3, 1, 0
    assert found["test_entries"] == 5 and found["unknown"] == 0
    error = tracenorm.fit(data, **options).predict(*test[:2]) - test[2]
    assert found["rmse"] == pytest.approx(np.sqrt(np.square(error).mean()), rel=1e-6)
    assert found["mae"] == pytest.approx(np.abs(error).mean(), rel=1e-6)


def test_by_time_nothing_is_learnt_from_the_future(frame):
    seen = []
    shuffled = frame.sample(frac=1, random_state=0)
    found = tracenorm.evaluate(shuffled, by_time="when", folds=4, radius=60, iterations=20, callback=seen.append)
    late = frame.iloc[len(frame) - len(frame) // 4 :]
    early = shuffled[shuffled["when"] < late["when"].min()]
    result = tracenorm.fit(early[["user", "item", "stars"]], radius=60, iterations=20)
    predicted = result.predict(late["user"], late["item"], unknown="center")
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean((predicted - late["stars"]) ** 2)), rel=0.02)
    assert found["test_entries"] == len(late) and len(found.scores["rmse"]) == 1 and seen
    numbers = tracenorm.evaluate(
        shuffled[["user", "item", "stars"]], by_time=shuffled["when"].astype("int64"), folds=4, radius=60, iterations=20
    )
    assert numbers.scores == found.scores


def test_strangers_count(frame):
    ratings = frame[["user", "item", "stars"]]
    test = pd.DataFrame({"user": ["nobody", "u1"], "item": [1, 2], "stars": [1.0, 2.0]})
    found = tracenorm.evaluate(ratings, test=test, radius=60, iterations=20)
    assert found["unknown"] == 1 and found["test_entries"] == 2
    result = tracenorm.fit(ratings, radius=60, iterations=20)
    error = result.predict(["nobody", "u1"], [1, 2], unknown="center") - test["stars"]
    assert found["mae"] == pytest.approx(np.abs(error).mean(), rel=1e-6)


def test_labels_are_judged_by_the_area_under_the_curve(corrupted):
    data = (corrupted["rows"], corrupted["cols"], np.sign(corrupted["values"]))
    found = tracenorm.evaluate(data, loss="logistic", radius=60, folds=2, iterations=40)
    assert 0.8 < found["auc"] < 1 and "rmse" not in found.scores
    assert _area_under_curve(np.array([1.0, 2.0, 2.0, 3.0]), np.array([False, True, False, True])) == 0.875
    assert np.isnan(_area_under_curve(np.array([1.0]), np.array([True])))


@pytest.mark.parametrize("name", ["mine", "logistic"])
def test_a_loss_in_python_is_for_numbers_whatever_its_name(corrupted, name):
    def loss(x, y):
        return np.abs(x - y)

    loss.__name__ = name
    data = (corrupted["rows"], corrupted["cols"], corrupted["values"])
    options = {"radius": 60, "folds": 2, "iterations": 20}
    mine = tracenorm.evaluate(data, loss=loss, **options)
    named = tracenorm.evaluate(data, loss="absolute", **options)
    assert mine.scores.keys() == named.scores.keys() and "auc" not in mine.scores
    assert mine["mae"] == pytest.approx(named["mae"], rel=0.05)  # steps over a kink that only one of them knows


def test_what_it_shows(frame):
    found = tracenorm.evaluate(frame[["user", "item", "stars"]], radius=60, folds=2, iterations=5)
    assert "rmse" in repr(found) and "±" in repr(found)
    assert "<td" in found._repr_html_() and "ndcg@10" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"folds": 1}, ValueError, "folds = 1"),
        ({"folds": 1000}, ValueError, "only"),
        ({"top": 0}, ValueError, "top = 0"),
        ({"by_time": "then"}, ValueError, "'then'"),
        ({"by_time": [1, 2]}, ValueError, "by_time has shape"),
        ({"by_time": "when", "test": ([0], [0], [1.0])}, ValueError, "give one"),
        ({"radius": "wide"}, ValueError, "radius = 'wide'"),
        ({"relevant": "good"}, TypeError, "relevant"),
    ],
)
def test_bad_arguments_are_named(frame, options, kind, words):
    data = frame[:900] if options.get("folds") == 1000 else frame
    columns = ("user", "item", "stars")
    with pytest.raises(kind, match=words):
        tracenorm.evaluate(data, columns=columns, **{"radius": 60, "iterations": 5, **options})
