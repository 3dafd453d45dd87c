#!/usr/bin/env python3
"""How well hidden links are found, beside scores that take a few lines of SciPy.

    bench/links.py PROGRAM OUT.json [--facebook FILE] [--ratings FILE] [--seeds N] [--only WORD] [--options "..."]
    bench/links.py PROGRAM OUT.json --facebook FILE --before OLD_PROGRAM [--seeds N]

The usual protocol: a tenth of the links is hidden among the pairs without one; they are to be told from as many pairs
that never had a link, drawn at random. Every method sees the same remaining links and scores the same pairs. Graphs:
ego-Facebook (facebook_combined.txt of SNAP), who rated what in a file of ratings (u.data of MovieLens 100K) as a
bipartite graph, and three made on the spot: groups of people, groups with a direction (each links mostly to the next),
and users of tastes with items of kinds. FILE may end in .xz.

The program is run without options but for the kind of graph (and --hide 0, since links were hidden before). Peers:
common neighbours, Adamic-Adar, Katz (power series, its weight half of what the largest singular value allows) and
spectral embeddings, plain and of the adjacency divided by roots of degrees, whose rank is the best of six on a tenth of
the remaining links. On a bipartite graph neighbours of neighbours are three steps away, and are counted there. Seconds
are processor seconds of everything a method needs, the search for a rank or a radius included.

With --before it is another comparison: what links cost with an older program and with this one, in turns, on one
thread, in the three cases of the paper's Table 1 (experiments/links.json). 100 iterations are what a run of 150 takes
beyond one of 50. Seconds are processor seconds, the median of the seeds; memory, area under the curve and objective
are of a run of 100.
"""

import argparse
import json
import lzma
import os
import pathlib
import resource
import shlex
import statistics
import subprocess
import tempfile
import time

import numpy
import scipy.io
import scipy.sparse as sparse
from scipy.sparse.linalg import svds

RANKS = (4, 8, 16, 32, 64, 128)
KATZ_STEPS = 8
BLOCK = 512


class Graph:
    """Links as a 0/1 matrix; an undirected one is symmetric."""

    def __init__(self, name, kind, matrix):
        self.name, self.kind = name, kind
        self.matrix = sparse.csr_matrix(matrix, dtype=float)
        self.matrix.data[:] = 1
        if kind != "bipartite":
            self.matrix.setdiag(0)
            self.matrix.eliminate_zeros()

    def links(self):
        """Each once."""
        upper = sparse.triu(self.matrix, 1) if self.kind == "undirected" else self.matrix
        return numpy.column_stack(upper.nonzero())

    def of(self, links):
        a, b = links.T
        matrix = sparse.coo_matrix((numpy.ones(len(a)), (a, b)), shape=self.matrix.shape).tocsr()
        return matrix + matrix.T if self.kind == "undirected" else matrix


def hide(graph, share, rng):
    """The links that remain, the pairs to judge by, and which of these are links."""
    links = graph.links()
    hidden = rng.random(len(links)) < share
    rows, cols = graph.matrix.shape
    absent = []
    while len(absent) < hidden.sum():
        a, b = int(rng.integers(rows)), int(rng.integers(cols))
        if (graph.kind == "bipartite" or a != b) and graph.matrix[a, b] == 0:
            absent.append((a, b))
    pairs = numpy.vstack([links[hidden], numpy.array(absent)])
    return graph.of(links[~hidden]), pairs, numpy.arange(len(pairs)) < hidden.sum()


def judge(scores, positive):
    """Area under the ROC curve, ties counted half, and average precision, equal scores together."""
    values, place = numpy.unique(-numpy.asarray(scores, float), return_inverse=True)
    links = numpy.bincount(place, positive, len(values))
    others = numpy.bincount(place, ~positive, len(values))
    found, false = numpy.cumsum(links), numpy.cumsum(others)
    auc = float((others * (found - links / 2)).sum() / (links.sum() * others.sum()))
    return auc, float((links * found / (found + false)).sum() / links.sum())


