# SPDX-License-Identifier: Apache-2.0
"""Writes pages.parquet and pages-indexed.parquet: the same 4,000 rows in small pages, without and with a page index.

python src/test/python/parquet_pages.py formats/src/test/resources/parquet
"""

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 4000


def main(folder):
    rng = np.random.default_rng(20261127)
    number = rng.integers(-(1 << 60), 1 << 60, ROWS)
    text = [None if rng.random() < 0.2 else "x" * int(rng.integers(0, 12)) for _ in range(ROWS)]
    lists = [[int(v) for v in rng.integers(0, 100, rng.integers(0, 4))] for _ in range(ROWS)]
    table = pa.table([pa.array(number), pa.array(np.arange(ROWS), pa.int32()), pa.array(text),
                      pa.array(lists, pa.list_(pa.int32()))],
                     schema=pa.schema([pa.field("number", pa.int64(), nullable=False),
                                       pa.field("row", pa.int32(), nullable=False), pa.field("text", pa.string()),
                                       pa.field("list", pa.list_(pa.int32()))]))
    for name, indexed in ("pages", False), ("pages-indexed", True):
        pq.write_table(table, os.path.join(folder, name + ".parquet"), compression="snappy", use_dictionary=["text"],
                       data_page_size=1000, write_batch_size=100, write_page_index=indexed, row_group_size=3000)


if __name__ == "__main__":
    main(sys.argv[1])
