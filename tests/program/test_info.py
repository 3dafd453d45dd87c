"""tracenorm info and --version."""

from support import ProgramTest, parse_strict


class InfoTest(ProgramTest):
    def test_facts(self):
        info = parse_strict(self.succeed("info", "--json").stdout)
        self.assertLessEqual(
            {
                "version",
                "compiler",
                "instruction_set",
                "instruction_sets",
                "threads",
                "real",
                "backends",
                "devices",
                "methods",
                "losses",
            },
            info.keys(),
        )
        self.assertIn(info["instruction_set"], info["instruction_sets"])
        self.assertLessEqual(
            {"fwua", "rdfw", "corrective", "sccg", "sccg-sg", "hcgs", "genfb", "rlrmc", "glrl"}, set(info["methods"])
        )
        self.assertIn("cpu", info["backends"])
        text = self.succeed("info").stdout
        self.assertIn(info["version"], text)
        self.assertEqual(self.succeed("--version").stdout, f"tracenorm {info['version']}\n")
        self.succeed("info", "--json", "info.json")
        self.assertEqual(parse_strict((self.folder / "info.json").read_text()), info)


if __name__ == "__main__":
    import unittest

    unittest.main()
