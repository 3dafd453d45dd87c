"""Data that cannot be used: exit code 3 and a message that names the file and what would be right."""

import gzip
import io
import lzma
import zipfile

import numpy
from support import ProgramTest

GOOD = "".join(f"u{i}\tm{j}\t{(i * j) % 5 + 1}\n" for i in range(40) for j in range(30))


class BadDataTest(ProgramTest):
    def refuse(self, data, *options, says=()):
        says = [says] if isinstance(says, str) else list(says)
        done = self.fail_with(3, "complete", data, "--radius", 5, "--model", "m.npz", *options, says=[data, *says])
        self.assertEqual(done.stdout, "")
        self.assertFalse((self.folder / "m.npz").exists())

    def test_missing_and_empty_files(self):
        self.refuse("missing.tsv", says="No such file")
        self.refuse(self.write("empty.tsv", ""), says="empty")
        self.refuse(self.write("comments.tsv", "# nothing\n"))
        (self.folder / "folder").mkdir()
        self.refuse("folder")

    def test_truncated_archives(self):
        text = GOOD.encode()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("ml-test/u.data", text)
        for name, whole in (
            ("cut.tsv.gz", gzip.compress(text)),
            ("cut.tsv.xz", lzma.compress(text)),
            ("cut.zip", packed.getvalue()),
        ):
            self.refuse(self.write(name, whole[: len(whole) // 2]))

    def test_text_that_is_not_an_archive(self):
        self.refuse(self.write("plain.tsv.gz", GOOD))

    def test_lines_that_do_not_fit(self):
        for name, line in (
            ("short.tsv", "u1\tm1\n"),
            ("letter.tsv", "u1\tm1\tfive\n"),
            ("nan.tsv", "u1\tm1\tnan\n"),
            ("inf.tsv", "u1\tm1\tinf\n"),
            ("negative-inf.tsv", "u1\tm1\t-inf\n"),
        ):
            bad = "".join(f"u9\tn{k}\t{k % 4}\n" for k in range(6)) + line
            with self.subTest(line=line):
                self.refuse(self.write(name, bad), says="7")

    def test_what_does_not_fit_into_memory_is_refused_before_the_work(self):
        lines = "".join(f"{k} {k % 7} {k % 5}\n" for k in range(40))
        large = self.write("large.libmf", lines + "2147483646 2147483646 1\n")
        done = self.fail_with(
            3,
            "complete",
            large,
            "--format",
            "libmf",
            says=["41 entries of a 2147483647 x 2147483647 matrix", "GB of memory are needed, but", "are available"],
        )
        self.assertEqual(done.stdout, "")
        larger = self.write("larger.libmf", lines + "1 2147483647 1\n")
        self.refuse(larger, "--format", "libmf", says="at most 2147483647")

    def test_an_entry_given_twice(self):
        self.refuse(
            self.write("twice.tsv", "a\tx\t1\nb\tx\t2\na\tx\t3\n"),
            says=("line 3", "first, last or mean with --duplicates\n"),
        )
        self.write("good.tsv", GOOD)
        self.fail_with(3, "complete", "good.tsv", "--radius", 5, "--test", "twice.tsv", says="--duplicates")

    def test_indices_that_cannot_be(self):
        self.refuse(self.write("half.libmf", "0 0 1\n0 1.5 2\n1 1 3\n"), "--format", "libmf")
        self.refuse(self.write("negative.libmf", "0 0 1\n-1 1 2\n1 1 3\n"), "--format", "libmf")
        self.refuse(self.write("outside.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n3 1 4\n"))

    def test_a_loss_that_does_not_fit(self):
        self.write("good.tsv", GOOD)
        for loss in ("hinge", "logistic"):
            self.fail_with(
                3,
                "complete",
                "good.tsv",
                "--radius",
                5,
                "--loss",
                loss,
                says=("good.tsv", loss, "labels -1 and +1", "row 'u1', column 'm1' holds 2"),
            )

    def test_places_without_names_are_counted(self):
        numpy.save(self.folder / "labels.npy", numpy.array([[1.0, -1.0], [1.0, 0.5]]))
        self.fail_with(
            3,
            "denoise",
            "labels.npy",
            "--radius",
            5,
            "--loss",
            "hinge",
            says=("labels.npy", "row 1 (counted from 0), column 1 (counted from 0) holds 0.5"),
        )
        self.write("ones.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 4\n")
        self.fail_with(
            3,
            "complete",
            "ones.mtx",
            "--radius",
            5,
            "--loss",
            "logistic",
            says="row 2 (counted from 1), column 1 (counted from 1) holds 4",
        )

    def test_all_entries_equal(self):
        self.write("same.tsv", "a\tx\t4\nb\tx\t4\nb\ty\t4\n")
        self.fail_with(3, "complete", "same.tsv", "--radius", 5, says=("equal", "--prepare"))

    def test_an_empty_test_set(self):
        self.write("good.tsv", GOOD)
        self.write("strangers.tsv", "x\ty\t1\nz\tw\t2\n")
        self.write("empty.tsv", "")
        for test in ("strangers.tsv", "empty.tsv", "missing.tsv"):
            self.fail_with(3, "complete", "good.tsv", "--radius", 5, "--test", test, says=test)
        self.write("tiny.tsv", "a\tx\t1\nb\tx\t2\nb\ty\t3\n")
        self.fail_with(3, "complete", "tiny.tsv", "--radius", 5, "--split", "0.98,0.01,0.01", says=("--split", "empty"))

    def test_matrices(self):
        numpy.save(self.folder / "vector.npy", numpy.zeros(4))
        numpy.save(self.folder / "words.npy", numpy.array([["a", "b"]]))
        numpy.save(self.folder / "holes.npy", numpy.full((3, 3), numpy.nan))
        numpy.save(self.folder / "inf.npy", numpy.array([[1.0, numpy.inf]]))
        for name in ("vector.npy", "words.npy", "inf.npy"):
            self.fail_with(3, "denoise", name, "--radius", 5, "--l1", 1, says=name)
        self.fail_with(3, "denoise", "holes.npy", "--radius", 5, "--l1", 1)
        whole = (self.folder / "holes.npy").read_bytes()
        self.write("cut.npy", whole[:-9])
        self.fail_with(3, "denoise", "cut.npy", "--radius", 5, "--l1", 1, says="cut.npy")

    def test_graphs(self):
        self.write("words.txt", "1 2\n3\n")
        self.write("empty.txt", "# no edges\n")
        for name in ("words.txt", "empty.txt", "missing.txt"):
            self.fail_with(3, "links", name, "--radius", 5, "--l1", 1, says=name)


if __name__ == "__main__":
    import unittest

    unittest.main()
