"""Writes Arrow files with Arrow's own library, and in truth.json what that library reads in them.

    python3 make_fixtures.py FOLDER     (pyarrow 25.0.1, datasets 5.0.1, numpy 2.4.6)

The truth has the form of the fixtures' manifest: lengths, values and valid of each column as arrays, whatever the
batches are.
"""
import hashlib, json, os, shutil, struct, sys
from decimal import Decimal
import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
from nested_fixtures import is_list, is_number, text

OUT = sys.argv[1]
TRUTH = {}


def sha(data):
    return hashlib.sha256(data).hexdigest()


def array(name, stored, values):
    data = np.ascontiguousarray(values).tobytes()
    return dict(name=name, stored_dtype=stored, shape=list(values.shape), nbytes=len(data), sha256=sha(data))


def numbers(values):
    """The numbers of an array without nulls; dates and times as their integers."""
    t = values.type
    if pa.types.is_boolean(t):
        return np.array(values.to_pylist(), dtype=np.bool_), "bool (bit-packed)"
    if pa.types.is_temporal(t):
        return values.cast(pa.int32() if t.bit_width == 32 else pa.int64()).to_numpy(zero_copy_only=False), str(t)
    return values.to_numpy(zero_copy_only=False), str(t)


def flatten(values):
    """Values of a fixed size as one array, and their shape."""
    dims = []
    while pa.types.is_fixed_size_list(values.type):
        dims.append(values.type.list_size)
        values = values.flatten()
    flat, stored = numbers(values)
    return flat.reshape([-1] + dims[0:]) if dims else flat, stored


def is_json(t):
    """Whether values are given as JSON: whatever is neither bytes, text, numbers nor tensors of them."""
    if is_list(t):
        t = t.value_type
        while pa.types.is_fixed_size_list(t):
            t = t.value_type
        return not is_number(t)
    return pa.types.is_nested(t) and not pa.types.is_struct(t) or pa.types.is_decimal(t) or pa.types.is_interval(t) \
        or pa.types.is_run_end_encoded(t) or pa.types.is_dictionary(t)


def has_null(row):
    return row is None or isinstance(row, list) and any(has_null(item) for item in row)


def column(name, values):
    t = values.type
    if pa.types.is_dictionary(t) and not pa.types.is_nested(t.value_type):
        return column(name, pa.concat_arrays([c.dictionary_decode() for c in values.chunks])
                      if isinstance(values, pa.ChunkedArray) else values.dictionary_decode())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], t)
    if isinstance(values, pa.ExtensionArray):
        return column(name, values.storage)
    if is_json(t):
        rows = [text(v) for v in values]
        return column(name, pa.array([None if row == "null" and not pa.types.is_union(t) else row for row in rows],
                                     pa.string()))
    if is_list(t) and any(has_null(row) for row in values.to_pylist() if row is not None):
        values = pa.array([None if row is None or has_null(row) else row for row in values.to_pylist()], t)
    if pa.types.is_struct(t):
        out = []
        for i, part in enumerate(values.flatten()):
            out += column(f"{name}.{t.field(i).name}", part)
        return out
    out = []
    valid = values.is_valid()
    if values.null_count:
        out.append(array(name + ".valid", "|b1", np.array(valid.to_pylist(), dtype=np.bool_)))
    present = values.drop_null()
    if is_list(t):
        lengths = np.array([-1 if v is None else len(v) for v in values.to_pylist()], dtype="<i4")
        flat, stored = flatten(present.flatten())
        return out + [array(name + ".lengths", "<i4", lengths), array(name + ".values", stored, flat)]
    strings = pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)
    if strings or pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t) \
            or pa.types.is_fixed_size_binary(t) or pa.types.is_null(t):
        rows = [v.encode() if isinstance(v, str) else v for v in present.to_pylist()]
        found = {"name": name, "strings" if strings else "binaries": len(rows),
                 "record_digest": sha(b"".join(struct.pack("<I", 0) + struct.pack("<I", len(r)) + r for r in rows)),
                 "bytes_total": sum(map(len, rows))}
        if rows:
            found |= dict(first=sha(rows[0])[:16], last=sha(rows[-1])[:16])
        return out + [found]
    flat, stored = numbers(present)
    return out + [array(name, stored, flat)]


