"""Python code that the solver calls: callbacks, losses, signals."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import tracenorm

DATA = np.random.default_rng(4).normal(size=(40, 30)).astype(np.float32)


def solve(**options):
    return tracenorm.solve(DATA, **{"radius": 30.0, "iterations": 40, **options})


def test_a_callback_sees_every_iteration():
    seen = []
    result = solve(callback=seen.append)
    assert [iteration.k for iteration in seen] == list(range(41))
    assert [iteration.objective for iteration in seen] == result.trace["objective"].tolist()
    assert np.array_equal(solve().left, result.left)


def test_a_callback_stops_the_run():
    result = solve(callback=lambda iteration: iteration.k == 7)
    assert result.status == "interrupted" and result.iterations == 7

    def stop(iteration):
        if iteration.k == 5:
            raise StopIteration

    assert solve(callback=stop).iterations == 5


def test_a_callback_that_raises_is_heard():
    class UnhappyError(Exception):
        pass

    def complain(iteration):
        raise UnhappyError(f"at {iteration.k}")

    with pytest.raises(UnhappyError, match="at 0"):
        solve(callback=complain)
    assert solve().status == "iteration_limit"  # nothing is left over


def test_a_callback_may_solve_a_problem_of_its_own():
    inner = []
    solve(callback=lambda iteration: inner.append(solve(iterations=3).objective) if iteration.k == 2 else None)
    assert inner == [solve(iterations=3).objective]


def test_the_progress_bar_goes_to_standard_error(capsys):
    pytest.importorskip("tqdm")
    solve(progress=True, callback=lambda iteration: iteration.k == 20)
    captured = capsys.readouterr()
    assert "20/40" in captured.err and "certified gap" in captured.err and not captured.out


def absolute(x, y):
    return np.abs(x - y)


@pytest.mark.parametrize("penalty", ["none", "l1:0.1", "complement-squared:0.01"])
def test_a_loss_in_python_reaches_the_built_in_optimum(penalty):
    data = DATA[:12, :9].copy()
    data[3, 4] = np.nan
    options = {"radius": 8.0, "penalty": penalty, "iterations": 4000, "gap": 0.01}
    custom = tracenorm.solve(data, loss=absolute, **options)
    built_in = tracenorm.solve(data, loss="absolute", **options)
    assert custom.status == built_in.status == "gap_reached"
    assert custom.loss == "absolute()"  # a function is not taken for the library's loss of that name
    assert custom.lower_bound <= built_in.objective and built_in.lower_bound <= custom.objective
    assert custom.objective == pytest.approx(built_in.objective, rel=0.01)


def test_a_loss_is_called_on_arrays_and_may_keep_them():
    kept = []

    def loss(x, y):
        kept.append((x, y))
        return np.square(x - y)

    result = solve(loss=loss, iterations=10)
    sizes = [len(x) for x, _ in kept]
    assert DATA.size in sizes and len(kept) < 2000
    assert all(np.isfinite(x).all() and np.isfinite(y).all() for x, y in kept)  # not overwritten, not freed
    assert result.objective == pytest.approx(float(np.square(result.to_dense() - DATA).sum()), rel=1e-4)


def test_a_loss_from_many_threads_at_once():
    wide = np.random.default_rng(0).normal(size=(500, 400)).astype(np.float32)
    results = [tracenorm.solve(wide, loss=absolute, radius=100, iterations=5, threads=t) for t in (1, 4)]
    assert np.array_equal(results[0].left, results[1].left)


def fails_later(x, y):
    return np.where(np.abs(x) > 0.5, np.nan, np.abs(x - y)) if len(x) == DATA.size else np.abs(x - y)


@pytest.mark.parametrize(
    ("loss", "kind", "words"),
    [
        (lambda x, y: np.full_like(x, np.nan), ValueError, "not a number at prediction"),
        (lambda x, y: np.sqrt(np.abs(x - y)), ValueError, "is not convex"),
        (lambda x, y: -np.abs(x - y), ValueError, "is not convex"),
        (lambda x, y: np.sin(x), ValueError, "is not convex"),
        (lambda x, y: np.where(np.abs(x) < 1, 0.0, np.inf), ValueError, "infinite"),
        (lambda x, y: 1.0, ValueError, r"returned shape \(\)"),
        (lambda x, y: np.abs(x - y)[:1], ValueError, "returned shape"),
        (lambda x, y: np.abs(x - y) * 1j, TypeError, "complex"),
        (lambda x, y: ["a"] * len(x), TypeError, "real numbers"),
        (lambda x: x, TypeError, "positional argument"),
        (lambda x, y: 1 / 0, ZeroDivisionError, "division"),
        (fails_later, ValueError, "fails_later is not a number"),
    ],
)
def test_a_bad_loss_is_refused(loss, kind, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kind, match=words):
            solve(loss=loss, radius=60.0)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, tracenorm
data = np.random.default_rng(0).normal(size=(600, 500)).astype(np.float32)
loss = (lambda x, y: np.abs(x - y)) if sys.argv[1] == "custom" else "absolute"
def press():
    time.sleep(1.5)
    print(time.time(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
threading.Thread(target=press).start()
try:
    tracenorm.solve(data, radius=300, iterations=10**7, loss=loss)
except KeyboardInterrupt:
    print(time.time())
"""


