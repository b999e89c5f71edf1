#!/usr/bin/env python3
"""Checks the vectors of docs/spec against an implementation of its pages in plain Python.

It shares no code with the Java implementation: where the two disagree, the pages are unclear or one of them is wrong.
The functions follow the pages line by line and are as slow as they are plain.

    python3 src/test/python/spec_check.py docs/spec/vectors
"""

import hashlib
import json
import math
import os
import sys

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


# sharding.md

class Run:
    def __init__(self, case):
        self.n = case["size"]
        self.kind = case["sampler"]
        self.seed = case["seed"]
        self.w = case["world"]
        self.r = case["rank"]
        self.tail = case["tail"]
        self.bs = case["batch_size"]
        self.drop_last = case["drop_last"]
        self.e = case["start_epoch"]
        self.p = case["start_position"]

    def origin(self, epoch):
        return self.p if epoch == self.e else 0

    def samples_per_rank(self, epoch):
        left = self.n - self.origin(epoch)
        return left // self.w if self.tail == "drop" else ceil_div(left, self.w)

    def batches(self, epoch):
        s = self.samples_per_rank(epoch)
        return s // self.bs if self.drop_last else ceil_div(s, self.bs)

    def locate(self, number):
        b0, b = self.batches(self.e), self.batches(self.e + 1)
        if number < b0:
            return self.e, number
        return self.e + 1 + (number - b0) // b, (number - b0) % b

    def batch(self, number):
        epoch, i = self.locate(number)
        order = Permutation(self.n, self.seed, epoch).at if self.kind == "shuffled" else lambda position: position
        ks = range(i * self.bs, min(self.samples_per_rank(epoch), (i + 1) * self.bs))
        positions = [self.origin(epoch) + self.r + k * self.w for k in ks]
        weighing = [p for p in positions if self.tail != "exact" or p < self.n]
        return {
            "number": number,
            "epoch": epoch,
            "index": i,
            "first_position": positions[0],
            "valid": len(weighing),
            "samples": [order(p % self.n) for p in positions],
        }

    def state_after(self, number):
        epoch, i = self.locate(number)
        if i + 1 < self.batches(epoch):
            return [number, epoch, self.origin(epoch) + (i + 1) * self.bs * self.w]
        return [number, epoch + 1, 0]


# state.md

def quoted(text):
    letters = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    return '"' + "".join(letters.get(c, c if ord(c) >= 0x20 else "\\u%04x" % ord(c)) for c in text) + '"'


def write_state(state):
    return '{"penstock_state":1,"epoch":%d,"position":%d,"seed":%d,"sampler":%s,"dataset":%s}' % (
        state["epoch"], state["position"], state["seed"], quoted(state["sampler"]), quoted(state["dataset"]))


def read_state(text):
    def members(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a member is repeated")
        return dict(pairs)

    state = json.loads(text, object_pairs_hook=members)
    ranges = {"penstock_state": (1, 1), "epoch": (0, 1 << 62), "position": (0, 1 << 62),
              "seed": (-(1 << 63), (1 << 63) - 1)}
    if not isinstance(state, dict) or set(state) != set(ranges) | {"sampler", "dataset"}:
        raise ValueError("not the members of a state")
    for name, (low, high) in ranges.items():
        if type(state[name]) is not int or not low <= state[name] <= high:
            raise ValueError(name)
    if type(state["sampler"]) is not str or type(state["dataset"]) is not str:
        raise ValueError("a fingerprint is not a text")
    return state


# The vectors

checked = 0


def check(what, found, expected):
    global checked
    checked += 1
    if found != expected:
        sys.exit("%s: found %r, the vectors have %r" % (what, found, expected))


def check_permutation(vectors):
    for case in vectors["splitmix64"]:
        generator = SplitMix64(int(case["seed"], 16))
        check("splitmix64", ["0x%016x" % generator.next() for _ in case["outputs"]], case["outputs"])
    for case in vectors["permutations"]:
        what = "permutation of %d" % case["size"]
        order = Permutation(case["size"], int(case["seed"], 16), case["epoch"])
        check(what + " a", order.a, case["a"])
        check(what + " b", order.b, case["b"])
        check(what + " keys", ["0x%016x" % key for key in order.k], case["keys"])
        check(what, [order.at(p) for p in case["positions"]], case["samples"])
        check(what + " inverse", [order.position_of(s) for s in case["samples"]], case["positions"])
    for case in vectors["all_samples"]:
        order = Permutation(case["size"], int(case["seed"], 16), case["epoch"])
        samples = b"".join(order.at(p).to_bytes(8, "little") for p in range(case["size"]))
        check("all samples of %d" % case["size"], hashlib.sha256(samples).hexdigest(), case["sha256"])


def check_sharding(vectors):
    for case in vectors["runs"]:
        run = Run(case)
        check("batches", [run.batches(run.e), run.batches(run.e + 1)], case["batches_in_first_epochs"])
        for batch in case["batches"]:
            check("batch of %s" % vars(run), run.batch(batch["number"]), batch)


def check_state(vectors):
    for case in vectors["texts"]:
        check("text", write_state(case), case["text"])
        state = read_state(case["text"])
        check("state", [state[name] for name in ("epoch", "position", "seed", "sampler", "dataset")],
              [case[name] for name in ("epoch", "position", "seed", "sampler", "dataset")])
    for text in vectors["refused"]:
        try:
            state = read_state(text)
        except ValueError:
            check("refused", True, True)
        else:
            check("refused", state, text)
    for case in vectors["after"]:
        run = Run(case)
        for after in case["number_epoch_position"]:
            check("state after a batch of %s" % vars(run), run.state_after(after[0]), after)


def main():
    folder = sys.argv[1]
    for name, checker in (("permutation", check_permutation), ("sharding", check_sharding), ("state", check_state)):
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            checker(json.load(file))
    print("%d checks passed" % checked)


main()