def truth(name, tables, container):
    table = pa.concat_tables(tables) if isinstance(tables, list) else tables
    columns = []
    for field in table.schema:
        columns += column(field.name, table.column(field.name))
    TRUTH[name] = dict(container=container, rows=table.num_rows, columns=columns, unsupported=[],
                       schema=[f"{f.name}: {f.type}" for f in table.schema])


def write(name, batches, container, **options):
    options = ipc.IpcWriteOptions(**options)
    path = os.path.join(OUT, name + ".arrow")
    make = ipc.new_file if container == "file" else ipc.new_stream
    with pa.OSFile(path, "wb") as sink, make(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    with pa.memory_map(path) as source:
        read = (ipc.open_file(source) if container == "file" else ipc.open_stream(source)).read_all()
        assert read.to_pylist() == pa.Table.from_batches(batches).to_pylist(), name
        truth(name + ".arrow", read, container)


def some(rng, n, make, nulls):
    return [None if nulls and rng.random() < 0.3 else make() for _ in range(n)]


def scalars(rng, n, nulls):
    make = {}
    for bits in (8, 16, 32, 64):
        make[f"i{bits}"] = (getattr(pa, f"int{bits}")(), lambda b=bits: int(rng.integers(-2 ** (b - 1), 2 ** (b - 1) - 1)))
        make[f"u{bits}"] = (getattr(pa, f"uint{bits}")(), lambda b=bits: int(rng.integers(0, 2 ** (b - 1))))
    make["f16"] = (pa.float16(), lambda: np.float16(rng.normal()))
    make["f32"] = (pa.float32(), lambda: float(rng.normal()))
    make["f64"] = (pa.float64(), lambda: float(rng.normal()))
    make["flag"] = (pa.bool_(), lambda: bool(rng.integers(2)))
    for t in (pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
              pa.timestamp("us"), pa.timestamp("ns", tz="UTC"), pa.duration("ms")):
        make[str(t)] = (t, lambda t=t: int(rng.integers(0, 80000)) * (86400000 if t == pa.date64() else 1))
    make["fixed"] = (pa.binary(5), lambda: rng.bytes(5))
    make["bytes"] = (pa.binary(), lambda: rng.bytes(int(rng.integers(0, 20))))
    make["large"] = (pa.large_binary(), lambda: rng.bytes(int(rng.integers(0, 20))))
    make["text"] = (pa.string(), lambda: "ä€" * int(rng.integers(0, 5)))
    make["long_text"] = (pa.large_string(), lambda: "x" * int(rng.integers(0, 9)))
    arrays = {}
    for name, (t, value) in make.items():
        values = some(rng, n, value, nulls)
        if pa.types.is_temporal(t):
            base = pa.int32() if t.bit_width == 32 else pa.int64()
            arrays[name] = pa.array(values, base).cast(t)
        else:
            arrays[name] = pa.array(values, t)
    arrays["nothing"] = pa.nulls(n)
    return pa.record_batch(arrays)


def lists(rng, n, nulls):
    def ints(k=None, high=200):
        return lambda: [int(x) for x in rng.integers(0, high, rng.integers(0, 9) if k is None else k)]
    def flags(k=None):
        return lambda: [bool(x) for x in rng.integers(0, 2, rng.integers(0, 19) if k is None else k)]
    def pairs(k=None):
        return lambda: [ints(3)() for _ in range(rng.integers(0, 4) if k is None else k)]
    types = {
        "list_u8": (pa.list_(pa.uint8()), ints()), "list_bool": (pa.list_(pa.bool_()), flags()),
        "large_f16": (pa.large_list(pa.float16()), lambda: [np.float16(x) for x in rng.normal(size=rng.integers(0, 5))]),
        "fixed_bool": (pa.list_(pa.bool_(), 11), flags(11)),
        "fixed_i64": (pa.list_(pa.int64(), 3), ints(3)),
        "fixed_of_fixed": (pa.list_(pa.list_(pa.int16(), 3), 2), pairs(2)),
        "list_of_fixed": (pa.list_(pa.list_(pa.uint16(), 3)), pairs()),
        "list_time": (pa.list_(pa.timestamp("s")), ints()),
        "required": (pa.list_(pa.field("element", pa.int32(), nullable=False)), ints()),
        "fixed_none": (pa.list_(pa.int32(), 0), lambda: []),
    }
    return pa.record_batch({name: pa.array(some(rng, n, value, nulls), t) for name, (t, value) in types.items()})


def unreadable(rng, n):
    """What could not be given at first stands between what could: the walk over nodes and buffers must not lose its place."""
    i = pa.array(rng.integers(0, 99, n), pa.int32())
    offsets = pa.array(np.arange(n + 1), pa.int32())
    parts = {
        "list_of_text": pa.array([["a", "b" * k] for k in range(n)]),
        "map": pa.array([[("k", k)] for k in range(n)], pa.map_(pa.string(), pa.int32())),
        "dense": pa.UnionArray.from_dense(pa.array([0] * n, pa.int8()), pa.array(range(n), pa.int32()),
                                          [i, pa.array(["x"])]),
        "sparse": pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [i, pa.array(["x"] * n)]),
        "view": pa.array(["a string that is longer than twelve bytes" * k for k in range(n)], pa.string_view()),
        "binary_view": pa.array([b"short" * k for k in range(n)], pa.binary_view()),
        "run_ends": pa.RunEndEncodedArray.from_arrays(pa.array([n], pa.int32()), pa.array([7], pa.int64())),
        "list_view": pa.array([[1, 2, k] for k in range(n)], pa.list_view(pa.int16())),
        "interval": pa.array([(1, 2, k) for k in range(n)], pa.month_day_nano_interval()),
        "decimal": pa.array([Decimal("1.5") + k for k in range(n)], pa.decimal128(10, 2)),
        "lists_of_lists": pa.array([[[1], [2, k]] for k in range(n)], pa.list_(pa.list_(pa.int32()))),
        "list_of_struct": pa.array([[{"a": k}] for k in range(n)]),
        "null_items": pa.array([[1, None, k] for k in range(n)], pa.list_(pa.int32())),
        "null_in_fixed": pa.array([[1, None] for k in range(n)], pa.list_(pa.int32(), 2)),
        "list_of_dictionary": pa.ListArray.from_arrays(offsets, pa.array(["u"] * n).dictionary_encode()),
        "dictionary_of_lists": pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([["q"]])),
    }
    arrays = {}
    for k, (name, values) in enumerate(parts.items()):
        arrays[name] = values
        arrays[f"good_{k}"] = pa.array(rng.integers(0, 9, n), pa.int16()) if k % 2 else \
            pa.array(["v%d" % x for x in range(n)])
    return pa.record_batch(arrays)


