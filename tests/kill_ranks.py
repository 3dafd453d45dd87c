#!/usr/bin/env python3
"""Kills one rank of a run with a checkpoint, again and again: the others must end soon, and the run that goes on from
the checkpoint must come to the same model file as one that nobody has killed.

    tests/kill_ranks.py build/bin/tracenorm [--kills 20] [--ranks 4] [--seed 1] [--mpirun "mpirun ..."]

Moments are drawn over the time that the whole run takes, from the start of the program on. Some of these fall before
the first checkpoint, and the run is then begun anew. Exit code 1 when anything is not as it should be.
"""
import argparse
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "program"))
from program_processes import processes_of

MOST = 10  # seconds that the others may take to end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=600)
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --allow-run-as-root --mca mpi_yield_when_idle 1")
    chosen = parser.parse_args()
    program = chosen.program.resolve()
    draw = random.Random(chosen.seed)
    failures, ends, early = [], [], 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        places = sorted(draw.sample(range(1500 * 80), 40000))
        draw.shuffle(places)
        lines = (f"user{place // 80},item{place % 80},{draw.randint(1, 5)}\n" for place in places)
        (folder / "ratings.csv").write_text("user,item,stars\n" + "".join(lines))

        def start(*words):
            command = [*shlex.split(chosen.mpirun), "-n", str(chosen.ranks), str(program), *words]
            return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

        def begin():
            often = ["--checkpoint", "run.npz", "--checkpoint-every", "0", "--checkpoint-passes", "200"]
            return start("complete", "ratings.csv", "--radius", "200", "--method", "fwua", "--quiet", "--threads", "1",
                         "--model", "m.npz", "--iterations", str(chosen.iterations), *often)  # fmt: skip

        first = time.monotonic()
        whole = begin()
        _, errors = whole.communicate()
        length = time.monotonic() - first
        if whole.returncode != 0:
            sys.exit(f"kill_ranks.py: the run failed before anybody killed it:\n{errors}")
        expected = (folder / "m.npz").read_bytes()
        print(f"a whole run on {chosen.ranks} ranks takes {length:.1f} s")
        kills = completed = 0
        run = None
        while kills < chosen.kills or run is not None:
            if run is None:
                (folder / "m.npz").unlink(missing_ok=True)
                run = begin()
            if kills < chosen.kills:
                time.sleep(draw.uniform(0, length))
                victims = processes_of(run.pid, program)
                if run.poll() is None and len(victims) == chosen.ranks:
                    os.kill(draw.choice(victims), signal.SIGKILL)
                    kills += 1
                    killed = time.monotonic()
                    try:
                        run.communicate(timeout=6 * MOST)
                    except subprocess.TimeoutExpired:
                        run.kill()
                        failures.append(f"kill {kills}: the others were still there after {6 * MOST} s")
                    ends.append(time.monotonic() - killed)
                    if ends[-1] > MOST:
                        failures.append(f"kill {kills}: the others took {ends[-1]:.1f} s to end")
                    if run.returncode == 0:
                        failures.append(f"kill {kills}: the exit code was 0")
                    kept = (folder / "run.npz").exists()
                    early += not kept
                    run = start("resume", "run.npz") if kept else begin()
                    continue
            _, errors = run.communicate()
            if run.returncode != 0:
                failures.append(f"a run ended with {run.returncode}: {errors}")
            elif (folder / "m.npz").read_bytes() != expected:
                failures.append("a run ended with another model")
            else:
                completed += 1
            run = None
    print(
        f"{kills} kills, {early} of them before the first checkpoint; the others ended after {max(ends):.2f} s at "
        f"most, {sum(ends) / len(ends):.2f} s in the mean; {completed} runs came to their end with the same model file"
    )
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
