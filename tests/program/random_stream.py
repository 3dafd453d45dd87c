"""The program's random stream, written down a second time: the same seed must draw the same mask in every version."""

import numpy

WORD = (1 << 64) - 1


def rotate(x, k):
    return ((x << k) | (x >> (64 - k))) & WORD


class RandomStream:
    """xoshiro256++ seeded by splitmix64 (Blackman and Vigna)."""

    def __init__(self, seed):
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & WORD
            z = seed
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
            self.state.append(z ^ (z >> 31))

    def next(self):
        s = self.state
        result = (rotate((s[0] + s[3]) & WORD, 23) + s[0]) & WORD
        t = (s[1] << 17) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    def uniform(self):
        return (self.next() >> 11) * 2.0**-53


def observe_links(graph, observed, flip, seed, unsymmetric):
    """What `links` sees of a 0/1 matrix: NaN where nothing was observed."""
    mask, flips = RandomStream(seed), RandomStream(seed ^ 0x5851F42D4C957F2D)
    n = len(graph)
    data = numpy.full((n, n), numpy.nan)
    for a in range(n):
        for b in range(0 if unsymmetric else a, n):
            seen, flipped = mask.uniform() < observed, flips.uniform() < flip
            if not seen:
                continue
            data[a, b] = graph[a, b] != flipped
            if not unsymmetric:
                data[b, a] = data[a, b]
    return data
