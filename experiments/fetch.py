#!/usr/bin/env python3
"""Gets the data sets of the experiments from their publishers and verifies them.

    experiments/fetch.py all --data DIR

A file gets its name only when its SHA-256 checksum is right. One that is already there is verified and left as it is.
Mind the publishers' terms: MovieLens may not be redistributed. Exit codes: 0 everything is there, 2 usage, 3 a
download failed or a file is not what it should be.
"""

import argparse
import os
import pathlib
import shutil
import sys
import urllib.request
import zipfile

from reproduction import fail
from reproduction.data_sets import checksum, load_data_sets


def download(url, path):
    try:
        with urllib.request.urlopen(url, timeout=60) as answer, open(path, "wb") as file:
            shutil.copyfileobj(answer, file)
    except OSError as error:  # what urllib raises is one
        fail(f"the download of {url} failed: {error}")


def fetch(data, folder, mirror, note):
    target = folder / data["saved_as"]
    if target.exists():
        if not right(target, data):
            fail(f"'{target}' is not what {data['publisher']} publishes (SHA-256); remove it and fetch it again")
        return note(f"{data['name']}: there already, checksum right")
    part = folder / f".part-{os.getpid()}-{target.name}"  # the same suffix: compression is told by it
    try:
        download(f"{mirror.rstrip('/')}/{target.name}" if mirror else data["url"], part)
        if not right(part, data):
            fail(f"{data['name']}: the download is not what it should be: its SHA-256 is not {data['sha256']}")
        if "member" in data:
            keep_member(part, data["member"])
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
    note(f"{data['name']}: {target} from {data['publisher']}, checksum right")


def keep_member(path, member):
    """Leaves what was verified alone in an archive: what else a mirror has put there might be read in its place."""
    alone = path.with_name(path.name + "~")
    try:
        with (
            zipfile.ZipFile(path) as archive,
            zipfile.ZipFile(alone, "w", zipfile.ZIP_DEFLATED) as only,
            archive.open(member) as source,
            only.open(member, "w", force_zip64=True) as target,
        ):
            shutil.copyfileobj(source, target)
        alone.replace(path)
    finally:
        alone.unlink(missing_ok=True)


def right(path, data):
    try:
        return checksum(path, data) == data["sha256"]
    except (OSError, EOFError, KeyError, zipfile.BadZipFile):  # not even an archive, or without the member
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", help="a data set of experiments/datasets.json, or all")
    parser.add_argument("--data", required=True, type=pathlib.Path, metavar="DIR", help="folder to put them in")
    parser.add_argument("--mirror", metavar="URL", help="take the files from this address instead")
    parser.add_argument("--datasets", metavar="FILE.json", help="other data sets, declared as in datasets.json")
    parser.add_argument("--quiet", "-q", action="store_true", help="no notes")
    options = parser.parse_args()
    known = load_data_sets(options.datasets) if options.datasets else load_data_sets()
    published = [name for name, data in known.items() if "url" in data]
    for name in options.names:
        if name != "all" and name not in known:
            fail(f"unknown data set '{name}'; there are {', '.join(published)}", code=2)
        if name != "all" and name not in published:
            fail(f"{name}: nobody publishes it for download; see docs/results.md", code=2)
    try:
        options.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(f"--data: cannot make '{options.data}': {error.strerror}")
    for name in published if "all" in options.names else options.names:
        fetch(known[name], options.data, options.mirror, (lambda _: None) if options.quiet else warn)


def warn(text):
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
