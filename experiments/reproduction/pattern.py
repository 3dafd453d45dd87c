"""Where an estimate is nonzero, as numbers and as a picture."""

import numpy

CELLS = 100  # of a picture, each way


def compare_patterns(model_file, truth_file, pictures):
    """Where the answer is nonzero (above a hundredth of its largest entry), held against the truth."""
    with numpy.load(model_file) as model:
        answer = (model["left"] * model["values"]) @ model["right"].T
    truth = numpy.load(truth_file)
    found, there = abs(answer) > 0.01 * abs(answer).max(), truth != 0
    both = float((found & there).sum())
    result = {
        "nonzero": float(found.mean()), "precision": both / max(1, found.sum()), "recall": both / max(1, there.sum()),
        "relative_error": float(numpy.linalg.norm(answer - truth) / numpy.linalg.norm(truth)),
    }  # fmt: skip
    return {**result, "answer_picture": picture(found), "truth_picture": picture(there)} if pictures else result


def picture(nonzero):
    """The share of nonzeros in each cell of a square grid, row by row, as hexadecimal digits."""
    cells = min(*nonzero.shape, CELLS)
    rows, cols = ([-(-cell * size // cells) for cell in range(cells)] for size in nonzero.shape)
    count = numpy.add.reduceat(numpy.add.reduceat(nonzero.astype(int), rows, axis=0), cols, axis=1)
    heights, widths = (numpy.diff([*starts, size]) for starts, size in zip((rows, cols), nonzero.shape, strict=True))
    return "".join(f"{int(15 * share + 0.5):x}" for share in (count / numpy.outer(heights, widths)).flat)
