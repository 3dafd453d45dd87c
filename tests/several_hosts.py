#!/usr/bin/env python3
"""Ranks on several hosts, which are network namespaces of this machine with a switch between them: the same bytes as
one process, and an end for all when a rank, a host or a cable fails.

    tests/several_hosts.py build/bin/tracenorm [--hosts 3] [--ranks 2] [--only LINKS]
    tests/several_hosts.py build/bin/tracenorm --time RATINGS --rate 100mbit -- --radius 2500 --method fwua

Run it by hand as root; it takes two minutes and needs Linux, iproute2 and Open MPI. Hosts have names, shared memory and
addresses of their own, so that messages go by TCP; files they share. With --time nothing is broken: ranks, one a host,
read the file, over links of that rate, and an iteration's time and bytes are printed. Exit code 1 when anything is not
as it should be.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

SOON = 10  # seconds that ranks may take to end after one of them did
# A cable that is pulled out says nothing. mpirun asks the hosts that are silent for 5 s three times, 2 s apart.
ASKED = ["--mca", "oob_tcp_keepalive_time", "5", "--mca", "oob_tcp_keepalive_intvl", "2",
         "--mca", "oob_tcp_keepalive_probes", "3"]  # fmt: skip
ASKED_SOON = 30

# How mpirun begins something on a host, in place of ssh: AGENT ADDRESS COMMAND. Host 1 alone has what is in `local`.
AGENT = """#!/bin/bash
host=host${1##*.}; shift
exec ip netns exec %(prefix)s$host unshare --uts --ipc --mount bash -c '
  hostname '$host'
  test '$host' = host1 || mount -t tmpfs none %(folder)s/local
  exec bash -c "$*"' agent "$@"
"""


class WrongError(Exception):
    pass


def must(*words):
    subprocess.run([*map(str, words)], check=True)


class Hosts:
    """Namespaces PREFIXhost1, ... with the addresses 10.77.0.1, ..., and one that is the switch."""

    def __init__(self, count, folder, rate=None):
        self.prefix = f"tracenorm{os.getpid()}"
        self.count = count
        self.names = {host: f"{self.prefix}host{host}" for host in range(1, count + 1)}
        self.agent = folder / "agent"
        self.agent.write_text(AGENT % {"prefix": self.prefix, "folder": folder})
        self.agent.chmod(0o755)
        switch = f"{self.prefix}switch"
        must("ip", "netns", "add", switch)
        must("ip", "-n", switch, "link", "add", "bridge", "type", "bridge")
        must("ip", "-n", switch, "link", "set", "bridge", "up")
        for host, name in self.names.items():
            must("ip", "netns", "add", name)
            port = f"port{host}"
            must("ip", "-n", switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
            must("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
            must("ip", "-n", name, "addr", "add", f"10.77.0.{host}/24", "dev", "eth0")
            must("ip", "-n", name, "link", "set", "lo", "up")
            must("ip", "-n", name, "link", "set", "eth0", "up")
            if rate is not None:
                for space, device in ((name, "eth0"), (switch, port)):
                    limit = ["rate", rate, "burst", "64kb", "latency", "200ms"]
                    must("tc", "-n", space, "qdisc", "add", "dev", device, "root", "tbf", *limit)

    def remove(self):
        for name in (*self.names.values(), f"{self.prefix}switch"):
            for pid in self.processes(name):
                os.kill(pid, signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", name], check=False)

    def processes(self, name, program=None):
        """Of a namespace: all, or those that run the program."""
        done = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=False)
        pids = map(int, done.stdout.split())
        return [pid for pid in pids if program is None or runs(pid, program)]

    def link(self, host, state):
        must("ip", "-n", self.names[host], "link", "set", "eth0", state)

    def command(self, hosts, ranks, *words):
        """mpirun on the first of the hosts, with so many ranks on each of so many."""
        places = ",".join(f"10.77.0.{host}:{ranks}" for host in range(1, hosts + 1))
        mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        mpirun += ["--mca", "plm_rsh_agent", self.agent, "--mca", "btl", "tcp,self"]
        mpirun += ["--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"]
        mpirun += ["--host", places, "-n", hosts * ranks, *words]
        return [str(self.agent), "10.77.0.1", "exec " + shlex.join(map(str, mpirun))]


def runs(pid, program):
    try:
        return os.path.samefile(f"/proc/{pid}/exe", program)
    except OSError:
        return False


class Checks:
    def __init__(self, hosts, ranks, program, folder):
        self.hosts, self.ranks, self.program, self.folder = hosts, ranks, program, folder
        self.seconds = 0.0  # that the end of the last run took

    # What is run.

    def alone(self, *words, code=0):
        done = subprocess.run([str(self.program), *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != code:
            raise WrongError(f"one process ended with {done.returncode}: {done.stderr}")
        return done

    def start(self, *words, hosts=None, options=()):
        command = self.hosts.command(hosts or self.hosts.count, self.ranks, *options, self.program, *words)
        return subprocess.Popen(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def together(self, *words, hosts=None, code=0):
        run = self.start(*words, hosts=hosts)
        output, errors = self.end(run, 120)
        if run.returncode != code:
            raise WrongError(f"ended with {run.returncode}, not {code}: {errors}")
        return output, errors

    def here(self, host):
        return self.hosts.processes(self.hosts.names[host], self.program)

    def left(self):
        return {host: len(self.here(host)) for host in self.hosts.names if self.here(host)}

    def end(self, run, most, during=()):
        """Waits for mpirun and every rank to end."""
        begin = time.monotonic()
        try:
            output, errors = run.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            still = self.left()
            self.clear(run, during)
            raise WrongError(f"mpirun is there after {most} s, and ranks: {still}") from None
        while self.left():
            if time.monotonic() - begin > most:
                still = self.left()
                self.clear(run, during)
                raise WrongError(f"ranks are there after {most} s: {still}")
            time.sleep(0.1)
        self.seconds = time.monotonic() - begin
        return output, errors

    def clear(self, run, during):
        for host in during:
            self.hosts.link(host, "up")
        for name in self.hosts.names.values():
            for pid in self.hosts.processes(name):
                os.kill(pid, signal.SIGKILL)
        run.communicate()

    def begin_long(self, *more, hosts=None, options=()):
        """A run that is in its iterations, and would go on for hours."""
        (self.folder / "run.npz").unlink(missing_ok=True)
        run = self.start("complete", "ratings.csv", *FIXED, "--iterations", 10**7, "--threads", 1, "--quiet",
                         "--model", "long.npz", "--checkpoint", "run.npz", "--checkpoint-every", 0,
                         "--checkpoint-passes", 20, *more, hosts=hosts, options=options)  # fmt: skip
        begin = time.monotonic()
        while not (self.folder / "run.npz").exists():
            if run.poll() is not None or time.monotonic() - begin > 60:
                self.clear(run, ())
                raise WrongError("there was no checkpoint within a minute")
            time.sleep(0.05)
        return run

    def same_files(self, one, other):
        def contents(path):
            return {part.name: part.read_bytes() for part in path.iterdir()} if path.is_dir() else path.read_bytes()

        if contents(self.folder / one) != contents(self.folder / other):
            raise WrongError(f"{other} has other bytes than {one}")

    # What is looked at. What a check returns is printed.

    def radius(self):
        """A fixed radius: the model file of one process."""
        words = ["complete", "ratings.csv", *FIXED, "--iterations", 20, "--threads", 1, "--quiet", "--model"]
        self.alone(*words, "one.npz")
        for hosts in range(2, self.hosts.count + 1):
            self.together(*words, f"on{hosts}.npz", hosts=hosts)
            self.same_files("one.npz", f"on{hosts}.npz")

    def chosen(self):
        """Everything chosen, held-out entries, a model in parts; predict and recommend of it."""
        words = ["complete", "ratings.csv", "--split", "0.8,0,0.2", "--threads", 1, "--quiet", "--model-parts", 5]
        self.alone(*words, "--model", "parts1")
        self.together(*words, "--model", "parts")
        self.same_files("parts1", "parts")
        pairs = "".join(f"user{k}\titem{k % 81}\n" for k in range(1505))
        (self.folder / "pairs.tsv").write_text(pairs)
        for words in (["predict", "parts", "pairs.tsv", "--interval", 0.9], ["recommend", "parts", "--all"]):
            if self.together(*words)[0] != self.alone(*words).stdout:
                raise WrongError(f"{words[0]} writes other lines than one process")

    def bad_line(self):
        """A bad line in the part of the last rank: the message and the code of one process, once."""
        lines = (self.folder / "ratings.csv").read_text().splitlines(keepends=True)
        lines[-20] = "user7,item7,many\n"
        (self.folder / "bad.csv").write_text("".join(lines))
        expected = self.alone("complete", "bad.csv", *FIXED, code=3).stderr.splitlines()[0]
        slowest = 0.0
        for _ in range(5):
            begin = time.monotonic()
            errors = self.together("complete", "bad.csv", *FIXED, code=3)[1]
            slowest = max(slowest, time.monotonic() - begin)
            told = [line for line in errors.splitlines() if line.startswith("tracenorm: error: ")]
            if told != [expected]:
                raise WrongError(f"the message was {told}, not {expected}")
        if slowest > SOON:
            raise WrongError(f"it took {slowest:.1f} s to end")
        return f"whole runs of {slowest:.1f} s at most"

    def missing_file(self):
        """A file that the first host alone has: the message says where it is missing."""
        (self.folder / "local" / "ratings.csv").write_bytes((self.folder / "ratings.csv").read_bytes())
        errors = self.together("complete", "local/ratings.csv", *FIXED, code=3)[1]
        told = [line for line in errors.splitlines() if line.startswith("tracenorm: error: ")]
        where = [line for line in errors.splitlines() if line.startswith("On host")]
        if len(told) != 1 or "local/ratings.csv" not in told[0] or len(where) != 1:
            raise WrongError(f"the message was {errors}")
        return f"{told[0]} ... {where[0]}"

    def kill(self):
        """kill -9 of one rank, on each of the hosts; the run goes on from its checkpoint, on fewer hosts too."""
        ends = []
        for host in self.hosts.names:
            run = self.begin_long()
            os.kill(random.choice(self.here(host)), signal.SIGKILL)
            self.end(run, 6 * SOON)
            ends.append(self.seconds)
            if run.returncode == 0:
                raise WrongError("the exit code was 0")
        if max(ends) > SOON:
            raise WrongError(f"the others took {max(ends):.1f} s to end")
        with zipfile.ZipFile(self.folder / "run.npz") as kept:  # a double, after a header
            (done,) = struct.unpack("<d", kept.read("current/iteration.npy")[-8:])
        for count, name in ((self.hosts.count, "resumed.npz"), (self.hosts.count - 1, "fewer.npz")):
            (self.folder / "again.npz").write_bytes((self.folder / "run.npz").read_bytes())
            words = ["resume", "again.npz", "--iterations", int(done) + 20, "--threads", 1, "--model", name, "--quiet"]
            self.together(*words, hosts=count)
        (self.folder / "again.npz").write_bytes((self.folder / "run.npz").read_bytes())
        self.alone(*words[:-2], "alone.npz", "--quiet")
        for name in ("resumed.npz", "fewer.npz"):
            self.same_files("alone.npz", name)
        return f"the others ended within {max(ends):.1f} s"

    def daemon(self):
        """A host whose ranks are all gone at once, with mpirun's helper there; and mpirun itself."""
        ends = []
        for host, name in ((self.hosts.count, "orted"), (1, "mpirun")):
            run = self.begin_long()
            for pid in self.hosts.processes(self.hosts.names[host]):
                if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
                    os.kill(pid, signal.SIGKILL)
            self.end(run, 6 * SOON)
            ends.append(self.seconds)
            if run.returncode == 0:
                raise WrongError("the exit code was 0")
        if max(ends) > SOON:
            raise WrongError(f"the others took {max(ends):.1f} s to end")
        return f"the others ended within {max(ends):.1f} s"

    def links(self):
        """A cable pulled out: of the last host, then of the first one."""
        ends = []
        for host in (self.hosts.count, 1):
            run = self.begin_long(options=ASKED)
            self.hosts.link(host, "down")
            try:
                self.end(run, 6 * SOON, during=[host])
            finally:
                self.hosts.link(host, "up")
            ends.append(self.seconds)
            if run.returncode == 0:
                raise WrongError("the exit code was 0")
        if max(ends) > ASKED_SOON:
            raise WrongError(f"all took {max(ends):.1f} s to end")
        return f"all ended within {max(ends):.1f} s"

    def warning(self):
        """SIGUSR1 to mpirun and SIGTERM to one rank of the last host: saved."""
        for which in ("mpirun", "rank"):
            run = self.begin_long("--json", "long.json")
            (self.folder / "long.npz").unlink(missing_ok=True)
            if which == "rank":
                os.kill(self.here(self.hosts.count)[0], signal.SIGTERM)
            else:
                for pid in self.hosts.processes(self.hosts.names[1]):
                    if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "mpirun":
                        os.kill(pid, signal.SIGUSR1)
            _, errors = self.end(run, SOON)
            status = json.loads((self.folder / "long.json").read_text())["status"]
            if (run.returncode, status) != (130, "interrupted") or not (self.folder / "long.npz").exists():
                raise WrongError(f"ended with {run.returncode}, {status}: {errors}")


FIXED = ["--radius", 200, "--method", "fwua"]
CHECKS = ("radius", "chosen", "bad_line", "missing_file", "kill", "daemon", "links", "warning")


def break_things(hosts, chosen, program, folder):
    draw = random.Random(1)
    lines = [f"user{k // 80},item{k % 80},{draw.randint(1, 5)}\n" for k in draw.sample(range(1500 * 80), 40000)]
    (folder / "ratings.csv").write_text("user,item,stars\n" + "".join(lines))
    checks = Checks(hosts, chosen.ranks, program, folder)
    failed = False
    for name in CHECKS if chosen.only is None else [chosen.only]:
        check = getattr(checks, name)
        begin = time.monotonic()
        try:
            result = check() or "as it should be"
        except WrongError as wrong:
            result, failed = f"FAILED: {wrong}", True
        print(f"{name}, {time.monotonic() - begin:.0f} s. {check.__doc__}\n    {result}", flush=True)
    return 1 if failed else 0


def measure(hosts, chosen, program, folder, options):
    """An iteration: the difference between the ends of a run and of one of twice the iterations."""

    def run(iterations):
        words = ["complete", pathlib.Path(chosen.time).resolve(), *options, "--iterations", iterations, "--threads", 1,
                 "--certificate-share", 0, "--quiet", "--json", "run.json"]  # fmt: skip
        subprocess.run(hosts.command(hosts.count, 1, program, *words), cwd=folder, check=True)
        run = json.loads((folder / "run.json").read_text())
        told = run["environment"]
        seconds = next(line["seconds"] for line in run["profile"] if line["phase"] == "iterations")
        return seconds, told["bytes_sent"], told["messages"], run["counters"]["passes"]

    shorter, longer = ([run(count) for _ in range(3)] for count in (chosen.iterations, 2 * chosen.iterations))
    first, second = min(shorter), min(longer)  # by seconds; bytes and calls are the same
    seconds, sent, calls, passes = ((b - a) / chosen.iterations for a, b in zip(first, second, strict=True))
    print(
        f"{hosts.count} hosts, {chosen.rate or 'no limit'}: {1000 * seconds:.2f} ms an iteration, {sent / 1e3:.1f} kB "
        f"of the first rank, {calls:.1f} calls, {passes:.2f} passes"
    )
    return 0


def main():
    mine, options = sys.argv[1:], []
    if "--" in mine:
        place = mine.index("--")
        mine, options = mine[:place], mine[place + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--hosts", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2, help="on each host")
    parser.add_argument("--only", choices=CHECKS)
    parser.add_argument("--time", metavar="RATINGS")
    parser.add_argument("--rate", help="of every link, as tc takes it")
    parser.add_argument("--iterations", type=int, default=50)
    chosen = parser.parse_args(mine)
    program = chosen.program.resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the hosts are removed all the same
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "local").mkdir()
        hosts = Hosts(chosen.hosts, folder, chosen.rate)
        try:
            if chosen.time:
                return measure(hosts, chosen, program, folder, options)
            return break_things(hosts, chosen, program, folder)
        finally:
            hosts.remove()


if __name__ == "__main__":
    sys.exit(main())
