# SPDX-License-Identifier: Apache-2.0
"""What must hold: each a ratio of two medians of one run, or a figure of the engine's own."""

from dataclasses import dataclass

PYTORCH_ITEM = r"PyTorch (StatefulDataLoader )?item .*"
PYTORCH_BATCH = r"PyTorch (rows|take) .*"
C_1 = r"C .*1 thread"


@dataclass(frozen=True)
class Pick:
    """A figure: of the configurations that match, the one with the best median."""

    workload: str
    pattern: str
    metric: str = "samples_per_second"
    kind: str = "saturated"
    choose: object = max

    def of(self, figures):
        return figures.best(self.workload, self.pattern, self.kind, self.metric, self.choose)


@dataclass(frozen=True)
class Aim:
    """
    A line of the table.

    what, over  the workload, and whose figure stands below the line of the ratio
    limit       what the ratio must reach, or not exceed; None where nothing is asked, and the figure is told
    inverse     theirs over ours: how many times sooner
    """

    what: str
    over: str
    ours: Pick
    theirs: Pick = None
    limit: float = None
    at_least: bool = True
    unit: str = ""
    inverse: bool = False


@dataclass(frozen=True)
class Row:
    """An aim and what came out; `ratio` is None where a side was not measured."""

    aim: Aim
    ours: str = ""
    theirs: str = ""
    ratio: float = None
    low: float = None
    high: float = None
    best: float = None
    directional: bool = False

    @property
    def reached(self):
        """True, False, or None where there is nothing to say."""
        if self.ratio is None or self.aim.limit is None:
            return None
        return self.ratio >= self.aim.limit if self.aim.at_least else self.ratio <= self.aim.limit

    @property
    def in_spread(self):
        return self.reached is not None and self.low <= self.aim.limit <= self.high


C_LOOP = "C gather loop, 1 thread"
ITEMS = "PyTorch item by item, its best"
BATCHES = "PyTorch whole batches (`__getitems__`), its best"
CPU = "cpu_seconds_a_million_samples"
LESS_IS_BETTER = {CPU, "microseconds_a_batch", "next_p50_us", "next_p99_us", "heap_bytes_a_batch", "cpu_ms_an_image",
                  "full_speed_seconds", "first_batch_ms", "megabytes"}


def windows(mode, limit):
    """One core does everything; then the same with the hand-over to another thread, by the clock and by CPU time."""
    name, what = f"tokens-{mode}", f"token windows, {mode}"
    c = Pick(name, C_1)
    return [
        Aim(f"{what}, per core: all on one thread", C_LOOP, Pick(name, "Penstock w0"), c, limit),
        Aim(f"{what}, one worker beside the trainer's thread", C_LOOP, Pick(name, "Penstock w1"), c, limit),
        Aim(f"{what}, windows a CPU second", C_LOOP, Pick(name, "Penstock w1", "samples_per_cpu_second"),
            Pick(name, C_1, "samples_per_cpu_second")),
    ]


def beside_peer(what, over, workload, ours, theirs, limit):
    """Both sides read every word of each batch, as a fair comparison does; then neither."""
    return [Aim(f"{what}, batches are read", over, Pick(workload, ours, kind="read"),
                Pick(workload, theirs, kind="read"), limit),
            Aim(f"{what}, batches are not read", over, Pick(workload, ours), Pick(workload, theirs), limit)]


def pictures(size, mode, limit):
    name = f"images-{size}-{mode}"
    what = f"images 3×{size}×{size}, " + ("u8" if mode == "u8" else "normalized to f32")
    return [
        Aim(f"{what}, one worker", C_LOOP, Pick(name, "Penstock w1"), Pick(name, C_1), limit),
        Aim(f"{what}, all on one thread", C_LOOP, Pick(name, "Penstock w0"), Pick(name, C_1)),
        Aim(f"{what}, 2 workers", "PyTorch, its best", Pick(name, "Penstock w2"), Pick(name, "PyTorch .*")),
    ]


