# SPDX-License-Identifier: Apache-2.0
"""mixtures.md in plain Python, function by function along the page. Started by spec_check.py."""

from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
import math

from spec_permutation import WRAP, Permutation, ceil_div, first
from spec_samplers import WithReplacement, seed_of_epoch

P = 1 << 22


# Weights

def decimal_of(weight):
    """The decimal number of the fewest digits, but two at least, that reads back as a binary64; the nearest to it."""
    exact = Decimal(weight)
    if exact == 0:
        return exact
    for digits in range(2, 18):
        unit = Decimal(1).scaleb(exact.adjusted() + 1 - digits)
        candidates = [exact.quantize(unit, rounding, context=Context(prec=1000))
                      for rounding in (ROUND_FLOOR, ROUND_CEILING)]
        candidates = [decimal for decimal in candidates if float(decimal) == weight]
        if candidates:
            return min(candidates, key=lambda decimal: abs(Fraction(decimal) - Fraction(exact)))
    raise ValueError(weight)


def whole_weights(weights):
    decimals = [Fraction(decimal_of(weight)) for weight in weights]
    tens = 1
    while any((decimal * tens).denominator != 1 for decimal in decimals):
        tens *= 10
    integers = [int(decimal * tens) for decimal in decimals]
    divisor = math.gcd(*integers)
    integers = [integer // divisor for integer in integers]
    total = sum(integers)
    if total <= P:
        return integers
    whole = [integer * P // total for integer in integers]
    by_remainder = sorted(range(len(integers)), key=lambda s: (-(integers[s] * P % total), s))
    for s in by_remainder[:P - sum(whole)]:
        whole[s] += 1
    return whole


# Sources of draws

class Proportions:
    """The draws of a phase without end, made one after another as they are asked for."""

    def __init__(self, weights):
        self.w = whole_weights(weights)
        self.total = sum(self.w)
        self.counts = [0] * len(self.w)
        self.sources, self.ranks = [], []

    def draw(self, i):
        """The source of draw i and its rank."""
        if i >= self.total:
            j = self.total + i % self.total
            if j < i:
                source, rank = self.draw(j)
                return source, (i // self.total) * self.w[source] + (rank - self.w[source])
        while len(self.sources) <= i:
            at = len(self.sources)
            errors = [self.w[s] * max(at, 1) - self.total * self.counts[s] for s in range(len(self.w))]
            greatest = max(error for error, w in zip(errors, self.w) if w > 0)
            source = next(s for s, w in enumerate(self.w) if w > 0 and errors[s] == greatest)
            self.sources.append(source)
            self.ranks.append(self.counts[source])
            self.counts[source] += 1
        return self.sources[i], self.ranks[i]

    def count(self, s, draws):
        """How many of the first draws are from s."""
        if draws >= 2 * self.total:
            periods = draws // self.total - 1
            return periods * self.w[s] + self.count(s, draws - periods * self.total)
        return sum(self.draw(i)[0] == s for i in range(draws))


# Samples of draws

class Mixture:
    def __init__(self, size, sources, phases, seed, epoch):
        self.sources, self.seed, self.epoch = sources, seed, epoch
        self.firsts = [phase["first"] for phase in phases]
        ends = self.firsts[1:] + [size]
        self.draws = [end - begin for begin, end in zip(self.firsts, ends)]
        self.proportions = [Proportions(phase["weights"]) for phase in phases]
        self.counts = {}

    def count(self, phase, s):
        if (phase, s) not in self.counts:
            self.counts[phase, s] = self.proportions[phase].count(s, self.draws[phase])
        return self.counts[phase, s]

    def by_chance(self, f, i):
        total = self.proportions[f].total
        key = (first((seed_of_epoch(self.seed, self.epoch) + 0x4D49585455524553) & WRAP) + f) & WRAP
        b = ceil_div(65536, total) * total
        q = i // b
        c = min(b, self.draws[f] - q * b)
        return q * b + Permutation(c, key, q).at(i % b)

    def at(self, p):
        f = max(f for f, begin in enumerate(self.firsts) if begin <= p)
        i = p - self.firsts[f]
        if self.seed is not None:
            i = self.by_chance(f, i)
        s, r = self.proportions[f].draw(i)
        before = sum(self.count(earlier, s) for earlier in range(f))
        of_epoch = sum(self.count(phase, s) for phase in range(len(self.firsts)))
        k = self.epoch * of_epoch + before + r
        source = self.sources[s]
        n = positions(source)
        return sum(samples(source) for source in self.sources[:s]) + order(source, k // n)(k % n)


def samples(source):
    """D, how many samples a source has."""
    return sum(samples(each) for each in source["sources"]) if "sources" in source else source["size"]


def positions(source):
    """n, how many positions its order has."""
    return source.get("draws", source["size"])


def order(source, epoch):
    if "sources" in source:
        return mixture(source, epoch).at
    if "draws" in source:
        return WithReplacement(source["size"], source["seed"], epoch).at
    if "seed" in source:
        return Permutation(source["size"], source["seed"], epoch).at
    return lambda position: position


def mixture(case, epoch):
    return Mixture(case["size"], case["sources"], case["phases"], case.get("seed"), epoch)


# By epochs

def by_epochs(sources):
    """The mixture's size and its one phase."""
    weights = [source["epochs"] * float(positions(source)) for source in sources]
    total = 0.0
    for weight in weights:
        total = total + weight
    return math.floor(Fraction(total) + Fraction(1, 2)), [{"first": 0, "weights": weights}]


# Epochs, and the seed of augmentations (randomness.md)

def epochs_of(source):
    if "sources" not in source:
        return 1 << 62
    mixed = mixture(source, 0)
    drawn = [sum(mixed.count(f, s) for f in range(len(mixed.firsts))) for s in range(len(source["sources"]))]
    return min([1 << 62] + [min(1 << 63, epochs_of(each) * positions(each)) // e
                            for each, e in zip(source["sources"], drawn) if e > 0])


def augmentation_seed(source):
    if "sources" in source and "seed" not in source:
        return next((seed for seed in map(augmentation_seed, source["sources"]) if seed != 0), 0)
    return source.get("seed", 0)


# Fingerprints

def fingerprint(source):
    if "sources" in source:
        phases = "".join(" from=%d weights=[%s]" % (phase["first"], ",".join(map(str, whole_weights(phase["weights"]))))
                         for phase in source["phases"])
        chance = " by chance seed=%d" % source["seed"] if "seed" in source else ""
        return "mixture size=%d%s%s of [%s]" % (
            source["size"], phases, chance, "; ".join(map(fingerprint, source["sources"])))
    if "draws" in source:
        return "with replacement size=%d of %d seed=%d" % (source["draws"], source["size"], source["seed"])
    if "seed" in source:
        return "feistel-8 size=%d seed=%d" % (source["size"], source["seed"])
    return "sequential size=%d" % source["size"]


# The vectors

def check_mixtures(vectors, check):
    for case in vectors["proportions"]:
        what = " of weights %s" % case["weights"]
        check("whole" + what, whole_weights(case["weights"]), case["whole"])
        proportions = Proportions(case["weights"])
        draws = [proportions.draw(i) for i in range(len(case["sources"]))]
        check("sources" + what, [source for source, _ in draws], case["sources"])
        check("ranks" + what, [rank for _, rank in draws], case["ranks"])
    for case in vectors["by_epochs"]:
        size, case["phases"] = by_epochs(case["sources"])
        check("size by epochs of %s" % case["sources"], size, case["size"])
    for case in vectors["mixtures"] + vectors["by_epochs"]:
        check("fingerprint", fingerprint(case), case["fingerprint"])
        check("epochs", epochs_of(case), case["epochs"])
        check("seed of augmentations", augmentation_seed(case), case["augmentation_seed"])
        mixed = mixture(case, case["epoch"])
        check("samples of %s" % {name: value for name, value in case.items() if name != "samples"},
              [mixed.at(p) for p in case["positions"]], case["samples"])
