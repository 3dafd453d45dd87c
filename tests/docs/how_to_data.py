"""The files that docs/how-to.md speaks of, small and made on the spot."""

import csv
import pathlib

import numpy

FILMS = ["Toy Story", *(f"f{k}" for k in range(1, 20))]


def table(people, seed):
    """(person, film, stars) of a third of all pairs."""
    random = numpy.random.default_rng(seed)
    stars = 3 + random.normal(size=(len(people), 2)) @ numpy.random.default_rng(1).normal(size=(2, len(FILMS)))
    return [
        (person, film, round(float(stars[i, j]), 2))
        for i, person in enumerate(people) for j, film in enumerate(FILMS) if random.random() < 0.5
    ]  # fmt: skip


def write(folder, name, header, lines, delimiter=","):
    with open(folder / name, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *lines] if header else lines)


def make(folder):
    folder = pathlib.Path(folder)
    people = [f"u{k}" for k in range(40)]
    ratings = table(people, 2)
    write(folder, "ratings.csv", ("user", "film", "stars"), ratings)
    write(folder, "part1.csv", ("user", "film", "stars"), ratings[:90])
    write(folder, "part2.csv", ("user", "film", "stars"), ratings[90:])
    write(folder, "train.csv", ("user", "film", "stars"), ratings[::2] + ratings[1::4])
    write(folder, "test.csv", ("user", "film", "stars"), ratings[3::4])
    write(folder, "newcomers.csv", ("user", "film", "stars"), table(["nina", "omar"], 3))
    write(folder, "weights.csv", ("user", "film", "weight"), [(*r[:2], 1 + k % 3) for k, r in enumerate(ratings)])
    exported = [(k, *r, 1 + k % 3) for k, r in enumerate(ratings)]
    write(folder, "export.csv", ("id", "who", "film", "stars", "importance"), [*exported, (999, "u0", "f0", 99, 1)])
    write(folder, "pairs.tsv", None, [("u0", "f1"), ("u1", "f2")], delimiter="\t")
    random = numpy.random.default_rng(4)
    factors = random.normal(size=(30, 2))
    noise = 0.1 * random.normal(size=(30, 30))
    numpy.save(folder / "noisy.npy", factors @ factors.T + noise + noise.T)
    samples = random.normal(size=(50, 2)) @ factors[:12].T + 0.3 * random.normal(size=(50, 12))
    write(folder, "samples.csv", [f"v{k}" for k in range(12)], samples.round(3).tolist())
    group = numpy.arange(40) % 2
    likely = numpy.where(group[:, None] == group, 0.5, 0.05)
    edges = numpy.argwhere(numpy.triu(random.random((40, 40)) < likely, 1))
    write(folder, "edges.txt", None, edges.tolist(), delimiter=" ")
