# SPDX-License-Identifier: Apache-2.0
"""Writes the data files and the files of deletes by equality of EqualityDeletesTest, with Iceberg's field ids.
Run in this folder: python make_files.py (pyarrow 25)."""

import pyarrow as pa
import pyarrow.parquet as pq

ID = pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "1"})
KEY = pa.field("k", pa.string(), metadata={"PARQUET:field_id": "2"})
N = pa.field("n", pa.int32(), metadata={"PARQUET:field_id": "3"})
WIDE = pa.field("n", pa.int64(), metadata={"PARQUET:field_id": "3"})


def write(name, fields, *columns):
    pq.write_table(pa.table([pa.array(values, field.type) for values, field in zip(columns, fields)],
                            schema=pa.schema(fields)), name + ".parquet")


ids = list(range(10))
write("first", [ID, KEY, N], ids, [None if i % 4 == 0 else f"k{i}" for i in ids], [i if i % 3 else None for i in ids])
write("second", [ID, KEY, N], [10, 11, 12], ["k3", "k11", None], [3, 11, 12])
write("keys", [KEY], ["k3", None, "none"])
write("pairs", [ID, N], [1, 2, 9, 11], [1, 7, None, 11])
write("wide", [WIDE], [7, 1 << 40])
