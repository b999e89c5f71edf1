# SPDX-License-Identifier: Apache-2.0
"""Writes src/test/resources/arrow/not_a_number.arrow: NaN, null and infinity, each stored in several ways.

pip install pyarrow
python src/test/python/not_a_number.py src/test/resources/arrow
"""

import pathlib
import sys

import pyarrow as pa

NAN, INF = float("nan"), float("inf")
values = pa.array([NAN, None, INF, 2.5])
indices = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int8()), values)
ends = pa.array([1, 2, 3, 4], pa.int32())
codes, offsets = pa.array([0, 0, 0, 0], pa.int8()), pa.array([0, 1, 2, 3], pa.int32())
texts = pa.nulls(4, pa.string())
runs = pa.RunEndEncodedArray.from_arrays(ends, values)
table = pa.table({
    "plain": values,
    "dictionary": indices,
    "runs": runs,
    "short_runs": pa.RunEndEncodedArray.from_arrays(ends.cast(pa.int16()), values.cast(pa.float32())),
    "runs_of_indices": pa.RunEndEncodedArray.from_arrays(ends, indices),
    "sparse": pa.UnionArray.from_sparse(codes, [values, texts]),
    "dense": pa.UnionArray.from_dense(codes, offsets, [values, texts]),
    "field": pa.StructArray.from_arrays([runs], ["runs"]),
    "view": pa.ListViewArray.from_arrays(offsets, pa.array([1, 1, 1, 1], pa.int32()), values),
    "lists": pa.array([[[NAN]], None, [[None]], [[2.5]]], pa.list_(pa.list_(pa.float64()))),
})
with pa.ipc.new_stream(pathlib.Path(sys.argv[1]) / "not_a_number.arrow", table.schema) as stream:
    stream.write_table(table)
for field in table.column_names:
    print(field, table[field].to_pylist())
