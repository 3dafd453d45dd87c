"""The same bits: for any number of threads, and for the same seed."""

from support import ProgramTest


class RepeatableTest(ProgramTest):
    def test_sparse_data(self):
        # Large enough to be cut into several shards.
        self.succeed("generate", "completion", "t.tsv", "--rows", 400, "--cols", 300, "--observed", 0.4)
        self.check_same_bits("complete", "t.tsv", "--radius", 300, "--iterations", 40, "--split", "0.8,0.1,0.1")
        self.check_same_bits(
            "complete",
            "t.tsv",
            "--radius",
            300,
            "--iterations",
            20,
            "--complement",
            0.01,
            "--step",
            "line-search",
            "--loss",
            "huber:0.5",
        )

    def test_dense_data(self):
        self.succeed("generate", "covariance", "cov.npy", "--n", 250)
        self.check_same_bits("denoise", "cov.npy", "--radius", 30, "--l1", 0.2, "--iterations", 30)

    def test_graph(self):
        self.check_same_bits(
            "links", self.edges(nodes=150), "--radius", 100, "--l1", 0.01, "--flip", 0.05, "--iterations", 30
        )

    def test_another_seed_is_another_split(self):
        data = self.ratings()
        runs = [
            self.run_json("complete", data, "--radius", 40, "--split", "0.6,0.2,0.2", "--seed", seed) for seed in (1, 2)
        ]
        self.assertNotEqual(runs[0]["test"], runs[1]["test"])


if __name__ == "__main__":
    import unittest

    unittest.main()