@pytest.mark.parametrize("loss", ["absolute", "custom"])
def test_ctrl_c_works_within_a_second(loss):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, loss], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    pressed, heard = map(float, done.stdout.split())
    assert heard - pressed < 1.0


def test_other_threads_run_while_it_solves():
    """Without the lock released, the counting thread would stand still."""
    wide = np.random.default_rng(0).normal(size=(800, 600)).astype(np.float32)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before, begin = counted[0], time.monotonic()
    tracenorm.solve(wide, radius=300, iterations=10**6, time=1.0)
    elapsed, ticks = time.monotonic() - begin, counted[0] - before
    done.set()
    thread.join()
    assert ticks > 50 * elapsed


def test_solves_in_parallel_threads_agree():
    expected, results = solve(), []
    threads = [threading.Thread(target=lambda: results.append(solve())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(result.left, expected.left) for result in results)


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's /proc")
def test_a_thousand_solves_leak_nothing():
    big = np.random.default_rng(0).normal(size=(100, 80)).astype(np.float32)

    def everything(k):
        loss = absolute if k % 10 == 0 else "absolute"
        result = tracenorm.solve(big, radius=50, iterations=4, loss=loss, callback=lambda iteration: None)
        result.predict([0, 1], [1, 2])
        with pytest.raises(ZeroDivisionError):
            tracenorm.solve(big, radius=50, iterations=2, callback=lambda iteration: 1 / 0)
        return result.left, result.trace  # outlive their result

    for k in range(100):
        everything(k)
    gc.collect()
    before = resident_bytes()
    for k in range(1000):
        everything(k)
    gc.collect()
    # One leaked copy of the data per solve would be 32 MB.
    assert resident_bytes() - before < 4_000_000


def test_nothing_is_left_referenced():
    loss, data = (lambda x, y: np.abs(x - y)), DATA.copy()
    seen = []
    before = sys.getrefcount(loss), sys.getrefcount(data), sys.getrefcount(seen)
    for _ in range(5):
        tracenorm.solve(data, radius=10.0, iterations=3, loss=loss, callback=lambda iteration: seen.append(iteration.k))
    gc.collect()
    assert (sys.getrefcount(loss), sys.getrefcount(data), sys.getrefcount(seen)) == before


def test_the_interpreter_ends_quietly():
    """nanobind tells at exit of objects that were never freed."""
    script = """
import numpy as np, tracenorm
result = tracenorm.solve(np.eye(5), radius=2, loss=lambda x, y: abs(x - y), callback=print)
kept = [result.left, result.trace, tracenorm.methods()]
try:
    tracenorm.solve(np.eye(5), radius=2, callback=lambda iteration: 1 / 0)
except ZeroDivisionError as error:
    kept.append(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


def test_default_signal_handling_is_untouched():
    before = signal.getsignal(signal.SIGINT)
    solve()
    assert signal.getsignal(signal.SIGINT) is before
