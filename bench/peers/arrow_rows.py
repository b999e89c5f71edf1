# SPDX-License-Identifier: Apache-2.0
"""Writes the same rows as rows.npy and as rows.arrow, a stream of record batches of 1000 rows as Hugging Face writes it.

    python bench/peers/arrow_rows.py target/bench [ROWS]     (numpy, pyarrow)
"""
import os
import sys

import numpy as np
import pyarrow as pa

WIDTH = 1025
BATCH_ROWS = 1000

folder, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
data = np.random.default_rng(0).integers(0, 50257, (rows, WIDTH), dtype=np.uint16)
np.save(os.path.join(folder, "rows.npy"), data)
schema = pa.schema([("row", pa.list_(pa.uint16(), WIDTH))])
with pa.ipc.new_stream(os.path.join(folder, "rows.arrow"), schema) as stream:
    for first in range(0, rows, BATCH_ROWS):
        values = pa.array(data[first:first + BATCH_ROWS].reshape(-1))
        stream.write_batch(pa.record_batch([pa.FixedSizeListArray.from_arrays(values, WIDTH)], schema=schema))
