# SPDX-License-Identifier: Apache-2.0
"""Writes the Arrow and Parquet files of nested columns, and what pyarrow reads in them.

    python nested_fixtures.py src/test/resources/nested

expected.json has, for each file and column, a value a row: null where the row is null, false where it has no value
that could be given, otherwise the JSON text, the text, or the bytes in hexadecimal digits; or the name of a file that
holds the same. "digests" has the SHA-256 of the JSON of larger files' rows. Needs pyarrow and numpy.
"""
import base64
import datetime
import decimal
import hashlib
import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

D = decimal.Decimal
EXPECTED = {}
EPOCH = datetime.date(1970, 1, 1)
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
JSON_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_temporal)


def real(x):
    """As Java's Double.toString: plain from 0.001 to 10,000,000, with a point always."""
    if not np.isfinite(x):
        return "null"
    sign, digits, exponent = D(repr(float(x))).normalize().as_tuple()
    digits = "".join(map(str, digits))
    point = len(digits) + exponent
    if x == 0:
        text = "0.0"
    elif 1e-3 <= abs(x) < 1e7:
        if point <= 0:
            text = "0." + "0" * -point + digits
        else:
            digits = digits.ljust(point, "0")
            text = digits[:point] + "." + (digits[point:] or "0")
    else:
        text = digits[0] + "." + (digits[1:] or "0") + "E" + str(point - 1)
    return ("-" if np.signbit(x) else "") + text


def clock(count, digits):
    seconds, rest = divmod(count, 10 ** digits)
    text = "%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return text + (".%0*d" % (digits, rest) if digits else "")


def integer(scalar):
    return scalar.cast(pa.int64() if scalar.type.bit_width == 64 else pa.int32()).as_py()


def text(scalar):
    """A pyarrow scalar as JSON, as docs/formats/nested-values.md defines it."""
    t = scalar.type
    if isinstance(scalar, pa.RunEndEncodedScalar):
        return text(pa.scalar(scalar.as_py(), t.value_type))
    if isinstance(scalar, pa.UnionScalar):
        return text(scalar.value) if scalar.is_valid else "null"
    if isinstance(scalar, pa.DictionaryScalar):
        return text(scalar.value)
    if not scalar.is_valid or pa.types.is_null(t):
        return "null"
    if pa.types.is_struct(t):
        return "{" + ",".join(json.dumps(f.name, ensure_ascii=False) + ":" + text(scalar[i])
                              for i, f in enumerate(t)) + "}"
    if pa.types.is_map(t):
        pairs = scalar.values
        return "[" + ",".join("[" + text(p[0]) + "," + text(p[1]) + "]" for p in pairs) + "]"
    if hasattr(scalar, "values") and scalar.values is not None:
        return "[" + ",".join(map(text, scalar.values)) + "]"
    if pa.types.is_boolean(t):
        return json.dumps(scalar.as_py())
    if pa.types.is_integer(t):
        return str(scalar.as_py())
    if pa.types.is_floating(t):
        return real(float(scalar.as_py()))
    if pa.types.is_decimal(t):
        return format(scalar.as_py(), "f")
    if pa.types.is_date(t):
        return '"' + scalar.as_py().isoformat() + '"'
    if pa.types.is_time(t):
        return '"' + clock(integer(scalar), DIGITS[t.unit]) + '"'
    if pa.types.is_timestamp(t):
        days, rest = divmod(integer(scalar), 86400 * 10 ** DIGITS[t.unit])
        return '"%sT%s%s"' % ((EPOCH + datetime.timedelta(days)).isoformat(), clock(rest, DIGITS[t.unit]),
                              "Z" if t.tz else "")
    if pa.types.is_duration(t):
        return str(integer(scalar))
    if t == pa.month_day_nano_interval():
        return json.dumps(list(scalar.as_py()), separators=(",", ":"))
    value = scalar.as_py()
    if isinstance(value, bytes):
        return '"' + base64.b64encode(value).decode() + '"'
    return json.dumps(value, ensure_ascii=False)


def is_number(t):
    return any(test(t) for test in JSON_NUMBERS) and t != pa.month_day_nano_interval()


def octets(array):
    """The bytes of numbers as they are given: truth values as a byte each."""
    if pa.types.is_boolean(array.type):
        return np.array(array.to_pylist(), dtype=np.bool_).tobytes()
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32())
    return array.to_numpy(zero_copy_only=False).tobytes()


def is_list(t):
    return (pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t)
            or pa.types.is_list_view(t) or pa.types.is_large_list_view(t))


