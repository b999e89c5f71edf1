#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batches by work and the totals of a step: docs/spec/batching.md."""

import hashlib

from spec_permutation import WRAP, Permutation, ceil_div, first


def digest(numbers):
    return hashlib.sha256(b"".join(number.to_bytes(8, "little") for number in numbers)).hexdigest()[:16]


def fits(run, batch):
    if len(batch) > run["max_samples"]:
        return False
    for limit in run["limits"]:
        sizes = [limit["sizes"][sample] for sample in batch]
        if limit["padded"]:
            used = len(sizes) * ceil_div(max(sizes, default=0), limit["multiple_of"]) * limit["multiple_of"]
        else:
            used = sum(sizes)
        if used > limit["most"]:
            return False
    return True


def dealt(run, samples, h):
    batches, cost = [[] for _ in range(h)], [0] * h
    for sample in samples:
        room = [b for b in range(h) if fits(run, batches[b] + [sample])]
        if not room:
            return None
        b = min(room, key=lambda other: (cost[other], len(batches[other]), other))
        batches[b].append(sample)
        cost[b] += run["costs"][sample]
    return batches


def window_batches(run, window, key, i):
    c, g = len(window), run["group"]
    t = sorted(window, key=lambda sample: -run["costs"][sample])
    h = max([ceil_div(c, run["batch"]), ceil_div(c, run["max_samples"])] + [
        ceil_div(sum(limit["sizes"][sample] for sample in window), limit["most"]) for limit in run["limits"]])
    h = min(c, ceil_div(h, g) * g)
    batches = dealt(run, t, h)
    while batches is None:
        h = min(c, h + max(1, h // (8 * g)) * g)
        batches = dealt(run, t, h)
    by_cost = sorted(batches, key=lambda batch: -sum(run["costs"][sample] for sample in batch))
    placed, w = [None] * h, h // g
    for x, batch in enumerate(by_cost):
        j = x // g
        if j < w:
            placed[Permutation(w, key, i).at(j) * g + (x % g + j) % g] = batch
        else:
            placed[w * g + (x % g + j) % (h - w * g)] = batch
    return placed


def epoch_batches(run, epoch):
    n = len(run["costs"])
    permutation = Permutation(n, run["seed"], epoch)
    base = [permutation.at(p) for p in range(n)]
    key = first((first((first(run["seed"] & WRAP) + epoch) & WRAP) + 0x574F524B42494E53) & WRAP)
    size = run["group"] * run["batch"] * run["steps"]
    return [batch for i in range(ceil_div(n, size))
            for batch in window_batches(run, base[i * size:(i + 1) * size], key, i)]


def fingerprint(run):
    limits = "".join("%s %s=%d%s:%s " % ("padded" if limit["padded"] else "sum", limit["unit"], limit["most"],
                                         "/%d" % limit["multiple_of"] if limit["multiple_of"] > 1 else "",
                                         digest(limit["sizes"])) for limit in run["limits"])
    return "work-packed group=%d batch=%d steps=%d samples=%d %scosts=%s of feistel-8 size=%d seed=%d" % (
        run["group"], run["batch"], run["steps"], run["max_samples"], limits, digest(run["costs"]),
        len(run["costs"]), run["seed"])


def check_work(vectors, check):
    for run in vectors:
        check("fingerprint", fingerprint(run), run["fingerprint"])
        n, w = len(run["costs"]), run["world"]
        given = []
        for epoch in range(2):
            all_batches = epoch_batches(run, epoch)
            starts = [0]
            for batch in all_batches:
                starts.append(starts[-1] + len(batch))
            origin = starts.index(run["start_position"] if epoch == 0 else 0)
            q, starts = all_batches[origin:], starts[origin:]
            for s in range(ceil_div(len(q), w)):
                places = [s * w + r for r in range(w)]
                weighted = [p for p in places if p < len(q) or run["tail"] != "exact"]
                mine = places[run["rank"]]
                last = (s + 1) * w >= len(q)
                step = [sample for p in weighted for sample in q[p % len(q)]]
                given.append({
                    "epoch": epoch, "first_position": starts[mine % len(q)] + (n if mine >= len(q) else 0),
                    "valid": len(q[mine % len(q)]) if mine in weighted else 0, "samples": q[mine % len(q)],
                    "after": [epoch + 1, 0] if last else [epoch, starts[(s + 1) * w]],
                    "global_samples": len(step), "global_tokens": sum(run["costs"][sample] for sample in step)})
        check("batches by work", given, run["batches"])
