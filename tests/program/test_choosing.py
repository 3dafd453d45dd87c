"""What the program chooses by itself: the radius, offsets, penalties; weights; evaluate and recommend."""

import json

import numpy
from support import ProgramTest, load_model, names_to_index


class DataTest(ProgramTest):
    def additive(self, name="data.tsv", outliers=0, seed=1):
        """Row and column offsets, a little low rank, noise: what ratings look like."""
        random = numpy.random.default_rng(seed)
        shape = (60, 50)
        matrix = (
            random.normal(size=(60, 1))
            + random.normal(size=50)
            + numpy.outer(random.normal(size=60), random.normal(size=50))
            + 0.3 * random.normal(size=shape)
        )
        rows, cols = numpy.nonzero(random.uniform(size=shape) < 0.6)
        values = matrix[rows, cols]
        hit = random.uniform(size=values.size) < outliers
        values[hit] += 30
        return self.write_triplets(name, rows, cols, values), matrix


class ChoosingTest(DataTest):
    def test_no_option_at_all(self):
        data, _ = self.additive()
        done = self.succeed("complete", data, "--json", "run.json", "--model", "m.npz")
        for words in ("radius path", "(chosen)", "offsets of rows and columns", "weighted trace norm", "certified"):
            self.assertIn(words, done.stdout)
        run = json.loads((self.folder / "run.json").read_text())
        self.check_run(run)
        self.assertEqual(run["options"]["radius"], "auto")
        self.assertEqual(run["options"]["prepare"], "both")
        chosen = [step for step in run["radius_path"] if step["chosen"]]
        self.assertEqual(len(chosen), 1)
        self.assertEqual(chosen[0]["radius"], run["radius"])
        errors = [step["validation_error"] for step in run["radius_path"]]
        self.assertLessEqual(chosen[0]["validation_error"], min(errors) * 1.001)
        self.assertEqual(run["observed"], len((self.folder / data).read_text().splitlines()))
        again = self.run_json("complete", data)
        self.assertEqual(again["objective"], run["objective"])

    def test_the_choice_predicts(self):
        data, matrix = self.additive()
        self.succeed("complete", data, "--model", "m.npz", "-q")
        model = load_model(self.folder / "m.npz")
        row, col = names_to_index(model["row_names"]), names_to_index(model["col_names"])
        order = numpy.ix_([row[f"{i}"] for i in range(60)], [col[f"{j}"] for j in range(50)])
        with numpy.load(self.folder / "m.npz") as file:
            predictor = "predictor_" if "predictor_values" in file else ""
            offsets = file[predictor + "row_offset"][:, None] + file[predictor + "col_offset"]
            matrix_predicted = (file["left"] * file[predictor + "values"]) @ file["right"].T
        predicted = (model["offset"] + offsets + model["scale"] * matrix_predicted)[order]
        self.assertLess(numpy.sqrt(numpy.mean((predicted - matrix) ** 2)), 0.45 * matrix.std())
        lines = self.succeed("predict", "m.npz", data).stdout.splitlines()
        r, c, value = lines[7].split("\t")
        self.assertAlmostEqual(float(value), predicted[int(r), int(c)], places=4)

    def test_offsets_are_robust_where_the_loss_is(self):
        data, matrix = self.additive(outliers=0.1)
        i, j = numpy.meshgrid(range(60), range(50), indexing="ij")
        truth = self.write_triplets("truth.tsv", i.ravel(), j.ravel(), matrix.ravel())
        errors = {}
        for loss in ("absolute", "squared"):
            run = self.run_json(
                "complete", data, "--loss", loss, "--prepare", "both", "--radius", 1e-9, "--test", truth
            )
            errors[loss] = run["test"]["rmse"]
        self.assertLess(errors["absolute"], 0.75 * errors["squared"])

    def test_validation_entries_from_a_file(self):
        data, matrix = self.additive()
        rows, cols = numpy.arange(60), numpy.arange(60) % 50
        valid = self.write_triplets("valid.tsv", rows, cols, matrix[rows, cols])
        run = self.run_json("complete", data, "--validation", valid)
        self.assertEqual(run["validation"]["entries"], 60)
        best = min(step["validation_error"] for step in run["radius_path"])
        # Settings are judged by the mean huber:1 loss of rough answers; all errors here are below 1.
        self.assertAlmostEqual(run["validation"]["rmse_prepared"] ** 2 / 2, best, delta=0.05 * best)
        # A radius at which not everything can be fitted: at an optimum of zero a relative gap means nothing.
        tight = self.run_json("complete", data, "--validation", valid, "--radius", 5, "--gap", 0.1)
        self.assertLessEqual(tight["relative_gap"], 0.1)
        self.assertGreater(tight["lower_bound"], 1)
        self.fail_with(2, "complete", data, "--validation", valid, "--split", "0.5,0.25,0.25", says="--validation")
        self.write("strange.tsv", "a\tb\t3\n")
        self.fail_with(3, "complete", data, "--validation", "strange.tsv", says=("strange.tsv", "nothing in common"))

    def test_weights(self):
        rows, cols = numpy.nonzero(numpy.ones((6, 5)))
        values = numpy.arange(30.0) % 7
        data = self.write_triplets("data.tsv", rows, cols, values)
        ones = self.write_triplets("ones.tsv", rows, cols, numpy.ones(30))
        twice = self.write_triplets("twice.tsv", rows[::-1], cols[::-1], 2 * numpy.ones(30))
        base = ["complete", data, "--radius", 5, "--prepare", "none"]
        plain = self.run_json(*base)
        # The same to the last digit without fused multiply-adds; with them, of an objective of 66.4, 1.1e-4 and 2.3e-4.
        self.assertAlmostEqual(self.run_json(*base, "--weights", ones)["objective"], plain["objective"], delta=2e-4)
        self.assertAlmostEqual(
            self.run_json(*base, "--weights", twice)["objective"], 2 * plain["objective"], delta=4e-4
        )
        few = self.write_triplets("few.tsv", rows[1:], cols[1:], numpy.ones(29))
        self.fail_with(3, *base, "--weights", few, says=("few.tsv", "no weight for row 0, column 0"))
        bad = self.write_triplets("bad.tsv", rows, cols, numpy.zeros(30))
        self.fail_with(3, *base, "--weights", bad, says="weight")

    def test_norm_weights(self):
        data, _ = self.additive()
        run = self.run_json("complete", data, "--radius", 40, "--norm-power", 0.5)
        self.check_run(run)
        self.assertEqual(run["options"]["norm_power"], 0.5)
        self.fail_with(
            2,
            "complete",
            data,
            "--radius",
            40,
            "--norm-power",
            0.5,
            "--complement",
            0.1,
            says=("--complement", "--norm-power"),
        )
        self.fail_with(2, "complete", data, "--method", "rlrmc", "--norm-power", 0.5, says="--norm-power")

    def test_time_is_for_path_and_answer_together(self):
        data, _ = self.additive()
        run = self.run_json("complete", data, "--time", 0.05, "--iterations", 1000000, "--gap", 1e-12, code=1)
        spent = run["seconds"] + sum(step["seconds"] for step in run["radius_path"])
        self.assertEqual(run["status"], "time_limit")
        self.assertLess(spent, 5)

    def test_too_few_entries(self):
        self.write("few.tsv", "a\tb\t1\nb\ta\t2\n")
        self.fail_with(3, "complete", "few.tsv", says=("--radius", "too few"))

    def test_denoise_and_links_choose_too(self):
        random = numpy.random.default_rng(2)
        truth = numpy.outer(random.normal(size=40), random.normal(size=30))
        numpy.save(self.folder / "noisy.npy", truth + 0.3 * random.normal(size=truth.shape))
        numpy.save(self.folder / "truth.npy", truth)
        run = self.run_json("denoise", "noisy.npy", "--test", "truth.npy")
        self.assertEqual(run["observed"], 1200)
        self.assertLess(run["test"]["rmse"], 0.15)
        run = self.run_json("denoise", "noisy.npy", "--l1", "auto", "--test", "truth.npy", "--iterations", 100)
        self.assertGreater(len({step["lambda"] for step in run["radius_path"]}), 1)
        self.assertLess(run["test"]["rmse"], 0.15)
        edges = "".join(f"{a} {b}\n" for a in range(24) for b in range(a) if a % 3 == b % 3)
        self.write("edges.txt", edges)
        run = self.run_json("links", "edges.txt")
        # Three cliques of eight, so a handful of entries decides: 0.951 with fused multiply-adds, 0.961 without,
        # 0.936 as the sanitizers' build rounds.
        self.assertGreater(run["test"]["auc"], 0.93)
        self.assertGreater(run["radius"], 0)


