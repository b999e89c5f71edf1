# SPDX-License-Identifier: Apache-2.0
"""PyTorch's way to the GPU on the benchmarks' store: DataLoader with pinned memory, copies that do not block, and the
usual prefetcher on a stream of its own. A JSON line a round.

    python bench/peers/torch_cuda.py --store target/bench/tokens.bin --mode i64 --fetch take --workers 2

Ends with 3 and one line of text where PyTorch or its GPU is missing.
"""

import argparse
import json
import os
import statistics
import sys
import time

try:
    import torch
    from torch.utils.data import DataLoader

    from torch_datasets import FETCHES, check, without_end
except ImportError as missing:
    print(f"PyTorch is not there: {missing}")
    sys.exit(3)

MEMSET_BYTES = 256 << 20


class Prefetcher:
    """Copies the next batch on a side stream while the trainer computes on this one."""

    def __init__(self, batches):
        self.batches = batches
        self.stream = torch.cuda.Stream()
        self.preload()

    def preload(self):
        batch = next(self.batches)
        tensors = batch if isinstance(batch, (list, tuple)) else [batch]
        with torch.cuda.stream(self.stream):
            self.ahead = [tensor.to("cuda", non_blocking=True) for tensor in tensors]

    def __next__(self):
        trainer = torch.cuda.current_stream()
        trainer.wait_stream(self.stream)
        batch = self.ahead
        for tensor in batch:
            tensor.record_stream(trainer)
        self.preload()
        return batch


class Plain:
    """Copies on the trainer's stream."""

    def __init__(self, batches):
        self.batches = batches

    def __next__(self):
        batch = next(self.batches)
        tensors = batch if isinstance(batch, (list, tuple)) else [batch]
        return [tensor.to("cuda", non_blocking=True) for tensor in tensors]


class Memsets:
    """A step's time on the GPU, as the engine's benchmark takes it: 256 MiB written, as often as fills the time."""

    def __init__(self, seconds):
        self.memory = torch.empty(MEMSET_BYTES, dtype=torch.uint8, device="cuda")
        self.count = 20
        for _ in range(2):
            begin = time.perf_counter()
            self()
            took = time.perf_counter() - begin
        self.count = max(1, int(seconds * self.count / took))

    def __call__(self):
        for _ in range(self.count):
            self.memory.zero_()
        torch.cuda.synchronize()


def run_round(batches, seconds, step):
    """Takes batches for the time given; the seconds of each next(), the whole, and the bytes of a batch."""
    waits, moved = [], 0
    torch.cuda.synchronize()
    begin = now = time.perf_counter()
    while now < begin + seconds:
        batch = next(batches)
        waits.append(time.perf_counter() - now)
        moved = sum(tensor.numel() * tensor.element_size() for tensor in batch)
        if step:
            step()
        now = time.perf_counter()
    torch.cuda.synchronize()
    return waits, time.perf_counter() - begin, moved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="raw little-endian u16 tokens")
    parser.add_argument("--mode", choices=["narrow", "i32", "i64"], default="i64")
    parser.add_argument("--fetch", choices=FETCHES, default="item")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--no-prefetcher", action="store_true", help="copy on the trainer's stream")
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--warmup", type=float, default=1)
    parser.add_argument("--step-ms", type=float, default=0, help="a training step's time on the GPU")
    options = parser.parse_args()

    if not torch.cuda.is_available():
        print(f"PyTorch {torch.__version__} finds no CUDA device")
        return 3
    torch.manual_seed(0)
    dataset = FETCHES[options.fetch](options.store, options.window, options.mode)
    loader = DataLoader(
        dataset, batch_size=options.batch, shuffle=True, drop_last=True, num_workers=options.workers, pin_memory=True,
        persistent_workers=options.workers > 0, collate_fn=dataset.collate)
    host = without_end(loader)
    check(next(host), options.mode, options.batch, options.window)
    batches = (Plain if options.no_prefetcher else Prefetcher)(host)
    step = Memsets(options.step_ms / 1e3) if options.step_ms else None
    run_round(batches, options.warmup, step)
    for round_number in range(1, options.rounds + 1):
        synthetic = 0
        if step:
            begin = time.perf_counter()
            for _ in range(20):
                step()
            synthetic = (time.perf_counter() - begin) / 20
        waits, seconds, moved = run_round(batches, options.seconds, step)
        quantiles = statistics.quantiles(waits, n=100, method="inclusive")
        line = {
            "side": "torch",
            "config": f"DataLoader {options.fetch} w{options.workers}, pinned"
                      f"{'' if options.no_prefetcher else ', prefetcher'}",
            "mode": options.mode, "workers": options.workers, "step_ms": options.step_ms, "round": round_number,
            "samples": len(waits) * options.batch, "seconds": round(seconds, 6),
            "samples_per_second": round(len(waits) * options.batch / seconds, 1),
            "bytes_per_sample": moved // options.batch,
            "next_p50_ms": round(quantiles[49] * 1e3, 4), "next_p99_ms": round(quantiles[98] * 1e3, 4)}
        if step:
            line["over_synthetic"] = round(seconds / len(waits) / synthetic, 4)
        print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