def numbers(scalar, sized):
    """The bytes of a list of numbers; False if a null is in it."""
    items = scalar.values
    if items.null_count:
        return False
    if is_list(items.type):
        parts = [numbers(item, sized) for item in items]
        return False if False in parts else "".join(parts)
    return octets(items).hex()


def columns(name, array, nested_sizes=True, as_json=False):
    """What the store gives of a column: a dictionary of columns, each a list of a value a row."""
    t = array.type
    if as_json:
        return {name: [text(scalar) if scalar.is_valid else None for scalar in array]}
    if pa.types.is_struct(t):
        return {k: v for i, child in enumerate(array.flatten())
                for k, v in columns(name + "." + t.field(i).name, child, nested_sizes).items()}
    plain = t
    if pa.types.is_dictionary(t) and not pa.types.is_nested(t.value_type) and not pa.types.is_decimal(t.value_type):
        array = array.dictionary_decode()
        plain = t.value_type
    items = plain.value_type if is_list(plain) else None
    while items is not None and pa.types.is_fixed_size_list(items) and nested_sizes:
        items = items.value_type
    values = []
    for scalar in array:
        if not scalar.is_valid and not isinstance(scalar, (pa.UnionScalar, pa.RunEndEncodedScalar)):
            values.append(None)
        elif is_number(plain):
            values.append(octets(pa.array([scalar], plain)).hex())
        elif items is not None and is_number(items):
            values.append(numbers(scalar, nested_sizes))
        elif pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain):
            values.append(scalar.as_py())
        elif (pa.types.is_binary(plain) or pa.types.is_large_binary(plain) or pa.types.is_binary_view(plain)
              or pa.types.is_fixed_size_binary(plain)):
            values.append(scalar.as_py().hex())
        else:
            values.append(None if text(scalar) == "null" else text(scalar))
    return {name: values}


def expect(name, table, **how):
    """Notes what a table holds; the name of an earlier file that holds the same."""
    found = {k: v for label in table.schema.names
             for k, v in columns(label, pa.concat_arrays(table[label].chunks) if table[label].num_chunks > 1
                                 else table[label].chunk(0), **how).items()}
    EXPECTED[name] = next((other for other, known in EXPECTED.items() if known == found), found)


def digest(table):
    """Over the JSON of all rows, each with a line break behind it."""
    return hashlib.sha256("".join(text(scalar) + "\n" for scalar in table["conv"]).encode()).hexdigest()


LONG = "longer than twelve bytes, with \"quotes\", a \\, \n a line and \u0001 \u00e9\u20ac\U0001f600 /"
SCALARS = {
    "i8": (pa.int8(), [-128, 127, 0]), "u8": (pa.uint8(), [0, 255, 7]), "i16": (pa.int16(), [-2**15, 2**15 - 1, 0]),
    "u16": (pa.uint16(), [0, 65535, 9]), "i32": (pa.int32(), [-2**31, 2**31 - 1, 5]),
    "u32": (pa.uint32(), [0, 2**32 - 1, 5]), "i64": (pa.int64(), [-2**63, 2**63 - 1, 5]),
    "u64": (pa.uint64(), [0, 2**64 - 1, 5]), "f16": (pa.float16(), [np.float16(1.5), np.float16("inf"), np.float16(-0.1)]),
    "f32": (pa.float32(), [0.1, float("nan"), 1e30]), "f64": (pa.float64(), [0.1, -1e-7, 123456789.25]),
    "bool": (pa.bool_(), [True, False, True]),
    "d32": (pa.decimal32(9, 2), [D("1.50"), D("-9999999.99"), D("0.00")]),
    "d64": (pa.decimal64(18, 0), [D(5), D(-10**17), D(0)]),
    "d128": (pa.decimal128(38, 10), [D("0.0000000001"), D("-1234567890123456789012345678.9012345678"), D(1).scaleb(-10)]),
    "d256": (pa.decimal256(76, 40), [D("1").scaleb(-40), D("-5.5"), D("12345678901234567890.0")]),
    "date": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(1969, 12, 31)]),
    "date64": (pa.date64(), [datetime.date(2024, 2, 29), datetime.date(1900, 3, 1), datetime.date(9999, 12, 31)]),
    "t32": (pa.time32("ms"), [0, 86399999, 3723004]), "t64": (pa.time64("us"), [0, 86399999999, 3723000004]),
    "ts_ms": (pa.timestamp("ms"), [0, -1, 1709210096007]), "ts_us": (pa.timestamp("us", "UTC"), [0, -1, 1709210096007001]),
    "ts_ns": (pa.timestamp("ns", "Europe/Berlin"), [0, -1, 1709210096007001002]),
    "dur": (pa.duration("us"), [0, -5, 10**12]),
    "str": (pa.string(), ["", LONG, "short"]), "lstr": (pa.large_string(), ["x", LONG, ""]),
    "bin": (pa.binary(), [b"", bytes(range(50)), b"\xff"]), "lbin": (pa.large_binary(), [b"\0", b"ab", b"abc"]),
    "fsb": (pa.binary(3), [b"abc", b"\0\1\2", b"\xff\xfe\xfd"]),
}
ARROW_ONLY = {
    "ts_s": (pa.timestamp("s"), [0, -1, 1709210096]),
    "interval": (pa.month_day_nano_interval(), [(1, 2, 3), (-1, 0, 10**15), (0, 0, 0)]),
    "sv": (pa.string_view(), ["", LONG, "twelve bytes"]), "bv": (pa.binary_view(), [b"x" * 13, bytes(range(99)), b""]),
    "neg": (pa.decimal128(5, -3), [D("1E+4"), D("-99E+3"), D("0E+3")]),
}
ROWS = 8


