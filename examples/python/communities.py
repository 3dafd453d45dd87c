"""Communities in a graph of which a part is seen, with errors.

    python examples/python/communities.py [FOLDER FOR THE PICTURE]

Five groups of people; those of one group mostly know each other. Two thirds of the pairs were asked, and one answer in
ten is wrong. A sparse matrix of low rank is fitted; its blocks are the groups.
"""

import pathlib
import sys

import matplotlib
import numpy as np
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import tracenorm

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def make_graph(rng):
    """The true graph, and what was seen of it: NaN for pairs that were not asked."""
    group = np.repeat(np.arange(5), [40, 35, 30, 25, 20])
    alike = group[:, None] == group
    upper = np.triu(rng.random(alike.shape) < np.where(alike, 0.9, 0.02), 1)
    graph = (upper | upper.T).astype(float)
    wrong, unasked = (np.triu(rng.random(alike.shape) < share, 1) for share in (0.1, 1 / 3))
    seen = np.where(wrong | wrong.T, 1 - graph, graph)
    seen[unasked | unasked.T] = np.nan
    np.fill_diagonal(seen, np.nan)
    return graph, seen, group


def main(folder):
    rng = np.random.default_rng(3)
    graph, seen, group = make_graph(rng)
    unasked = np.triu(np.isnan(seen), 1)
    result = tracenorm.solve(seen, loss="squared", radius=100.0, penalty="l1:0.05", iterations=300)
    estimate = result.to_dense()
    auc = roc_auc_score(graph[unasked], estimate[unasked])
    coordinates = result.left[:, :5] * result.values[:5]
    found = KMeans(5, n_init=10, random_state=0).fit_predict(coordinates)
    print(f"pairs that were not asked: area under the curve {auc:.3f}")
    print(
        f"groups by k-means on five factors: adjusted Rand index {adjusted_rand_score(group, found):.3f} (1 is perfect)"
    )
    print(f"certified within {result.relative_gap:.1%} of the optimum")

    order = rng.permutation(len(group))  # nobody knows the groups
    back = np.lexsort((group[order], found[order]))
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), constrained_layout=True)
    shuffled = seen[np.ix_(order, order)]
    panels = [
        ("what was seen (grey: not asked)", shuffled),
        ("the estimate", estimate[np.ix_(order, order)]),
        ("the estimate, sorted by found group", estimate[np.ix_(order, order)][np.ix_(back, back)]),
    ]
    colours = matplotlib.colormaps["Blues"].with_extremes(bad="#d9d9d9")
    for (title, matrix), axis in zip(panels, axes, strict=True):
        axis.imshow(matrix, cmap=colours, vmin=0, vmax=1, interpolation="nearest")
        axis.set_title(title, fontsize=9)
        axis.set_xticks([])
        axis.set_yticks([])
    path = pathlib.Path(folder) / "python-communities.png"
    figure.savefig(path, dpi=80)
    Image.open(path).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
