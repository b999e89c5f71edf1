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
    """`limit` is what the ratio must reach, or not exceed; None where nothing is asked, and the figure is told."""

    what: str
    ours: Pick
    theirs: Pick = None
    limit: float = None
    at_least: bool = True
    unit: str = ""
    inverse: bool = False  # theirs over ours: how many times sooner


@dataclass(frozen=True)
class Row:
    """An aim and what came out; `ratio` is None where a side was not measured."""

    aim: Aim
    ours: str = ""
    theirs: str = ""
    ratio: float = None
    low: float = None
    high: float = None
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


def windows(mode, limit):
    """One thread does everything; then the same work with the hand-over to another, by the clock and by CPU time."""
    name, label = f"tokens-{mode}", "narrow" if mode == "narrow" else f"widened to {mode}"
    c = Pick(name, C_1)
    return [
        Aim(f"token windows, {label}, per core: all on one thread (workers 0) / C gather loop, 1 thread",
            Pick(name, "Penstock w0"), c, limit),
        Aim(f"the same, {label}, 1 worker beside the trainer's thread / C, 1 thread", Pick(name, "Penstock w1"), c,
            limit),
        Aim(f"the same, {label}, windows a CPU second, 1 worker / C, 1 thread",
            Pick(name, "Penstock w1", "samples_per_cpu_second"), Pick(name, C_1, "samples_per_cpu_second")),
    ]


def beside_pytorch(what, workload, ours, theirs, limit):
    """Both sides read every word of each batch; then the same where neither does."""
    return [Aim(f"{what}, both read the batch", Pick(workload, ours, kind="read"),
                Pick(workload, theirs, kind="read"), limit),
            Aim(f"{what}, neither reads it", Pick(workload, ours), Pick(workload, theirs))]