def structs(rng, n):
    inner = pa.array([None if k % 5 == 2 else {"x": k, "y": None if k % 3 == 0 else "t%d" % k} for k in range(n)],
                     pa.struct([("x", pa.int16()), ("y", pa.string())]))
    outer = pa.StructArray.from_arrays([inner, pa.array([[k] * (k % 4) for k in range(n)], pa.list_(pa.uint8()))],
                                       ["inner", "ids"], mask=pa.array([k % 7 == 6 for k in range(n)]))
    return pa.record_batch({"s": outer, "last": pa.array(range(n), pa.uint64())})


def dictionary(batches, index=pa.int8()):
    out = []
    for values, keys in batches:
        out.append(pa.record_batch({
            "word": pa.DictionaryArray.from_arrays(pa.array(keys, index), pa.array(values)),
            "number": pa.DictionaryArray.from_arrays(pa.array(keys, pa.uint16()), pa.array(range(len(values)), pa.int64())),
            "row": pa.array(range(len(keys)), pa.int32())}))
    return out


def main():
    os.makedirs(OUT, exist_ok=True)
    rng = np.random.default_rng(7)
    for nulls in (False, True):
        name = "_nulls" if nulls else ""
        for container, compression in (("file", None), ("stream", "lz4"), ("file", "zstd")):
            batches = [scalars(rng, n, nulls) for n in (9, 0, 64, 1)]
            write(f"scalars{name}_{compression or 'plain'}", batches, container, compression=compression)
            batches = [lists(rng, n, nulls) for n in (13, 1, 0, 30)]
            write(f"lists{name}_{compression or 'plain'}", batches, container, compression=compression)
    whole = lists(rng, 50, True)
    write("sliced", [whole.slice(0, 7), whole.slice(7, 1), whole.slice(8, 33), whole.slice(41)], "stream")
    batch = unreadable(rng, 6)
    write("unreadable", [batch, batch.slice(2, 3)], "file")
    write("unreadable_lz4", [batch, batch.slice(1)], "stream", compression="lz4")
    kept = batch.select([n for n in batch.schema.names if "view" not in n])
    write("unreadable_v4", [kept], "stream",
          metadata_version=ipc.MetadataVersion.V4, use_legacy_format=True)
    write("legacy", [lists(rng, 5, True)], "stream", use_legacy_format=True)
    write("structs", [structs(rng, 20), structs(rng, 3)], "stream")
    write("structs_zstd", [structs(rng, 20), structs(rng, 3)], "file", compression="zstd")
    first, second = ["a", "b", "c"], ["x", None, "zz", "y"]
    write("dictionary", dictionary([(first, [0, 2, None, 1]), (first, [2, 2])]), "file")
    write("dictionary_replaced", dictionary([(first, [0, 2, None]), (second, [1, 0, 3]), (first, [1])], pa.uint8()), "stream")
    write("dictionary_delta", dictionary([(first, [0, 2]), (first + ["d", "e"], [4, 0]), (first + ["d", "e", ""], [5])]),
          "stream", emit_dictionary_deltas=True)
    write("dictionary_delta_file", dictionary([(first, [0, 2]), (first + ["d", "e"], [4, 0])], pa.int64()), "file",
          emit_dictionary_deltas=True, compression="lz4")
    words = pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 2], pa.int8()), pa.array(["a", "b", "c"]))
    within = pa.StructArray.from_arrays([words.slice(1), pa.array([1, 2, 3])], ["word", "n"],
                                        mask=pa.array([False, False, True]))
    write("dictionary_in_struct", [pa.record_batch({"s": within, "word": words.slice(0, 3)})], "stream")
    write("no_rows", [lists(rng, 0, False)], "file")
    with ipc.new_stream(os.path.join(OUT, "no_batches.arrow"), whole.schema):
        pass
    truth("no_batches.arrow", pa.Table.from_batches([], whole.schema), "stream")
    with ipc.new_stream(os.path.join(OUT, "no_end.arrow"), structs(rng, 2).schema) as writer:
        writer.write_batch(structs(rng, 2))
    path = os.path.join(OUT, "no_end.arrow")
    data = open(path, "rb").read()
    open(path, "wb").write(data[:-8])
    truth("no_end.arrow", ipc.open_stream(data[:-8]).read_all(), "stream")
    saved(rng)
    json.dump(TRUTH, open(os.path.join(OUT, "truth.json"), "w"), indent=1)


