"""PyTorch's DataLoader on the benchmarks' store: a JSON line a round.

    pip install torch numpy
    python bench/peers/torch_loader.py --store target/bench/tokens.bin --mode i64 --fetch item --workers 2

A sample is a window of 1024+1 tokens; windows share nothing but the last label, and come in random order from the
DataLoader's own sampler. i64 and i32 give two contiguous arrays, ids and labels shifted by one; narrow gives the
window at the store's width.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import statistics
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

WIDE = {"i64": np.int64, "i32": np.int32}


class Windows(Dataset):
    """Windows over a raw u16 file, an item a call: what people write."""

    def __init__(self, path, length, mode):
        # Copy-on-write, never written: a read-only map makes torch.from_numpy warn.
        self.tokens = np.memmap(path, dtype=np.uint16, mode="c")
        self.length = length
        self.wide = WIDE.get(mode)

    def __len__(self):
        return (len(self.tokens) - 1) // self.length

    def __getitem__(self, index):
        start = index * self.length
        window = self.tokens[start : start + self.length + 1]
        if self.wide is None:
            return torch.from_numpy(window)
        window = torch.from_numpy(window.astype(self.wide))
        return window[:-1], window[1:]


class RowBatches(Windows):
    """A batch a call, row by row into arrays made for it: no small tensors, no second copy."""

    def __init__(self, path, length, mode):
        super().__init__(path, length, mode)
        self.plain = np.asarray(self.tokens)  # a slice of np.memmap costs several times one of ndarray

    def __getitems__(self, indices):
        if self.wide is None:
            windows = np.empty((len(indices), self.length + 1), np.uint16)
            for row, index in enumerate(indices):
                windows[row] = self.plain[index * self.length : (index + 1) * self.length + 1]
            return torch.from_numpy(windows)
        ids = np.empty((len(indices), self.length), self.wide)
        labels = np.empty_like(ids)
        for row, index in enumerate(indices):
            start = index * self.length
            ids[row] = self.plain[start : start + self.length]
            labels[row] = self.plain[start + 1 : start + self.length + 1]
        return torch.from_numpy(ids), torch.from_numpy(labels)


class TakenBatches(Windows):
    """A batch a call, all rows in one NumPy call over a strided view of the file: the fastest that we found."""

    def __init__(self, path, length, mode):
        super().__init__(path, length, mode)
        token = self.tokens.itemsize
        self.windows = np.lib.stride_tricks.as_strided(
            np.asarray(self.tokens), (len(self), length + 1), (length * token, token))

    def __getitems__(self, indices):
        windows = self.windows[indices]
        if self.wide is None:
            return torch.from_numpy(windows)
        return torch.from_numpy(windows[:, :-1].astype(self.wide)), torch.from_numpy(windows[:, 1:].astype(self.wide))


FETCHES = {"item": Windows, "rows": RowBatches, "take": TakenBatches}


def as_is(batch):
    return batch


def sum_words(tensor):
    """The consumer that reads the whole batch, as 64-bit words on every side."""
    return tensor.view(-1).view(torch.int64).sum()


def cpu_seconds():
    """Of this process and its live workers."""
    total = sum(os.times()[:2])
    tick = os.sysconf("SC_CLK_TCK")
    for child in multiprocessing.active_children():
        with open(f"/proc/{child.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / tick
    return total


def without_end(loader):
    while True:
        yield from loader


def check(batch, mode, size, length):
    """The contract, on the first batch: shapes, dtypes, contiguity, labels shifted by one."""
    tensors = [batch] if mode == "narrow" else list(batch)
    shape = (size, length + 1) if mode == "narrow" else (size, length)
    dtype = {"narrow": torch.uint16, "i32": torch.int32, "i64": torch.int64}[mode]
    for tensor in tensors:
        assert tensor.shape == shape and tensor.dtype == dtype and tensor.is_contiguous(), (tensor.shape, tensor.dtype)
    if len(tensors) == 2:
        assert torch.equal(tensors[0][:, 1:], tensors[1][:, :-1])
        assert tensors[0].min() >= 0


def run_round(batches, seconds, step_seconds, read):
    """Takes batches for the time given; the seconds of each next() and the whole."""
    waits = []
    begin = time.perf_counter()
    end = begin + seconds
    now = begin
    while now < end:
        batch = next(batches)
        got = time.perf_counter()
        waits.append(got - now)
        if read:
            for tensor in batch if isinstance(batch, (list, tuple)) else [batch]:
                sum_words(tensor).item()
        if step_seconds:
            time.sleep(step_seconds)
        now = time.perf_counter()
    return waits, now - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="raw little-endian u16 tokens")
    parser.add_argument("--mode", choices=["narrow", "i32", "i64"], default="i64")
    parser.add_argument("--fetch", choices=FETCHES, default="item")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="torch threads; 0 leaves the default")
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--warmup", type=float, default=1)
    parser.add_argument("--step-ms", type=float, default=0, help="sleep that stands for the trainer's step")
    parser.add_argument("--read", action="store_true", help="the consumer sums the batch's 64-bit words")
    options = parser.parse_args()

    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    dataset = FETCHES[options.fetch](options.store, options.window, options.mode)
    loader = DataLoader(
        dataset, batch_size=options.batch, shuffle=True, drop_last=True, num_workers=options.workers,
        persistent_workers=options.workers > 0, collate_fn=None if options.fetch == "item" else as_is)
    batches = without_end(loader)
    check(next(batches), options.mode, options.batch, options.window)
    run_round(batches, options.warmup, options.step_ms / 1e3, options.read)
    for round_number in range(1, options.rounds + 1):
        cpu = cpu_seconds()
        waits, seconds = run_round(batches, options.seconds, options.step_ms / 1e3, options.read)
        samples = len(waits) * options.batch
        quantiles = statistics.quantiles(waits, n=100, method="inclusive")
        threads = f", {options.threads} torch thread{'s' * (options.threads > 1)}" if options.threads else ""
        print(json.dumps({
            "side": "torch", "config": f"DataLoader {options.fetch} w{options.workers}{threads}",
            "mode": options.mode, "workers": options.workers, "read": options.read, "step_ms": options.step_ms,
            "round": round_number, "samples": samples, "seconds": round(seconds, 6),
            "samples_per_second": round(samples / seconds, 1), "cpu_seconds": round(cpu_seconds() - cpu, 6),
            "next_p50_ms": round(quantiles[49] * 1e3, 4), "next_p99_ms": round(quantiles[98] * 1e3, 4)}), flush=True)


if __name__ == "__main__":
    main()