def files(mode, what, whole, parts, tensors=None, pil=None, opencv=None):
    """Of JPEG files, decoded by one thread: as a whole, or with libjpeg-turbo 3 only the part that is needed."""
    name = f"pictures-{mode}"
    one, some = Pick(name, "Penstock w0"), Pick(name, "Penstock w0, parts")
    what = f"JPEG files, {what}, f32"
    return [
        Aim(f"{what}, decoded whole", "C, decoded whole", one, Pick(name, "C whole, 1 thread"), whole),
        Aim(f"{what}, decoded whole", "torchvision on tensors", one, Pick(name, "torchvision tensors"), tensors),
        Aim(f"{what}, decoded whole", "torchvision on Pillow images", one, Pick(name, "torchvision PIL"), pil),
        Aim(f"{what}, decoded in parts", "C, decoded in parts", some, Pick(name, "C parts, 1 thread"), parts),
        Aim(f"{what}, decoded in parts", "OpenCV, which does not antialias", some, Pick(name, "OpenCV.*"), opencv),
    ]


def with_step(mode, what):
    """With one step more."""
    name = f"pictures-{mode}"
    return Aim(f"JPEG files, RandomResizedCrop 224 and {what}", "torchvision on tensors", Pick(name, "Penstock w0"),
               Pick(name, "torchvision tensors"))


def step(name, what, limit):
    return own(f"{what} on 224×224 RGB, one thread", "augment-steps", f"Penstock {name}", "cpu_ms_an_image", limit,
               " ms")


def cold(order, what, over, theirs, limit):
    name, metric = f"cold-{order}", "megabytes_per_second"
    return Aim(what, over, Pick(name, "Penstock auto.*", metric, "cold"), Pick(name, theirs, metric, "cold"), limit)


def sooner(config, label):
    return Aim(f"time to the first batch, process start included, {label}", "PyTorch, 2 workers: times sooner",
               Pick("first", config, "first_batch_ms", "first", min),
               Pick("first", "PyTorch item w2", "first_batch_ms", "first", min), 5, inverse=True)


def own(what, workload, config, metric, limit, unit, kind="saturated"):
    """A figure of the engine's own, the less the better."""
    return Aim(what, "", Pick(workload, config, metric, kind, min), None, limit, False, unit)


def cpu_seconds(config, over, theirs, limit):
    return Aim("CPU seconds a million tokens, i64", over, Pick("tokens-i64", config, CPU),
               Pick("tokens-i64", theirs, CPU, choose=min), limit, False)


def scaling(workload, what, two, one):
    return Aim(f"scaling, {what}: 2 threads", "1 thread", Pick(workload, two), Pick(workload, one))


