"""The covariance of stock-like returns with gaps and wrong values.

    python examples/python/covariance.py [FOLDER FOR THE PICTURE]

A market, six sectors and own risks make the returns of 60 stocks on 150 days. One value in ten is missing and one in
fifty is wrong. Radius and penalty are chosen by folds of the days; the empirical covariance of the same table, pair by
pair, stands beside.
"""

import pathlib
import sys

import matplotlib
import numpy as np
import pandas as pd
from PIL import Image

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def make_returns(rng, days=150, stocks=60):
    """Returns with gaps and wrong values, and the true covariance."""
    sector = np.sort(rng.integers(0, 6, stocks))
    loadings = np.zeros((stocks, 7))
    loadings[:, 0] = 0.4 + 0.15 * rng.standard_normal(stocks)
    loadings[np.arange(stocks), 1 + sector] = 0.9 + 0.2 * rng.standard_normal(stocks)
    own = 0.5 + 0.5 * rng.random(stocks)
    scale = 0.01 * np.exp(0.3 * rng.standard_normal(stocks))
    truth = (loadings @ loadings.T + np.diag(own)) * np.outer(scale, scale)
    returns = rng.standard_normal((days, 7)) @ loadings.T + rng.standard_normal((days, stocks)) * np.sqrt(own)
    returns *= scale
    returns[rng.random(returns.shape) < 0.02] = 0.2  # a wrong quote
    returns[rng.random(returns.shape) < 0.1] = np.nan
    return returns, truth


def correlation(covariance):
    deviation = np.sqrt(np.diag(covariance))
    return covariance / np.outer(deviation, deviation)


def main(folder):
    returns, truth = make_returns(np.random.default_rng(4))
    model = tracenorm.SparseLowRankCovariance(l1="auto", radius="auto", estimate="trimmed").fit(returns)
    empirical = pd.DataFrame(returns).cov().to_numpy()
    for name, estimate in (("by pairs", empirical), ("estimate", model.covariance_)):
        error = np.linalg.norm(estimate - truth) / np.linalg.norm(truth)
        print(f"{name}: relative error {error:.3f}, least eigenvalue {np.linalg.eigvalsh(estimate)[0]:.1e}")
    print(f"l1 {model.l1_:.3f}, radius {model.radius_:.1f}, rank {model.result_.rank}", end=", ")
    print(f"{(model.covariance_ == 0).mean():.0%} exact zeros")
    # The portfolio of least variance needs the inverse.
    weights = model.precision_.sum(axis=1) / model.precision_.sum()
    even = np.full(len(weights), 1 / len(weights))
    risks = [np.sqrt(w @ truth @ w) for w in (weights, even)]
    print(f"true risk of the portfolio of least variance {risks[0]:.2%} a day; of equal weights {risks[1]:.2%}")

    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.6), constrained_layout=True)
    panels = [("by pairs, as they are", empirical), ("the estimate", model.covariance_), ("the truth", truth)]
    for (title, matrix), axis in zip(panels, axes, strict=True):
        axis.imshow(correlation(matrix), cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        axis.set_title(title, fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    path = pathlib.Path(folder) / "python-covariance.png"
    figure.savefig(path, dpi=100)
    Image.open(path).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
