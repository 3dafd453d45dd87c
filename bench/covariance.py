#!/usr/bin/env python3
"""Errors of estimated covariances beside scikit-learn's estimators.

    bench/covariance.py PROGRAM [--draws 20] [--json FILE]

Made-up samples of known covariance: stock-like factors (a market, sectors, own variances of different size), groups of
variables with a factor each and nothing between the groups (the paper's kind of covariance, and own noise), and both
once more with one value in fifty replaced by 5 to 15 deviations. PROGRAM is the built tracenorm. An error is the
distance from the truth over the size of the truth: in the Frobenius and in the spectral norm. Needs NumPy and
scikit-learn (bench/requirements.txt).
"""

import argparse
import collections
import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.covariance import OAS, EmpiricalCovariance, GraphicalLassoCV, LedoitWolf, ShrunkCovariance

SAMPLES, VARIABLES = 120, 60


def stocks(rng):
    """A market, eight sectors, own variances, and volatilities of different size."""
    sector = rng.integers(0, 8, VARIABLES)
    loadings = np.zeros((VARIABLES, 9))
    loadings[:, 0] = 0.7 + 0.2 * rng.standard_normal(VARIABLES)
    loadings[np.arange(VARIABLES), 1 + sector] = 0.7 + 0.2 * rng.standard_normal(VARIABLES)
    return loadings, 0.6 + 0.8 * rng.random(VARIABLES), 0.01 * np.exp(0.4 * rng.standard_normal(VARIABLES))


def groups(rng):
    """Five groups: covariance v v' with v uniform in [-1, 1], and noise of deviation 0.3."""
    loadings = np.zeros((VARIABLES, 5))
    for k in range(5):
        loadings[12 * k : 12 * (k + 1), k] = rng.uniform(-1, 1, 12)
    return loadings, np.full(VARIABLES, 0.09), np.ones(VARIABLES)


def draw(rng, kind, outliers):
    loadings, own, scale = kind(rng)
    truth = (loadings @ loadings.T + np.diag(own)) * np.outer(scale, scale)
    samples = rng.standard_normal((SAMPLES, loadings.shape[1])) @ loadings.T
    samples = (samples + rng.standard_normal(samples.shape) * np.sqrt(own)) * scale
    wrong = rng.random(samples.shape) < outliers
    size = rng.uniform(5, 15, samples.shape) * rng.choice([-1, 1], samples.shape) * np.sqrt(np.diag(truth))
    return np.where(wrong, size, samples), truth


def ours(program, samples, *options):
    with tempfile.TemporaryDirectory() as folder:
        data, output = pathlib.Path(folder, "samples.npy"), pathlib.Path(folder, "covariance.npy")
        np.save(data, samples)
        subprocess.run([program, "covariance", data, "--output", output, "--quiet", *options], check=True)
        return np.load(output)


def estimators(program):
    yield "tracenorm covariance", lambda x: ours(program, x)
    yield "... --estimate trimmed", lambda x: ours(program, x, "--estimate", "trimmed")
    for peer in (LedoitWolf(), OAS(), ShrunkCovariance(), GraphicalLassoCV(), EmpiricalCovariance()):
        # The graphical lasso does not converge on raw units of 0.01: it gets deviations, as its own examples do.
        scaled = isinstance(peer, GraphicalLassoCV)
        yield type(peer).__name__, lambda x, peer=peer, scaled=scaled: fitted(peer, x, scaled)
    for peer in (LedoitWolf(), EmpiricalCovariance()):
        yield f"{type(peer).__name__}, trimmed", lambda x, peer=peer: fitted(peer, trimmed(x), False)


def trimmed(samples):
    """Values that `--estimate trimmed` would leave out, replaced by their variable's median."""
    median = np.median(samples, axis=0)
    deviation = 1.4826 * np.median(np.abs(samples - median), axis=0)
    return np.where(np.abs(samples - median) > 3.5 * deviation, median, samples)


def fitted(peer, samples, scaled):
    scale = samples.std(axis=0) if scaled else np.ones(samples.shape[1])
    return peer.fit(samples / scale).covariance_ * np.outer(scale, scale)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    warnings.filterwarnings("ignore")
    report = {}
    for kind in (stocks, groups):
        for outliers in (0.0, 0.02):
            errors, seconds = collections.defaultdict(list), collections.Counter()
            for seed in range(arguments.draws):
                samples, truth = draw(np.random.default_rng(seed), kind, outliers)
                for name, estimate in estimators(program):
                    began = time.perf_counter()
                    wrong = estimate(samples) - truth
                    seconds[name] += time.perf_counter() - began
                    errors[name].append(
                        [np.linalg.norm(wrong, order) / np.linalg.norm(truth, order) for order in ("fro", 2)]
                    )
            case = f"{kind.__name__}, {'2 % outliers' if outliers else 'clean'}"
            print(f"\n| {case} | Frobenius | spectral | seconds |\n|---|---|---|---|")
            report[case] = {}
            for name, values in errors.items():
                mean, deviation = np.mean(values, axis=0), np.std(values, axis=0, ddof=min(1, len(values) - 1))
                each = seconds[name] / arguments.draws
                numbers = [f"{m:.3f} ± {d:.3f}" for m, d in zip(mean, deviation, strict=True)]
                print("|", " | ".join([name, *numbers, f"{each:.2f}"]), "|", flush=True)
                report[case][name] = {"errors": values, "seconds": each}
    if arguments.json:
        arguments.json.write_text(json.dumps(report))


if __name__ == "__main__":
    main()