class EvaluateTest(DataTest):
    def test_folds(self):
        data, _ = self.additive()
        done = self.succeed("evaluate", data, "--folds", 3, "--radius", 30, "--prepare", "both", "--json", "s.json")
        for words in ("3 folds", "rmse", "ndcg@10", "+-"):
            self.assertIn(words, done.stdout)
        scores = json.loads((self.folder / "s.json").read_text())["scores"]
        self.assertEqual(len(scores["rmse"]["values"]), 3)
        self.assertAlmostEqual(scores["rmse"]["mean"], numpy.mean(scores["rmse"]["values"]))
        self.assertAlmostEqual(scores["rmse"]["deviation"], numpy.std(scores["rmse"]["values"], ddof=1))
        self.assertEqual(
            self.succeed("evaluate", data, "--folds", 3, "--radius", 30, "--prepare", "both").stdout, done.stdout
        )

    def test_lists_against_a_brute_force_count(self):
        data, _matrix = self.additive()
        lines = (self.folder / data).read_text().splitlines()
        self.write("train.tsv", "\n".join(lines[::2]) + "\n")
        self.write("test.tsv", "\n".join(lines[1::2]) + "\n")
        options = ["--radius", "30", "--prepare", "both"]
        scores = self.run_json("evaluate", "train.tsv", "--test", "test.tsv", "--top", 5, "--relevant", 1, *options)
        self.succeed("complete", "train.tsv", *options, "--model", "m.npz", "-q")
        names = sorted({int(line.split("\t")[1]) for line in lines[::2]})
        self.write("pairs.tsv", "".join(f"{i}\t{j}\n" for i in range(60) for j in names))
        table = {}
        for line in self.succeed("predict", "m.npz", "pairs.tsv").stdout.splitlines():
            i, j, value = line.split("\t")
            table[i, j] = float(value)
        train = {tuple(line.split("\t")[:2]) for line in lines[::2]}
        wanted = {}
        for i, j, value in (line.split("\t") for line in lines[1::2]):
            if float(value) >= 1:
                wanted.setdefault(i, set()).add(j)
        hits, ndcg = [], []
        for i, relevant in wanted.items():
            order = sorted((j for (r, j) in table if r == i and (i, j) not in train), key=lambda j: -table[i, j])[:5]
            gains = [1 / numpy.log2(place + 2) for place in range(5)]
            hits.append(sum(j in relevant for j in order) / 5)
            ndcg.append(
                sum(g for g, j in zip(gains, order, strict=False) if j in relevant) / sum(gains[: len(relevant)])
            )
        self.assertAlmostEqual(scores["scores"]["precision@5"]["mean"], numpy.mean(hits), places=3)
        self.assertAlmostEqual(scores["scores"]["ndcg@5"]["mean"], numpy.mean(ndcg), places=3)

    def test_what_is_shown(self):
        data = self.write(
            "data.csv",
            "who,film,stars\n" + "".join(f"u{i},f{j},{1 + (i * j) % 5}\n" for i in range(12) for j in range(10)),
        )
        done = self.succeed("evaluate", data, "--columns", "who,film,stars", "--folds", 2, "--radius", 10)
        self.assertRegex(done.stdout, r"(?m)^columns +.*film")
        self.assertRegex(done.stdout, r"(?m)^rank +\d+(\.\d+)?( \+- .*)?$")
        self.assertNotRegex(done.stdout, r"(?m)^rank +\d+\.0000")
        self.assertRegex(done.stdout, r"(?m)^relative_gap +\S+ %")

    def test_unknown_test_entries_are_judged(self):
        data, _ = self.additive()
        self.write("test.tsv", "0\t1\t0.5\nstranger\t1\t30\n0\tstranger\t-30\n")
        scores = self.run_json("evaluate", data, "--test", "test.tsv", "--radius", 30, "--prepare", "both")["scores"]
        self.assertEqual((scores["test_entries"]["mean"], scores["unknown"]["mean"]), (3, 2))
        self.assertGreater(scores["rmse"]["mean"], 15)  # those far away count

    def test_usage(self):
        data, _ = self.additive()
        self.fail_with(2, "evaluate", data, "--folds", 1, says="--folds")
        self.fail_with(2, "evaluate", data, "--folds", 3, "--test", data, says="--folds and --test")
        self.fail_with(2, "evaluate", data, "--model", "m.npz", says="--model")


