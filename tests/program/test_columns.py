"""Files as people have them: unknown headers, tables with holes, ids where values belong. What was read is said."""

import random

from support import ProgramTest

FAST = ("--radius", 8, "--iterations", 5)


class ColumnsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        numbers = random.Random(1)
        pairs = sorted({(numbers.randrange(30), numbers.randrange(20)) for _ in range(300)})
        self.rows = [(k, f"u{i}", f"film {j}", numbers.randrange(1, 6)) for k, (i, j) in enumerate(pairs)]
        self.write("log.csv", "rating_id,who,film,stars\n" + "".join(f"{k},{u},{f},{s}\n" for k, u, f, s in self.rows))

    def summary(self, *arguments):
        lines = self.succeed("complete", *arguments, *FAST).stdout.splitlines()
        return {line[:18].strip(): line[19:] for line in lines if line[:1].strip()}

    def test_an_unknown_header_is_not_guessed(self):
        self.write(
            "ints.csv", "rating_id,who,film,stars\n" + "".join(f"{k},{u[1:]},{f[5:]},{s}\n" for k, u, f, s in self.rows)
        )
        self.fail_with(3, "complete", "ints.csv", *FAST, says=("ints.csv", "4 columns"))  # films were taken for values
        self.fail_with(
            3,
            "complete",
            "log.csv",
            *FAST,
            says=("log.csv", "4 columns", "rating_id,who,film,stars", "with --columns\n"),
        )

    def test_columns_by_name_and_number(self):
        for chosen in ("who,film,stars", "2,3,4"):
            said = self.summary("log.csv", "--columns", chosen)
            self.assertIn(
                f"{len({r[1] for r in self.rows})} x {len({r[2] for r in self.rows})}, {len(self.rows)} observed",
                said["data"],
            )
            self.assertIn("row 'who', column 'film', value 'stars'; not used: 'rating_id'", said["columns"])
        self.fail_with(
            3, "complete", "log.csv", "--columns", "who,film,grade", *FAST, says=("no column 'grade'", "--columns")
        )

    def test_the_summary_always_says(self):
        self.assertIn("row 1, column 2, value 3", self.summary(self.ratings())["columns"])
        self.write("swapped.csv", "a,b,c\n" + "".join(f"{u},{f},{100 + 3 * k}\n" for k, u, f, s in self.rows))
        self.assertIn("ids", self.summary("swapped.csv")["columns"])

    def test_weights_in_the_file(self):
        head = "user,item,rating,weight\n"
        self.write("even.csv", head + "".join(f"{u},{f},{s},1\n" for k, u, f, s in self.rows))
        self.write("uneven.csv", head + "".join(f"{u},{f},{s},{1 + k % 3}\n" for k, u, f, s in self.rows))
        self.assertIn("weight 'weight'", self.summary("uneven.csv")["columns"])
        self.assertNotEqual(self.summary("even.csv")["objective"], self.summary("uneven.csv")["objective"])

    def test_a_quote_that_is_not_closed(self):
        lines = "".join(f'{u},"{f}",{s}\n' for k, u, f, s in self.rows)
        self.write("open.csv", "user,item,rating\n" + lines + 'u1,"film 99,3\n')
        line = len(self.rows) + 2
        self.fail_with(3, "complete", "open.csv", *FAST, says=("open.csv", f"line {line}", "quote"))

    def test_matrix_market_behind_a_byte_order_mark(self):
        text = "\ufeff%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1\n2 2 2\n3 3 3\n"
        self.write("matrix", text)
        self.assertEqual(self.run_json("complete", "matrix", *FAST, "--prepare", "none")["observed"], 3)

    def test_predict_below_an_unknown_header(self):
        self.write("ints.csv", "".join(f"{u[1:]},{f[5:]},{s}\n" for k, u, f, s in self.rows))
        self.succeed("complete", "ints.csv", *FAST, "--model", "m.npz")
        self.write("pairs.csv", "person,picture\n" + "".join(f"{u[1:]},{f[5:]}\n" for k, u, f, s in self.rows[:4]))
        done = self.succeed("predict", "m.npz", "pairs.csv")
        self.assertEqual(len(done.stdout.splitlines()), 4)
        self.assertEqual(done.stderr, "")

    def test_predict_asks_about_a_first_line_it_does_not_know(self):
        self.succeed("complete", "log.csv", "--columns", "2,3,4", *FAST, "--model", "m.npz")
        self.write("pairs.csv", "person,picture\nu1,film 2\n")
        done = self.succeed("predict", "m.npz", "pairs.csv")
        self.assertIn("--columns person,picture", done.stderr)
        done = self.succeed("predict", "m.npz", "pairs.csv", "--columns", "person,picture")
        self.assertEqual(len(done.stdout.splitlines()), 1)
        self.fail_with(3, "recommend", "m.npz", "--row", "u1", "--seen", "log.csv", says=("log.csv", "with --columns"))
        self.succeed("recommend", "m.npz", "--row", "u1", "--seen", "log.csv", "--columns", "who,film,stars")

    def test_predict_believes_the_model_about_a_first_line(self):
        self.write("words.csv", "ann,book,4\nann,song,2\nbob,book,3\nbob,film,1\n")
        self.succeed("complete", "words.csv", *FAST, "--model", "m.npz")
        self.write("pairs.csv", "ann,book\nbob,song\n")  # "book" is a word that headers have
        self.assertEqual(len(self.succeed("predict", "m.npz", "pairs.csv").stdout.splitlines()), 2)

    def test_jester_as_published(self):
        numbers = random.Random(2)
        lines = []
        for _ in range(40):
            marks = [99 if numbers.random() < 0.4 else round(numbers.uniform(-10, 10), 2) for _ in range(100)]
            lines.append(",".join(map(str, [sum(m != 99 for m in marks), *marks])) + "\n")
        self.write("jester-data-1.csv", "".join(lines))
        said = self.summary("jester-data-1.csv")
        self.assertIn("40 x 101", said["data"])
        self.assertIn("99 is about", said["columns"])
        for command in ("complete", "denoise"):
            done = self.succeed(command, "jester-data-1.csv", "--missing", 99, "--skip-columns", 1, *FAST)
            seen = sum(int(line.split(",")[0]) for line in lines)  # the first column counts the ratings
            self.assertIn(f"40 x 100, {seen} observed", done.stdout)

    def test_names_of_rows_and_columns(self):
        self.write("pivot.csv", "user,Heat,Up,Jaws\nann,4,,2\nbob,3,5,\ncay,,1,4\ndan,2,4,3\n")
        self.succeed("complete", "pivot.csv", "--format", "matrix", *FAST, "--model", "m.npz")
        self.write("pairs.csv", "ann,Up\n")
        done = self.succeed("predict", "m.npz", "pairs.csv", "--strict")
        self.assertTrue(done.stdout.startswith("ann\tUp\t"))

    def test_several_marks(self):
        self.write("marks.tsv", "a\tx\t-1\na\ty\t3\nb\tx\t4\nb\ty\t99\nc\tx\t1\n")
        for marks in (("--missing", "99,-1"), ("--missing", 99, "--missing", -1)):
            self.assertIn("3 observed", self.summary("marks.tsv", *marks)["data"])


if __name__ == "__main__":
    import unittest

    unittest.main()
