"""The data sets of the experiments (experiments/datasets.json): where they lie in a folder, how they are recognised."""

import functools
import gzip
import hashlib
import json
import lzma
import pathlib
import zipfile

from . import EXPERIMENTS, fail

# What the program takes for the ratings of an archive.
RATINGS = ("u.data", "ratings.dat", "ratings.csv")


def load_data_sets(path=EXPERIMENTS / "datasets.json"):
    """{name: declaration} in the order of the file."""
    try:
        return {data["name"]: data for data in json.loads(pathlib.Path(path).read_text())["datasets"]}
    except OSError as error:
        fail(f"cannot read '{path}': {error.strerror}")
    except (ValueError, KeyError, TypeError) as error:
        fail(f"{path}: not a list of data sets: {error!r}")


def find(folder, data):
    """The file of a data set relative to the folder, possibly compressed; None when it is not there."""
    names = [name + suffix for name in data["files"] for suffix in ("", ".xz", ".gz")] if folder else []
    return next((name for name in names if (folder / name).is_file()), None)


def checksum(path, data):
    """What `sha256` of the declaration is compared with: that of the file, or of its content."""
    if data.get("of") != "content":
        return sha256(path)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive, archive.open(data["member"]) as file:
            ratings = [name for name in archive.namelist() if name.rsplit("/", 1)[-1].lower() in RATINGS]
            if ratings != [data["member"]]:  # the program takes the first of them
                raise KeyError(f"ratings in {', '.join(ratings)}")
            return hashlib.file_digest(file, "sha256").hexdigest()
    with {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class DataFolder:
    """The data sets of a folder; without a folder there are none."""

    def __init__(self, folder):
        self.folder, self.declared = folder, load_data_sets()

    @functools.cache  # noqa: B019, there is one
    def file(self, name):
        """Where in the folder a data set lies; None when it does not."""
        return find(self.folder, self.declared[name])

    def path(self, name):
        return self.folder / self.file(name)

    def checksum(self, name):
        return sha256(self.path(name))


class RecordedData:
    """The data sets that finished runs were made with, as a file beside the log says: they need not be there to make a
    page."""

    def __init__(self, path):
        self.path_of_file, self.declared = path, load_data_sets()
        self.known = json.loads(path.read_text()) if path.exists() else {}

    def add(self, folder):
        """What is in a DataFolder too."""
        names = [name for name in folder.declared if folder.file(name)]
        self.known |= {name: {"file": folder.file(name), "sha256": folder.checksum(name)} for name in names}
        self.path_of_file.write_text(json.dumps(self.known, indent=1) + "\n")

    def file(self, name):
        return self.known[name]["file"] if name in self.known else None

    def path(self, name):
        return self.file(name)

    def checksum(self, name):
        return self.known[name]["sha256"]
