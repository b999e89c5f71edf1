# SPDX-License-Identifier: Apache-2.0
"""Writes filters.parquet, a table with statistics and a page index, and filters.json: conditions, and the rows that
pyarrow's compute functions find for each. Run in this folder: python make_filters.py (pyarrow 25)."""

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROWS = 3000
UTC = dt.timezone.utc
rng = np.random.default_rng(20261128)


def some(values, missing):
    return [None if rng.random() < missing else value for value in values]


at = [dt.datetime(2024, 1, 1, tzinfo=UTC) + dt.timedelta(hours=i) for i in range(ROWS)]
x = rng.normal(size=ROWS)
x[rng.random(ROWS) < 0.01] = np.nan
high = (rng.integers(0, 2**63, ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)).tolist()
table = pa.table({
    "id": pa.array(range(ROWS), pa.int64()),
    "n": pa.array(some(rng.integers(-50, 50, ROWS).tolist(), 0.1), pa.int32()),
    "u": pa.array(high, pa.uint64()),
    "small": pa.array([i // 20 for i in range(ROWS)], pa.uint8()),
    "x": pa.array(x, pa.float64()),
    "y": pa.array(np.linspace(-1, 1, ROWS), pa.float32()),
    "text": pa.array(some([f"{i // 100:03d} ünï" for i in range(ROWS)], 0.05), pa.string()),
    "emoji": pa.array(["\U0001f600" if i % 7 == 0 else "\uffee" for i in range(ROWS)], pa.string()),
    "flag": pa.array([i > 2000 for i in range(ROWS)], pa.bool_()),
    "day": pa.array([a.date() for a in at], pa.date32()),
    "at": pa.array(at, pa.timestamp("us", "UTC")),
    "ms": pa.array([a.replace(tzinfo=None) for a in at], pa.timestamp("ms")),
    "price": pa.array(some(range(ROWS), 0.2), pa.int64()).cast(pa.decimal128(21, 2)),
    "late": pa.array([None if i < 1500 else i for i in range(ROWS)], pa.int64()),
    "never": pa.array([None] * ROWS, pa.int64()),
})
pq.write_table(table, "filters.parquet", row_group_size=1000, data_page_size=1024, write_batch_size=100,
               write_page_index=True, compression="zstd")

noon = dt.datetime(2024, 2, 3, 12, tzinfo=UTC)
f = pc.field
CASES = {
    "id = 1234": f("id") == 1234,
    "id < 100": f("id") < 100,
    "id >= 2900 and n > 0": (f("id") >= 2900) & (f("n") > 0),
    "id > 99.5 and id <= 101": (f("id") > 99) & (f("id") <= 101),
    "id > 9223372036854775808": f("id") < -1,
    "id > -9223372036854775809 and id < 3": f("id") < 3,
    "n != 7 and id < 200": (f("n") != 7) & (f("id") < 200),
    "n is null": f("n").is_null(),
    "n is not null and id < 300": f("n").is_valid() & (f("id") < 300),
    "u > 17523466567660514202": f("u") > pa.scalar(17523466567660514202, pa.uint64()),
    "u < 1": f("u") < pa.scalar(1, pa.uint64()),
    "small = 149": f("small") == pa.scalar(149, pa.uint8()),
    "small > 200": f("small") > pa.scalar(200, pa.uint8()),
    "x > 2.5": f("x") > 2.5,
    "x != 0 and id < 200": (f("x") != 0.0) & (f("id") < 200),
    "y >= 0.99": f("y") >= pa.scalar(0.99, pa.float64()),
    "text = '007 ünï'": f("text") == "007 ünï",
    "text > '0285'": f("text") > "0285",
    "text != '001 ünï' and id < 300": (f("text") != "001 ünï") & (f("id") < 300),
    "emoji > '\uffff' and id > 2500": (f("emoji") > "\uffff") & (f("id") > 2500),
    "flag = true and id < 2100": f("flag") & (f("id") < 2100),
    "flag = false and id >= 1990": ~f("flag") & (f("id") >= 1990),
    "day = '2024-03-01'": f("day") == dt.date(2024, 3, 1),
    "at >= '2024-02-03 12:00:00' and day < '2024-02-05'": (f("at") >= noon) & (f("day") < dt.date(2024, 2, 5)),
    "at < '2024-01-01T05:00:00+02:00'": f("at") < dt.datetime(2024, 1, 1, 3, tzinfo=UTC),
    "ms = '2024-02-03T12:00:00'": f("ms") == noon.replace(tzinfo=None),
    "price < 12.5": f("price") < pa.scalar(12.5),
    "price is null and id < 50": f("price").is_null() & (f("id") < 50),
    "late is not null and late < 1510": f("late") < 1510,
    "late is null and id > 1450": f("late").is_null() & (f("id") > 1450),
    "never = 1": f("never") == 1,
    "never is null and id = 7": f("never").is_null() & (f("id") == 7),
}
answers = {where: table.filter(case)["id"].to_pylist() for where, case in CASES.items()}
with open("filters.json", "w", encoding="utf-8") as out:
    json.dump(answers, out, ensure_ascii=False, separators=(",", ":"))
    out.write("\n")
