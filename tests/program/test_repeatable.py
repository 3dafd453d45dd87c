"""The same bits: for any number of threads, and for the same seed."""

from support import ProgramTest, load_model, parse_strict


def without_clock(run):
    """A run's JSON without what may differ: the clock and the number of threads."""
    run = dict(run)
    run.pop("seconds")
    run["trace"] = [{key: value for key, value in line.items() if key != "seconds"} for line in run["trace"]]
    run["options"] = {key: value for key, value in run["options"].items() if key != "threads"}
    run["environment"] = {key: value for key, value in run["environment"].items() if key != "threads"}
    return run


class RepeatableTest(ProgramTest):
    def solve(self, command, threads):
        self.succeed(*command, "--threads", threads, "--json", "run.json", "--model", "m.npz", "--quiet")
        run = parse_strict((self.folder / "run.json").read_text())
        arrays = {name: array.tobytes() for name, array in load_model(self.folder / "m.npz").items()}
        return without_clock(run), arrays, (self.folder / "m.npz").read_bytes()

    def check_same(self, *command):
        first = self.solve(command, 1)
        for threads in (2, 3, 5, 1):
            again = self.solve(command, threads)
            self.assertEqual(first[0], again[0], f"{threads} threads")
            self.assertEqual(first[1], again[1], f"{threads} threads")
            self.assertEqual(first[2], again[2], f"{threads} threads")

    def test_sparse_data(self):
        # Large enough to be cut into several shards.
        self.succeed("generate", "completion", "t.tsv", "--rows", 400, "--cols", 300, "--observed", 0.4)
        self.check_same("complete", "t.tsv", "--radius", 300, "--iterations", 40, "--split", "0.8,0.1,0.1")
        self.check_same("complete", "t.tsv", "--radius", 300, "--iterations", 20, "--complement", 0.01,
                        "--step", "line-search", "--loss", "huber:0.5")

    def test_dense_data(self):
        self.succeed("generate", "covariance", "cov.npy", "--n", 250)
        self.check_same("denoise", "cov.npy", "--radius", 30, "--l1", 0.2, "--iterations", 30)

    def test_graph(self):
        self.check_same("links", self.edges(nodes=150), "--radius", 100, "--l1", 0.01, "--flip", 0.05,
                        "--iterations", 30)

    def test_another_seed_is_another_split(self):
        data = self.ratings()
        runs = [self.run_json("complete", data, "--radius", 40, "--split", "0.6,0.2,0.2", "--seed", seed)
                for seed in (1, 2)]
        self.assertNotEqual(runs[0]["test"], runs[1]["test"])


if __name__ == "__main__":
    import unittest

    unittest.main()
