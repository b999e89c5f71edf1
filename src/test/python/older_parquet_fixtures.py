# SPDX-License-Identifier: Apache-2.0
"""Writes what pyarrow reads in src/test/resources/parquet/older: files of older writers, faults and all.

The files are from apache/parquet-testing, apache/arrow-testing, hyparam/hyparquet and dask/fastparquet.

    python older_parquet_fixtures.py src/test/resources/parquet/older
"""
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq


def value(found, kind):
    if found is None:
        return None
    if isinstance(found, bytes):
        return found.hex()
    if isinstance(found, (bool, int, float, str)):
        return found
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return found.isoformat()
    if pa.types.is_map(kind):
        return [list(pair) for pair in found]
    return list(found) if isinstance(found, list) and not any(isinstance(f, dict) for f in found) else found


folder = pathlib.Path(sys.argv[1])
expected = {}
for file in sorted(folder.glob("*.parquet")):
    table = pq.ParquetFile(file).read()
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    expected[file.name] = {field.name: [value(v, field.type) for v in table.column(field.name).to_pylist()]
                           for field in table.schema}
lines = [f"{json.dumps(name)}:{json.dumps(columns)}" for name, columns in expected.items()]
(folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