def at(left, right, pairs):
    """Entries of a product of sparse matrices."""
    out = numpy.empty(len(pairs))
    right = right.T.tocsr()
    for k in range(0, len(pairs), 65536):
        a, b = pairs[k : k + 65536].T
        out[k : k + 65536] = numpy.asarray(left[a].multiply(right[b]).sum(axis=1)).ravel()
    return out


def common_neighbours(links, pairs, kind, weights=lambda degree: numpy.ones_like(degree)):
    def weigh(degree):
        return sparse.diags(weights(numpy.asarray(degree).ravel()))

    if kind == "bipartite":  # from a row to a column by way of a column and a row
        reach = links @ weigh(links.sum(axis=0)) @ links.T @ weigh(links.sum(axis=1))
        return at(reach.tocsr(), links, pairs)
    degree = links.sum(axis=0) + (links.sum(axis=1).T if kind == "directed" else 0)
    return at(links @ weigh(degree), links, pairs)


def adamic_adar(links, pairs, kind):
    return common_neighbours(links, pairs, kind, lambda degree: 1 / numpy.log(numpy.maximum(degree, 2)))


def katz(links, pairs, kind):
    """Sum of weight^k times the paths of length k, from blocks of first nodes."""
    weight = 0.5 / svds(links, 1, return_singular_vectors=False, random_state=0)[0]
    out = numpy.empty(len(pairs))
    order = numpy.argsort(pairs[:, 0], kind="stable")
    first, begin = numpy.unique(pairs[order, 0], return_index=True)
    begin = numpy.append(begin, len(pairs))
    for k in range(0, len(first), BLOCK):
        nodes = first[k : k + BLOCK]
        mine = order[begin[k] : begin[min(k + BLOCK, len(first))]]
        step = weight * links[nodes].toarray()
        total = step.copy()
        for _ in range(KATZ_STEPS - 1):
            step = weight * ((weight * (step @ links.T)) @ links if kind == "bipartite" else step @ links)
            total += step
        out[mine] = total[numpy.searchsorted(nodes, pairs[mine, 0]), pairs[mine, 1]]
    return out


def factors(matrix, rank):
    u, s, vt = svds(matrix, min(rank, min(matrix.shape) - 1), random_state=0)
    order = numpy.argsort(-s)
    return u[:, order], s[order], vt[order].T


def spectral(links, pairs, kind, scale=lambda links: links):
    """Entries of the best approximation of a rank that is chosen on a tenth of the links."""

    def scores(u, s, v, rank, wanted):
        a, b = wanted.T
        return numpy.einsum("ij,ij->i", u[a, :rank] * s[:rank], v[b, :rank])

    graph = Graph("", kind, links)
    rest, held, positive = hide(graph, 0.1, numpy.random.default_rng(0))
    trial = factors(scale(rest), max(RANKS))
    rank = max(RANKS, key=lambda rank: judge(scores(*trial, rank, held), positive)[0])
    return scores(*factors(scale(links), rank), rank, pairs)


def divided(links):
    row, col = (sparse.diags(1 / numpy.sqrt(1 + numpy.asarray(links.sum(axis=k)).ravel())) for k in (1, 0))
    return row @ links @ col


def normalised_spectral(links, pairs, kind):
    return spectral(links, pairs, kind, divided)


PEERS = {
    "common neighbours": common_neighbours,
    "Adamic-Adar": adamic_adar,
    "Katz": katz,
    "spectral": spectral,
    "spectral, degrees divided out": normalised_spectral,
}


