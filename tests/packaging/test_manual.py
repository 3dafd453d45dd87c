"""Manual page and completions, as they are installed, know every command and option of the program, and no other."""

import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from program_help import all_commands, parse  # noqa: E402

MADE = pathlib.Path(os.environ["TRACENORM_BUILD"]) / "apps/tracenorm/manual"
COMMANDS = {command: parse(text) for command, text in all_commands(os.environ["TRACENORM_PROGRAM"]).items()}


def bash_offers(*lines):
    """What bash would offer at the end of each of these lines, where a line is a list of words."""
    script = [f'source "{MADE}/tracenorm"']
    for words in lines:
        quoted = " ".join(f"'{word}'" for word in words)
        script.append(f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _tracenorm; echo "${{COMPREPLY[*]}}"')
    output = subprocess.run(["bash", "-uc", "\n".join(script)], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in output.splitlines()]


class Bash(unittest.TestCase):
    def test_options_of_every_command(self):
        offers = bash_offers(*(["tracenorm", *command, "-"] for command in COMMANDS))
        for (command, text), offered in zip(COMMANDS.items(), offers, strict=True):
            self.assertEqual(sorted(offered), sorted(name for option in text.options for name in option.names), command)
            self.assertIn("--help", offered)

    def test_commands(self):
        offered, generate, info = bash_offers(["tracenorm", ""], ["tracenorm", "generate", "co"], ["tracenorm", "inf"])
        self.assertEqual(offered, [command[0] for command in COMMANDS if len(command) == 1])
        self.assertEqual(generate, ["covariance", "completion"])
        self.assertEqual(info, ["info"])

    def test_values(self):
        line = ["tracenorm", "complete", "ratings.csv"]
        method, backend, cut, numbers, after = bash_offers(
            [*line, "--method", ""],
            [*line, "--backend", "c"],
            [*line, "--backend", "=", "c"],
            [*line, "--rank", ""],
            [*line, "--rank", "5", "--sym"],
        )
        self.assertEqual(method[:2], ["fwua", "rdfw"])
        self.assertEqual(backend, ["cpu", "cuda"])
        self.assertEqual(cut, ["cpu", "cuda"])
        self.assertEqual(numbers, [])
        self.assertEqual(after, [])  # an option of denoise

    def test_a_file_is_no_command(self):
        [offered] = bash_offers(["tracenorm", "predict", "generate", "--new"])
        self.assertEqual(offered, ["--new-rows"])


class Zsh(unittest.TestCase):
    def test_options_of_every_command(self):
        script = (MADE / "_tracenorm").read_text()
        for command, text in COMMANDS.items():
            body = re.search(
                rf"^{'_'.join(('_tracenorm', *command))}\(\) {{\n(.*?)^}}", script, re.MULTILINE | re.DOTALL
            ).group(1)
            names = re.findall(r"'\*(--?[a-z0-9-]+)\[", body)
            self.assertEqual(sorted(names), sorted(name for option in text.options for name in option.names), command)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_syntax(self):
        subprocess.run(["zsh", "-n", MADE / "_tracenorm"], check=True)


class Page(unittest.TestCase):
    def test_commands_and_options(self):
        page = gzip.decompress((MADE / "tracenorm.1.gz").read_bytes()).decode().replace("\\-", "-")
        parts = dict(
            zip(
                *[iter(re.split(r"^\.SH COMMAND TRACENORM(.*)\n", "\n" + page, flags=re.MULTILINE)[1:])] * 2,
                strict=True,
            )
        )
        for command, text in COMMANDS.items():
            part = parts["".join(f" {word}" for word in command).upper()] if command else page
            for option in text.options:
                self.assertIn(f".B {option.head}\n", part, command)

    def test_same_bytes_every_time(self):
        again = MADE.parent / "manual-again"
        subprocess.run(
            [sys.executable, "-B", ROOT / "packaging/manual.py", os.environ["TRACENORM_PROGRAM"], again], check=True
        )
        for path in MADE.iterdir():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes(), path.name)

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_no_warnings(self):
        ran = subprocess.run(
            ["man", "--warnings=w", "-P", "cat", "-l", MADE / "tracenorm.1.gz"],
            capture_output=True,
            text=True,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
        self.assertEqual(ran.stderr, "")
        self.assertIn("tracenorm generate completion train.tsv --truth truth.tsv", ran.stdout)


if __name__ == "__main__":
    unittest.main()