def all_aims():
    """In the order of the table."""
    two = "Penstock w2"
    return [
        *windows("narrow", 0.9),
        *windows("i64", 0.8),
        *beside_peer("token windows, narrow, 2 workers", ITEMS, "tokens-narrow", two, PYTORCH_ITEM, None),
        *beside_peer("token windows, narrow, 2 workers", BATCHES, "tokens-narrow", two, PYTORCH_BATCH, None),
        *beside_peer("token windows, i64, 2 workers", ITEMS, "tokens-i64", two, PYTORCH_ITEM, 12),
        *beside_peer("token windows, i64, 2 workers", BATCHES, "tokens-i64", two, PYTORCH_BATCH, None),
        *pictures(64, "u8", 0.9), *pictures(224, "u8", 0.9), *pictures(64, "f32", None), *pictures(224, "f32", 0.9),
        *files("rrc", "RandomResizedCrop 224 and flip", 0.85, 0.8, 1.2, 1.5, 1.0),
        *files("eval", "shorter side 256, middle 224", 0.8, None),
        with_step("rrc-jitter", "ColorJitter"), with_step("rrc-rotate", "rotation"),
        with_step("rrc-randaugment", "RandAugment"),
        step("colorJitter", "ColorJitter of four", 0.4), step("rotate BILINEAR", "rotate, bilinear,", 0.3),
        step("affine BILINEAR", "affine, bilinear,", 0.3), step("perspective BILINEAR", "perspective, bilinear,", None),
        step("randAugment NEAREST", "RandAugment of two", 0.35),
        step("not fused crop and warps", "crop, flip, rotation and perspective step by step,", None),
        step("fused crop and warps", "the same fused,", None),
        own("heap a batch of 64 JPEG files, RandomResizedCrop 224 and flip, f32, with what reading the counters takes",
            "pictures-rrc", "Penstock w0", "heap_bytes_a_batch", None, " B"),
        *beside_peer("documents padded, 2 workers", "PyTorch pad_sequence, its best", "documents", two,
                     "PyTorch pad_sequence .*", 15),
        Aim("documents padded, one worker", "C gather, pad and mask, 1 thread", Pick("documents", "Penstock w1"),
            Pick("documents", C_1), 0.8),
        Aim("documents padded, all on one thread", "C gather, pad and mask, 1 thread",
            Pick("documents", "Penstock w0"), Pick("documents", C_1)),
        *beside_peer("WebDataset shards, shuffled, 2 workers", "`webdataset`, its best", "webdataset", two,
                     "webdataset .*", 20),
        cold("random", "cold random windows of 16 KiB", "fio random read, same size, depth 32", "fio .*depth 32", 0.8),
        cold("sequential", "cold sequential epoch", "fio sequential, its best", "fio .*", 0.9),
        sooner("Penstock java -cp", "plain `java -cp`"),
        sooner("Penstock with an AOT cache", "AOT cache"),
        own("process start to full speed, i64, all on one thread", "tokens-i64", "Penstock w0", "full_speed_seconds", None,
            " s", "warm-up"),
        own("per-batch overhead, empty work, one worker", "empty", "Penstock w1", "microseconds_a_batch", 2, " µs"),
        own("per-batch overhead, empty work, all on one thread", "empty", "Penstock w0", "microseconds_a_batch", 2,
            " µs"),
        own("heap a batch, empty work, one worker, leases reused", "empty", "Penstock w1, leases reused",
            "heap_bytes_a_batch", 0, " B"),
        own("time in `next()` beside a step of 5 ms, p50, one worker", "tokens-i64", "Penstock w1", "next_p50_us", 20,
            " µs", "step"),
        own("time in `next()` beside a step of 5 ms, p50, 2 workers", "tokens-i64", two, "next_p50_us", 20, " µs",
            "step"),
        own("the same of PyTorch with 2 workers", "tokens-i64", "PyTorch item w2", "next_p50_us", None, " µs", "step"),
        cpu_seconds("Penstock w1", ITEMS, PYTORCH_ITEM, 0.12),
        cpu_seconds("Penstock w2", ITEMS, PYTORCH_ITEM, 0.12),
        cpu_seconds("Penstock w0", ITEMS, PYTORCH_ITEM, 0.12),
        cpu_seconds("Penstock w1", BATCHES, PYTORCH_BATCH, None),
        Aim("memory above the mapped store (PSS), 2 workers", "PyTorch, 2 workers",
            Pick("memory", two, "megabytes", "memory"), Pick("memory", "PyTorch item w2", "megabytes", "memory"), 0.25,
            False),
        scaling("tokens-narrow", "narrow, C", "C 2 threads", C_1),
        scaling("tokens-narrow", "narrow", two, "Penstock w1"),
        scaling("tokens-i64", "i64, C", "C 2 threads", C_1),
        scaling("tokens-i64", "i64", two, "Penstock w1"),
    ]


def best_of(pick, series):
    """Of its best round, which others disturb least: between days it differs less than the median does."""
    return series.low if pick.metric in LESS_IS_BETTER else series.high


def outcome(aim, figures):
    ours = aim.ours.of(figures)
    theirs = aim.theirs.of(figures) if aim.theirs else None
    if ours is None or (aim.theirs and theirs is None):
        return Row(aim)
    if theirs is None:
        return Row(aim, ours.config, "", ours.median, ours.low, ours.high, best_of(aim.ours, ours), ours.directional)
    above, below = (theirs, ours) if aim.inverse else (ours, theirs)
    ratio = above.median / below.median
    bests = best_of(aim.ours, ours), best_of(aim.theirs, theirs)
    best = bests[1] / bests[0] if aim.inverse else bests[0] / bests[1]
    # A round may be left of one side alone: then the ratio of medians can lie outside of those of the rounds.
    by_round = [above.values[r] / below.values[r] for r in above.values.keys() & below.values.keys()] + [ratio]
    return Row(aim, ours.config, theirs.config, ratio, min(by_round), max(by_round), best,
               ours.directional or theirs.directional)


def outcomes(figures, workloads):
    """Of the aims for these workloads."""
    return [outcome(aim, figures) for aim in all_aims() if aim.ours.workload in workloads]
