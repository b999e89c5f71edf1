"""The webdataset library over the benchmark's shards: prints one JSON line, as WebDatasetThroughput does.

    python bench/peers/webdataset_loader.py --data target/bench/webdataset --workers 0

Samples come as bytes and a label, 64 a batch, through a shuffle buffer of 1,000. `bytes`: a batch is a list of the
bytes as they were read, which is the least that the library can do. `array`: it is one array of u8 and one of int64,
as a trainer needs it. With workers, batches are made in PyTorch's worker processes.
"""

import argparse
import glob
import json
import multiprocessing
import os
import time
from pathlib import Path

import numpy as np
import webdataset as wds


def stack(samples):
    return (np.stack([np.frombuffer(sample["bin"], np.uint8) for sample in samples]),
            np.array([int(sample["cls"]) for sample in samples], np.int64))


def as_bytes(samples):
    return [sample["bin"] for sample in samples], [int(sample["cls"]) for sample in samples]


def batches(options):
    shards = sorted(glob.glob(options.data + "/*.tar"))
    dataset = wds.DataPipeline(
        wds.ResampledShards(shards, seed=1, deterministic=True),
        wds.tarfile_to_samples(),
        wds.shuffle(1000, initial=100),
        wds.batched(64, collation_fn=stack if options.batch == "array" else as_bytes),
    )
    if options.workers == 0:
        return iter(dataset)
    import torch
    return iter(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=options.workers, prefetch_factor=4))


def cpu_seconds():
    """Of this process and of its workers."""
    ticks = 0
    for process in [os.getpid(), *(child.pid for child in multiprocessing.active_children())]:
        fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def take(source, seconds):
    end, samples, begin = time.perf_counter() + seconds, 0, time.perf_counter()
    while time.perf_counter() < end:
        samples += len(next(source)[1])
    return samples, time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch", choices=("bytes", "array"), default="bytes")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--warmup", type=float, default=1)
    options = parser.parse_args()
    source = batches(options)
    take(source, options.warmup)
    cpu = cpu_seconds()
    samples, seconds = take(source, options.seconds)
    print(json.dumps({"side": "webdataset", "config": f"webdataset {options.batch} w{options.workers}",
                      "samples": samples, "seconds": seconds, "samples_per_second": samples / seconds,
                      "cpu_us_per_sample": (cpu_seconds() - cpu) * 1e6 / samples}))


if __name__ == "__main__":
    main()
