"""predict and recommend under mpirun: ranks have some rows of the model and some of the pairs each; nobody sees it."""

import gzip
import random
import time
import unittest

import numpy
from ranks_support import RanksTest
from support import load_model

RANKS = (1, 2, 3, 4)


class RanksPredictions(RanksTest):
    def check(self, *command, ranks=RANKS):
        """The same bytes, on standard output and in files, and the same notes."""
        alone = self.succeed(*command)
        for count in ranks:
            with self.subTest(command=command, ranks=count):
                (self.folder / "out.tsv").unlink(missing_ok=True)
                done = self.on_ranks(count, *command, "--threads", 1 + count % 2, "--output", "out.tsv")
                self.assertEqual((done.returncode, done.stderr), (0, alone.stderr))
                self.assertEqual((self.folder / "out.tsv").read_text(), alone.stdout)
        self.assertEqual(self.on_ranks(3, *command).stdout, alone.stdout)
        return alone

    def names(self, kind):
        """What the rows and columns of data are called."""
        return {
            "text": (lambda i: f"user {i}", lambda j: f"item{j}"),
            "numbers": (lambda i: 3 * i + 1, lambda j: 1000 - j),
            "mixed": (lambda i: i if i % 7 else f"x{i}", int),
        }[kind]

    def train(self, row, col, rows=1000, cols=40, parts=5, seed=5):
        """A model in one file and the same one in parts, both with offsets and intervals, and the data."""
        draw = random.Random(seed)
        places = draw.sample([(i, j) for i in range(rows) for j in range(cols)], rows * cols // 4)
        stars = [(i, j, 3 + (i % 3 - 1) * (j % 2 * 2 - 1) + draw.choice((0, 0, 0, 1, -1))) for i, j in places]
        self.write("data.csv", "".join(f"{row(i)},{col(j)},{value}\n" for i, j, value in stars))
        for model in (["m.npz"], ["m", "--model-parts", parts]):
            self.succeed("complete", "data.csv", "--split", "0.8,0,0.2", "--quiet", "--model", *model)

    def pairs(self, row, col, count, rows=1010, cols=42, seed=3):
        """Some of them of rows and columns that the model does not have."""
        draw = random.Random(seed)
        return [f"{row(draw.randrange(rows))}\t{col(draw.randrange(cols))}\n" for _ in range(count)]

    def test_names_of_any_kind(self):
        for kind in ("text", "numbers", "mixed"):
            row, col = self.names(kind)
            self.train(row, col)
            self.assertGreater(len(load_model(self.folder / "m.npz")["values"]), 1)
            self.write("pairs.tsv", "".join(self.pairs(row, col, 30000)))
            self.write("few.tsv", "".join(self.pairs(row, col, 2)))
            new = [(name, col(k + j), j + 1) for k, name in enumerate(("new", row(3))) for j in range(4)]
            self.write("fresh.csv", "".join(f"{name},{item},{value}\n" for name, item, value in new))
            both = [(name, col(k)) for name in ("new", row(3), row(4)) for k in range(9)]
            self.write("both.tsv", "".join(f"{name}\t{item}\n" for name, item in both))
            self.check("predict", "m.npz", "pairs.tsv", ranks=RANKS if kind == "text" else (2, 4))
            self.check("predict", "m", "pairs.tsv", "--interval", 0.8, ranks=(3,))
            self.check("predict", "m", "few.tsv", ranks=(4,))
            self.check("predict", "m.npz", "both.tsv", "--new-rows", "fresh.csv", "--interval", 0.9, ranks=(3,))
            self.check("recommend", "m.npz", "--all", "--seen", "data.csv", ranks=RANKS if kind == "text" else (2, 4))
            self.check("recommend", "m", "--all", "--top", 50, ranks=(3,))
            given = ["--row", row(7), "--row", "nobody", "--row", row(999), "--new-rows", "fresh.csv"]
            self.check("recommend", "m", *given, "--seen", "data.csv", ranks=(2, 4))

    def test_rows_without_names(self):
        """Of formats that count, whose rows are their numbers."""
        draw = numpy.random.default_rng(7)
        full = numpy.clip(numpy.round(3 + draw.normal(size=(700, 2)) @ draw.normal(size=(2, 30))), 1, 5)
        numpy.save(self.folder / "full.npy", full)
        seen = numpy.where(draw.random(full.shape) < 0.3, full, numpy.nan)
        numpy.save(self.folder / "seen.npy", seen)
        i, j = numpy.nonzero(~numpy.isnan(seen))
        lines = "".join(f"{a + 1} {b + 1} {seen[a, b]:g}\n" for a, b in zip(i, j, strict=True))
        self.write("seen.mtx", f"%%MatrixMarket matrix coordinate real general\n700 30 {len(i)}\n{lines}")
        self.write_triplets("seen.tsv", i, j, seen[i, j])
        self.write("pairs.tsv", "".join(f"{k * 7 % 720}\t{k % 31}\n" for k in range(2000)) + "+7\t1\n007\t1\n")
        for data in ("seen.npy", "seen.mtx"):
            self.succeed("complete", data, "--radius", 50, "--iterations", 5, "--quiet", "--model", "m.npz")
            self.check("predict", "m.npz", "pairs.tsv", ranks=(2, 3))
            for file in ("seen.mtx", "seen.npy", "seen.tsv"):
                self.check("recommend", "m.npz", "--all", "--seen", file, ranks=(3,))
            self.check("recommend", "m.npz", "--row", "5", "--row", "690", "--seen", data, ranks=(3,))

    def test_fewer_rows_than_ranks(self):
        self.write("data.tsv", "".join(f"a\titem{j}\t{j % 5}\nb\titem{j}\t{(j + 1) % 5}\n" for j in range(8)))
        self.succeed("complete", "data.tsv", "--radius", 10, "--quiet", "--model", "m.npz")
        self.succeed("complete", "data.tsv", "--radius", 10, "--quiet", "--model", "m", "--model-parts", 2)
        self.write("one.tsv", "a\titem1")
        self.write("unknown.tsv", "c\titem1\n")
        for model in ("m.npz", "m"):
            self.check("predict", model, "data.tsv", ranks=(3, 4))
            self.check("predict", model, "one.tsv", ranks=(4,))
            self.check("predict", model, "unknown.tsv", ranks=(4,))
            self.check("recommend", model, "--all", "--seen", "data.tsv", ranks=(4,))
            self.check("recommend", model, "--row", "b", "--seen", "data.tsv", ranks=(4,))

    def test_a_model_without_terms(self):
        self.write("data.tsv", "".join(f"user{i}\titem{j}\t3\n" for i in range(50) for j in range(8)))
        self.succeed("complete", "data.tsv", "--radius", 10, "--prepare", "center", "--quiet", "--model", "m.npz")
        self.assertEqual(len(load_model(self.folder / "m.npz")["values"]), 0)
        self.check("predict", "m.npz", "data.tsv", ranks=(3,))
        self.check("recommend", "m.npz", "--all", ranks=(3,))

    def test_several_files_of_pairs(self):
        """A folder, with headers, packed and empty ones: like the file that has all their lines."""
        row, col = self.names("text")
        self.train(row, col)
        lines = [line.replace("\t", ",") for line in self.pairs(row, col, 5000)]
        header = "user,item\n"
        (self.folder / "pairs").mkdir()
        self.write("pairs/a.csv", header + "".join(lines[:100]).rstrip("\n"))
        self.write("pairs/b.csv", "")
        with gzip.open(self.folder / "pairs" / "c.csv.gz", "wt") as out:
            out.write(header + "".join(lines[100:2000]))
        self.write("pairs/d.csv", header)
        self.write("pairs/e.csv", "".join(lines[2000:]))
        self.write("whole.csv", header + "".join(lines))
        with gzip.open(self.folder / "whole.csv.gz", "wt") as out:
            out.write(header + "".join(lines))
        whole = self.check("predict", "m", "whole.csv", ranks=(2, 4))
        for name in ("pairs", "pairs/*", "whole.csv.gz"):
            self.assertEqual(self.check("predict", "m", name, ranks=(2, 4)).stdout, whole.stdout)

    def test_pairs_in_rounds(self):
        """More than the ranks have on their way at once, and what names the files stays as it is."""
        row, col = self.names("text")
        self.train(row, col)
        self.write("many.tsv", "".join(self.pairs(row, col, 140000)))
        self.check("predict", "m", "many.tsv", ranks=(2, 4))
        self.write("list.txt", "many.tsv\n")
        for command in (["predict", "m", "@list.txt"], ["recommend", "m", "--all", "--seen", "@list.txt"]):
            self.check_error(2, 2, "would be overwritten", *command, "--output", "list.txt")

    def test_first_lines(self):
        """Which may be a header, or pairs that look like one."""
        self.write("data.tsv", "".join(f"user{i}\titem\t{i % 5}\nuser\tb{i}\t{i % 3}\n" for i in range(200)))
        self.succeed("complete", "data.tsv", "--radius", 50, "--quiet", "--model", "m.npz")
        self.write("known.tsv", "user\titem\n" + "".join(f"user{i}\titem\n" for i in range(50)))
        self.assertEqual(len(self.check("predict", "m.npz", "known.tsv").stdout.splitlines()), 51)
        (self.folder / "two").mkdir()  # where a line above each may have been left out of the second
        for name in "ab":
            self.write(f"two/{name}.tsv", f"user\titem\n{name}\titem\nuser1\titem\n")
        self.check_error(2, 3, "say --columns user,item if it is one", "predict", "m.npz", "two")
        two = self.check("predict", "m.npz", "two", "--columns", "user,item", ranks=(2, 4))
        self.assertEqual([line.split()[0] for line in two.stdout.splitlines()], ["a", "user1", "b", "user1"])
        self.write("doubtful.tsv", "wer\twas\n" + "".join(f"user{i}\titem\n" for i in range(50)))
        self.assertIn("if it is a header", self.check("predict", "m.npz", "doubtful.tsv").stderr)
        self.write("long.tsv", "# " + "x" * 5000 + "\nwer\twas\nuser1\titem\n")  # the first rank has no line
        self.assertIn("if it is a header", self.check("predict", "m.npz", "long.tsv").stderr)

    def test_errors_are_those_of_one_process(self):
        row, col = self.names("text")
        self.train(row, col)
        known = self.pairs(row, col, 3000, rows=900, cols=40)
        begin = time.monotonic()
        for number, bad, says in (
            (2, "alone\n", "line 2: 1 field"),
            (2999, "alone\n", "line 2999: 1 field"),
            (2000, "user 1\t\n", "line 2000: a row id and a column id are needed"),
            (1700, "user 1\titem\0\n", "line 1700: binary data"),
        ):
            self.write("bad.tsv", "".join([*known[: number - 1], bad, *known[number:]]))
            for ranks in (2, 4):
                self.check_error(ranks, 3, says, "predict", "m", "bad.tsv")
        (self.folder / "bad").mkdir()
        self.write("bad/a.tsv", "".join(known[:1000]))
        self.write("bad/b.tsv", "".join(known[1000:]) + "alone\n")
        self.check_error(4, 3, "b.tsv', line 2001: 1 field", "predict", "m", "bad", "--output", "out.tsv")
        for place in (5, 2990):
            strangers = [*known[:place], "user 1\tnothing\n", *known[place:], "nobody\titem1\n"]
            self.write("strangers.tsv", "".join(strangers))
            self.check_error(4, 3, f"strangers.tsv', line {place + 1}: the model does not know column 'nothing'",
                             "predict", "m", "strangers.tsv", "--strict", "--output", "out.tsv")  # fmt: skip
        self.write("bad/b.tsv", "# notes\nuser 1\titem1\n\nuser 1\tnothing\n")
        self.check_error(3, 3, "b.tsv', line 4: the model does not know column 'nothing'",
                         "predict", "m", "bad", "--strict")  # fmt: skip
        self.write("named.tsv", "user 1\titem\nuser 1\titem1\nuser 2\tnothing\n")
        self.check_error(2, 3, "named.tsv', line 3: the model does not know column 'nothing'",
                         "predict", "m", "named.tsv", "--strict")  # fmt: skip
        self.assertFalse((self.folder / "out.tsv").exists())
        self.write("header.tsv", "user\titem\n")
        self.check_error(3, 3, "holds a header but no pairs", "predict", "m", "header.tsv")
        self.check_error(3, 3, "none.npz", "recommend", "none.npz", "--all")
        self.check_error(3, 3, "no.tsv", "predict", "m", "no.tsv")
        part = next((self.folder / "m").glob("rows-*"))  # of one rank
        part.write_bytes(part.read_bytes()[:-1])
        self.check_error(4, 3, "is not the file that the manifest beside it means", "predict", "m", "strangers.tsv")
        self.assertLess((time.monotonic() - begin) / 30, 4)  # seconds a run, those of one process among them
        done = self.on_ranks(3, "recommend", "m.npz", "--all", "--output", "/dev/full")
        self.assertEqual((done.returncode, done.stderr.count("tracenorm: error: ")), (3, 1), done.stderr)

    def test_damaged_models(self):
        """Elements are counted as the file has them, not as a rank does."""
        row, col = self.names("text")
        self.train(row, col)
        with numpy.load(self.folder / "m.npz") as arrays:
            model = dict(arrays)
        self.write("pairs.tsv", "".join(self.pairs(row, col, 100)))
        terms = model["left"].shape[1]
        self.assertGreater(terms, 1)
        for array, element in (("left", 777 * terms + 1), ("row_offset", 612)):
            damaged = {**model, array: model[array].copy()}
            damaged[array].reshape(-1)[element] = numpy.nan
            numpy.savez(self.folder / "damaged.npz", **damaged)
            self.check_error(3, 3, f"element {element} is nan", "predict", "damaged.npz", "pairs.tsv")
        numpy.savez(self.folder / "old.npz", **{name: array for name, array in model.items() if name != "row_price"})
        self.write("fresh.csv", f"new,{col(3)},2\n")
        self.check_error(3, 3, "does not say what a row costs",
                         "predict", "old.npz", "pairs.tsv", "--new-rows", "fresh.csv")  # fmt: skip


if __name__ == "__main__":
    unittest.main()
