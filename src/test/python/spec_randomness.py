# SPDX-License-Identifier: Apache-2.0
"""randomness.md and bad-samples.md of docs/spec in plain Python, and the vectors of the latter.

    python3 src/test/python/spec_randomness.py > docs/spec/vectors/bad-samples.json
"""

import json
import random
import sys

sys.dont_write_bytecode = True

from spec_permutation import WRAP, SplitMix64, first


# randomness.md

def step_number(name):
    step = 0xCBF29CE484222325
    for b in name.encode("utf-8"):
        step = ((step ^ b) * 0x100000001B3) & WRAP
    return step


class Words(SplitMix64):
    def __init__(self, seed, epoch, position, name):
        e = first((first((first(seed & WRAP) + epoch) & WRAP) + 0x44524157) & WRAP)
        super().__init__(first((first((e + position) & WRAP) + step_number(name)) & WRAP))

    def below(self, bound):
        return (self.next() * bound) >> 64


def check_randomness(vectors, run_of, check):
    for case in vectors["steps"]:
        check("step", "0x%016x" % step_number(case["name"]), case["step"])
    for case in vectors["words"]:
        words = Words(int(case["seed"], 16), case["epoch"], case["position"], case["step"])
        check("words", ["0x%016x" % words.next() for _ in case["words"]], case["words"])
    for case in vectors["draws"]:
        words = Words(int(case["seed"], 16), case["epoch"], case["position"], case["step"])
        check("bounded", words.below(case["bound"]), case["below_bound"])
        check("double", words.next() >> 11, case["double_times_2_53"])
        check("float", words.next() >> 40, case["float_times_2_24"])
        check("bit", words.next() >> 63, case["bit"])
    for case in vectors["runs"]:
        run = run_of(case)
        for n, batch in enumerate(case["batches"]):
            epoch, i = run.locate(n)
            ks = range(i * run.bs, min(run.samples_per_rank(epoch), (i + 1) * run.bs))
            positions = [run.origin(epoch) + run.r + k * run.w for k in ks]
            words = ["0x%016x" % Words(case["loader_seed"], epoch, p, case["step"]).next() for p in positions]
            check("draws of a run", {"number": n, "epoch": epoch, "positions": positions, "first_words": words}, batch)


# bad-samples.md

def substitute(seed, epoch, position, size, sample, bad):
    words = Words(seed, epoch, position, "penstock.substitute")
    for _ in range(64):
        other = words.below(size)
        if other != sample and other not in bad:
            return other
    raise ValueError("64 draws are bad")


def apply(policy, seed, epoch, size, samples, positions, valid, bad):
    rows = list(zip(samples, positions))

    def other(row):
        return substitute(seed, epoch, row[1], size, row[0], bad), row[1]

    if policy == "skip":
        weighing, rest = rows[:valid], rows[valid:]
        good = [row for row in weighing if row[0] not in bad]
        fillers = [other(row) for row in weighing if row[0] in bad]
        rows = good + fillers[::-1] + rest
        valid = len(good)
    # What was filled in can be read: the rest is replaced under either policy.
    rows = [other(row) if row[0] in bad else row for row in rows]
    return {"samples": [row[0] for row in rows], "positions": [row[1] for row in rows], "valid": valid}


def remove(samples, positions, valid, bad):
    """Skips in a batch by a budget without padding."""
    good = [row for row in range(len(samples)) if samples[row] not in bad]
    return {"samples": [samples[row] for row in good], "positions": [positions[row] for row in good],
            "valid": sum(row < valid for row in good)}


def check_bad_samples(vectors, check):
    for case in vectors["substitutes"]:
        found = substitute(int(case["seed"], 16), case["epoch"], case["position"], case["size"], case["sample"],
                           case["bad"])
        check("substitute", found, case["substitute"])
    for case in vectors["batches"]:
        found = apply(case["policy"], int(case["seed"], 16), case["epoch"], case["size"], case["samples"],
                      case["positions"], case["valid"], case["bad"])
        check("batch with bad samples", found, case["after"])
    for case in vectors["removals"]:
        check("batch without padding", remove(case["samples"], case["positions"], case["valid"], case["bad"]),
              case["after"])


def make_bad_samples():
    draw = random.Random(5)
    substitutes = []
    for i, size in enumerate([2, 3, 10, 10, 1000, 1000, 50257, 10 ** 12, 1 << 62]):
        seed = 0 if i == 0 else draw.getrandbits(64)
        epoch = 0 if i == 0 else draw.randrange(1000)
        position = 0 if i == 0 else draw.randrange(min(4 * size, 1 << 62))
        sample = draw.randrange(size)
        words = Words(seed, epoch, position, "penstock.substitute")
        bad = {sample}
        if size > 3:
            bad |= {words.below(size) for _ in range(2)}    # so that the third draw is the earliest that may be taken
        substitutes.append({"seed": "0x%016x" % seed, "epoch": epoch, "position": position, "size": size,
                            "sample": sample, "bad": sorted(bad),
                            "substitute": substitute(seed, epoch, position, size, sample, bad)})
    batches = []
    for i in range(40):
        size = draw.randrange(12, 60)
        count = draw.randrange(1, 10)
        world = draw.randrange(1, 5)
        seed, epoch, begin = draw.getrandbits(64), draw.randrange(5), draw.randrange(2 * size)
        samples = [draw.randrange(size) for _ in range(count)]
        positions = [begin + world * k for k in range(count)]
        valid = count if i % 3 else draw.randrange(count + 1)
        bad = sorted({draw.randrange(size) for _ in range(size // 4)} | set(draw.sample(samples, (count + 1) // 2)))
        policy = ["replace", "skip"][i % 2]
        batches.append({"seed": "0x%016x" % seed, "epoch": epoch, "size": size, "policy": policy, "samples": samples,
                        "positions": positions, "valid": valid, "bad": bad,
                        "after": apply(policy, seed, epoch, size, samples, positions, valid, bad)})
    removals = []
    for i in range(12):
        count, world, begin = draw.randrange(2, 10), draw.randrange(1, 5), draw.randrange(100)
        samples = draw.sample(range(40), count)
        positions = [begin + world * k for k in range(count)]
        valid = count if i % 3 else draw.randrange(count + 1)
        bad = sorted(set(draw.sample(samples, draw.randrange(1, count))) | {40})
        removals.append({"seed": "0x%016x" % i, "epoch": 0, "size": 41, "policy": "skip", "samples": samples,
                         "positions": positions, "valid": valid, "bad": bad,
                         "after": remove(samples, positions, valid, bad)})
    return {"substitutes": substitutes, "batches": batches, "removals": removals}


def main():
    sections = []
    for name, cases in make_bad_samples().items():
        lines = ",\n".join("  " + json.dumps(case, separators=(",", ":")) for case in cases)
        sections.append('"%s": [\n%s\n]' % (name, lines))
    print("{\n%s\n}" % ",\n".join(sections))


if __name__ == "__main__":
    main()
