# SPDX-License-Identifier: Apache-2.0
"""Writes Parquet files of token lists, and measures how fast pyarrow reads them on one thread.

python bench/peers/parquet_read.py FOLDER writes ids-*.parquet there, unless they are there: 12,500 lists of 1 to 8,000
int32 tokens with Zipf's frequencies (50 million tokens, 200 MB), in row groups of 1,000.
"""

import os
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CASES = {
    "none-dictionary": dict(compression="none", use_dictionary=True),
    "snappy-dictionary": dict(compression="snappy", use_dictionary=True),
    "snappy-plain": dict(compression="snappy", use_dictionary=False),
    "zstd-dictionary": dict(compression="zstd", use_dictionary=True),
    "zstd-plain": dict(compression="zstd", use_dictionary=False),
}
ROUNDS = 7


def table():
    rng = np.random.default_rng(20261121)
    lengths = rng.integers(1, 8001, 12_500)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    tokens = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, 50_256).astype(np.int32)
    return pa.table({"input_ids": pa.ListArray.from_arrays(pa.array(offsets), pa.array(tokens))})


def main(folder):
    pa.set_cpu_count(1)
    data = None
    for name, options in CASES.items():
        path = os.path.join(folder, f"ids-{name}.parquet")
        if not os.path.exists(path):
            data = data or table()
            pq.write_table(data, path, row_group_size=1000, **options)
        wall, cpu = [], []
        for _ in range(ROUNDS):
            begin, cpu_begin = time.perf_counter(), time.process_time()
            read = pq.read_table(path, use_threads=False)
            megabytes = 4e-6 * sum(len(chunk.values) for chunk in read["input_ids"].chunks)
            cpu.append(megabytes / (time.process_time() - cpu_begin))
            wall.append(megabytes / (time.perf_counter() - begin))
            del read
        wall.sort()
        cpu.sort()
        print(f"ids-{name}.parquet  {os.path.getsize(path) / 1e6:.0f} MB  {wall[-1]:.0f} MB/s best, "
              f"{wall[ROUNDS // 2]:.0f} median; a CPU second {cpu[-1]:.0f} best, {cpu[ROUNDS // 2]:.0f} median")


if __name__ == "__main__":
    main(sys.argv[1])
