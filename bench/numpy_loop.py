"""What a NumPy user would write: the same Frank-Wolfe loop with SciPy's svds. bench/compare.py runs it."""

import time

import numpy
import scipy.sparse
import scipy.sparse.linalg


class Width:
    """The hybrid rule: the paper's, with a floor."""

    def __init__(self, radius, scale, floor=0.5):
        self.radius, self.scale, self.floor, self.changes = radius, scale, floor, []

    def next(self, k):
        paper = 2 / (k + 2) * max(self.changes[-5:]) if self.changes else self.radius
        return max(paper, self.floor * self.scale / numpy.sqrt(k + 1))


def leading_pair(matrix, start):
    """The leading singular pair, from the last one and to two digits."""
    u, _sigma, vt = scipy.sparse.linalg.svds(matrix, k=1, v0=start, tol=1e-2)
    return u[:, 0], vt[0]


def completion(row, col, value, shape, radius, iterations):
    """sum |x - y| over the entries. Returns objectives and seconds by iteration."""
    y = value.astype(numpy.float32)
    order = numpy.lexsort((col, row))
    row, col, y = row[order], col[order], y[order]
    slopes = scipy.sparse.csr_matrix((y.copy(), (row, col)), shape=shape)
    x = numpy.zeros_like(y)
    width = Width(radius, numpy.sqrt(numpy.mean(numpy.square(y, dtype=numpy.float64))))
    start = numpy.ones(min(shape), dtype=numpy.float32)
    objective, seconds, began = [], [], time.perf_counter()
    for k in range(iterations):
        residual = x - y
        objective.append(float(numpy.abs(residual).sum(dtype=numpy.float64)))
        seconds.append(time.perf_counter() - began)
        slopes.data = numpy.clip(residual / numpy.float32(width.next(k)), -1, 1)
        u, v = leading_pair(slopes, start)
        start = u if shape[0] <= shape[1] else v
        change = numpy.float32(-radius) * u[row] * v[col] - x
        width.changes.append(float(numpy.abs(change).max()))
        x += numpy.float32(2 / (k + 2)) * change
    objective.append(float(numpy.abs(x - y).sum(dtype=numpy.float64)))
    seconds.append(time.perf_counter() - began)
    return objective, seconds


def links(y, radius, l1, iterations):
    """sum (x - y)^2 over the entries that are not NaN + l1 sum |x| over all."""
    y = y.astype(numpy.float32)
    observed = ~numpy.isnan(y)
    filled = numpy.where(observed, y, 0).astype(numpy.float32)
    mask = observed.astype(numpy.float32)
    x = numpy.zeros_like(y)
    width = Width(radius, numpy.sqrt(numpy.mean(numpy.square(y[observed], dtype=numpy.float64))))
    start = numpy.ones(y.shape[0], dtype=numpy.float32)
    objective, seconds, began = [], [], time.perf_counter()

    def value():
        residual = (x - filled) * mask
        return float(numpy.vdot(residual, residual)) + l1 * float(numpy.abs(x).sum(dtype=numpy.float64))

    for k in range(iterations):
        objective.append(value())
        seconds.append(time.perf_counter() - began)
        slopes = 2 * (x - filled) * mask + numpy.float32(l1) * numpy.clip(x / numpy.float32(width.next(k)), -1, 1)
        u, v = leading_pair(slopes, start)
        start = u
        change = numpy.outer(numpy.float32(-radius) * u, v) - x
        width.changes.append(float(numpy.abs(change).max()))
        x += numpy.float32(2 / (k + 2)) * change
    objective.append(value())
    seconds.append(time.perf_counter() - began)
    return objective, seconds