def tracenorm(program, links, pairs, kind, options):
    """Scores and processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        data, model = pathlib.Path(folder, "links.mtx"), pathlib.Path(folder, "m.npz")
        scipy.io.mmwrite(data, links.tocoo(), field="pattern", symmetry="general")
        command = [program, "links", data, "--hide", "0", "--model", model, "--quiet", *options]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(command + ([] if kind == "undirected" else [f"--{kind}"]), check=True)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        arrays = numpy.load(model)
        a, b = pairs.T
        return numpy.einsum("ij,ij->i", arrays["left"][a] * arrays["values"], arrays["right"][b]), seconds


def opened(path):
    return lzma.open(path, "rt") if str(path).endswith(".xz") else open(path)


def read_pairs(path):
    with opened(path) as file:
        rows = [line.split()[:2] for line in file if not line.startswith("#")]
    return numpy.array(rows, dtype=int)


def read_graph(path):
    pairs = read_pairs(path)
    names, index = numpy.unique(pairs, return_inverse=True)
    a, b = index.reshape(pairs.shape).T
    matrix = sparse.coo_matrix((numpy.ones(len(a)), (a, b)), shape=(len(names),) * 2)
    return Graph("ego-Facebook", "undirected", matrix + matrix.T)


def read_ratings(path):
    a, b = (numpy.unique(side, return_inverse=True)[1] for side in read_pairs(path).T)
    matrix = sparse.coo_matrix((numpy.ones(len(a)), (a, b)), shape=(a.max() + 1, b.max() + 1))
    return Graph("who rated what", "bipartite", matrix)


def made_up(kind, seed):
    """Groups of nodes of uneven sociability; who links to whom depends on both groups."""
    rng = numpy.random.default_rng(seed)
    sizes = {"undirected": (2000, 2000, 20), "directed": (1500, 1500, 12), "bipartite": (1200, 800, 15)}
    rows, cols, groups = sizes[kind]
    taste, sort = rng.integers(groups, size=rows), rng.integers(groups, size=cols)
    activity, popularity = rng.pareto(2.5, rows) + 0.5, rng.pareto(2.5, cols) + 0.5
    if kind != "bipartite":
        sort = taste
    if kind == "undirected":
        popularity = activity
    towards = (taste[:, None] + (kind == "directed")) % groups == sort
    chance = numpy.outer(activity, popularity) * numpy.where(towards, 0.15, 0.002)
    drawn = rng.random((rows, cols)) < numpy.minimum(chance, 0.9)
    if kind == "undirected":
        drawn = numpy.triu(drawn, 1)
        drawn |= drawn.T
    return Graph(f"made-up groups, {kind}", kind, sparse.csr_matrix(drawn))


def run(graph, seed, program, options, words):
    links, pairs, positive = hide(graph, 0.1, numpy.random.default_rng(seed))
    for name in ["tracenorm", *PEERS]:
        if words and words not in name:
            continue
        before = time.process_time()
        if name == "tracenorm":
            scores, seconds = tracenorm(program, links, pairs, graph.kind, options)
        else:
            scores = PEERS[name](links, pairs, graph.kind)
            seconds = time.process_time() - before
        auc, precision = judge(scores, positive)
        measured = {"auc": auc, "precision": precision, "seconds": seconds}
        yield {"graph": graph.name, "seed": seed, "method": name, **measured}
        print(f"{graph.name}, seed {seed}: {name} {auc:.4f} {precision:.4f} {seconds:.2f} s", flush=True)


def table(lines):
    def cell(of, what):
        values = [line[what] for line in of]
        if what == "seconds":
            return f"{statistics.mean(values):.1f}"
        return f"{statistics.mean(values):.4f}" + (f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else "")

    print("\n| graph | method | AUC | average precision | seconds |\n|---|---|---|---|---|")
    for graph in dict.fromkeys(line["graph"] for line in lines):
        for method in dict.fromkeys(line["method"] for line in lines):
            of = [line for line in lines if (line["graph"], line["method"]) == (graph, method)]
            if of:
                print(f"| {graph} | {method} | {cell(of, 'auc')} | {cell(of, 'precision')} | {cell(of, 'seconds')} |")


def cost(program, arguments):
    """Processor seconds, most memory in MiB, and the run's JSON."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "run.json")
        process = subprocess.Popen([program, "links", *map(str, arguments), "--json", out, "--quiet"])
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{program} ended with {process.returncode}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(out.read_text())


