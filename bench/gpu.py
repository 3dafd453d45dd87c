#!/usr/bin/env python3
"""The same problems on a CUDA device: a plain PyTorch loop, the program there, the program on the processor. One table.

    bench/gpu.py BIN [--links EDGES] [--ratings RATINGS.tsv] [--large] [--backends cuda] [--out FILE.json]

BIN has `tracenorm` and `tracenorm_cuda_passes`. Needs PyTorch with CUDA, NumPy and SciPy. Seconds are of the
iterations alone, from the first to the last, without reading data and without the final certificate.
"""

import argparse
import json
import lzma
import pathlib
import subprocess
import tempfile
import time

import numpy
import scipy.sparse
import torch

DEVICE = "cuda"


class Width:
    """The hybrid rule, as in numpy_loop.py: the paper's, with a floor. What it needs stays on the device."""

    def __init__(self, radius, scale, floor=0.5):
        self.floor, self.scale, self.changes, self.first = floor, scale, [], torch.tensor(float(radius), device=DEVICE)

    def next(self, k):
        paper = 2 / (k + 2) * torch.stack(self.changes[-5:]).max() if self.changes else self.first
        return torch.clamp(paper, min=self.floor * self.scale / (k + 1) ** 0.5)


def power_steps(m, transposed, v, steps):
    """A few steps towards the leading pair, from the last one."""
    for _ in range(steps):
        v = transposed @ (m @ v)
        v = v / v.norm()
    u = m @ v
    return u / u.norm(), v


def timed(loop):
    """Runs twice: the first time warms up."""
    loop(5)
    torch.cuda.synchronize()
    began = time.perf_counter()
    objective = loop(None)
    torch.cuda.synchronize()
    return time.perf_counter() - began, float(objective)


def torch_links(y, radius, l1, iterations, steps):
    """sum (x - y)^2 over the entries that are not NaN + l1 sum |x| over all: dense products by cuBLAS."""
    y = torch.tensor(y, device=DEVICE)
    mask = (~torch.isnan(y)).float()
    filled = torch.nan_to_num(y)
    scale = float((filled.square().sum() / mask.sum()).sqrt())

    def loop(most):
        x = torch.zeros_like(filled)
        width, v = Width(radius, scale), torch.randn(y.shape[1], device=DEVICE)
        for k in range(most or iterations):
            slopes = 2 * (x - filled) * mask + l1 * torch.clamp(x / width.next(k), -1, 1)
            u, v = power_steps(slopes, slopes.T, v, steps)
            change = torch.outer(-radius * u, v) - x
            width.changes.append(change.abs().max())
            x += 2 / (k + 2) * change
        return ((x - filled) * mask).square().sum() + l1 * x.abs().sum()

    return timed(loop)


def torch_ratings(data, radius, iterations, steps):
    """sum |x - y| over the entries: products by cuSPARSE, the transpose a pattern of its own and a permutation."""
    begin, col = (torch.tensor(a, dtype=torch.int64, device=DEVICE) for a in (data.indptr, data.indices))
    y = torch.tensor(data.data, dtype=torch.float32, device=DEVICE)
    row = torch.repeat_interleave(torch.arange(data.shape[0], device=DEVICE), begin.diff())
    place = torch.argsort(col, stable=True)
    counts = torch.bincount(col, minlength=data.shape[1])
    transposed_begin = torch.cat([torch.zeros(1, dtype=torch.int64, device=DEVICE), counts.cumsum(0)])
    transposed_col = row[place]
    short = [a.int() for a in (begin, col, transposed_begin, transposed_col)]
    scale = float(y.square().mean().sqrt())

    def loop(most):
        x = torch.zeros_like(y)
        width, v = Width(radius, scale), torch.randn(data.shape[1], 1, device=DEVICE)
        for k in range(most or iterations):
            slopes = torch.clamp((x - y) / width.next(k), -1, 1)
            m = torch.sparse_csr_tensor(short[0], short[1], slopes, size=data.shape)
            mt = torch.sparse_csr_tensor(short[2], short[3], slopes[place], size=data.shape[::-1])
            u, v = power_steps(m, mt, v, steps)
            change = -radius * u[row, 0] * v[col, 0] - x
            width.changes.append(change.abs().max())
            x += 2 / (k + 2) * change
        return (x - y).abs().sum(dtype=torch.float64)

    return timed(loop)


