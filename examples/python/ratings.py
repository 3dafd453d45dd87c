"""Outliers in a ratings matrix: the absolute loss shrugs, the squared loss follows them.

    python examples/python/ratings.py [FOLDER FOR THE PICTURE]

Users rate items by taste; some ratings are typed wrong, or come from people who vote everything down.
"""

import pathlib
import sys

import matplotlib
import numpy as np
import pandas as pd

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BLUE, RED, GREY = "#2b6ca3", "#c44e52", "#8a8a8a"


def make_ratings(rng, wrong):
    """300 users, 200 items, tastes of rank 3; a sixth of the ratings is seen and a share of those is wrong."""
    taste = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 200)) / np.sqrt(3)
    stars = 3.5 + 1.1 * taste
    user, item = np.nonzero(rng.random(stars.shape) < 1 / 6)
    rating = stars[user, item] + 0.2 * rng.normal(size=len(user))
    bad = rng.random(len(user)) < wrong
    rating[bad] = rng.choice([-10.0, 15.0], size=bad.sum())
    frame = pd.DataFrame({"user": [f"user{u}" for u in user], "item": [f"item{i}" for i in item], "rating": rating})
    return frame, stars, bad


def error(result, stars):
    """Of all entries, seen or not, in stars."""
    users, items = [f"user{u}" for u in range(300)], [f"item{i}" for i in range(200)]
    estimate = result.predict(np.array(users)[:, None], np.array(items)[None, :])
    return np.sqrt(np.mean((estimate - stars) ** 2))


def main(folder):
    shares = [0.0, 0.02, 0.05, 0.1, 0.15]
    curves = {"absolute": [], "squared": []}
    for share in shares:
        frame, stars, bad = make_ratings(np.random.default_rng(1), share)
        for loss, curve in curves.items():
            # Each loss gets the radius that suits it.
            result = tracenorm.fit(frame, loss=loss, prepare="center", norm_power=0, iterations=300)
            curve.append(error(result, stars))
            slack = result.objective - result.lower_bound
            print(
                f"{share:4.0%} wrong, {loss:8} loss: error {curve[-1]:.2f} stars; losses {result.objective:.0f}, "
                f"certified to be at most {slack:.0f} above the least"
            )
            if (loss, share) == ("absolute", 0.1):
                example = frame, result, bad

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for (loss, curve), colour in zip(curves.items(), (BLUE, RED), strict=True):
        left.plot([100 * share for share in shares], curve, "o-", color=colour, label=f"{loss} loss")
    left.axhline(1.1, color=GREY, lw=1, ls=":")
    left.text(0.2, 1.13, "deviation of the ratings", color=GREY, fontsize=8)
    left.set(xlabel="wrong ratings, per cent", ylabel="error of the estimate, stars", ylim=(0, None))
    left.legend(frameon=False)
    frame, result, bad = example
    residual = frame["rating"] - result.predict(frame["user"], frame["item"])
    bins = np.linspace(-16, 16, 97)
    right.hist(residual[~bad], bins, color=BLUE, label="right")
    right.hist(residual[bad], bins, color=RED, label="wrong")
    right.set(yscale="log", xlabel="rating minus estimate, stars", ylabel="ratings", title="10 % wrong, absolute loss")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(pathlib.Path(folder) / "python-ratings.png", dpi=110)
    found = np.abs(residual) > 4
    print(
        f"residuals above 4 stars find {np.mean(found[bad]):.0%} of the wrong ratings, "
        f"and {np.mean(found[~bad]):.2%} of the others"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
