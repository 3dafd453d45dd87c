"""Small data under the names and in the dialects of the paper's data sets, made on the spot."""

import io
import zipfile

import numpy


def ratings(users, items, seed, half_stars=False):
    """(user, item, rating) with ids from 1."""
    random = numpy.random.default_rng(seed)
    taste = random.normal(size=(users, 2)) @ random.normal(size=(2, items)) + 0.3 * random.normal(size=(users, items))
    stars = numpy.clip(numpy.round(2 * (3 + taste)) / 2 if half_stars else numpy.round(3 + taste), 1, 5)
    user, item = numpy.nonzero(random.random((users, items)) < 0.4)
    return [(u + 1, i + 1, stars[u, i]) for u, i in zip(user, item, strict=True)]


def lines(entries, separator, form="{:g}"):
    return "".join(separator.join([str(u), str(i), form.format(r), "881250949"]) + "\n" for u, i, r in entries)


def zipped(member, text):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(member.rsplit("/", 1)[0] + "/README", "small data in the publisher's form")
        archive.writestr(member, text)
    return packed.getvalue()


def write_paper_data(folder):
    """ML-100k as a folder, ML-1M and ML-10M as their publisher's zip, ego-Facebook as SNAP's edge list."""
    (folder / "ml-100k").mkdir(parents=True)
    (folder / "ml-100k" / "u.data").write_text(lines(ratings(60, 50, 1), "\t"))
    (folder / "ml-1m.zip").write_bytes(zipped("ml-1m/ratings.dat", lines(ratings(80, 60, 2), "::")))
    half_stars = lines(ratings(90, 70, 3, half_stars=True), "::")
    (folder / "ml-10m.zip").write_bytes(zipped("ml-10M100K/ratings.dat", half_stars))
    random = numpy.random.default_rng(4)
    nodes = 150
    edges = [
        f"{a} {b}\n"
        for a in range(nodes)
        for b in range(a + 1, nodes)
        if random.random() < (0.9 if a % 2 == b % 2 else 0.3)
    ]
    (folder / "facebook_combined.txt").write_text("".join(edges))
    return folder