def costs(program, case, file, seed):
    """What 100 iterations take, the whole run of 100, its memory, its area under the curve and its objective."""
    values = case["values"]
    options = [file, "--method", "fwua", "--observed", 0.5, "--threads", 1, "--seed", seed]
    for name in ("radius", "l1", "flip"):
        options += [f"--{name}", values[name]]
    short, long = (cost(program, [*options, "--iterations", count])[0] for count in (50, 150))
    whole, memory, result = cost(program, [*options, "--iterations", 100])
    return {
        "iterations": long - short,
        "seconds": whole,
        "memory": memory,
        "auc": result["test"]["auc"],
        "objective": result["objective"],
    }


def compare_costs(programs, file, seeds):
    declared = json.loads(pathlib.Path(__file__).parent.with_name("experiments").joinpath("links.json").read_text())
    lines = []
    for case in declared["cases"][:3]:
        for seed in range(1, seeds + 1):
            for name, program in programs.items():
                measured = costs(program, case, file, seed)
                lines.append({"flip": case["values"]["flip"], "seed": seed, "program": name, **measured})
                print(lines[-1], flush=True)
    return lines


def table_of_costs(lines):
    def of(flip, program, what):
        return [line[what] for line in lines if (line["flip"], line["program"]) == (flip, program)]

    def change(flip, what):
        before, now = (statistics.median(of(flip, program, what)) for program in ("before", "now"))
        return f"{before:.4g} | {now:.4g} | {now / before:.2f}"

    def both(flip, what, digits):
        return " | ".join(
            f"{statistics.mean(values):.{digits}f} ± {statistics.stdev(values) if len(values) > 1 else 0:.{digits}f}"
            for values in (of(flip, program, what) for program in ("before", "now"))
        )

    heads = ["seconds of 100 iterations before", "whole run before", "MiB before"]
    print(f"\n| flips | {' | now | | '.join(heads)} | now | | AUC before | now |")
    print("|" + "---|" * 12)
    for flip in dict.fromkeys(line["flip"] for line in lines):
        cells = [change(flip, what) for what in ("iterations", "seconds", "memory")]
        print(f"| {flip} | {' | '.join(cells)} | {both(flip, 'auc', 4)} |")
    print("\n| flips | objective before | now |\n|---|---|---|")
    for flip in dict.fromkeys(line["flip"] for line in lines):
        print(f"| {flip} | {both(flip, 'objective', 1)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("--facebook")
    parser.add_argument("--ratings")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="only methods whose name has this in it")
    parser.add_argument("--options", default="", help="further options of the program")
    parser.add_argument("--before", help="an older program: what its iterations cost and what this one's do")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.before:
        if not arguments.facebook:
            parser.error("--before wants --facebook")
        lines = compare_costs({"before": arguments.before, "now": program}, arguments.facebook, arguments.seeds)
        pathlib.Path(arguments.out).write_text(json.dumps(lines, indent=1))
        return table_of_costs(lines)
    graphs = [read_graph(arguments.facebook)] if arguments.facebook else []
    graphs += [read_ratings(arguments.ratings)] if arguments.ratings else []
    graphs += [made_up(kind, 1) for kind in ("undirected", "directed", "bipartite")]
    lines = []
    for graph in graphs:
        print(f"{graph.name}: {graph.matrix.shape[0]} x {graph.matrix.shape[1]}, {len(graph.links())} links")
        for seed in range(1, arguments.seeds + 1):
            lines += run(graph, seed, program, shlex.split(arguments.options), arguments.only)
            pathlib.Path(arguments.out).write_text(json.dumps(lines, indent=1))
    table(lines)


if __name__ == "__main__":
    main()
