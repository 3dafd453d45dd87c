"""The same command under mpirun: the same answer, one voice, and an end for all when one rank ends."""

import gzip
import os
import random
import signal
import subprocess
import time
import zipfile

import numpy
from program_processes import processes_of
from ranks_support import RanksTest
from support import PROGRAM, load_model, parse_strict, without_clock

RANKS = (1, 2, 3, 4)
SHARED = {"rows": 1000, "cols": 80}  # so many ratings that each of four ranks has some


class Ranks(RanksTest):
    def json_on(self, ranks, *arguments, code=0):
        done = self.on_ranks(ranks, *arguments, "--json", "-", "--threads", 1)
        self.assertEqual(done.returncode, code, done.stderr)
        return parse_strict(done.stdout)

    def start(self, ranks, *arguments):
        return subprocess.Popen(
            self.command(ranks, *arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def check_agreement(self, command):
        """The same answer, which `mpirun -n 1` gives in all that is written down."""
        alone = self.run_json(*command, "--threads", 1)
        for ranks in RANKS:
            with self.subTest(ranks=ranks, command=command):
                run = self.json_on(ranks, *command)
                self.assertEqual(run["environment"]["ranks"], ranks)
                self.assertEqual(run["objective"], alone["objective"])
                self.assertEqual(run["lower_bound"], alone["lower_bound"])
                if ranks == 1:
                    self.assertEqual(without_clock(run), without_clock(alone))

    def check_models(self, *command):
        """Model files to the last byte, on several ranks and threads."""
        self.succeed(*command, "--threads", 1, "--model", "alone.npz", "--quiet")
        expected = (self.folder / "alone.npz").read_bytes()
        for ranks, threads in ((2, 1), (3, 2), (2, 2), (4, 1)):
            with self.subTest(ranks=ranks, threads=threads):
                done = self.on_ranks(ranks, *command, "--threads", threads, "--model", "m.npz", "--quiet")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((self.folder / "m.npz").read_bytes(), expected)

    def test_models_are_the_same_files(self):
        data = self.ratings(**SHARED)
        self.check_models("complete", data, "--radius", 200, "--iterations", 20)
        self.check_models("complete", data, "--radius", 200, "--method", "fwua", "--iterations", 20)

    def check_data(self, name, *options, on=(2, 4)):
        """What a few iterations make of the data: names, offsets and numbers of the model, the same file."""
        command = ["complete", name, "--radius", 50, "--method", "fwua", "--iterations", 3, *options]
        self.succeed(*command, "--threads", 1, "--model", "alone.npz", "--quiet")
        alone = self.run_json(*command, "--threads", 1)
        for ranks in on:
            with self.subTest(name=name, ranks=ranks, options=options):
                outputs = ["--model", "m.npz", "--json", "run.json", "--quiet"]
                done = self.on_ranks(ranks, *command, "--threads", 1, *outputs)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual((self.folder / "m.npz").read_bytes(), (self.folder / "alone.npz").read_bytes())
                run = parse_strict((self.folder / "run.json").read_text())
                self.assertEqual(run["options"], alone["options"])
                self.assertEqual(run["observed"], alone["observed"])

    def test_reads_in_parts_what_one_process_reads(self):
        draw = random.Random(5)
        places = draw.sample([(i, j) for i in range(300) for j in range(40)], 6000)
        value = {place: draw.randint(1, 5) for place in places}
        names = {
            "text": (lambda i: f"u{i}", lambda j: f'"i, {j}"'),
            "mixed": (lambda i: i if i % 7 else f"x{i}", int),
            "numbers": (lambda i: 3 * i + 1, lambda j: 1000 - j),
        }
        for kind, (row, col) in names.items():
            lines = "".join(f"{row(i)},{col(j)},{value[i, j]}\n" for i, j in places)
            self.write(f"{kind}.csv", "# made up\nuser,item,rating\r\n" + lines.rstrip("\n"))
        self.check_data("text.csv")
        self.check_data("mixed.csv", "--split", "0.7,0.2,0.1")
        self.check_data("numbers.csv", "--prepare", "both", "--norm-power", 0.5, "--clip")
        with gzip.open(self.folder / "packed.csv.gz", "wb") as out:
            out.write((self.folder / "text.csv").read_bytes())
        self.check_data("packed.csv.gz", on=(3,))
        with zipfile.ZipFile(self.folder / "packed.zip", "w", zipfile.ZIP_DEFLATED) as out:
            out.write(self.folder / "text.csv", "ratings.csv")
        self.check_data("packed.zip", on=(3,))
        lines = "".join(f"{i}\t{j}\t{value[i, j]}\t{1 + (i + j) % 3}\n" for i, j in places)
        self.write("weighted.tsv", "who\twhat\tstars\tweight\n" + lines)
        self.check_data("weighted.tsv", "--columns", "who,what,stars,weight", on=(3,))
        again = "".join(f"{i}\t{j}\t{99 if i % 5 == 0 else draw.randint(1, 5)}\t1\n" for i, j in places[::3])
        self.write("again.tsv", "who\twhat\tstars\tweight\n" + lines + again)
        for policy in ("first", "last", "mean"):
            self.check_data("again.tsv", "--duplicates", policy, "--missing", "99.0", "--split", "0.8,0.1,0.1", on=(3,))

    def test_several_files_are_read_as_one(self):
        """Plain and packed, with and without headers, empty ones among them: by one process, and in parts."""
        draw = random.Random(6)
        places = draw.sample([(i, j) for i in range(300) for j in range(40)], 6000)
        header = "user,item,rating\n"
        lines = [f"u{i},{j},{draw.randint(1, 5)}\n" for i, j in places]
        self.write("whole.csv", header + "".join(lines))
        (self.folder / "parts").mkdir()
        self.write("parts/a.csv", "# c\n" + header + "".join(lines[:1000]).rstrip("\n"))
        self.write("parts/b.csv", "".join(lines[1000:1500]).replace("\n", "\r\n"))
        self.write("parts/c.csv", "")
        with gzip.open(self.folder / "parts/d.csv.gz", "wt") as out:
            out.write("".join(lines[1500:4000]))
        self.write("parts/e.csv", header)
        self.write("parts/f.csv", header + lines[4000] + "\n\n")
        with zipfile.ZipFile(self.folder / "parts/g.zip", "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("ratings.csv", header + "".join(lines[4001:5000]))
        self.write("parts/h.csv", "".join(lines[5000:]).rstrip("\n"))
        options = ["--radius", 50, "--method", "fwua", "--iterations", 3, "--split", "0.8,0.1,0.1", "--quiet"]
        self.succeed("complete", "whole.csv", *options, "--threads", 1, "--model", "whole.npz")
        expected = (self.folder / "whole.npz").read_bytes()
        names = [f"parts/{name}" for name in sorted(path.name for path in (self.folder / "parts").iterdir())]
        self.write("list.txt", "\n".join(names))
        for data in (["parts"], ["parts/*"], ["@list.txt"], names):
            self.succeed("complete", *data, *options, "--threads", 2, "--model", "m.npz")
            self.assertEqual((self.folder / "m.npz").read_bytes(), expected)
        for ranks in (1, 2, 3, 9):
            done = self.on_ranks(ranks, "complete", "parts", *options, "--threads", 1, "--model", "m.npz")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual((self.folder / "m.npz").read_bytes(), expected, ranks)
        held_out = ["--validation", "parts/[ab].csv", "--test", "@list.txt"]
        run = self.run_json("complete", "parts", *options[:-3], *held_out)
        self.assertEqual((run["validation"]["entries"], run["test"]["entries"]), (1500, 6000))
        self.succeed("complete", "parts", "--radius", 50, "--model", "m.npz", "--certificate", "c.npz", "--quiet")
        self.succeed("verify", "parts", "m.npz", "c.npz")
        run = self.json_on(2, "complete", "parts", *options)
        self.assertEqual((run["options"]["data"], run["options"]["files"]), ("parts", 8))

    def test_errors_in_one_of_several_files(self):
        lines = [f"user{i} item{j} {1 + (i + j) % 5}\n" for i in range(60) for j in range(40)]
        header = "user item rating\n"
        self.write("a.txt", header + "".join(lines[:900]).rstrip("\n"))
        self.write("b.txt", header + "".join(lines[900:1000]))
        for rest, says in (
            ([*lines[1000:1500], "user0 item1 many\n", *lines[1500:]], "'c.txt', line 501: 'many'"),
            (
                [*lines[1000:], lines[10]],
                "'c.txt', line 1401: row 'user0', column 'item10' was already given at 'a.txt', line 12",
            ),
            ([*lines[1000:], lines[950]], "already given at 'b.txt', line 52"),
            ([*lines[1000:], lines[2000]], "already given at line 1001"),
            (["item user rating\n", *lines[1000:]], "'c.txt', line 1: the header is item, user, rating"),
            (
                [line.replace(" ", ";") for line in lines[1000:]],
                "'c.txt', line 1: the fields are separated by semicolons",
            ),
        ):
            self.write("c.txt", "".join(rest))
            alone = self.run_program("complete", "a.txt", "b.txt", "c.txt", "--radius", 30)
            self.assertEqual(alone.returncode, 3, alone.stderr)
            self.assertIn(says, alone.stderr)
            for ranks in (2, 4):
                done = self.on_ranks(ranks, "complete", "a.txt", "b.txt", "c.txt", "--radius", 30)
                self.assertEqual(done.returncode, 3, done.stderr)
                told = [line for line in done.stderr.splitlines() if line.startswith("tracenorm: error: ")]
                self.assertEqual(told, alone.stderr.splitlines()[:1], done.stderr)

    def test_reads_files_of_few_lines(self):
        long = "long" + "g" * 400
        for lines in (
            "a b 1\nb a 2",
            "a,b,1\n",
            "row,col,value\na,b,1\na,c,2\n\n\nb,b,3\n",
            f"\n\n# x\na b 1\n{long} b 2\n",
        ):
            self.write("few.txt", lines)
            self.check_data("few.txt", "--prepare", "none", on=(4,))

    def test_errors_of_a_part_say_the_line_of_the_file(self):
        lines = [f"user{i} item{j} {1 + (i + j) % 5}\n" for i in range(60) for j in range(40)]
        for number, bad, says in (
            (2, "user0 item1 many\n", "line 2"),
            (1700, "user42\n", "line 1700: 1 field"),
            (2399, lines[40], "line 2399: row 'user1', column 'item0' was already given at line 41"),
            (2200, lines[2000], "was already given at line 2001"),
        ):
            self.write("bad.txt", "".join([*lines[: number - 1], bad, *lines[number:]]))
            alone = self.run_program("complete", "bad.txt", "--radius", 30)
            for ranks in (2, 4):
                done = self.on_ranks(ranks, "complete", "bad.txt", "--radius", 30)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertEqual(alone.returncode, 3, alone.stderr)
                told = [line for line in done.stderr.splitlines() if line.startswith("tracenorm: error: ")]
                self.assertEqual(told, alone.stderr.splitlines()[:1], done.stderr)
                self.assertIn(says, told[0])
        self.write("bad.txt", "".join([*lines[:1000], "user1 item1 x\n", *lines[1000:2000], "user1\n", *lines[2000:]]))
        self.assertIn("line 1001", self.on_ranks(4, "complete", "bad.txt", "--radius", 30).stderr)

    def test_models_in_parts(self):
        """The same folder from any number of ranks, over an older one too; read like the file."""
        data = self.ratings(**SHARED)
        self.succeed(
            "complete", data, "--radius", 100, "--iterations", 5, "--model", "m", "--model-parts", 3, "--quiet"
        )
        command = ["complete", data, "--split", "0.9,0,0.1", "--quiet"]
        self.succeed(*command, "--threads", 1, "--model", "m.npz")

        def files(folder):
            return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir()}

        self.succeed(*command, "--threads", 1, "--model", "alone/", "--model-parts", 5)
        self.assertEqual(len(files("alone")), 7)
        for ranks in (2, 3):
            done = self.on_ranks(ranks, *command, "--threads", 1, "--model", "m", "--model-parts", 5)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(files("m"), files("alone"))
        self.write("pairs.tsv", "".join(f"user{k}\titem{k % 81}\n" for k in range(1005)))
        for read in (
            lambda model: self.succeed("predict", model, "pairs.tsv", "--interval", 0.9).stdout,
            lambda model: self.succeed("recommend", model, "--all", "--seen", data).stdout,
            lambda model: self.on_ranks(3, "recommend", model, "--all").stdout,
            lambda model: self.succeed("similar", model, "--column", "item3").stdout,
        ):
            self.assertEqual(read("m"), read("m.npz"))
        (self.folder / "other").mkdir()
        self.write("other/notes.txt", "mine")
        for model, says in (("other", "it is a folder that holds something else"), ("m.npz", "it is a file"),
                            ("none/m", "No such file")):  # fmt: skip
            done = self.on_ranks(2, *command, "--model", model, "--model-parts", 5)
            self.assertEqual((done.returncode, done.stderr.count("tracenorm: error: ")), (3, 1), done.stderr)
            self.assertIn(says, done.stderr)
        self.fail_with(2, "complete", data, "--model-parts", 5, says="give --model FOLDER")
        self.fail_with(3, "predict", "other", "pairs.tsv", says="'other' is a folder without manifest.json")

    def test_problems_are_made_in_parallel(self):
        shape = ["--rows", 1000, "--cols", 80, "--parts", 5]
        self.succeed("generate", "completion", "alone", *shape, "--quiet")
        expected = {path.name: path.read_bytes() for path in (self.folder / "alone").iterdir()}
        told = set()
        for ranks in (2, 3, 7):
            done = self.on_ranks(ranks, "generate", "completion", f"on{ranks}", *shape, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            told.add(parse_strict(done.stdout)["trace_norm"])
            made = {path.name: path.read_bytes() for path in (self.folder / f"on{ranks}").iterdir()}
            self.assertEqual(made, expected)
        self.assertEqual(len(told), 1)
        done = self.on_ranks(3, "generate", "completion", "alone", *shape)
        self.assertEqual((done.returncode, done.stderr.count("tracenorm: error: ")), (3, 1), done.stderr)

    def test_wrong_values_and_weights_are_told_once(self):
        """Of those that several ranks have, but not all of them, the first, as by one process."""
        lines = [[f"user{i}", f"item{j}", 1 - 2 * ((i + j) % 2), 1] for j in range(80) for i in range(1000)]
        for column, wrong, arguments in (
            (2, 3, ["--loss", "logistic"]),
            (3, 0, ["--columns", "who,what,label,weight"]),
            (3, -1, ["--columns", "who,what,label,weight", "--search-entries", 10**9]),
        ):
            for line in (40990, *range(41350, 41990, 2)):  # user990, then others from user350 on
                lines[line][column] = wrong
            text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
            self.write("wrong.tsv", "who\twhat\tlabel\tweight\n" + text)
            for line in lines:
                line[column] = max(-1, min(1, line[column])) or 1
            radius = [] if "--search-entries" in arguments else ["--radius", 30]
            alone = self.run_program("complete", "wrong.tsv", *radius, *arguments)
            self.assertEqual(alone.returncode, 3, alone.stderr)
            for ranks in (3, 4):
                done = self.on_ranks(ranks, "complete", "wrong.tsv", *radius, *arguments)
                self.assertEqual(done.returncode, 3, done.stderr)
                told = [line for line in done.stderr.splitlines() if line.startswith("tracenorm: error: ")]
                self.assertEqual(told, alone.stderr.splitlines()[:1], done.stderr)

    def test_agrees_to_the_gap(self):
        self.check_agreement(["complete", self.ratings(**SHARED), "--radius", 200, "--gap", 1e-3])

    def test_every_method(self):
        data = self.ratings(**SHARED)
        for method in ("fwua", "rdfw", "corrective", "sccg", "hcgs"):
            self.check_agreement(["complete", data, "--radius", 200, "--method", method, "--iterations", 10])

    def test_chooses_everything(self):
        """Offsets, loss, radius and gains are chosen on held-out entries."""
        data = self.ratings(**SHARED)
        self.check_models("complete", data, "--split", "0.8,0,0.2")

    def test_other_commands(self):
        self.check_agreement(["denoise", self.matrix(rows=600, cols=60), "--radius", 60, "--iterations", 20])
        self.check_agreement(["links", self.edges(nodes=200), "--radius", 100, "--iterations", 20, "--directed"])
        data = self.ratings()
        run = self.json_on(2, "evaluate", data, "--folds", 2, "--radius", 30)
        alone = self.run_json("evaluate", data, "--folds", 2, "--radius", 30)
        self.assertEqual(run["scores"], alone["scores"])
        self.assertEqual((run["environment"]["ranks"], alone["environment"]["ranks"]), (2, 1))

    def test_certificates_are_proved(self):
        data = self.ratings(rows=60, cols=40)
        done = self.on_ranks(
            3, "complete", data, "--radius", 40, "--gap", 1e-4, "--model", "m.npz", "--certificate", "c.npz", "--quiet"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.succeed("verify", data, "m.npz", "c.npz")

    def test_errors_are_told_once(self):
        self.write("bad.tsv", "a\tb\t1\na\tc\tmany\n")
        for arguments, code, says in (
            (["complete", "bad.tsv"], 3, "'bad.tsv', line 2"),
            (["complete", self.ratings(), "--method", "rlrmc"], 2, "needs the whole matrix in one process"),
            (["complete", "ratings.tsv", "--iteration", "3"], 2, "did you mean --iterations"),
            (["complete", "-"], 2, "standard input reaches one rank"),
            (["covariance", self.matrix()], 2, "a symmetric problem, as every covariance is, is for one process"),
            (["denoise", self.folder], 3, "it is a folder; give the name of a file"),
        ):
            done = self.on_ranks(3, *arguments)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(done.stderr.count("tracenorm: error: "), 1, done.stderr)
            self.assertIn(says, done.stderr)

    def test_an_error_of_one_rank_ends_all(self):
        """The first one alone finds that it cannot write."""
        begin = time.monotonic()
        done = self.on_ranks(3, "complete", self.ratings(), "--radius", 30, "--model", "nowhere/m.npz")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("tracenorm: error: "), 1, done.stderr)
        self.assertLess(time.monotonic() - begin, 10)

    def begin_long_run(self, ranks, *more, iterations=30000):
        data = self.ratings(rows=60, cols=40)
        run = self.start(ranks, "complete", data, "--radius", 40, "--method", "fwua", "--iterations", iterations,
                         "--threads", 1, "--quiet", "--model", "m.npz", *more)  # fmt: skip
        while len(processes_of(run.pid, PROGRAM)) < ranks and run.poll() is None:
            time.sleep(0.05)
        return run

    def test_a_killed_rank_ends_all_and_the_run_goes_on_with_the_same_bits(self):
        checkpoint = ["--checkpoint", "run.npz", "--checkpoint-every", 0, "--checkpoint-passes", 500]
        whole = self.begin_long_run(3, *checkpoint)
        whole.communicate(timeout=120)
        self.assertEqual(whole.returncode, 0)
        expected = (self.folder / "m.npz").read_bytes()
        (self.folder / "m.npz").unlink()
        moments = random.Random(1)
        run = self.begin_long_run(3, *checkpoint)
        kills = 0
        while True:
            time.sleep(moments.uniform(0.2, 1.2))
            victims = processes_of(run.pid, PROGRAM)
            if run.poll() is None and len(victims) == 3 and kills < 4:
                os.kill(moments.choice(victims), signal.SIGKILL)
                kills += 1
                begin = time.monotonic()
                run.communicate(timeout=20)
                self.assertLess(time.monotonic() - begin, 10)
                self.assertNotEqual(run.returncode, 0)
                if not (self.folder / "run.npz").exists():  # too early for a checkpoint
                    run = self.begin_long_run(3, *checkpoint)
                    continue
                run = self.start(3, "resume", "run.npz")
                continue
            run.communicate(timeout=120)
            break
        self.assertEqual(run.returncode, 0)
        self.assertGreater(kills, 0)
        self.assertEqual((self.folder / "m.npz").read_bytes(), expected)

    def test_a_checkpoint_of_another_number_of_ranks(self):
        data = self.ratings(rows=60, cols=40)
        arguments = ["complete", data, "--radius", 40, "--method", "fwua", "--iterations", 10**6,
                     "--checkpoint", "run.npz", "--checkpoint-every", 0, "--checkpoint-passes", 300, "--time", 2,
                     "--model", "m.npz", "--quiet"]  # fmt: skip
        self.on_ranks(4, *arguments)
        self.assertTrue((self.folder / "run.npz").exists())
        done = self.on_ranks(2, "resume", "run.npz", "--time", 60, "--iterations", 3000)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(numpy.isnan(load_model(self.folder / "m.npz")["matrix"]).any())

    def test_a_warning_saves(self):
        """SIGUSR1 to mpirun, as batch systems send it before the end."""
        run = self.begin_long_run(2, "--json", "run.json", iterations=10**7)
        time.sleep(1)
        run.send_signal(signal.SIGUSR1)
        run.communicate(timeout=30)
        self.assertEqual(run.returncode, 130)
        self.assertEqual(parse_strict((self.folder / "run.json").read_text())["status"], "interrupted")
        self.assertTrue((self.folder / "m.npz").exists())