def spread(values, n, k):
    """Values and nulls by turns."""
    return [None if (i + k) % 4 == 3 else values[(i + k) % len(values)] for i in range(n)]


def scalars(types, n):
    return {"s_" + name: pa.array(spread(values, n, k), t) for k, (name, (t, values)) in enumerate(types.items())}


def lists(types, n):
    """Lists of each type: null ones, empty ones, ones with nulls, ones without."""
    found = {}
    for name, (t, values) in types.items():
        rows = [None, [], values[:2], [values[0], None, values[2]], [None], values * 2, [values[1]], None]
        found["l_" + name] = pa.array([rows[i % len(rows)] for i in range(n)], pa.list_(t))
    return found


def conversations(n):
    turn = pa.struct([("role", pa.string()), ("content", pa.string()), ("weights", pa.list_(pa.float32())),
                      ("meta", pa.map_(pa.string(), pa.int64()))])
    return pa.array([None if i % 5 == 4 else [None if (i + k) % 6 == 5 else
                     {"role": ["user", "assistant"][k % 2], "content": None if k == 3 else "turn %d of %d %s" % (k, i, LONG),
                      "weights": None if k == 2 else [0.5] * k, "meta": [("k%d" % m, None if m else i) for m in range(k)]}
                     for k in range(i % 5)] for i in range(n)], pa.list_(turn))