def saved(rng):
    import datasets
    from datasets import Array2D, Array3D, ClassLabel, Dataset, DatasetDict, Features, List, Value
    features = Features(label=ClassLabel(names=["no", "yes"]), pixels=Array2D((4, 3), "uint8"),
                        volume=Array3D((None, 2, 2), "float32"), ids=List(Value("uint16"), length=5),
                        nested={"a": Value("string"), "b": List(Value("int64"))})
    def part(n):
        return Dataset.from_dict({
            "label": [int(x) for x in rng.integers(0, 2, n)],
            "pixels": [rng.integers(0, 255, (4, 3)).tolist() for _ in range(n)],
            "volume": [rng.normal(size=(k % 3, 2, 2)).tolist() for k in range(n)],
            "ids": [rng.integers(0, 999, 5).tolist() for _ in range(n)],
            "nested": [{"a": "t%d" % k, "b": list(range(k % 4))} for k in range(n)]}, features=features)
    folder = os.path.join(OUT, "splits")
    shutil.rmtree(folder, ignore_errors=True)
    DatasetDict(train=part(25), test=part(4)).save_to_disk(folder, num_shards={"train": 3, "test": 1})
    for split in ("train", "test"):
        table = datasets.load_from_disk(folder)[split].data.table
        plain = table.select(["label", "ids", "nested"])
        truth("splits/" + split, plain, "stream")
        columns = TRUTH["splits/" + split]["columns"]
        pixels = np.array(datasets.load_from_disk(folder)[split]["pixels"], np.uint8)
        volume = [np.array(v, np.float32).reshape(-1, 2, 2) for v in datasets.load_from_disk(folder)[split]["volume"]]
        columns[1:1] = [array("pixels.lengths", "<i4", np.full(len(pixels), 4, "<i4")),
                        array("pixels.values", "uint8", pixels.reshape(-1, 3)),
                        array("volume.lengths", "<i4", np.array([len(v) for v in volume], "<i4")),
                        array("volume.values", "float", np.concatenate(volume))]
        del TRUTH["splits/" + split]["schema"]


main()