class RecommendTest(DataTest):
    def test_lists(self):
        data, _ = self.additive()
        self.succeed("complete", data, "--model", "m.npz", "-q")
        every = [
            line.split("\t") for line in self.succeed("recommend", "m.npz", "--row", 5, "--top", 50).stdout.splitlines()
        ]
        self.assertEqual([line[1] for line in every], [str(place + 1) for place in range(len(every))])
        values = [float(line[3]) for line in every]
        self.assertEqual(values, sorted(values, reverse=True))
        pairs = "".join(f"5\t{line[2]}\n" for line in every)
        self.write("pairs.tsv", pairs)
        predicted = [
            float(line.split("\t")[2]) for line in self.succeed("predict", "m.npz", "pairs.tsv").stdout.splitlines()
        ]
        numpy.testing.assert_allclose(values, predicted, rtol=1e-5)
        seen = {line.split("\t")[1] for line in (self.folder / data).read_text().splitlines() if line.startswith("5\t")}
        new = self.succeed("recommend", "m.npz", "--row", 5, "--row", 6, "--top", 3, "--seen", data).stdout.splitlines()
        self.assertEqual([line.split("\t")[0] for line in new], ["5"] * 3 + ["6"] * 3)
        self.assertFalse(seen & {line.split("\t")[2] for line in new[:3]})

    def test_unknown_rows(self):
        data, _ = self.additive()
        self.succeed("complete", data, "--model", "m.npz", "-q")
        done = self.succeed("recommend", "m.npz", "--row", "nobody", "--top", 2)
        self.assertIn("does not know row 'nobody'", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 2)
        self.succeed("complete", data, "--radius", 20, "--model", "plain.npz", "-q")
        self.fail_with(3, "recommend", "plain.npz", "--row", "nobody", says=("nobody", "offsets"))

    def test_all_rows_at_once(self):
        data, _ = self.additive()
        self.succeed("complete", data, "--model", "m.npz", "-q")
        names = [str(name) for name in load_model(self.folder / "m.npz")["row_names"]]
        single = [
            self.succeed("recommend", "m.npz", "--row", name, "--top", 4, "--seen", data).stdout for name in names[:3]
        ]
        for threads in (1, 3):
            done = self.succeed(
                "recommend", "m.npz", "--all", "--top", 4, "--seen", data, "--threads", threads, "--output", "lists.tsv"
            )
            self.assertEqual(done.stdout, "")
            lists = (self.folder / "lists.tsv").read_text()
            self.assertTrue(lists.startswith("".join(single)))
            self.assertEqual([line.split("\t")[0] for line in lists.splitlines()[::4]], names)
        self.assertEqual(self.succeed("recommend", "m.npz", "--all", "--top", 4, "--seen", data).stdout, lists)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["data.tsv", "lists.tsv", "m.npz"])
        self.fail_with(2, "recommend", "m.npz", "--all", "--row", 5, says="--all")
        self.fail_with(2, "recommend", "m.npz", says=("--row", "--new-rows", "--all"))


