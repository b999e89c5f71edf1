# SPDX-License-Identifier: Apache-2.0
"""Writes a CSV file of numbers, and measures by turns how fast pyarrow, pandas and Penstock read it on one thread.

python bench/peers/csv_read.py FOLDER JAVA... writes numbers.csv there, unless it is there: 1,000,000 rows of 20 columns,
4 of integers and 16 of floats with 6 digits (170 MB). JAVA is what starts io.penstock.bench.CsvRates, such as
`java --enable-native-access=ALL-UNNAMED -cp ... io.penstock.bench.CsvRates`. Figures are megabytes of text a CPU second.
"""

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc

ROWS, COLUMNS, INTEGERS, CHUNK = 1_000_000, 20, 4, 50_000
ROUNDS = 3


def write(path):
    rng = np.random.default_rng(1)
    with open(path, "w", encoding="ascii") as out:
        out.write(",".join("c%d" % column for column in range(COLUMNS)) + "\n")
        for _ in range(ROWS // CHUNK):
            integers = rng.integers(0, 100_000, (CHUNK, INTEGERS)).tolist()
            floats = rng.standard_normal((CHUNK, COLUMNS - INTEGERS)).tolist()
            for row in range(CHUNK):
                out.write(",".join([*map(str, integers[row]), *("%.6g" % value for value in floats[row])]) + "\n")


def rate(path, read):
    begin = time.process_time()
    table = read(path)
    rate = os.path.getsize(path) / 1e6 / (time.process_time() - begin)
    del table
    return rate


def main(folder, *java):
    path = os.path.join(folder, "numbers.csv")
    if not os.path.exists(path):
        write(path)
    pa.set_cpu_count(1)
    names = ["c%d" % column for column in range(COLUMNS)]
    one_thread = pc.ReadOptions(use_threads=False)
    readers = {
        "pyarrow, types found": lambda file: pc.read_csv(file, read_options=one_thread),
        "pyarrow, float32": lambda file: pc.read_csv(
            file, read_options=one_thread,
            convert_options=pc.ConvertOptions(column_types={name: pa.float32() for name in names})),
        "pandas, types found": lambda file: pd.read_csv(file, engine="c"),
        "pandas, float32": lambda file: pd.read_csv(file, engine="c", dtype=np.float32),
    }
    for _ in range(ROUNDS):
        for name, read in readers.items():
            print(f"{name}: {rate(path, read):.0f} MB a CPU second", flush=True)
        if java:
            subprocess.run([*java, path, str(COLUMNS)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
