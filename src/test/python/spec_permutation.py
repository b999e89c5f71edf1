# SPDX-License-Identifier: Apache-2.0
"""permutation.md, in plain Python: what every other page of docs/spec builds on."""

import math

WRAP = (1 << 64) - 1


# permutation.md

class SplitMix64:
    def __init__(self, state):
        self.s = state & WRAP

    def next(self):
        self.s = (self.s + 0x9E3779B97F4A7C15) & WRAP
        z = self.s
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WRAP
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WRAP
        return z ^ (z >> 31)


def first(s):
    return SplitMix64(s).next()


def ceil_div(x, y):
    return (x + y - 1) // y


def f(h, key, m):
    z = h ^ key
    z = (z * 0xFF51AFD7ED558CCD) & WRAP
    z = z ^ (z >> 32)
    z = (z * 0xC4CEB9FE1A85EC53) & WRAP
    return (z * m) >> 64


class Permutation:
    def __init__(self, n, seed, epoch):
        self.n = n
        r = math.isqrt(n - 1) + 1
        self.a = max(32, r)
        self.b = max(32, ceil_div(n, self.a))
        generator = SplitMix64(first((first(seed & WRAP) + epoch) & WRAP))
        self.k = [generator.next() for _ in range(8)]

    def at(self, position):
        a, b, k = self.a, self.b, self.k
        x, y = position % a, position // a
        while True:
            for i in (0, 2, 4, 6):
                x = (x + f(y, k[i], a)) % a
                y = (y + f(x, k[i + 1], b)) % b
            m = y * a + x
            if m < self.n:
                return m

    def position_of(self, sample):
        a, b, k = self.a, self.b, self.k
        x, y = sample % a, sample // a
        while True:
            for i in (6, 4, 2, 0):
                y = (y - f(x, k[i + 1], b)) % b
                x = (x - f(y, k[i], a)) % a
            m = y * a + x
            if m < self.n:
                return m
