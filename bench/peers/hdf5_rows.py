#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the arrays of random rows for RandomRows, and measures h5py and numpy on them.

    python bench/peers/hdf5_rows.py write target/bench
    python bench/peers/hdf5_rows.py measure target/bench --rounds 5 --seconds 1
"""
import argparse
import pathlib
import time

import h5py
import numpy as np

ROWS, SHAPE, BATCH = 100_000, (32, 32, 3), 64


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    # Sixteen levels: gzip has something to do.
    data = random.integers(0, 16, (ROWS, *SHAPE), dtype='u1') * 16
    np.save(folder / 'rows.npy', data)
    with h5py.File(folder / 'rows.h5', 'w') as file:
        file['contiguous'] = data
        file.create_dataset('gzip', data=data, chunks=(BATCH, *SHAPE), compression='gzip', compression_opts=1)


def rate(fetch, seconds):
    random = np.random.default_rng(1)
    order = [random.integers(0, ROWS, BATCH) for _ in range(256)]
    begin = time.perf_counter()
    batches = 0
    while time.perf_counter() - begin < seconds:
        fetch(order[batches % len(order)])
        batches += 1
    return batches * BATCH / (time.perf_counter() - begin)


def measure(folder, rounds, seconds):
    mapped = np.load(folder / 'rows.npy', mmap_mode='r')
    file = h5py.File(folder / 'rows.h5')
    target = np.empty((BATCH, *SHAPE), 'u1')

    def direct(dataset):
        def fetch(rows):
            for i, row in enumerate(rows):
                dataset.read_direct(target, np.s_[row], np.s_[i])
        return fetch

    def index(dataset):
        return lambda rows: [dataset[row] for row in rows]

    sides = {
        'numpy memmap, one indexing a batch': lambda rows: mapped[rows],
        'h5py contiguous, a row at a time': index(file['contiguous']),
        'h5py contiguous, read_direct': direct(file['contiguous']),
        'h5py gzip, a row at a time': index(file['gzip']),
    }
    found = {name: [] for name in sides}
    for _ in range(rounds):
        for name, fetch in sides.items():
            found[name].append(rate(fetch, seconds))
    for name, rates in found.items():
        print(f'{name}: {np.median(rates):,.0f} rows/s, {min(rates):,.0f} to {max(rates):,.0f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('action', choices=['write', 'measure'])
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=1)
    options = parser.parse_args()
    if options.action == 'write':
        write(options.folder)
    else:
        measure(options.folder, options.rounds, options.seconds)


if __name__ == '__main__':
    main()
