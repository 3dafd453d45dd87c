"""Help, unknown words, and option values that cannot be."""

from support import ProgramTest


class HelpTest(ProgramTest):
    def test_every_command_has_help_with_an_example(self):
        for command in (
            [],
            ["complete"],
            ["denoise"],
            ["links"],
            ["predict"],
            ["generate"],
            ["generate", "covariance"],
            ["generate", "completion"],
        ):
            done = self.succeed(*command, "--help")
            self.assertIn("Examples:", done.stdout)
            self.assertIn("tracenorm " + " ".join(command), done.stdout)
            self.assertEqual(done.stderr, "")
        self.succeed("info", "--help")

    def test_help_lists_methods_losses_and_their_options(self):
        text = self.succeed("complete", "--help-all").stdout
        for word in (
            "fwua",
            "rdfw",
            "corrective",
            "genfb",
            "rlrmc",
            "glrl",
            "--rank",
            "--trace-penalty",
            "sccg-sg",
            "hcgs",
            "epsilon-insensitive",
            "--mu",
            "--beta",
            "--epsilon",
            "--floor",
            "--gap",
            "Objective",
            "Method",
            "Run",
            "Output",
        ):
            self.assertIn(word, text)

    def test_help_is_short_and_help_all_is_not(self):
        for command in ("complete", "denoise", "links", "evaluate"):
            short, everything = (self.succeed(command, option).stdout for option in ("--help", "--help-all"))
            count = [
                len([line for line in text.splitlines() if line.lstrip().startswith("-")])
                for text in (short, everything)
            ]
            self.assertLessEqual(count[0], 17)
            self.assertGreater(count[1], 40)
            self.assertIn("--help-all", short)
            self.assertNotIn("--oracle-products", short)
            self.assertRegex(everything, r"(?m)^Method rlrmc:")


class UsageTest(ProgramTest):
    def test_unknown_words_get_a_suggestion(self):
        self.fail_with(2, "compelte", "x.tsv", says=("unknown command 'compelte'", "did you mean complete?"))
        self.fail_with(
            2,
            "complete",
            "x.tsv",
            "--radius",
            1,
            "--itertions",
            5,
            says=("unknown option --itertions", "did you mean --iterations?", "Try 'tracenorm complete --help'"),
        )
        self.fail_with(2, "generate", "covarance", "x.npy", says="did you mean covariance?")
        self.fail_with(2, "denoise", "x.tsv", "y.tsv", "--radius", 1, says="unexpected argument 'y.tsv'")
        self.fail_with(2, says="a command is missing")
        self.fail_with(2, "generate", says=("a command is missing", "covariance"))

    def test_what_is_required(self):
        self.fail_with(2, "complete", "--radius", 1, says="DATA")
        self.fail_with(2, "predict", "m.npz", says="PAIRS")

    def test_values_that_cannot_be(self):
        for option, value, right in (
            ("--radius", "-3", "a number above 0"),
            ("--radius", "0", "a number above 0"),
            ("--radius", "nan", "a number above 0"),
            ("--radius", "inf", "a number above 0"),
            ("--radius", "12x", "a number above 0"),
            ("--l1", "auto", "chosen together with the radius"),
            ("--norm-power", "2", "from 0 to 1"),
            ("--norm-smoothing", "0", "above 0"),
            ("--l1", "-1", "0 or more"),
            ("--gap", "0", "above 0"),
            ("--time", "soon", "0 or more"),
            ("--iterations", "1.5", "a whole number"),
            ("--iterations", "-1", "a whole number from 0 to 10000000"),
            ("--iterations", "10000001", "a whole number from 0 to 10000000"),
            ("--threads", "-1", "a whole number"),
            ("--seed", "x", "a whole number"),
            ("--split", "0.5,0.5", "TRAIN,VALID,TEST"),
            ("--split", "0.5,0.2,0.2", "add up to 1"),
            ("--split", "0,0.5,0.5", "the first above 0"),
            ("--duplicates", "some", "error|first|last|mean"),
            ("--width", "wide", "balanced, paper, hybrid"),
            ("--step", "big", "open-loop, measured, line-search"),
            ("--prepare", "wash", "none, center, zscore"),
            ("--format", "xls", "xls"),
            ("--loss", "cubic", "absolute, squared"),
            ("--loss", "huber:x", "not a number"),
            ("--loss", "quantile:2", "quantile"),
            ("--method", "newton", "fwua, rdfw, corrective, sccg, sccg-sg, hcgs, genfb, rlrmc, glrl"),
        ):
            arguments = ["complete", "x.tsv", option, value]
            if option != "--radius":
                arguments += ["--radius", 1]
            with self.subTest(option=option, value=value):
                self.fail_with(2, *arguments, says=(option, right))

    def test_options_that_do_not_go_together(self):
        base = ["complete", self.ratings(), "--radius", 1]
        self.fail_with(2, *base, "--mu", 1, says=("--mu", "sccg"))
        self.fail_with(2, *base, "--epsilon", 1, says=("--epsilon", "fwua with width paper"))
        self.fail_with(2, *base, "--method", "sccg", "--mu", -1, says=("--mu = -1", "0 or more"))
        self.fail_with(2, *base, "--method", "sccg", "--width", "paper", says="--width")
        self.fail_with(2, *base, "--l1", 1, "--complement", 1, says="one penalty")
        self.fail_with(2, *base, "--split", "0.5,0,0.5", "--test", base[1], says=("--split", "--test"))
        self.fail_with(2, *base, "--patience", 5, says=("--patience", "--split"))
        self.fail_with(2, *base, "--loss", "hinge", "--prepare", "zscore", says="--prepare")
        self.fail_with(2, "links", self.edges(), "--radius", 1, "--loss", "hinge", says="--loss")


if __name__ == "__main__":
    import unittest

    unittest.main()
