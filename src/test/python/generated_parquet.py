# SPDX-License-Identifier: Apache-2.0
"""Writes Parquet files with odd corners, and what pyarrow reads in them.

python src/test/python/generated_parquet.py FOLDER [COUNT [SEED]] writes COUNT files (2,000 by default) and
expected.txt: a line for each file and column, "FILE<tab>COLUMN<tab>SHA-256", of the values that Penstock must give. The
sum is over, for each row, one byte, 1 if it has a value and otherwise 0, and then the value: its length in bytes as a
little-endian u32, and its bytes. Numbers are little-endian in their type, booleans a byte; times are their integers; a
list of numbers is its items, and has no value if one of them is null; all else is JSON as json.dumps writes it without
spaces, in the mapping of docs/formats.md.

The files differ in: types and nesting, the share of nulls, lengths, row groups (of one row up to all of them), page
sizes, pages of version 1 and 2, dictionaries, delta and split encodings, codecs, page index, Arrow's schema, checksums.
"""

import base64
import datetime
import decimal
import hashlib
import json
import os
import struct
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CODECS = ["none", "snappy", "gzip", "zstd", "lz4"]
EPOCH = datetime.date(1970, 1, 1)
FORMATS = {"int8": "b", "uint8": "B", "int16": "<h", "uint16": "<H", "int32": "<i", "uint32": "<I", "int64": "<q",
           "uint64": "<Q", "float": "<f", "double": "<d", "halffloat": "<e", "bool": "?"}


def integers(rng, n, bits, signed, narrow):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if narrow:
        low, high = max(low, -3), min(high, 20)
    return [int(v) for v in rng.integers(low, high, n, dtype=np.int64 if signed else np.uint64, endpoint=True)]


def texts(rng, n, narrow):
    words = ["", "a", "penstock", "\u00e9t\u00e9", "quo\"te", "\u6c34", "back\\slash", "line\nfeed", "\U0001f300", "x" * 200]
    if narrow:
        return [words[i] for i in rng.integers(0, len(words), n)]
    return ["".join(chr(97 + c) for c in rng.integers(0, 26, rng.integers(0, 30))) for _ in range(n)]


def values(rng, kind, n):
    """Values of a type as Python has them, without nulls."""
    narrow = rng.random() < 0.5
    if pa.types.is_boolean(kind):
        return [bool(v) for v in rng.integers(0, 2, n)]
    if pa.types.is_integer(kind):
        return integers(rng, n, kind.bit_width, not str(kind).startswith("u"), narrow)
    if pa.types.is_floating(kind):
        return [float(v) for v in (rng.integers(0, 8, n) / 4 if narrow else rng.normal(size=n))]
    if pa.types.is_string(kind):
        return texts(rng, n, narrow)
    if pa.types.is_binary(kind):
        return [text.encode() for text in texts(rng, n, narrow)]
    if pa.types.is_fixed_size_binary(kind):
        return [bytes(rng.integers(0, 4 if narrow else 256, kind.byte_width, dtype=np.uint8)) for _ in range(n)]
    if pa.types.is_decimal(kind):
        digits = min(kind.precision, 18)
        return [decimal.Decimal(int(v)).scaleb(-kind.scale, decimal.Context(prec=80))
                for v in rng.integers(-10 ** digits + 1, 10 ** digits - 1, n)]
    if pa.types.is_date(kind):
        return [EPOCH + datetime.timedelta(days=int(v)) for v in rng.integers(-100_000, 100_000, n)]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return [int(v) for v in rng.integers(0, 10 ** 9, n)]
    if pa.types.is_fixed_size_list(kind):
        flat = with_nulls(rng, values(rng, kind.value_type, n * kind.list_size), 0)
        return [flat[i * kind.list_size:(i + 1) * kind.list_size] for i in range(n)]
    if pa.types.is_list(kind):
        lengths = rng.integers(0, rng.choice([1, 3, 40]), n, endpoint=True)
        flat = with_nulls(rng, values(rng, kind.value_type, int(lengths.sum())), rng.choice([0, 0, 0.01]))
        ends = np.cumsum(lengths)
        return [flat[end - length:end] for end, length in zip(ends, lengths)]
    if pa.types.is_struct(kind):
        fields = [with_nulls(rng, values(rng, field.type, n), 0.2) for field in kind]
        return [dict(zip([field.name for field in kind], row)) for row in zip(*fields)]
    if pa.types.is_map(kind):
        counts = rng.integers(0, 3, n)
        return [list(zip([f"k{i}" for i in range(count)], values(rng, kind.item_type, int(count)))) for count in counts]
    raise ValueError(kind)


def with_nulls(rng, of, share):
    if share == 0:
        return of
    return [None if skip else value for value, skip in zip(of, rng.random(len(of)) < share)]