class Rows(list):
    """Those of the table, printed as they come."""

    def append(self, row):
        if not self:
            print(f"{'case':36} {'what':24} {'seconds':>9} {'objective':>14}  whole run, gap")
        super().append(row)
        more = ""
        if "whole_s" in row:
            proof = f"{row['gap']:.3g} ({row['proof']})"
            more = f"{row['whole_s']:.2f} s, {proof}, {row['iterations']} iterations"
        if row.get("as_good_s"):
            more += (
                "; as good as PyTorch after " + " / ".join(f"{s:.3f}" if s else "-" for s in row["as_good_s"]) + " s"
            )
        print(
            f"{row['case']:36} {row['what']:24} {row['iterations_s']:9.3f} {row['objective']:14.7g}  {more}", flush=True
        )


def program(bin_folder, file, options, backend, theirs=()):
    """Seconds of the iterations, and the last objective, of the program; and when it had these objectives."""
    command = [bin_folder / "tracenorm", "complete", file, *options, "--backend", backend, "--json", "-", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    run = json.loads(done.stdout)
    first, last = run["trace"][0], run["trace"][-2]  # the very last one certifies

    def seconds_to(objective):
        return next((k["seconds"] - first["seconds"] for k in run["trace"][:-1] if k["objective"] <= objective), None)

    return {
        "iterations_s": last["seconds"] - first["seconds"],
        "whole_s": run["seconds"],
        "objective": last["objective"],
        "iterations": run["iterations"],
        "gap": run["relative_gap"],
        "proof": run["certificate"],
        "as_good_s": [seconds_to(objective) for objective in theirs],
    }


def walks(bin_folder, file, case, options, products, backends, rows):
    """The program as it is, and with fewer products a search (docs/program.md, --oracle-products)."""
    theirs = [row["objective"] for row in rows if row["case"] == case]
    walk = [*options, "--method", "fwua", "--certificate-share", "0"]
    for backend in backends:
        row = program(bin_folder, file, walk, backend, theirs)
        rows.append({"case": case, "what": backend, **row})
        for count in products:
            row = program(bin_folder, file, [*walk, "--oracle-products", str(count)], backend, theirs)
            rows.append({"case": case, "what": f"{backend}, {count} products at first", **row})


def read(path):
    return (lzma.open if path.suffix == ".xz" else open)(path, "rt").read()


def links_case(bin_folder, path, work, backends, rows):
    edges = numpy.fromstring(read(path), dtype=numpy.int64, sep=" ").reshape(-1, 2)
    nodes = int(edges.max()) + 1
    y = numpy.zeros((nodes, nodes), dtype=numpy.float32)
    y[edges[:, 0], edges[:, 1]] = y[edges[:, 1], edges[:, 0]] = 1
    seen = numpy.triu(numpy.random.default_rng(1).random(y.shape) < 0.5)
    y[~(seen | seen.T)] = numpy.nan
    numpy.save(work / "links.npy", y)
    for steps in (2, 4, 8):
        seconds, objective = torch_links(y, 1052.88, 0.01, 1000, steps)
        rows.append(
            {
                "case": "links, 1000 iterations",
                "what": f"PyTorch, {steps} power steps",
                "iterations_s": seconds,
                "objective": objective,
            }
        )
    options = ["--prepare", "none", "--loss", "squared", "--l1", "0.01", "--radius", "1052.88"]
    walk = [*options, "--iterations", "1000"]
    walks(bin_folder, work / "links.npy", "links, 1000 iterations", walk, (5, 4), backends, rows)
    for backend in backends:
        rows.append(
            {
                "case": "links to a gap of 1 %",
                "what": backend,
                **program(bin_folder, work / "links.npy", [*options, "--gap", "0.01"], backend),
            }
        )


def ratings_case(bin_folder, path, work, backends, rows):
    entries = numpy.fromstring(read(path), dtype=numpy.int64, sep=" ").reshape(-1, 3)
    half = numpy.random.default_rng(1).random(len(entries)) < 0.5
    users, movies = (numpy.unique(entries[:, k], return_inverse=True)[1] for k in (0, 1))
    value = entries[half, 2].astype(numpy.float32)
    value = (value - value.mean()) / value.std()
    data = scipy.sparse.csr_matrix((value, (users[half], movies[half])), shape=(users.max() + 1, movies.max() + 1))
    data.sort_indices()
    scipy.sparse.save_npz(work / "ratings.npz", data, compressed=False)
    for steps in (3, 6):
        seconds, objective = torch_ratings(data, 15000, 300, steps)
        rows.append(
            {
                "case": "half the ratings, 300 iterations",
                "what": f"PyTorch, {steps} power steps",
                "iterations_s": seconds,
                "objective": objective,
            }
        )
    ratings_runs(bin_folder, work / "ratings.npz", "half the ratings, 300 iterations", 15000, backends, rows)


def ratings_runs(bin_folder, file, case, radius, backends, rows):
    options = ["--prepare", "none", "--loss", "absolute", "--radius", str(radius), "--iterations", "300"]
    walks(bin_folder, file, case, options, (4,), backends, rows)


def large_case(bin_folder, work, backends, rows):
    case, shape, entries = "96 million entries, 300 iterations", (480189, 17770), 96_000_000
    draw = numpy.random.default_rng(1)
    row = numpy.sort(draw.integers(0, shape[0], entries, dtype=numpy.int32))
    col = (shape[1] * draw.random(entries, dtype=numpy.float32) ** 3).astype(numpy.int32).clip(max=shape[1] - 1)
    place = numpy.unique(row.astype(numpy.int64) * shape[1] + col)  # no position twice
    begin = numpy.searchsorted(place, numpy.arange(shape[0] + 1, dtype=numpy.int64) * shape[1])
    col = (place % shape[1]).astype(numpy.int32)
    data = scipy.sparse.csr_matrix((draw.standard_normal(len(col), dtype=numpy.float32), col, begin), shape=shape)
    scipy.sparse.save_npz(work / "large.npz", data, compressed=False)
    radius = round(6 * len(col) ** 0.5)
    for steps in (3, 6):
        seconds, objective = torch_ratings(data, radius, 300, steps)
        what = f"PyTorch, {steps} power steps"
        rows.append({"case": case, "what": what, "iterations_s": seconds, "objective": objective})
    ratings_runs(bin_folder, work / "large.npz", case, radius, backends, rows)


def passes(bin_folder, *arguments):
    done = subprocess.run(
        [bin_folder / "tracenorm_cuda_passes", *arguments], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--links", type=pathlib.Path, help="edges of a graph")
    parser.add_argument("--ratings", type=pathlib.Path, help="user, item, rating, between white space")
    parser.add_argument("--large", action="store_true", help="96 million entries, made up")
    parser.add_argument("--backends", nargs="+", default=["cuda", "cpu"], help="of the program's runs; default: both")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rows, measured = Rows(), {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.links:
            links_case(options.bin, options.links, work, options.backends, rows)
            measured["links"] = passes(options.bin, "dense", "4039")
        if options.ratings:
            ratings_case(options.bin, options.ratings, work, options.backends, rows)
            measured["ratings"] = passes(options.bin, "sparse", "47730", "17760", "5e6")
        if options.large:
            large_case(options.bin, work, options.backends, rows)
            measured["large"] = passes(options.bin, "sparse", "480189", "17770", "96e6")
    for name, table in measured.items():
        rate = table["copy_bytes_per_second"] / 1e12
        print(f"\n{name}: a copy moves {rate:.2f} TB/s; a dot product takes {table['dot_microseconds']} us")
        for one in table["passes"]:
            cost = f"{one['microseconds']:9.1f} us  {one['bytes_an_entry']:5} bytes an entry"
            print(f"  {one['pass']:28} {cost}  {100 * one['of_a_copy']:5.1f} % of a copy")
    if options.out:
        options.out.write_text(json.dumps({"runs": rows, "passes": measured}, indent=1))


if __name__ == "__main__":
    main()