def all_aims():
    best_item, best_batch = "PyTorch item by item, its best", "PyTorch whole batches (`__getitems__`), its best"
    cpu = "cpu_seconds_a_million_samples"
    rows = [
        *windows("narrow", 0.9), *windows("i64", 0.8),
        *beside_pytorch(f"token windows, narrow, 2 workers / {best_item}", "tokens-narrow", "Penstock w2",
                        PYTORCH_ITEM, 25),
        *beside_pytorch(f"token windows, narrow, 2 workers / {best_batch}", "tokens-narrow", "Penstock w2",
                        PYTORCH_BATCH, 8),
        *beside_pytorch(f"token windows, i64, 2 workers / {best_item}", "tokens-i64", "Penstock w2", PYTORCH_ITEM, 12),
        *beside_pytorch(f"token windows, i64, 2 workers / {best_batch}", "tokens-i64", "Penstock w2", PYTORCH_BATCH,
                        None),
    ]
    for mode, limit in (("u8", 0.9), ("f32", None)):
        for size in (64, 224):
            name, label = f"images-{size}-{mode}", "stacked" if mode == "u8" else "normalised to f32"
            rows += [
                Aim(f"images 3×{size}×{size}, {label}, 1 worker / C gather loop, 1 thread", Pick(name, "Penstock w1"),
                    Pick(name, C_1), limit),
                Aim(f"the same, {size}, {label}, all on one thread (workers 0) / C, 1 thread",
                    Pick(name, "Penstock w0"), Pick(name, C_1)),
                Aim(f"the same, {size}, {label}, 2 workers / PyTorch, its best", Pick(name, "Penstock w2"),
                    Pick(name, "PyTorch .*")),
            ]
    rows += [
        *beside_pytorch("documents padded, 2 workers / PyTorch pad_sequence, its best", "documents", "Penstock w2",
                        "PyTorch pad_sequence .*", 15),
        Aim("documents padded, 1 worker / C gather, pad and mask, 1 thread", Pick("documents", "Penstock w1"),
            Pick("documents", C_1), 0.8),
        *beside_pytorch("WebDataset shards, shuffled, 2 workers / `webdataset`, its best", "webdataset",
                        "Penstock w2.*", "webdataset .*", 20),
        Aim("cold random windows of 16 KiB / fio random read, same size, depth 32",
            Pick("cold-random", "Penstock auto.*", "bytes_per_second", "cold"),
            Pick("cold-random", "fio .*depth 32", "bytes_per_second", "cold"), 0.8),
        Aim("cold sequential epoch / fio sequential",
            Pick("cold-sequential", "Penstock auto.*", "bytes_per_second", "cold"),
            Pick("cold-sequential", "fio.*", "bytes_per_second", "cold"), 0.9),
    ]
    for config, label in (("Penstock java -cp", "plain `java -cp`"), ("Penstock with an AOT cache", "with an AOT cache")):
        rows.append(Aim(f"time to the first batch, process start included, {label}: PyTorch, 2 workers / Penstock",
                        Pick("first", config, "first_batch_ms", "first", min),
                        Pick("first", "PyTorch item w2", "first_batch_ms", "first", min), 5, inverse=True))
    for workers, limit in ((1, 2), (0, 2), (2, None)):
        rows.append(Aim(f"per-batch overhead, empty work, {workers} worker{'s' * (workers != 1)}",
                        Pick("empty", f"Penstock w{workers}", "microseconds_a_batch", choose=min), None, limit, False,
                        " µs"))
    rows += [
        Aim("heap a batch, empty work, 1 worker", Pick("empty", "Penstock w1", "heap_bytes_a_batch", choose=min), None,
            0, False, " B"),
        Aim("time in `next()` beside a step of 5 ms, p50, 2 workers",
            Pick("tokens-i64", "Penstock w2", "next_p50_us", "step", min), None, 20, False, " µs"),
        Aim("the same, PyTorch with 2 workers",
            Pick("tokens-i64", "PyTorch item w2", "next_p50_us", "step", min), None, None, False, " µs"),
        Aim("CPU seconds a million tokens, i64, 1 worker / PyTorch item by item, its best",
            Pick("tokens-i64", "Penstock w1", cpu), Pick("tokens-i64", PYTORCH_ITEM, cpu, choose=min), 0.12, False),
        Aim("the same, 2 workers", Pick("tokens-i64", "Penstock w2", cpu),
            Pick("tokens-i64", PYTORCH_ITEM, cpu, choose=min), 0.12, False),
        Aim("the same, all on one thread (workers 0)", Pick("tokens-i64", "Penstock w0", cpu),
            Pick("tokens-i64", PYTORCH_ITEM, cpu, choose=min), 0.12, False),
        Aim("the same, 1 worker / PyTorch whole batches, its best", Pick("tokens-i64", "Penstock w1", cpu),
            Pick("tokens-i64", PYTORCH_BATCH, cpu, choose=min), None, False),
        Aim("memory above the mapped store (PSS), 2 workers / PyTorch, 2 workers",
            Pick("memory", "Penstock w2", "megabytes", "memory"),
            Pick("memory", "PyTorch item w2", "megabytes", "memory"), 0.25, False),
        Aim("scaling: narrow, 2 workers / 1 worker", Pick("tokens-narrow", "Penstock w2"),
            Pick("tokens-narrow", "Penstock w1")),
        Aim("scaling: i64, 2 workers / 1 worker", Pick("tokens-i64", "Penstock w2"), Pick("tokens-i64", "Penstock w1")),
        Aim("scaling: C i64, 2 threads / 1 thread", Pick("tokens-i64", "C 2 threads"), Pick("tokens-i64", C_1)),
    ]
    return rows


def outcome(aim, figures):
    ours = aim.ours.of(figures)
    theirs = aim.theirs.of(figures) if aim.theirs else None
    if ours is None or (aim.theirs and theirs is None):
        return Row(aim)
    if theirs is None:
        return Row(aim, ours.config, "", ours.median, ours.low, ours.high, ours.directional)
    above, below = (theirs, ours) if aim.inverse else (ours, theirs)
    ratio = above.median / below.median
    by_round = [above.values[r] / below.values[r] for r in above.values.keys() & below.values.keys()] or [ratio]
    return Row(aim, ours.config, theirs.config, ratio, min(by_round), max(by_round),
               ours.directional or theirs.directional)


def outcomes(figures):
    return [outcome(aim, figures) for aim in all_aims()]
