# SPDX-License-Identifier: Apache-2.0
"""Writes Parquet tables, and measures how fast pyarrow scans them and takes rows of them at random, on one thread.

python bench/peers/parquet_rows.py FOLDER writes rows-*.parquet there, unless they are there: 2,000,000 rows of eight
numbers (i64, f64, i32, f32, twice each) in row groups of 250,000, and tokens-*.parquet: 50,000 lists of 1,024 u16
tokens with Zipf's frequencies, in row groups of 1,000. It prints decoded megabytes of a scan per CPU second, and rows
per CPU second that Table.take gives, 1,024 at a time in random order, of the table in memory.
"""

import os
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 2_000_000
ROUNDS = 7
TAKES = 200
BATCH = 1024
CASES = {
    "plain": dict(compression="none", use_dictionary=False),
    "snappy": dict(compression="snappy", use_dictionary=True),
    "zstd": dict(compression="zstd", use_dictionary=True),
}


def numbers():
    rng = np.random.default_rng(20261127)
    return pa.table({
        "user": rng.integers(0, 100_000, ROWS), "item": rng.zipf(1.3, ROWS).astype(np.int64) % 1_000_000,
        "x": rng.normal(size=ROWS), "y": np.round(rng.normal(size=ROWS), 2),
        "day": rng.integers(0, 365, ROWS).astype(np.int32), "count": rng.integers(0, 1 << 30, ROWS).astype(np.int32),
        "p": rng.random(ROWS).astype(np.float32), "q": np.round(rng.random(ROWS), 2).astype(np.float32)})


def tokens():
    rng = np.random.default_rng(20261127)
    ids = np.minimum(rng.zipf(1.2, 50_000 * 1024) - 1, 50_256).astype(np.uint16)
    return pa.table({"tokens": pa.FixedSizeListArray.from_arrays(pa.array(ids), 1024)})


def measure(path):
    scans, takes = [], []
    table = pq.read_table(path, use_threads=False)
    rng = np.random.default_rng(1)
    for _ in range(ROUNDS):
        begin = time.process_time()
        table = pq.read_table(path, use_threads=False)
        scans.append(table.nbytes / 1e6 / (time.process_time() - begin))
    for _ in range(ROUNDS):
        picks = [pa.array(rng.integers(0, len(table), BATCH)) for _ in range(TAKES)]
        begin = time.process_time()
        for pick in picks:
            table.take(pick)
        takes.append(TAKES * BATCH / (time.process_time() - begin))
    scans.sort()
    takes.sort()
    print(f"{os.path.basename(path)}: scan {scans[-1]:.0f} MB a CPU second best, {scans[ROUNDS // 2]:.0f} median; take "
          f"{takes[-1]:.0f} rows a CPU second best, {takes[ROUNDS // 2]:.0f} median", flush=True)


def main(folder):
    pa.set_cpu_count(1)
    for kind, make, rows in (("rows", numbers, 250_000), ("tokens", tokens, 1000)):
        table = None
        for name, options in CASES.items():
            path = os.path.join(folder, f"{kind}-{name}.parquet")
            if not os.path.exists(path):
                table = table or make()
                pq.write_table(table, path, row_group_size=rows, write_page_index=True, **options)
            measure(path)


if __name__ == "__main__":
    main(sys.argv[1])
