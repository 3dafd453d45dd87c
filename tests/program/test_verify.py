"""Certificates: honest ones are proved, those with a changed number are refuted."""

import json
import unittest
import zlib

import numpy
from support import ProgramTest


def change_arrays(path, change):
    """Rewrites a .npz after `change` has worked on its arrays."""
    with numpy.load(path) as file:
        arrays = dict(file)
    change(arrays)
    numpy.savez(path, **arrays)


def change_statement(path, **claims):
    """Rewrites what a certificate states."""

    def change(arrays):
        statement = json.loads(str(arrays["statement"]))
        statement.update(claims)
        arrays["statement"] = numpy.array(json.dumps(statement))

    change_arrays(path, change)


def mend_checksums(certificate, model):
    """What a forger would do: the checksums of the changed arrays."""

    def factors(arrays, prefix):
        return b"".join(arrays[prefix + name].tobytes() for name in ("left", "values", "right"))

    with numpy.load(certificate) as c, numpy.load(model) as m:
        checksums = json.loads(str(c["statement"]))["checksums"]
        checksums["answer"] = zlib.crc32(factors(m, ""))
        elsewhere = factors(c, "elsewhere_") if c["elsewhere_values"].size else b""
        checksums["dual"] = zlib.crc32(c["slope"].tobytes() + elsewhere)
    change_statement(certificate, checksums=checksums)