def nested(n):
    """What both formats have."""
    deep = pa.list_(pa.struct([("a", pa.list_(pa.struct([("b", pa.list_(pa.list_(pa.int32()))), ("c", pa.string())]))),
                               ("d", pa.float64())]))
    return {
        "conv": conversations(n),
        "lists": pa.array([None if i == 2 else [None if k == 1 else list(range(k)) for k in range(i)] for i in range(n)],
                          pa.list_(pa.list_(pa.int32()))),
        "lll": pa.array([[[[1, None], []], [], None], [], None, [[[7]]]] * 2, pa.list_(pa.list_(pa.list_(pa.int8())))),
        "deep": pa.array([None, [], [None], [{"a": None, "d": 1.0}], [{"a": [], "d": None}, {"a": [None], "d": 2.5}],
                          [{"a": [{"b": [[1, 2], None, [], [None]], "c": "x"}, {"b": [], "c": None}, {"b": None, "c": ""}],
                            "d": float("inf")}], [{"a": [{"b": [[3]], "c": "y"}], "d": 1e300}] * 2, None], deep),
        "map": pa.array([None, [], [("a", 1), ("a", None)], [("b", 3)]] * (n // 4), pa.map_(pa.string(), pa.int32())),
        "map_of_lists": pa.array([[(i, [{"x": i, "y": None}, None])] for i in range(n)],
                                 pa.map_(pa.int64(), pa.list_(pa.struct([("x", pa.uint8()), ("y", pa.bool_())])))),
        "holder": pa.array([None if i == 3 else {"tags": None if i == 4 else ["t%d" % i, None], "n": i,
                                                 "inner": None if i == 5 else {"m": [("k", D(i))], "ids": [i] * (i % 3)}}
                            for i in range(n)],
                           pa.struct([("tags", pa.list_(pa.string())), ("n", pa.int16()), ("inner", pa.struct([
                               ("m", pa.map_(pa.string(), pa.decimal128(9, 3))), ("ids", pa.list_(pa.uint16()))]))])),
        "words": pa.array([["a", "b", None], None, [], ["b"]] * (n // 4), pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        "fixed_text": pa.array([["a", None], None, ["", "c"], ["d", LONG]] * (n // 4), pa.list_(pa.string(), 2)),
        "fixed": pa.array([[1, 2, 3], None, [1, None, 3], [7, 8, 9]] * (n // 4), pa.list_(pa.int16(), 3)),
        "names \"quoted\"": pa.array([[{"\u00e9\n\"": 1}]] * n, pa.list_(pa.struct([("\u00e9\n\"", pa.int8())]))),
    }


def arrow_only(n, views=True):
    text_array = pa.array(["run", None, "z"])
    found = {
        "grid": pa.array([[[1, 2], [3, 4]], None, [[1, None], [3, 4]], [[5, 6], None]] * (n // 4),
                         pa.list_(pa.list_(pa.int16(), 2), 2)),
        "grids": pa.array([[[1, 2], [3, 4]], None, [[1, None], [3, 4]], []] * (n // 4), pa.list_(pa.list_(pa.int64(), 2))),
        "nothing": pa.nulls(n), "nothings": pa.array([[None], [], None, [None, None]] * (n // 4), pa.list_(pa.null())),
        "large": pa.array([["a", None], None, [], [LONG]] * (n // 4), pa.large_list(pa.large_string())),
        "dense": pa.UnionArray.from_dense(pa.array([0, 1, 0, 2] * (n // 4), pa.int8()),
                                          pa.array([k // 4 * 2 + k % 4 // 2 if k % 4 in (0, 2) else k // 4 for k in range(n)], pa.int32()),
                                          [pa.array([1, None, 3, 4] * (n // 8), pa.int32()), pa.array(["u", "v"] * (n // 8)),
                                           pa.array([[1.5], [None]] * (n // 8))], ["i", "t", "l"]),
        "sparse": pa.UnionArray.from_sparse(pa.array([5, 3] * (n // 2), pa.int8()),
                                            [pa.array(range(n), pa.int64()), pa.array(["s%d" % k for k in range(n)])],
                                            ["i", "t"], [5, 3]),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, n], pa.int32()), text_array),
        "runs16": pa.RunEndEncodedArray.from_arrays(pa.array([1, n], pa.int16()), pa.array([[1, 2], None])),
        "unions": pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), pa.UnionArray.from_sparse(
            pa.array([0, 1] * (n // 2), pa.int8()), [pa.array(range(n)), pa.array([D("1.5")] * n, pa.decimal128(3, 1))])),
        "of_lists": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2] * (n // 4), pa.int8()),
                                                   pa.array([["q"], [], [None, "r"]])),
        "of_structs": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1] * (n // 4), pa.uint16()),
                                                     pa.array([{"x": 1, "y": "p"}, {"x": None, "y": "q"}])),
        "of_decimals": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1] * (n // 4), pa.int64()),
                                                      pa.array([D("1.5"), None], pa.decimal128(3, 1))),
        "in_dictionary": pa.DictionaryArray.from_arrays(
            pa.array([1, 0, None, 1] * (n // 4), pa.int8()),
            pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), pa.array(["m", None, "m"]).dictionary_encode())),
    }
    if views:
        found |= {
            "list_view": pa.ListViewArray.from_arrays(pa.array([4, 0, 2, 0] * (n // 4), pa.int32()), pa.array([2, 0, 3, 4] * (n // 4), pa.int32()),
                                                      pa.array([1, 2, 3, 4, 5, None], pa.int16())),
            "large_list_view": pa.LargeListViewArray.from_arrays(pa.array([1, 0] * (n // 2), pa.int64()), pa.array([2, 1] * (n // 2), pa.int64()),
                                                                 pa.array(["v", None, LONG])),
            "view_lists": pa.array([["a", LONG, None], None, [], [LONG + "!"]] * (n // 4), pa.list_(pa.string_view())),
        }
    return found


def guarded(arrays, n):
    """A column of plain numbers behind each: what is read of it says whether the walk over buffers kept its place."""
    found = {}
    for k, (name, array) in enumerate(arrays.items()):
        found[name] = array
        found["guard_%d" % k] = pa.array([k * 100 + i for i in range(n)], pa.int32())
    return found


def write_arrow(folder):
    types = SCALARS | ARROW_ONLY
    everything = pa.table(guarded(scalars(types, ROWS) | lists(types, ROWS) | nested(ROWS) | arrow_only(ROWS), ROWS))
    everything = everything.combine_chunks()
    batch = everything.to_batches()[0]
    for label, version in (("v4", ipc.MetadataVersion.V4), ("v5", ipc.MetadataVersion.V5)):
        for container in ("stream", "file"):
            for codec in (None, "lz4") if version == ipc.MetadataVersion.V5 else (None,):
                name = "%s_%s%s.arrow" % (label, container, "_" + codec if codec else "")
                path = os.path.join(folder, name)
                options = ipc.IpcWriteOptions(metadata_version=version, compression=codec)
                new = ipc.new_stream if container == "stream" else ipc.new_file
                with new(path, batch.schema, options=options) as writer:
                    writer.write_batch(batch)
                    writer.write_batch(batch.slice(2, 5))
                read = ipc.open_stream(path) if container == "stream" else ipc.open_file(path)
                expect(name, read.read_all())


def write_parquet(folder):
    table = pa.table(scalars(SCALARS, ROWS) | lists(SCALARS, ROWS) | nested(ROWS))
    for name, options in {
        "plain": {"compression": "none", "use_dictionary": False}, "pages": {"data_page_size": 1, "row_group_size": 5},
        "v2": {"data_page_version": "2.0", "compression": "zstd"}, "integers": {"store_decimal_as_integer": True},
        "two_levels": {"use_compliant_nested_type": False, "store_schema": False},
        "int96": {"use_deprecated_int96_timestamps": True, "store_schema": False},
    }.items():
        path = os.path.join(folder, name + ".parquet")
        data = table if name != "int96" else pa.table(
            {"t": pa.array([0, -1, None, 1709210096007001002], pa.timestamp("ns")),
             "lt": pa.array([[0], None, [None, -1], []], pa.list_(pa.timestamp("ns")))})
        pq.write_table(data, path, **options)
        # What pyarrow writes of null lists of a fixed size it does not read again.
        sized = [label for label in data.schema.names if pa.types.is_fixed_size_list(data.schema.field(label).type)]
        read = pq.read_table(path, columns=[label for label in data.schema.names if label not in sized])
        for label in sized:
            read = read.append_column(data.schema.field(label), data[label])
        expect(name + ".parquet", read, nested_sizes=False, as_json=name == "int96")
    two = pa.table({"cannot": pa.array([["a"], []]), "can": pa.array([1, 2])})
    pq.write_table(two, os.path.join(folder, "brotli.parquet"), compression={"cannot.list.element": "brotli", "can": "none"})
    expect("brotli.parquet", two.select(["can"]))
    many = pa.table({"conv": conversations(2000), "n": pa.array(range(2000))})
    pq.write_table(many, os.path.join(folder, "many.parquet"), row_group_size=1500, data_page_size=2000, compression="zstd")
    batches = many.combine_chunks().to_batches()[0]
    with ipc.new_file(os.path.join(folder, "many.arrow"), many.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batches)
        writer.write_batch(batches.slice(300, 100))
    return {name: digest(read) for name, read in (
        ("many.parquet", pq.read_table(os.path.join(folder, "many.parquet"))),
        ("many.arrow", ipc.open_file(os.path.join(folder, "many.arrow")).read_all()))}


def write_small(folder):
    """Seeds for fuzzing, which starts from small files."""
    os.makedirs(folder, exist_ok=True)
    few = {name: SCALARS[name] for name in ("i16", "f32", "bool", "d128", "ts_us", "str", "bin")}
    groups = {"nested": nested(ROWS), "arrow": arrow_only(ROWS), "lists": lists(few | ARROW_ONLY, ROWS),
              "fixed": {"all": pa.array([["a", "b"]] * ROWS, pa.list_(pa.string(), 2))}}
    for name, arrays in groups.items():
        table = pa.table(arrays)
        for new, options in ((ipc.new_stream, {"metadata_version": ipc.MetadataVersion.V4}),
                             (ipc.new_file, {"compression": "lz4"})):
            path = os.path.join(folder, "%s_%s.arrow" % (name, new.__name__[4:]))
            with new(path, table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
                writer.write_table(table)
    for name, arrays in (("nested", nested(ROWS)), ("lists", lists(few, ROWS))):
        pq.write_table(pa.table(arrays), os.path.join(folder, name + ".parquet"), store_schema=False, compression="none")
        pq.write_table(pa.table(arrays), os.path.join(folder, name + "_v2.parquet"), store_schema=False,
                       use_dictionary=False, data_page_version="2.0", row_group_size=3)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    write_small(os.path.join(sys.argv[1], "small"))
    write_arrow(sys.argv[1])
    digests = write_parquet(sys.argv[1])
    with open(os.path.join(sys.argv[1], "expected.json"), "w") as out:
        json.dump(EXPECTED | {"digests": digests}, out, indent=0, ensure_ascii=False)