class ClipTest(ProgramTest):
    def test_ratings_stay_ratings(self):
        data = self.ratings(rows=60, cols=40, share=0.4)
        pairs = self.write("pairs.tsv", "".join(f"user{i}\titem{j}\n" for i in range(60) for j in range(40)))

        def predictions(*options):
            run = self.run_json("complete", data, "--model", "m.npz", *options)
            lines = self.succeed("predict", "m.npz", pairs).stdout.splitlines()
            return run, [float(line.split("\t")[2]) for line in lines]

        run, clipped = predictions()
        self.assertEqual(run["preparation"]["range"], [1, 5])
        self.assertTrue(run["options"]["clip"])
        self.assertGreaterEqual(min(clipped), 1)
        self.assertLessEqual(max(clipped), 5)
        run, free = predictions("--no-clip")
        self.assertIsNone(run["preparation"]["range"])
        self.assertGreater(max(free), 5)
        numpy.testing.assert_allclose(clipped, numpy.clip(free, 1, 5), atol=1e-6)
        # With a radius the model is the paper's, unless asked.
        self.assertIsNone(predictions("--radius", 20)[0]["preparation"]["range"])
        self.assertEqual(predictions("--radius", 20, "--clip")[0]["preparation"]["range"], [1, 5])

    def test_lists_keep_their_order(self):
        data = self.ratings(rows=60, cols=40, share=0.4)
        self.succeed("complete", data, "--model", "clip.npz", "-q")
        self.succeed("complete", data, "--model", "free.npz", "--no-clip", "-q")
        clip, free = (
            [
                line.split("\t")[2]
                for line in self.succeed("recommend", model, "--row", "user3", "--top", 40).stdout.splitlines()
            ]
            for model in ("clip.npz", "free.npz")
        )
        self.assertEqual(clip, free)

    def test_measurements_are_not_clipped(self):
        random = numpy.random.default_rng(2)
        i, j = numpy.nonzero(random.uniform(size=(30, 20)) < 0.7)
        data = self.write_triplets("data.tsv", i, j, random.normal(size=i.size))
        self.assertIsNone(self.run_json("complete", data)["preparation"]["range"])


