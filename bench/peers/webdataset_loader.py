# SPDX-License-Identifier: Apache-2.0
"""The webdataset library over the benchmark's shards; a round for each line of standard input, as rounds.py says.

    echo 2 0 0 | python bench/peers/webdataset_loader.py --store target/bench/webdataset --workers 0

Samples come as bytes and a label, 64 a batch, through a shuffle buffer of 1,000. `bytes`: a batch is a list of the
bytes as they were read, which is the least that the library can do. `array`: it is one array of u8 and one of int64,
as a trainer needs it. With workers, batches are made in PyTorch's worker processes.
"""

import argparse
import glob

import numpy as np
import webdataset as wds

import rounds

BATCH = 64


def stack(samples):
    return (np.stack([np.frombuffer(sample["bin"], np.uint8) for sample in samples]),
            np.array([int(sample["cls"]) for sample in samples], np.int64))


def as_bytes(samples):
    return [sample["bin"] for sample in samples], [int(sample["cls"]) for sample in samples]


def batches(options):
    shards = sorted(glob.glob(options.store + "/*.tar"))
    dataset = wds.DataPipeline(
        wds.ResampledShards(shards, seed=1, deterministic=True),
        wds.tarfile_to_samples(),
        wds.shuffle(1000, initial=100),
        wds.batched(BATCH, collation_fn=stack if options.fetch == "array" else as_bytes, partial=False),
    )
    if options.workers == 0:
        return iter(dataset)
    import torch
    torch.multiprocessing.set_sharing_strategy("file_system")
    return iter(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=options.workers, prefetch_factor=4))


def sum_words(batch):
    """Reads the pixels; the labels are numbers already."""
    if isinstance(batch[0], list):
        for sample in batch[0]:
            np.frombuffer(sample, np.int64).sum()
    else:
        np.asarray(batch[0]).reshape(-1).view(np.int64).sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True, help="the folder of the shards")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--fetch", choices=("bytes", "array"), default="bytes")
    options = parser.parse_args()
    rounds.serve(batches(options), BATCH, sum_words)


if __name__ == "__main__":
    main()
