# SPDX-License-Identifier: Apache-2.0
"""samplers.md in plain Python, function by function along the page. Started by spec_check.py."""

from fractions import Fraction
import hashlib
import math
import struct
import sys

from spec_permutation import WRAP, Permutation, first


def mulhi(x, y):
    return (x * y) >> 64


def seed_of_epoch(seed, epoch):
    """first(first(seed) + epoch) with the arithmetic of u64."""
    return first((first(seed & WRAP) + epoch) & WRAP)


# Block-shuffled

class BlockShuffled:
    def __init__(self, starts, window, seed, epoch):
        self.starts = starts
        self.n = starts[-1]
        key = seed_of_epoch(seed, epoch)
        blocks = Permutation(len(starts) - 1, first((key + 0x424C4F434B53) & WRAP), 0)
        self.wkey = first((key + 0x57494E444F57) & WRAP)
        self.order = [blocks.at(i) for i in range(len(starts) - 1)]
        self.v = min(window, self.n)

    def s(self, place):
        """The sequence of the blocks one behind another."""
        for block in self.order:
            size = self.starts[block + 1] - self.starts[block]
            if place < size:
                return self.starts[block] + place
            place -= size

    def at(self, position):
        i = position // self.v
        c = min(self.v, self.n - i * self.v)
        return self.s(i * self.v + Permutation(c, self.wkey, i).at(position % self.v))


# With replacement

class WithReplacement:
    def __init__(self, n, seed, epoch):
        self.n = n
        self.key = first((seed_of_epoch(seed, epoch) + 0x554E49464F524D) & WRAP)

    def at(self, position):
        return mulhi(first((self.key + position) & WRAP), self.n)


# Weighted, with replacement

def whole_weights(weights):
    total = 0.0
    for weight in weights:
        total = total + weight
    quotient = 2.0 ** 52 / total
    e = 1024 if math.isinf(quotient) else math.frexp(quotient)[1] - 1  # frexp has a fraction from 1/2 to 1
    return [0 if weight == 0 else max(1, math.floor(Fraction(weight) * Fraction(2) ** e + Fraction(1, 2)))
            for weight in weights]


class Weighted:
    def __init__(self, weights, seed, epoch):
        whole = whole_weights(weights)
        n, t = len(whole), sum(whole)
        a = [w * n for w in whole]
        self.n = n
        self.threshold = [(1 << 63) - 1] * n
        self.alias = list(range(n))
        less, more = [], []
        for i in range(n):
            (less if a[i] < t else more).append(i)
        while less and more:
            low, high = less.pop(), more.pop()
            self.threshold[low] = (a[low] << 63) // t
            self.alias[low] = high
            a[high] = a[high] - (t - a[low])
            (less if a[high] < t else more).append(high)
        self.key = first((seed_of_epoch(seed, epoch) + 0x5745494748544544) & WRAP)

    def at(self, position):
        word = first((self.key + position) & WRAP)
        place = mulhi(word, self.n)
        return place if first(word) >> 1 < self.threshold[place] else self.alias[place]


# Weighted, without replacement

def logarithm(word):
    if word == WRAP:
        return 0
    x = word + 1
    p = x.bit_length() - 1
    m = x << (63 - p)
    r = 0
    for _ in range(40):
        h = mulhi(m, m)
        r = 2 * r
        if h >= 1 << 63:
            r, m = r + 1, h
        else:
            m = 2 * h
    return (64 - p) * (1 << 40) - r


class WeightedWithoutReplacement:
    def __init__(self, weights, seed, epoch):
        seedkey = first((seed_of_epoch(seed, epoch) + 0x574F4E4345) & WRAP)

        def key(i):
            if weights[i] == 0:
                return math.inf
            return min(sys.float_info.max, float(logarithm(first((seedkey + i) & WRAP))) / weights[i])

        self.order = sorted(range(len(weights)), key=lambda i: (key(i), i))

    def at(self, position):
        return self.order[position]


# Stratified, balanced and bucketed

def members_of(classes):
    members = [[] for _ in range(max(classes) + 1)]
    for sample, c in enumerate(classes):
        members[c].append(sample)
    return members


class Stratified:
    def __init__(self, classes, seed, epoch):
        self.members = members_of(classes)
        self.seed, self.epoch = seed, epoch
        places = [(Fraction(2 * j + 1, 2 * len(of_class)), c, j)
                  for c, of_class in enumerate(self.members) for j in range(len(of_class))]
        self.places = sorted(places)

    def at(self, position):
        _, c, j = self.places[position]
        order = Permutation(len(self.members[c]), first((first(self.seed & WRAP) + c) & WRAP), self.epoch)
        return self.members[c][order.at(j)]


