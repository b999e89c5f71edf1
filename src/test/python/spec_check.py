#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the vectors of docs/spec against an implementation of its pages in plain Python.

It shares no code with the Java implementation: where the two disagree, the pages are unclear or one of them is wrong.
The functions follow the pages line by line and are as slow as they are plain.

    python3 src/test/python/spec_check.py docs/spec/vectors
"""

import hashlib
import json
import math
import os
import struct
import sys

sys.dont_write_bytecode = True

from spec_permutation import WRAP, Permutation, SplitMix64, ceil_div, first
from spec_edits import check_edits, check_ledger
from spec_mixtures import check_mixtures
from spec_packing import check_packing
from spec_randomness import check_bad_samples, check_randomness
from spec_split import check_split
from spec_samplers import check_samplers
from spec_streams import check_streams
from spec_work import check_work


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
    ranges = {"penstock_state": (1, 1), "epoch": (0, 1 << 62), "position": (0, (1 << 62) - 1),
              "seed": (-(1 << 63), (1 << 63) - 1)}
    if not isinstance(state, dict) or set(state) != set(ranges) | {"sampler", "dataset"}:
        raise ValueError("not the members of a state")
    for name, (low, high) in ranges.items():
        if type(state[name]) is not int or not low <= state[name] <= high:
            raise ValueError(name)
    for name in ("sampler", "dataset"):
        if type(state[name]) is not str:
            raise ValueError("a fingerprint is not a text")
        state[name].encode("utf-8")         # fails on half of a surrogate pair, which this library lets pass
    return state


# windows.md

BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "bool": 1,
         "f16": 2, "f32": 4, "f64": 8, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1}


def window_tokens(case):
    return case["length"] + 1 if case["labels"] else case["length"]


def windows(tokens, case):
    w = window_tokens(case)
    return 0 if tokens < w else (tokens - w) // case["stride"] + 1


class Windows:
    def __init__(self, tokens, case):
        self.case = case
        self.size = windows(tokens, case)

    def locate(self, i):
        return i * self.case["stride"], window_tokens(self.case)


class DocumentWindows:
    def __init__(self, starts, case):
        self.starts = starts
        self.case = case
        self.counts = [windows(end - start, case) for start, end in zip(starts, starts[1:])]
        self.size = sum(self.counts)

    def locate(self, i):
        d, before = 0, 0
        while i >= before + self.counts[d]:
            before += self.counts[d]
            d += 1
        return self.starts[d] + (i - before) * self.case["stride"], window_tokens(self.case)


class Documents:
    def __init__(self, starts, case):
        self.starts = starts
        self.limit = case["max_tokens"]
        self.size = len(starts) - 1

    def locate(self, d):
        return self.starts[d], min(self.limit, self.starts[d + 1] - self.starts[d])


def signed(dtype):
    return dtype.startswith("i")


def pack(values, dtype):
    """The values' bytes; those that are out of the dtype's range keep their bits."""
    bits = 8 * BYTES[dtype]
    return b"".join((value & ((1 << bits) - 1)).to_bytes(BYTES[dtype], "little") for value in values)


def unpack(data, dtype):
    size = BYTES[dtype]
    return [int.from_bytes(data[at:at + size], "little", signed=signed(dtype)) for at in range(0, len(data), size)]


def field(name, dtype, shape, values):
    return {"name": name, "dtype": dtype, "shape": shape, "bytes": pack(values, dtype).hex()}


def batch_fields(case):
    tokens = unpack(bytes.fromhex(case["tokens"]), case["dtype"])
    kind = case["dataset"]["kind"]
    if kind == "windows":
        dataset = Windows(len(tokens), case["dataset"])
    elif kind == "document_windows":
        dataset = DocumentWindows(case["starts"], case["dataset"])
    else:
        dataset = Documents(case["starts"], case["dataset"])
    rows = []
    for i in case["samples"]:
        first_token, count = dataset.locate(i)
        rows.append(tokens[first_token:first_token + count])
    collator = case["collator"]
    if collator["kind"] == "stack" or collator["kind"] == "causal_lm" and collator["width"] == "store":
        return [field("tokens", case["dtype"], [len(rows), len(rows[0])], sum(rows, []))]
    dtype = case["dtype"] if collator["width"] == "store" else collator["width"]
    if collator["kind"] == "causal_lm":
        shape = [len(rows), len(rows[0]) - 1]
        return [field("input_ids", dtype, shape, sum((row[:-1] for row in rows), [])),
                field("labels", dtype, shape, sum((row[1:] for row in rows), []))]
    rows = [row[:collator["max_length"]] for row in rows]
    multiple = collator["multiple_of"]
    length = multiple * ceil_div(max(len(row) for row in rows), multiple)
    shape = [len(rows), length]
    return [
        field("input_ids", dtype, shape,
              sum((row + [collator["pad_value"]] * (length - len(row)) for row in rows), [])),
        field("attention_mask", "bool", shape, [int(t < len(row)) for row in rows for t in range(length)]),
        field("lengths", "i32", [len(rows)], [len(row) for row in rows]),
    ]


# slab.md

def float_of(code, exponent_bits, fraction_bits, bias, infinities):
    sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
    exponent = code >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = code & ((1 << fraction_bits) - 1)
    if exponent == (1 << exponent_bits) - 1:
        if infinities:
            return sign * math.inf if fraction == 0 else math.nan
        if fraction == (1 << fraction_bits) - 1:
            return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits)


def element(data, dtype):
    if dtype in ("f16", "f32", "f64"):
        return struct.unpack({"f16": "<e", "f32": "<f", "f64": "<d"}[dtype], data)[0]
    if dtype == "bf16":
        return struct.unpack("<f", b"\0\0" + data)[0]
    if dtype == "f8e4m3":
        return float_of(data[0], 4, 3, 7, False)
    if dtype == "f8e5m2":
        return float_of(data[0], 5, 2, 15, True)
    return unpack(data, dtype)[0]


def written(value):
    if isinstance(value, int) or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def align(n):
    return ceil_div(n, 256) * 256


def places(dtypes, shapes):
    sizes = [BYTES[dtype] * math.prod(shape) for dtype, shape in zip(dtypes, shapes)]
    offsets = [0]
    for size in sizes[:-1]:
        offsets.append(align(offsets[-1] + size))
    return offsets, sizes, offsets[-1] + sizes[-1]


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
    for case in vectors["read"]:
        check("read", write_state(read_state(case["text"])), case["written"])
    for hexadecimal in vectors["refused_bytes"]:
        try:
            read_state(bytes.fromhex(hexadecimal).decode("utf-8"))
        except ValueError:
            check("refused", True, True)
        else:
            check("refused", True, hexadecimal)
    for case in vectors["after"]:
        run = Run(case)
        for after in case["number_epoch_position"]:
            check("state after a batch of %s" % vars(run), run.state_after(after[0]), after)


def check_windows(vectors):
    for case in vectors["windows"]:
        dataset = Windows(case["tokens"], case)
        check("window tokens", window_tokens(case), case["window_tokens"])
        check("windows of %s" % case, dataset.size, case["samples"])
        for sample, position in case["sample_first"]:
            check("window %d of %s" % (sample, case), dataset.locate(sample)[0], position)
    for case in vectors["document_windows"]:
        dataset = DocumentWindows(case["starts"], case)
        check("window tokens", window_tokens(case), case["window_tokens"])
        check("windows of %s" % case, [dataset.locate(i)[0] for i in range(dataset.size)], case["firsts"])
    for case in vectors["documents"]:
        dataset = Documents(case["starts"], case)
        ranges = [list(dataset.locate(i)) for i in range(dataset.size)]
        check("documents of %s" % case, ranges, case["ranges"])
        check("the longest of %s" % case, max((count for _, count in ranges), default=0), case["longest"])
    for case in vectors["batches"]:
        check("batch of %s" % case, batch_fields(case), case["fields"])


def check_slab(vectors):
    check("dtypes", sorted(case["dtype"] for case in vectors["elements"]), sorted(BYTES))
    for case in vectors["elements"]:
        for digits, value in case["bytes_value"]:
            data = bytes.fromhex(digits)
            check("bytes of a " + case["dtype"], len(data), BYTES[case["dtype"]])
            check(case["dtype"] + " " + digits, written(element(data, case["dtype"])), value)
    for case in vectors["layouts"]:
        dtypes = [spec["dtype"] for spec in case["fields"]]
        offsets, sizes, end = places(dtypes, [spec["shape"] for spec in case["fields"]])
        check("layout of %s" % case, (offsets, sizes, align(end)), (case["offsets"], case["bytes"], case["capacity"]))
        for batch in case["batches"]:
            check("batch of %s" % case, places(dtypes, batch["shapes"]),
                  (batch["offsets"], batch["bytes"], batch["used"]))


# batching.md

def by_length(lengths, base, window, group, seed, epoch):
    n = len(base)
    v = min(window, n)
    key = first((first((first(seed & WRAP) + epoch) & WRAP) + 0x4255434B455453) & WRAP)
    order = []
    for i in range(ceil_div(n, v)):
        t = sorted(base[i * v:(i + 1) * v], key=lambda sample: lengths[sample])
        groups = [t[j:j + group] for j in range(0, len(t), group)]
        places = Permutation(len(groups), key, i)
        for place in range(len(groups)):
            order += groups[places.at(place)]
    return order


def balanced(costs, base, ranks, batch, steps, alike, seed, epoch):
    key = first((first((first(seed & WRAP) + epoch) & WRAP) + 0x42414C414E4345) & WRAP)
    step, order = ranks * batch, []
    for i in range(ceil_div(len(base), step * steps)):
        window = base[i * step * steps:(i + 1) * step * steps]
        c = len(window)
        rest = sorted(window, key=lambda sample: -costs[sample])
        dealt = [None] * c

        def deal(samples, hands):
            work, taken = [0] * len(hands), [0] * len(hands)
            for sample in samples:
                room = [h for h, slots in enumerate(hands) if taken[h] < len(slots)]
                h = min(room, key=lambda hand: work[hand])
                dealt[hands[h][taken[h]]] = sample
                work[h] += costs[sample]
                taken[h] += 1

        def slots(k, r):
            return [p for p in (k * step + j * ranks + r for j in range(batch)) if p < c]

        if alike:
            whole = c // step
            for j in range(ceil_div(c, step)):
                k = Permutation(whole, key, i).at(j) if j < whole else j
                deal(rest[j * step:(j + 1) * step], [slots(k, (h + j) % ranks) for h in range(ranks)])
        else:
            h = ceil_div(c, step) * ranks
            places = Permutation(h, key, i)
            deal(rest, [slots(places.at(t) // ranks, places.at(t) % ranks) for t in range(h)])
        order += dealt
    return order


class Listed:
    def __init__(self, chosen):
        self.at = chosen.__getitem__


def budget_batches(run, epoch, origin):
    """The steps at which batches begin and end, of one epoch; and those of them that cannot be given."""
    lengths, w, m = run["lengths"], run["world"], run["multiple_of"]
    n = len(run.get("chosen", lengths))
    permutation = Permutation(n, run["seed"], epoch)
    base = Listed(run.get("chosen") or [permutation.at(p) for p in range(n)])
    steps = (n - origin) // w if run["tail"] == "drop" else ceil_div(n - origin, w)

    def fits(b, e):
        ranks = [[lengths[base.at((origin + r + k * w) % n)] for k in range(b, e)] for r in range(w)]
        if run["cost"] == "padded":
            cost = (e - b) * ceil_div(max(max(rank) for rank in ranks), m) * m
        else:
            cost = max(sum(rank) for rank in ranks)
        return cost <= run["tokens"] and e - b <= run["max_samples"]

    cuts, bad = [], set()
    b = 0
    while b < steps:
        e = b + 1
        if not fits(b, e):
            bad.add((b, e))
        while (b, e) not in bad and e < steps and fits(b, e + 1):
            e += 1
        cuts.append((b, e))
        b = e
    if run["drop_last"] and cuts and cuts[-1] not in bad and cuts[-1][1] - cuts[-1][0] < run["max_samples"]:
        cuts.pop()
    return base, cuts, bad


def check_batching(vectors):
    for case in vectors["orders"]:
        n = len(case["lengths"])
        permutation = Permutation(n, case["base_seed"], case["epoch"])
        digest = hashlib.sha256(b"".join(length.to_bytes(8, "little") for length in case["lengths"])).hexdigest()
        check("fingerprint", "length-bucketed window=%d group=%d lengths=%s seed=%d of feistel-8 size=%d seed=%d" % (
            case["window"], case["group"], digest[:16], case["seed"], n, case["base_seed"]),
            case["fingerprint"])
        check("order by length", by_length(case["lengths"], [permutation.at(p) for p in range(n)], case["window"],
                                           case["group"], case["seed"], case["epoch"]), case["samples"])
    for case in vectors["balanced"]:
        n = len(case["costs"])
        permutation = Permutation(n, case["base_seed"], case["epoch"])
        digest = hashlib.sha256(b"".join(cost.to_bytes(8, "little") for cost in case["costs"])).hexdigest()
        check("fingerprint", "work-balanced ranks=%d batch=%d steps=%d%s costs=%s seed=%d of feistel-8 size=%d seed=%d"
              % (case["ranks"], case["batch"], case["steps"], " alike" if case["alike"] else "", digest[:16],
                 case["seed"], n, case["base_seed"]), case["fingerprint"])
        check("balanced order", balanced(case["costs"], [permutation.at(p) for p in range(n)], case["ranks"],
                                         case["batch"], case["steps"], case["alike"], case["seed"], case["epoch"]),
              case["samples"])
    for run in vectors["runs"]:
        n, w, r = len(run["lengths"]), run["world"], run["rank"]
        number = 0
        for which in range(2):
            epoch = run["start_epoch"] + which
            origin = run["start_position"] if which == 0 else 0
            base, cuts, bad = budget_batches(run, epoch, origin)
            check("no sample is too long", bad, set())
            check("batches of a budget", len(cuts), run["batches_in_first_epochs"][which])
            for index, (b, e) in enumerate(cuts):
                positions = [origin + r + k * w for k in range(b, e)]
                after = [epoch + 1, 0] if index + 1 == len(cuts) else [epoch, origin + e * w]
                valid = sum(p < n for p in positions) if run["tail"] == "exact" else len(positions)
                check("batch of a budget", {"number": number, "epoch": epoch, "index": index,
                                            "first_position": positions[0], "valid": valid,
                                            "samples": [base.at(p % n) for p in positions], "after": after},
                      run["batches"][number])
                number += 1
        check("batches of a run", number, len(run["batches"]))
    for run in vectors["with_empty_epochs"]:
        start = run["start_epoch"]
        counts = [len(budget_batches(run, start + i, run["start_position"] if i == 0 else 0)[1])
                  for i in range(len(run["batches_in_epochs"]))]
        check("batches of epochs", counts, run["batches_in_epochs"])
        refused = len(counts) >= 64 and not any(counts[:64])
        check("refused", refused, run["refused"])
        epochs = [start + i for i, count in enumerate(counts) for _ in range(count)]
        check("epochs of batches", [] if refused else epochs[:8], run["epochs_of_batches"])
    for run in vectors["with_samples_too_long"]:
        base, cuts, bad = budget_batches(run, 0, 0)
        n, w, r = len(run["chosen"]), run["world"], run["rank"]
        check("batches", [{
            "samples": None if cut in bad else [base.at((r + k * w) % n) for k in range(*cut)],
            "after": [1, 0] if cut == cuts[-1] else [0, cut[1] * w]} for cut in cuts], run["batches"])


def main():
    folder = sys.argv[1]
    for name, checker in (("samplers", lambda vectors: check_samplers(vectors, check)),
                          ("mixtures", lambda vectors: check_mixtures(vectors, check)),
                          ("edits", lambda vectors: check_edits(vectors, check)),
                          ("ledger", lambda vectors: check_ledger(vectors, check)),
                          ("packing", lambda vectors: check_packing(vectors, check)),
                          ("permutation", check_permutation), ("sharding", check_sharding), ("state", check_state),
                          ("windows", check_windows), ("slab", check_slab),
                          ("randomness", lambda vectors: check_randomness(vectors, Run, check)),
                          ("split", lambda vectors: check_split(vectors, check)),
                          ("bad-samples", lambda vectors: check_bad_samples(vectors, check)),
                          ("streams", lambda vectors: check_streams(vectors, check, budget_batches)),
                          ("batching", check_batching),
                          ("batching", lambda vectors: check_work(vectors["by_work"], check))):
        with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
            checker(json.load(file))
    print("%d checks passed" % checked)


main()