class NewRowsTest(DataTest):
    def setUp(self):
        super().setUp()
        data, self.matrix = self.additive()
        lines = (self.folder / data).read_text().splitlines(keepends=True)
        self.write("train.tsv", "".join(line for line in lines if int(line.split("\t")[0]) < 50))
        self.succeed("complete", "train.tsv", "--loss", "squared", "--model", "m.npz", "-q")
        self.write(
            "new.tsv", "".join(f"n{i}\t{j}\t{self.matrix[i, j]}\n" for i in range(50, 60) for j in range(0, 50, 3))
        )
        self.rest = [(i, j) for i in range(50, 60) for j in range(50) if j % 3]
        self.write("pairs.tsv", "".join(f"n{i}\t{j}\n" for i, j in self.rest))

    def errors(self, *options):
        lines = self.succeed("predict", "m.npz", "pairs.tsv", *options).stdout.splitlines()
        truth = numpy.array([self.matrix[i, j] for i, j in self.rest])
        return numpy.array([float(line.split("\t")[2]) for line in lines]) - truth

    def test_a_few_entries_tell_about_a_new_row(self):
        folded = self.errors("--new-rows", "new.tsv")
        self.assertLess(numpy.square(folded).mean(), 0.35 * numpy.square(self.errors()).mean())

    def test_lists_of_new_rows(self):
        lines = self.succeed("recommend", "m.npz", "--new-rows", "new.tsv", "--top", 5).stdout.splitlines()
        self.assertEqual([line.split("\t")[0] for line in lines[::5]], [f"n{i}" for i in range(50, 60)])
        self.assertFalse([line for line in lines if int(line.split("\t")[2]) % 3 == 0])  # what they have is left out

    def test_columns_that_the_model_does_not_know(self):
        self.write("half.tsv", "nina\t3\t1.5\nnina\tunheard of\t2\n")
        done = self.succeed("predict", "m.npz", "pairs.tsv", "--new-rows", "half.tsv")
        self.assertIn("1 of 2 entries are of columns that the model does not know", done.stderr)
        self.write("none.tsv", "nina\tunheard of\t2\n")
        self.fail_with(
            3, "predict", "m.npz", "pairs.tsv", "--new-rows", "none.tsv", says=("none.tsv", "no entry", "'0'")
        )

    def test_a_model_of_version_0_1(self):
        with numpy.load(self.folder / "m.npz") as file:
            arrays = {name: file[name] for name in file.files if name not in ("row_price", "range")}
        numpy.savez(self.folder / "old.npz", **arrays)
        self.succeed("predict", "old.npz", "pairs.tsv", "-q")
        self.fail_with(3, "predict", "old.npz", "pairs.tsv", "--new-rows", "new.tsv", says=("0.1", "solve again"))


class SimilarTest(DataTest):
    def test_cosines_of_the_fitted_matrix(self):
        data, _ = self.additive()
        self.succeed("complete", data, "--model", "m.npz", "-q")
        model = load_model(self.folder / "m.npz")
        columns = model["matrix"] / numpy.linalg.norm(model["matrix"], axis=0)
        names = [str(name) for name in model["col_names"]]
        at = names.index("7")
        cosine = columns.T @ columns[:, at]
        lines = [
            line.split("\t")
            for line in self.succeed("similar", "m.npz", "--column", "7", "--top", 5).stdout.splitlines()
        ]
        order = [k for k in numpy.argsort(-cosine) if k != at][:5]
        self.assertEqual([line[2] for line in lines], [names[k] for k in order])
        numpy.testing.assert_allclose([float(line[3]) for line in lines], cosine[order], atol=1e-3)
        self.assertEqual(
            len(self.succeed("similar", "m.npz", "--row", 3, "--row", 4, "--top", 2).stdout.splitlines()), 4
        )
        both = ("similar", "m.npz", "--row", 3, "--column", 7, "--column", 2)
        one = self.succeed(*both, "--threads", 1).stdout
        self.assertEqual([self.succeed(*both, "--threads", threads).stdout for threads in (2, 3, 5)], 3 * [one])
        self.fail_with(3, "similar", "m.npz", "--row", "nobody", says=("--row", "nobody"))
        self.fail_with(2, "similar", "m.npz", says="--column")
