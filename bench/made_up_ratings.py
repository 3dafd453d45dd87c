#!/usr/bin/env python3
"""Writes made-up ratings of Netflix's shape as text: user,item,rating,date, film by film as its publisher did.

    bench/made_up_ratings.py ratings.csv --lines 10000000
    bench/made_up_ratings.py ratings.csv --lines 100000000 --shuffle

Users and films have uneven numbers of ratings, a taste of rank 20 and noise; no pair is given twice. With fewer lines there are
fewer ratings a film, or with --shrink fewer films and users. Needs NumPy."""
import argparse
import collections
import multiprocessing
import os

import numpy as np

USERS, FILMS, RATINGS, LARGEST_ID, RANK = 480_189, 17_770, 100_480_507, 2_649_429, 20
LONGEST = len("2649429,17770,5,2005-12-31\n")


def digits(numbers, width):
    """Decimal digits as a table of bytes, zeros (which are left out later) in front."""
    table = np.zeros((len(numbers), width), np.uint8)
    rest = numbers.copy()
    for place in range(width - 1, -1, -1):
        table[:, place] = np.where((rest > 0) | (place == width - 1), ord("0") + rest % 10, 0)
        rest //= 10
    return table


def shape(options):
    part = min(1.0, options.lines / RATINGS) if options.shrink else 1.0
    return options.users or max(20, round(USERS * part**0.5)), options.films or max(10, round(FILMS * part**0.5))


def draw(lines, users, films, random):
    """Pairs (user, film) sorted by film, no pair twice, about `lines` of them."""
    active = np.cumsum(random.lognormal(0, 1.2, users))
    active /= active[-1]
    popular = random.lognormal(0, 1.8, films)
    wanted = np.minimum(popular / popular.sum() * lines, 0.45 * users)
    wanted *= lines / wanted.sum()
    for film in range(films):
        count = int(wanted[film]) + 1
        seen = np.empty(0, np.int64)
        while len(seen) < min(count, users // 2):
            more = np.searchsorted(active, random.random(count - len(seen) + 16))
            seen = np.unique(np.concatenate([seen, more]))
        yield film, seen if len(seen) <= count else random.permutation(seen)[:count]


def text_of(world, user, film, noise, day):
    """Lines, on any process: what is random is drawn before, so the bytes do not depend on how many there are."""
    score = 3.6 + world.user_bias[user] + world.film_bias[film] + np.einsum("ij,ij->i", world.taste[user], world.style[film])
    rating = np.clip(np.rint(score + noise), 1, 5).astype(np.int64)
    table = np.zeros((len(user), LONGEST), np.uint8)
    table[:, 0:7] = digits(world.user_ids[user], 7)
    table[:, 7] = ord(",")
    table[:, 8:13] = digits(film + 1, 5)
    table[:, 13] = ord(",")
    table[:, 14] = ord("0") + rating
    table[:, 15] = ord(",")
    table[:, 16:26] = day.astype("datetime64[D]").astype("S10").view(np.uint8).reshape(-1, 10)
    table[:, 26] = ord("\n")
    return table[table != 0].tobytes()


class World:
    """Who likes what."""

    def __init__(self, users, films, random):
        self.user_ids = np.sort(random.choice(LARGEST_ID, users, replace=False)) + 1
        self.user_bias, self.film_bias = random.normal(0, 0.4, users), random.normal(0, 0.4, films)
        self.taste = random.normal(0, 1, (users, RANK)).astype(np.float32)
        self.style = (random.normal(0, 1, (films, RANK)) * 0.55 / np.arange(1, RANK + 1) ** 0.5).astype(np.float32)


class Writer:
    """Lines in order, made by several processes that begin with what is known now."""

    def __init__(self, out, world, jobs):
        global its_world
        its_world = world
        self.out = out
        self.room = 4 * jobs
        self.pool = multiprocessing.get_context("fork").Pool(jobs)
        self.coming = collections.deque()

    def add(self, *what):
        self.coming.append(self.pool.apply_async(lines_of, what))
        self.write(self.room)

    def write(self, left=0):
        while len(self.coming) > left:
            self.out.write(self.coming.popleft().get())


def lines_of(*what):
    return text_of(its_world, *what)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--lines", type=int, default=RATINGS)
    parser.add_argument("--users", type=int, help="so many, whatever the lines say")
    parser.add_argument("--films", type=int, help="the same")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shuffle", action="store_true", help="lines in random order, within runs of four million")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes; the lines do not depend on it")
    parser.add_argument("--shrink", action="store_true", help="fewer users and films where there are fewer lines")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    users, films = shape(options)
    world = World(users, films, random)
    first_day, days = np.datetime64("1999-11-11"), 2243
    written = 0
    partial = options.output + ".part"
    with open(partial, "wb") as out:
        held = []
        writer = Writer(out, world, options.jobs)

        def flush():
            if not held:
                return
            user, film = (np.concatenate(side) for side in zip(*held))
            held.clear()
            if options.shuffle:
                order = random.permutation(len(user))
                user, film = user[order], film[order]
            for first in range(0, len(user), 1 << 18):
                u, f = user[first : first + (1 << 18)], film[first : first + (1 << 18)]
                noise = random.normal(0, 0.75, len(u))
                writer.add(u, f, noise, first_day + random.integers(0, days, len(u)))

        waiting = 0
        for film, seen in draw(options.lines, users, films, random):
            held.append((seen, np.full(len(seen), film)))
            waiting += len(seen)
            written += len(seen)
            if waiting > 4_000_000:
                flush()
                waiting = 0
        flush()
        writer.write()
    os.replace(partial, options.output)
    print(f"{options.output}: {written} lines, {os.path.getsize(options.output) / 1e9:.2f} GB, {users} x {films}")


if __name__ == "__main__":
    main()
