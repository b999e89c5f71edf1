# SPDX-License-Identifier: Apache-2.0
"""Writes shards whose schemas differ, and expected.json: the rows that pyarrow has for all shards of a table together.

pip install pyarrow
python src/test/python/table_shards.py src/test/resources/shards
"""

import json
import pathlib
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq

root = pathlib.Path(sys.argv[1])
expected = {}


def value(found):
    return found.hex() if isinstance(found, bytes) else found


def write(name, *tables):
    tables = [table if isinstance(table, pa.Table) else pa.table(table) for table in tables]
    for kind in ("parquet", "arrow"):
        folder = root / kind / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for i, table in enumerate(tables):
            file = folder / f"train-{i:05d}-of-{len(tables):05d}.{kind}"
            if kind == "parquet":
                pq.write_table(table, file, compression="none", use_dictionary=False, write_statistics=False)
            else:
                with pa.ipc.new_stream(file, table.schema) as stream:
                    stream.write_table(table)
    plain = [pa.table({field.name: table[field.name].combine_chunks().dictionary_decode()
                       if pa.types.is_dictionary(field.type) else table[field.name] for field in table.schema})
             for table in tables]
    all_rows = pa.concat_tables(plain, promote_options="permissive")
    while any(pa.types.is_struct(field.type) for field in all_rows.schema):
        all_rows = all_rows.flatten()
    expected[name] = {field: [value(v) for v in all_rows[field].to_pylist()] for field in all_rows.column_names}


def pairs(*rows):
    return pa.table({"m": pa.array([list(rows)], pa.list_(pa.struct([("y", pa.string()), ("x", pa.int64())])))})


write("null_text", {"id": [1, 2], "t": pa.nulls(2)}, {"id": [3, 4], "t": ["x", "y"]})
write("null_number", {"v": pa.nulls(2)}, {"v": pa.array([1.5, None])}, {"v": pa.nulls(1)})
write("null_json", {"m": pa.nulls(2)}, {"m": [[{"a": 1}]]})
write("order", {"a": [1, 2], "b": ["p", "q"]}, {"b": ["r"], "a": [3]})
write("fields", {"m": [{"x": 1, "y": "u"}]},
      {"m": pa.array([{"y": "v", "x": 2}], pa.struct([("y", pa.string()), ("x", pa.int64())]))})
write("fields_of_items", {"m": [[{"x": 1, "y": "u"}]]}, pairs({"y": "v", "x": 2}))
write("integers",
      {"a": pa.array([1, -2], pa.int8()), "b": pa.array([1, 2], pa.uint8()), "c": pa.array([65535, None], pa.uint16())},
      {"a": pa.array([300, -2], pa.int16()), "b": pa.array([-1, 2], pa.int8()), "c": pa.array([-9, 3], pa.int32())},
      {"a": pa.array([2 ** 33], pa.int64()), "b": pa.array([200], pa.uint8()),
       "c": pa.array([4_000_000_000], pa.uint32())})
write("floats", {"f": pa.array([1.5, None], pa.float32()), "h": pa.array([0.5, 1.0], pa.float16())},
      {"f": pa.array([0.1], pa.float64()), "h": pa.array([2.25], pa.float32())})
write("lists", {"ids": pa.array([[1, 2], [3]], pa.list_(pa.int32()))},
      {"ids": pa.array([[2 ** 40], None, []], pa.list_(pa.int64()))})
write("extra", {"a": [1, 2]}, {"a": [3, 4], "b": [5, 6]}, {"b": [7], "a": [8]})
write("text_and_bytes", {"k": ["abcd"]}, {"k": pa.array([b"xyz12"], pa.binary())})
write("text", {"t": ["a", "b"]}, {"t": pa.array(["c", "c"]).dictionary_encode()},
      {"t": pa.array(["d"], pa.large_string())})
lines = [f"{json.dumps(name)}: {json.dumps(columns)}" for name, columns in expected.items()]
(root / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