class Balanced:
    def __init__(self, classes, draws, seed, epoch):
        self.members = members_of(classes)
        self.draws, self.seed, self.epoch = draws, seed, epoch

    def at(self, position):
        classes = len(self.members)
        d = self.epoch * self.draws + position
        q = d // classes
        key = first((first(self.seed & WRAP) + 0x42414C414E4345) & WRAP)
        t = mulhi(first((key + q) & WRAP), classes)
        c = (d % classes + t) % classes
        size = len(self.members[c])
        order = Permutation(size, first((first(self.seed & WRAP) + c) & WRAP), q // size)
        return self.members[c][order.at(q % size)]


class Bucketed:
    def __init__(self, buckets, group, rest, seed, epoch):
        numbers = numbered(buckets)
        self.members = members_of(numbers)
        self.group, self.seed, self.epoch = group, seed, epoch
        self.groups = [(c, j) for c, of_bucket in enumerate(self.members)
                       for j in range(-(-len(of_bucket) // group) if rest == "PAD" else len(of_bucket) // group)]
        self.size = len(self.groups) * group

    def at(self, position):
        order = Permutation(len(self.groups), first((first(self.seed & WRAP) + 0x534841504553) & WRAP), self.epoch)
        c, j = self.groups[order.at(position // self.group)]
        size = len(self.members[c])
        within = Permutation(size, first((first(self.seed & WRAP) + c) & WRAP), self.epoch)
        return self.members[c][within.at((j * self.group + position % self.group) % size)]


def numbered(buckets):
    used = sorted(set(buckets))
    return [used.index(bucket) for bucket in buckets]


# Fingerprints

def digest(numbers):
    """Of numbers from 0 to 2^64 - 1."""
    return hashlib.sha256(b"".join(number.to_bytes(8, "little") for number in numbers)).hexdigest()[:16]


def bits(weight):
    return struct.unpack("<Q", struct.pack("<d", weight))[0]


def fingerprint(case):
    kind, seed, draws = case["kind"], case["seed"], case.get("draws")
    if kind == "block_shuffled":
        starts = case["starts"]
        return "blocks size=%d blocks=%d:%s window=%d seed=%d" % (
            starts[-1], len(starts) - 1, digest(starts), case["window"], seed)
    if kind == "subset":
        choice = case["choice"]
        return "subset of %d:%s by [feistel-8 size=%d seed=%d]" % (
            case["dataset_size"], digest(choice), len(choice), seed)
    if kind == "with_replacement":
        return "with replacement size=%d of %d seed=%d" % (draws, case["n"], seed)
    if kind in ("weighted", "weighted_without_replacement"):
        words = "with" if kind == "weighted" else "without"
        weights = case["weights"]
        return "weighted %s replacement size=%d of %d:%s seed=%d" % (
            words, draws, len(weights), digest(map(bits, weights)), seed)
    if kind == "bucketed":
        numbers = numbered(case["buckets"])
        return "bucketed %d samples of %d classes:%s group=%d rest=%s seed=%d" % (
            len(numbers), max(numbers) + 1, digest(numbers), case["group"], case["rest"], seed)
    classes = case["classes"]
    of = "%d samples of %d classes:%s seed=%d" % (len(classes), max(classes) + 1, digest(classes), seed)
    return "stratified " + of if kind == "stratified" else "balanced size=%d %s" % (draws, of)


# The vectors

def sampler_of(case):
    kind, seed, epoch = case["kind"], case["seed"], case["epoch"]
    if kind == "block_shuffled":
        return BlockShuffled(case["starts"], case["window"], seed, epoch).at
    if kind == "subset":
        order = Permutation(len(case["choice"]), seed, epoch)
        return lambda position: case["choice"][order.at(position)]
    if kind == "with_replacement":
        return WithReplacement(case["n"], seed, epoch).at
    if kind == "weighted":
        return Weighted(case["weights"], seed, epoch).at
    if kind == "weighted_without_replacement":
        return WeightedWithoutReplacement(case["weights"], seed, epoch).at
    if kind == "stratified":
        return Stratified(case["classes"], seed, epoch).at
    if kind == "balanced":
        return Balanced(case["classes"], case["draws"], seed, epoch).at
    if kind == "bucketed":
        order = Bucketed(case["buckets"], case["group"], case["rest"], seed, epoch)
        assert order.size == len(case["samples"])
        return order.at
    raise ValueError(kind)


def check_samplers(vectors, check):
    for case in vectors["samplers"]:
        check("fingerprint", fingerprint(case), case["fingerprint"])
        check("epochs", min(1 << 62, (1 << 63) // case["draws"]) if case["kind"] == "balanced" else 1 << 62,
              case["epochs"])
        at = sampler_of(case)
        positions = case.get("positions", range(len(case["samples"])))
        check("samples of %s" % {name: value for name, value in case.items() if name != "samples"},
              [at(position) for position in positions], case["samples"])
    for case in vectors["tables"]:
        what = " of weights %s" % case["weights"]
        check("whole" + what, whole_weights(case["weights"]), case["whole"])
        table = Weighted(case["weights"], 0, 0)
        check("thresholds" + what, table.threshold, case["thresholds"])
        check("aliases" + what, table.alias, case["aliases"])
    for case in vectors["logarithms"]:
        check("logarithm of " + case["word"], logarithm(int(case["word"], 16)), case["log"])
