# SPDX-License-Identifier: Apache-2.0
"""Loops without a loader over the benchmarks' tokens, NumPy alone; a round for each line of standard input.

    echo 2 0 0 | python bench/peers/numpy_loop.py --store target/bench/tokens.bin --mode i64 --loop plain

`plain` is what people write: a slice of np.memmap a window, then np.stack. `tuned` gathers the whole batch by one call
over a strided view; what is widened goes into buffers that are reused.
"""

import argparse
import itertools

import numpy as np

import rounds

WINDOW = 1024
BATCH = 32
BUFFERS = 8
WIDE = {"i64": np.int64, "i32": np.int32}


def orders(windows):
    random = np.random.default_rng(0)
    while True:
        order = random.permutation(windows)
        yield from order[: windows // BATCH * BATCH].reshape(-1, BATCH)


def plain(path, wide):
    tokens = np.memmap(path, dtype=np.uint16, mode="r")
    for indices in orders((len(tokens) - 1) // WINDOW):
        starts = indices * WINDOW
        if wide is None:
            yield [np.stack([tokens[start : start + WINDOW + 1] for start in starts])]
        else:
            yield [np.stack([tokens[start : start + WINDOW].astype(wide) for start in starts]),
                   np.stack([tokens[start + 1 : start + WINDOW + 1].astype(wide) for start in starts])]


def tuned(path, wide):
    tokens = np.asarray(np.memmap(path, dtype=np.uint16, mode="r"))
    count = (len(tokens) - 1) // WINDOW
    windows = np.lib.stride_tricks.as_strided(tokens, (count, WINDOW + 1), (WINDOW * 2, 2))
    buffers = itertools.cycle(
        [[np.empty((BATCH, WINDOW), wide or np.uint16) for _ in range(2)] for _ in range(BUFFERS)])
    for indices in orders(count):
        narrow = windows[indices]
        if wide is None:
            yield [narrow]
            continue
        batch = next(buffers)
        np.copyto(batch[0], narrow[:, :-1])
        np.copyto(batch[1], narrow[:, 1:])
        yield batch


def sum_words(arrays):
    for array in arrays:
        array.reshape(-1).view(np.int64).sum()


def check(arrays):
    if len(arrays) == 2:
        assert np.array_equal(arrays[0][:, 1:], arrays[1][:, :-1])
    assert all(array.flags.c_contiguous for array in arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", required=True)
    parser.add_argument("--mode", choices=["narrow", "i32", "i64"], default="i64")
    parser.add_argument("--loop", choices=["plain", "tuned"], default="plain")
    options = parser.parse_args()
    loop = {"plain": plain, "tuned": tuned}[options.loop]
    rounds.serve(loop(options.store, WIDE.get(options.mode)), BATCH, sum_words, check)


if __name__ == "__main__":
    main()