FLAT = [pa.bool_(), pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64(),
        pa.float16(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.binary(5), pa.date32(),
        pa.timestamp("ms"), pa.timestamp("us", "Europe/Berlin"), pa.timestamp("ns", "UTC"), pa.time32("ms"),
        pa.time64("us")]
NESTED = [pa.decimal128(9, 2), pa.decimal128(18, 0), pa.decimal128(38, 10), pa.decimal256(60, 5),
          pa.list_(pa.string()), pa.list_(pa.list_(pa.int32())), pa.list_(pa.struct([("a", pa.int32()), ("b", pa.string())])),
          pa.map_(pa.string(), pa.int64()), pa.list_(pa.decimal128(7, 3))]


def random_type(rng):
    pick = rng.random()
    if pick < 0.6:
        return FLAT[rng.integers(len(FLAT))]
    if pick < 0.8:
        item = [t for t in FLAT if pa.types.is_integer(t) or pa.types.is_floating(t)]
        item = item[rng.integers(len(item))]
        return pa.list_(item) if rng.random() < 0.7 else pa.list_(item, int(rng.integers(1, 9)))
    return NESTED[rng.integers(len(NESTED))]


def encoding_of(rng, kind):
    options = ["PLAIN"]
    if pa.types.is_integer(kind) and kind.bit_width >= 32:
        options += ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
    elif pa.types.is_floating(kind) and kind.bit_width >= 32:
        options += ["BYTE_STREAM_SPLIT"]
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        options += ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
    elif pa.types.is_fixed_size_binary(kind):
        options += ["BYTE_STREAM_SPLIT"]
    elif pa.types.is_boolean(kind):
        options += ["RLE"]
    return options[rng.integers(len(options))]


def write(rng, path, number):
    rows = int(rng.choice([1, 7, 100, 3_000, 20_000], p=[0.05, 0.1, 0.4, 0.35, 0.1]))
    if number % 500 == 499:
        rows = 1_000_000
    columns, kinds = {}, {}
    for c in range(int(rng.integers(1, 5)) if rows < 10 ** 6 else 1):
        kind = random_type(rng) if rows < 10 ** 6 else FLAT[int(rng.integers(1, 12))]
        share = float(rng.choice([0, 0, 0.1, 0.9, 1]))
        if pa.types.is_fixed_size_list(kind):
            share = 0       # pyarrow itself does not read the null ones again
        columns[f"c{c}"] = with_nulls(rng, values(rng, kind, rows), share)
        kinds[f"c{c}"] = kind
    fields = [pa.field(name, kind, nullable=None in columns[name] or rng.random() < 0.7) for name, kind in
              kinds.items()]
    table = pa.table([pa.array(columns[f.name], f.type) for f in fields], schema=pa.schema(fields))
    dictionary = bool(rng.random() < 0.5)
    options = dict(compression=CODECS[rng.integers(len(CODECS))], use_dictionary=dictionary,
                   data_page_version=str(rng.choice(["1.0", "2.0"])), write_page_index=bool(rng.random() < 0.5),
                   write_page_checksum=bool(rng.random() < 0.2), store_schema=bool(rng.random() < 0.8),
                   data_page_size=int(rng.choice([64, 1_000, 20_000, 1 << 20])), write_statistics=bool(rng.random() < 0.8),
                   row_group_size=int(rng.choice([max(1, rows // 50), max(1, rows // 3), rows])) if rows > 1 else 1)
    if rng.random() < 0.05 and rows <= 100:
        options["row_group_size"] = 1
    if dictionary:
        options["dictionary_pagesize_limit"] = int(rng.choice([100, 1 << 20]))
    else:
        options["column_encoding"] = {name: encoding_of(rng, kind) for name, kind in kinds.items()
                                      if not pa.types.is_nested(kind)}
    try:
        pq.write_table(table, path, **options)
    except (pa.ArrowNotImplementedError, OSError):
        options.pop("column_encoding", None)
        pq.write_table(table, path, **options)
    return pq.read_table(path, partitioning=None)


def stored_integer(kind, value):
    if pa.types.is_date(kind):
        return (value - EPOCH).days
    return value


def as_json(kind, value):
    if value is None:
        return "null"
    if pa.types.is_decimal(kind):
        return format(value, "f")
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return "[" + ",".join(as_json(kind.value_type, item) for item in value) + "]"
    if pa.types.is_map(kind):
        return "[" + ",".join("[" + as_json(kind.key_type, k) + "," + as_json(kind.item_type, v) + "]"
                              for k, v in value) + "]"
    if pa.types.is_struct(kind):
        return "{" + ",".join(json.dumps(f.name) + ":" + as_json(f.type, value[f.name]) for f in kind) + "}"
    if pa.types.is_string(kind):
        return json.dumps(value, ensure_ascii=False)
    if pa.types.is_binary(kind):
        return '"' + base64.b64encode(value).decode() + '"'
    return json.dumps(value)


def encoded(kind, value):
    """The bytes of a value; None if it has none."""
    if value is None:
        return None
    if pa.types.is_string(kind):
        return value.encode()
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return value
    if str(kind) in FORMATS:
        return struct.pack(FORMATS[str(kind)], value)
    if pa.types.is_date(kind) or pa.types.is_time32(kind):
        return struct.pack("<i", stored_integer(kind, value))
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return struct.pack("<q", stored_integer(kind, value))
    if (pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind)) and str(kind.value_type) in FORMATS:
        return None if None in value else b"".join(encoded(kind.value_type, item) for item in value)
    return as_json(kind, value).encode()


def digest(column):
    kind = column.type
    if pa.types.is_timestamp(kind):
        listed = [v for chunk in column.chunks for v in chunk.cast(pa.int64()).to_pylist()]
    elif pa.types.is_time(kind):
        number = pa.int32() if pa.types.is_time32(kind) else pa.int64()
        listed = [v for chunk in column.chunks for v in chunk.cast(number).to_pylist()]
    else:
        listed = column.to_pylist()
    sha = hashlib.sha256()
    for value in listed:
        value = encoded(kind, value)
        sha.update(b"\0" if value is None else b"\1" + struct.pack("<I", len(value)) + value)
    return sha.hexdigest()


def main(folder, count=2000, seed=20261127):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "expected.txt"), "w", encoding="utf-8") as expected:
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            name = f"g{number:04d}.parquet"
            table = write(rng, os.path.join(folder, name), number)
            for column in table.column_names:
                expected.write(f"{name}\t{column}\t{digest(table[column])}\n")
            if number % 100 == 99:
                print(number + 1, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(int(a) for a in sys.argv[2:]))
