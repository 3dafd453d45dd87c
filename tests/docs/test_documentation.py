"""Every place of the documentation that the program names is there, and every status and kind of error has one."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "program"))
import how_to_data
from support import PROGRAM, ProgramTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
ANCHORS = {
    re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
    for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
}


class TroubleshootingTest(ProgramTest):
    def named(self, text):
        """The anchors that a text of the program names; each must be on the page."""
        found = re.findall(r"docs: troubleshooting#([\w-]+)", text)
        self.assertTrue(set(found) <= ANCHORS, found)
        return found

    def test_every_anchor_of_the_table_is_on_the_page(self):
        sources = [ROOT / "apps" / "tracenorm" / f"troubleshooting.{suffix}" for suffix in ("cpp", "hpp")]
        table = "".join(source.read_text(encoding="utf-8") for source in sources)
        anchors = set(re.findall(r'^ .* return "([\w-]+)";|\w+ = "([\w-]+)";', table, re.MULTILINE))
        anchors = {one for both in anchors for one in both if one}
        self.assertGreater(len(anchors), 10)
        self.assertEqual(anchors - ANCHORS, set())

    def test_every_status_has_a_section(self):
        source = (ROOT / "src" / "methods" / "run.cpp").read_text(encoding="utf-8")
        statuses = set(re.findall(r"case Status::(\w+):", source))
        self.assertGreaterEqual(len(statuses), 10)
        self.assertEqual(statuses - ANCHORS, set())

    def test_summaries_name_their_status(self):
        data = self.ratings()
        for options, status in (
            (("--radius", 5, "--iterations", 3), "iteration_limit"),
            (("--radius", 5, "--gap", 0.1), "gap_reached"),
            (("--radius", 5, "--time", 0.0001, "--iterations", 10**6), "time_limit"),
        ):
            done = self.run_program("complete", data, *options)
            self.assertEqual(self.named(done.stdout), [status], done.stderr)

    def test_errors_name_what_they_are_about(self):
        good = self.ratings()
        twice = self.write("twice.tsv", "a\tb\t1\na\tb\t2\nc\td\t3\n")
        words = self.write("words.tsv", "a\tb\tc\td\te\nf\tg\th\ti\tj\n")
        few = self.write("few.tsv", "a\tb\t1\nc\td\t2\n")
        holes = self.write("holes.csv", "a,b\n1,\n2,\n,3\n,4\n5,\n,7\n")
        strangers = self.write("strangers.tsv", "x\ty\t1\nz\tw\t2\n")
        for arguments, anchor in (
            (("complet", good), "unknown-option-or-command"),
            (("complete", good, "--itertions", 3), "unknown-option-or-command"),
            (("complete", good, "--radius", -1), "options"),
            (("complete", good, "--resume"), "checkpoint"),
            (("complete", "nowhere.tsv"), "opening"),
            (("complete", twice, "--radius", 1), "duplicates"),
            (("complete", words), "columns"),
            (("complete", few), "too-few-entries"),
            (("covariance", holes), "too-few-entries"),
            # What a message quotes says nothing about what it is about.
            (("complete", "memory.csv"), "opening"),
            (("complete", "twice or columns.csv"), "opening"),
            (("complete", good, "--method", "rlrmc", "--rank", 1000), "options"),
            (("complete", good, "--loss", "hinge", "--radius", 1), "values-that-do-not-fit"),
            (("complete", good, "--radius", 1, "--test", strangers), "unknown-names"),
            (("complete", good, "--model", "nowhere/m.npz"), "writing"),
            (("complete", good, "--radius", 1, "--method", "rlrmc", "--gap", 0.1), "options"),
        ):
            done = self.run_program(*arguments)
            self.assertEqual(self.named(done.stderr), [anchor], f"{arguments}: {done.stderr}")

    def test_python_and_the_page_know_the_same_statuses(self):
        guide = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        line = next(line for line in guide.splitlines() if line.startswith("| `status`"))
        self.assertEqual(set(re.findall(r"`(\w+)`", line)) - {"status"} - ANCHORS, set())


class HowToTest(ProgramTest):
    def test_every_command_runs(self):
        """In an empty folder with the files that the page speaks of."""
        how_to_data.make(self.folder)
        page = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 14)
        for line in "".join(blocks).splitlines():
            name, *words = shlex.split(line)
            self.assertEqual(name, "tracenorm")
            done = self.run_program(*words)
            self.assertEqual(done.returncode, 0, f"{line}: {done.stderr}")


class NumbersTest(unittest.TestCase):
    # A sanitizer's build rounds otherwise, and runs that are stopped early keep the difference.
    @unittest.skipIf(os.environ.get("TRACENORM_SANITIZE"), "the numbers are those of the optimised build")
    def test_numbers_of_the_pages_are_those_of_their_commands(self):
        command = [sys.executable, "-B", ROOT / "tools" / "docs" / "page_numbers.py", "--check"]
        environment = {**os.environ, "TRACENORM_PROGRAM": PROGRAM}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_wrong_number_is_found(self):
        sys.path.insert(0, str(ROOT / "tools" / "docs"))
        from page_numbers import differences, machine, updated

        table = "| set | loss | error |\n|---|---|---|\n| avx2 | absolute | 0.03 |\n"
        self.assertEqual(list(differences(table, table.replace("0.03", "0.0301"), 0.2)), [])
        self.assertTrue(list(differences(table, table.replace("0.03", "0.3"), 0.2)))
        self.assertTrue(list(differences("", table, 0.2)))
        page = "a\n<!-- numbers: echo 42 -->\nold\n<!-- end -->\nb\n"
        new = updated(page, None)
        self.assertRegex(new, r"^a\n<!-- .* -->\n42\n\n\*Put here .*\n<!-- end -->\nb\n$")
        # What is the same stays as it is, with its date.
        old = new.replace(machine(), "long ago")
        self.assertEqual(updated(old, None), old)
        exactly = "<!-- numbers exactly: echo 42 -->\n\n42\n\n<!-- end -->"
        self.assertEqual(updated(exactly.replace("42", "41", 1).replace("42", "43").replace("41", "42"), None), exactly)

    def test_rows_that_a_command_does_not_make_stay(self):
        sys.path.insert(0, str(ROOT / "tools" / "docs"))
        from page_numbers import differences, updated

        table = "| data | what | RMSE | seconds |\n|---|---|---|---|\n"
        ours, theirs = "| ml | ours | 0.90 | 3 |\n", "| ml | theirs | 0.95 | 9 |\n"
        made = (table + ours).replace("\n", "\\n")
        region = "<!-- numbers within 1 %%: printf '%s' -->\n%s<!-- end -->"
        page = region % (made, table + ours.replace("0.90", "0.80") + theirs)
        self.assertIn(ours + theirs, updated(page, None))
        page = region % (made, table + ours.replace("| 3 |", "| 4 |") + theirs)
        self.assertEqual(updated(page, None), page)  # seconds within a factor of two are the same
        self.assertTrue(list(differences(table + ours, table + ours.replace("| 3 |", "| 7 |"), 0.01)))


class LinksTest(unittest.TestCase):
    def test_links_of_every_page_lead_somewhere(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
        made = {"docs/reference/cpp.md", "docs/reference/report.md"}
        for page in pages:
            for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
                path = (page.parent / target).resolve()
                if ":" in target or str(path.relative_to(ROOT)) in made:
                    continue
                self.assertTrue(path.exists(), f"{page.relative_to(ROOT)}: {target}")

    def test_the_readme_is_short(self):
        self.assertLess(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), 120)


if __name__ == "__main__":
    unittest.main()