class Verify(ProgramTest):
    def solve(self, command, data, *options):
        self.succeed(command, data, *options, "--model", "m.npz", "--certificate", "c.npz", "--quiet")

    def verdict(self, data, *options):
        """The JSON of `verify`; its exit code says the same."""
        done = self.run_program("verify", data, "m.npz", "c.npz", *options, "--json", "-")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(found["verdict"] == "refuted", done.returncode == 1)
        return found

    def assert_proved(self, data, *options):
        found = self.verdict(data, *options)
        self.assertEqual(found["verdict"], "proved", found["steps"][-1])
        self.assertTrue(all(step["holds"] for step in found["steps"]))
        return found

    def assert_refuted(self, step, data="ratings.tsv", *options):
        found = self.verdict(data, *options)
        self.assertEqual((found["verdict"], found["steps"][-1]["name"]), ("refuted", step), found["steps"][-1])
        self.assertFalse(found["steps"][-1]["holds"])

    # ---- honest answers

    def test_completion_is_proved_digit_by_digit(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--gap", 0.01)
        found = self.assert_proved(data)
        self.assertLessEqual(found["trace_norm"], 30)
        self.assertLessEqual(found["relative_gap"], 0.0100001)
        text = self.run_program("verify", data, "m.npz", "c.npz").stdout
        self.assertIn(f"{found['objective']:.17g}", text)
        self.assertRegex(text, r"(?m)^proved: ")

    def test_what_is_chosen_is_proved_too(self):
        data = self.ratings(rows=40, cols=30)
        self.solve("complete", data)
        self.assert_proved(data)

    def test_entries_that_were_held_out(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--split", "0.6,0.2,0.2", "--iterations", 50)
        found = self.assert_proved(data)
        self.assertIn("others are not part of the problem", found["steps"][1]["says"])

    def test_outliers_on_purpose(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--outliers", 0.1, "--iterations", 50)
        self.assertIn("values replaced on purpose", self.assert_proved(data)["steps"][1]["says"])

    def test_losses_penalties_and_weighted_norms(self):
        data = self.ratings()
        for options in (
            ["--loss", "huber:0.5", "--norm-power", "0.5"],
            ["--loss", "quantile:0.3"],
            ["--loss", "squared", "--complement", "0.1"],
            ["--l1", "0.1"],
            ["--loss", "epsilon-insensitive:0.2", "--prepare", "both"],
            ["--method", "rdfw"],
        ):
            with self.subTest(options=options):
                self.solve("complete", data, "--radius", 20, "--iterations", 60, *options)
                self.assert_proved(data)

    def test_labels(self):
        with open(self.folder / self.ratings()) as file:
            lines = [line.split() for line in file]
        data = self.write("votes.tsv", "".join(f"{r}\t{c}\t{1 if float(v) > 3 else -1}\n" for r, c, v in lines))
        for loss in ("hinge", "logistic"):
            with self.subTest(loss=loss):
                self.solve("complete", data, "--radius", 20, "--loss", loss, "--iterations", 60)
                self.assert_proved(data)

    def test_weights_of_a_column_and_of_a_file(self):
        with open(self.folder / self.ratings()) as file:
            lines = [line.split() for line in file]
        weighted = self.write(
            "w.csv",
            "user,item,rating,weight\n" + "".join(f"{r},{c},{v},{1 + k % 3}\n" for k, (r, c, v) in enumerate(lines)),
        )
        columns = ["--columns", "user,item,rating,weight"]
        self.solve("complete", weighted, "--radius", 30, "--iterations", 60, *columns)
        self.assert_proved(weighted, *columns)
        self.assert_refuted("data", weighted, "--columns", "user,item,rating")
        weights = self.write("weights.tsv", "".join(f"{r}\t{c}\t{1 + k % 3}\n" for k, (r, c, _) in enumerate(lines)))
        self.solve("complete", "ratings.tsv", "--radius", 30, "--iterations", 60, "--weights", weights)
        self.assert_proved("ratings.tsv", "--weights", weights)
        self.assert_refuted("data", "ratings.tsv")

    def test_a_matrix_with_holes(self):
        random = numpy.random.default_rng(3)
        matrix = random.normal(size=(30, 3)) @ random.normal(size=(3, 20)) + random.normal(size=(30, 20))
        matrix[random.uniform(size=matrix.shape) < 0.2] = numpy.nan
        numpy.save(self.folder / "matrix.npy", matrix.astype(numpy.float32))
        for options in ([], ["--l1", "0.2"], ["--loss", "absolute", "--prepare", "zscore"]):
            with self.subTest(options=options):
                self.solve("denoise", "matrix.npy", "--radius", 20, "--iterations", 60, *options)
                self.assert_proved("matrix.npy")

    def test_links_with_flips(self):
        random = numpy.random.default_rng(4)
        group = random.integers(0, 3, size=40)
        density = numpy.where(group[:, None] == group, 0.6, 0.1)
        edges = [(a, b) for a in range(40) for b in range(a) if random.uniform() < density[a, b]]
        data = self.write("edges.txt", "".join(f"{a} {b}\n" for a, b in edges))
        self.solve("links", data, "--radius", 20, "--l1", 0.05, "--flip", 0.1, "--iterations", 60)
        self.assertIn("values replaced on purpose", self.assert_proved(data)["steps"][1]["says"])
        self.solve("links", data, "--radius", 20, "--nodes", 30, "--iterations", 60)
        self.assert_proved(data)

    def test_above_the_largest_gram_there_is_a_probability(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--iterations", 60)
        change_statement(
            self.folder / "c.npz",
            lower_bound=json.loads(str(numpy.load(self.folder / "c.npz")["statement"]))["lower_bound"] - 100,
        )
        found = self.verdict(data, "--largest-gram", 5, "--seed", 1)
        self.assertEqual((found["verdict"], found["failure_probability"]), ("probable", 1e-9))

    # ---- changed ones

    def test_one_changed_number_is_refuted(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--gap", 0.01, "--norm-power", 0.5)
        honest = {name: (self.folder / name).read_bytes() for name in ("m.npz", "c.npz", data)}
        c, m = self.folder / "c.npz", self.folder / "m.npz"
        statement = json.loads(str(numpy.load(c)["statement"]))

        def add(array, amount, place=4):
            def change(arrays):
                arrays[array] = arrays[array].copy()
                arrays[array].flat[place] += amount

            return change

        def slope(arrays):  # to the other side of its domain
            arrays["slope"] = arrays["slope"].copy()
            arrays["slope"][4] -= numpy.float32(1.0) if arrays["slope"][4] > 0 else numpy.float32(-1.0)

        def datum():
            old, new = (b"\t5\n", b"\t4\n") if b"\t5\n" in honest[data] else (b"\t4\n", b"\t3\n")
            self.write(data, honest[data].replace(old, new, 1))

        # What was changed, how, and the step that finds it: with the checksums as they were, and with mended ones.
        cases = [
            ("a slope", lambda: change_arrays(c, slope), "files", "norm"),
            ("a slope outside", lambda: change_arrays(c, add("slope", 3)), "files", "slopes"),
            ("a factor", lambda: change_arrays(m, add("left", 0.5)), "files", "radius"),
            ("a singular value", lambda: change_arrays(m, add("values", -0.5, 0)), "files", "objective"),
            ("a higher bound", lambda: change_statement(c, lower_bound=statement["lower_bound"] + 0.1), "norm", "norm"),
            ("the objective", lambda: change_statement(c, objective=0.99 * statement["objective"]), *["objective"] * 2),
            ("a smaller radius", lambda: change_statement(c, radius=29.9), "radius", "radius"),
            ("a larger radius", lambda: change_statement(c, radius=31), "norm", "norm"),
            ("a norm weight", lambda: change_arrays(c, add("row_weight", 0.1)), "radius", "radius"),
            ("the units", lambda: change_statement(c, scale=1.01 * statement["scale"]), "files", "files"),
            ("the loss", lambda: change_statement(c, loss="quantile:0.9"), "slopes", "slopes"),
            ("a datum", datum, "data", "data"),
        ]
        for what, change, step, forged in cases:
            for mended in (False, True):
                with self.subTest(what=what, mended=mended):
                    for name, content in honest.items():
                        (self.folder / name).write_bytes(content)
                    change()
                    if mended:
                        mend_checksums(c, m)
                    self.assert_refuted(forged if mended else step, data)

    def test_files_of_different_runs(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--iterations", 20)
        self.succeed("complete", data, "--radius", 30, "--iterations", 30, "--model", "m.npz", "--quiet")
        self.assert_refuted("files", data)
        self.solve("complete", data, "--radius", 30, "--iterations", 20)
        self.assert_refuted("data", self.ratings("others.tsv", seed=5))

    # ---- what cannot be

    def test_what_is_not_a_certificate(self):
        data = self.ratings()
        self.solve("complete", data, "--radius", 30, "--iterations", 5)
        self.fail_with(3, "verify", data, "m.npz", "m.npz", says="'m.npz' is a model, not a certificate")
        self.fail_with(3, "verify", data, "m.npz", "absent.npz", says="absent.npz")
        self.fail_with(3, "verify", data, "c.npz", "c.npz", says="a model of this program")
        honest = (self.folder / "c.npz").read_bytes()
        change_statement(self.folder / "c.npz", loss="cubic")
        self.fail_with(3, "verify", data, "m.npz", "c.npz", says=["c.npz", "cubic"])
        self.write("c.npz", honest)
        change_arrays(self.folder / "c.npz", lambda arrays: arrays.pop("slope"))
        self.fail_with(3, "verify", data, "m.npz", "c.npz", says=["c.npz", "slope"])

    def test_methods_that_prove_nothing_have_no_certificate(self):
        data = self.ratings()
        self.fail_with(
            2,
            "complete",
            data,
            "--method",
            "rlrmc",
            "--rank",
            2,
            "--certificate",
            "c.npz",
            says=["--certificate", "rlrmc"],
        )


if __name__ == "__main__":
    unittest.main()
