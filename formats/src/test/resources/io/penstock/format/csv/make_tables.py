# SPDX-License-Identifier: Apache-2.0
"""Makes CSV files with odd corners, and what is in them, as one JSON object a line.

python make_tables.py OUT.jsonl [FILES [SEED]]

The script draws the values and then writes each in one of the ways in which files have it, so it knows what is in a
file without a parser. It compares that with what pyarrow and pandas read, and prints in how many files each agrees,
refuses the file, or reads another value. tables.jsonl beside it is `make_tables.py tables.jsonl 150 7`.

An object has the bytes of a file in Base64, the options of its table, and for each column its name, its type, and a
value a row: null, a text, a truth, an integer in decimal, or a float as float.hex() writes it.
"""

import base64
import collections
import datetime
import gzip
import io
import json
import math
import random
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc

WORDS = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "N/A", "NA", "NULL",
         "NaN", "n/a", "nan", "null"]
LETTERS = "abcdefgh XYZ012.-_/äß中😀"
EPOCH = datetime.datetime(1970, 1, 1)


def an_integer(r):
    bits = r.choice([1, 4, 8, 16, 31, 53, 62, 63])
    value = r.randrange(-(1 << bits), 1 << bits)
    value = r.choice([value, 0, 2**63 - 1, -2**63]) if r.random() < 0.1 else value
    text = str(value)
    if r.random() < 0.1:
        text = text.replace("-", "-00") if value < 0 else "00" + text
    return value, text


def a_float(r):
    kind = r.randrange(12)
    if kind == 0:
        text = r.choice(["inf", "-inf", "Infinity", "-INF"])
        return float(text), text
    if kind == 1:
        text = "".join(r.choices("0123456789", k=r.randrange(17, 40)))
        at = r.randrange(1, len(text))
        text = text[:at] + "." + text[at:]
    elif kind == 2:
        text = r.choice([".5", "1.", "-.25", "0.0", "-0.0", "1e5", "1E+05", "1e-05", "5e-324", "2.2250738585072011e-308",
                         "1.7976931348623157e308", "9007199254740993.0", "0.000000000000000000000001", "1e23", "8.5e22",
                         "2.4703282292062328e-324", "123456789012345678901234567890", "9223372036854775808"])
    elif kind == 3:
        text = "%.*e" % (r.randrange(0, 18), r.uniform(-10, 10) * 10.0 ** r.randrange(-300, 300))
    elif kind == 4:
        text = repr(r.getrandbits(64) * 2.0 ** r.randrange(-200, 100))
    elif kind == 5:
        text = repr(r.uniform(-1, 1) * 10.0 ** r.randrange(-5, 16))
    else:
        text = "%.*f" % (r.randrange(1, 7), r.uniform(-1000, 1000))
    return float(text), text


def a_truth(r):
    value = r.random() < 0.5
    return value, r.choice(["true", "True", "TRUE"] if value else ["false", "False", "FALSE"])


def a_day(r):
    value = datetime.date.fromordinal(r.randrange(1, 3_600_000)) if r.random() < 0.2 \
        else datetime.date(r.randrange(1950, 2060), r.randrange(1, 13), r.randrange(1, 29))
    value = r.choice([value, datetime.date(2024, 2, 29), datetime.date(1900, 2, 28), datetime.date(2000, 2, 29)])
    return (value - EPOCH.date()).days, value.isoformat()


def a_time(r, zoned):
    micros = r.choice([0, r.randrange(1000) * 1000, r.randrange(1_000_000)])
    value = datetime.datetime(r.randrange(1800, 2200), r.randrange(1, 13), r.randrange(1, 29), r.randrange(24),
                              r.randrange(60), r.randrange(60), micros)
    text = value.isoformat(sep=r.choice([" ", "T"]))
    if value.second == 0 and micros == 0 and r.random() < 0.5:
        text = text[:-3]
    shift = 0
    if zoned:
        zone = r.choice(["Z", "+00:00", "+02:00", "-0530", "+14:00", "-08"])
        text += zone
        if zone != "Z":
            digits = zone[1:].replace(":", "").ljust(4, "0")
            shift = (int(digits[:2]) * 60 + int(digits[2:])) * (-1 if zone[0] == "-" else 1)
    delta = value - EPOCH - datetime.timedelta(minutes=shift)
    return (delta.days * 86400 + delta.seconds) * 1_000_000 + delta.microseconds, text


def a_text(r):
    text = "".join(r.choices(LETTERS, k=r.randrange(1, 12)))
    for special in r.sample(['"', ",", "\n", "\r\n", ";", "\t", "|", '""', "'", "\r"], k=r.choice([0, 0, 0, 1, 2])):
        at = r.randrange(len(text) + 1)
        text = text[:at] + special + text[at:]
    text = r.choice([text, text, text, "NA", "true", "12", "1.5x"])
    return text, text


KINDS = {
    "i64": an_integer, "f64": a_float, "bool": a_truth, "date": a_day, "timestamp[us]": lambda r: a_time(r, False),
    "zoned": lambda r: a_time(r, True), "text": a_text,
}


def column(r, rows, comma):
    kind = r.choice(list(KINDS))
    share = r.choice([0, 0, 0.2, 0.9])
    values, texts = [], []
    for _ in range(rows):
        if r.random() < share:
            word = r.choice(["", "", "NA", "nan", "NULL"])
            values.append(word if kind == "text" else None)
            texts.append((word, kind != "text" and r.random() < 0.2))
            continue
        value, text = KINDS[kind](r)
        if kind == "f64" and comma:
            text = text.replace(".", ",")
        if kind in ("i64", "f64") and r.random() < 0.05:
            text = r.choice([" ", "  ", "\t"]) + text + r.choice(["", " "])
        values.append(value)
        texts.append((text, r.random() < 0.15))
    if all(value is None for value in values):
        kind = "f64"                    # as columns without values are
    elif kind == "text" and not looks_like_text([text for text, _ in texts]):
        return column(r, rows, comma)
    elif kind == "f64" and all(value is None or is_integer(text) for value, (text, _) in zip(values, texts)):
        return column(r, rows, comma)
    return kind, values, texts


def is_integer(text):
    try:
        return -2**63 <= int(text.strip()) < 2**63
    except ValueError:
        return False


def looks_like_text(texts):
    """Whether a field is in no way a number, a truth or a missing word; then the column is one of text."""
    return any(text not in WORDS and any(c.isalpha() and c not in "einfatyruslENFATYRUSL" for c in text)
               for text in texts)


def field(text, quoted, delimiter, first):
    special = any(c in text for c in (delimiter, "\n", "\r")) or text.startswith('"')
    if quoted or special or (text == "" and first):
        return '"' + text.replace('"', '""') + '"'
    return text


def table(r, large):
    delimiter = r.choice([",", ",", ";", "\t", "|"])
    comma = delimiter != "," and r.random() < 0.4
    rows = r.randrange(3000, 9000) if large else r.choice([0, 1, 2, r.randrange(3, 40)])
    columns = [column(r, rows, comma) for _ in range(r.randrange(1, 7))]
    feeds = r.choice([["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"], ["\n", "\r\n", "\r"]])
    header = r.random() < 0.85 or rows == 0
    names = ["c%d" % c for c in range(len(columns))]
    names[0] = r.choice([names[0], 'a "name"', "a" + delimiter + "b", "größe"])
    lines = []
    if header:
        lines.append(delimiter.join(field(name, r.random() < 0.2, delimiter, False) for name in names))
    for row in range(rows):
        lines.append(delimiter.join(field(*texts[row], delimiter, len(columns) == 1) for _, _, texts in columns))
        if r.random() < 0.02:
            lines.append("")
    text = "".join(line + r.choice(feeds) for line in lines)
    if text.endswith(("\n", "\r")) and r.random() < 0.3 and rows:
        text = text.rstrip("\r\n")
    options = {"delimiter": delimiter, "decimal": "," if comma else "."}
    if not header:
        options["names"] = names
    data = (b"\xef\xbb\xbf" if r.random() < 0.15 else b"") + text.encode()
    return data, options, list(zip(names, columns))


def shown(kind, value):
    if value is None:
        return None
    if kind == "f64":
        return float(value).hex()
    return str(value) if kind not in ("bool", "text") else value


def same(kind, ours, theirs):
    if ours is None or theirs is None:
        return ours is None and (theirs is None or isinstance(theirs, float) and math.isnan(theirs))
    if kind == "f64":
        return float(ours).hex() == float(theirs).hex()
    return ours == theirs


def arrow(data, options, columns):
    types = {"i64": pa.int64(), "f64": pa.float64(), "bool": pa.bool_(), "date": pa.date32(), "text": pa.string(),
             "timestamp[us]": pa.timestamp("us"), "zoned": pa.timestamp("us", "UTC")}
    read = pc.read_csv(
        io.BytesIO(data),
        read_options=pc.ReadOptions(use_threads=False, column_names=options.get("names"), block_size=64 << 20),
        parse_options=pc.ParseOptions(delimiter=options["delimiter"], newlines_in_values=True),
        convert_options=pc.ConvertOptions(decimal_point=options["decimal"],
                                          column_types={name: types[kind] for name, (kind, _, _) in columns}))
    for name, (kind, values, _) in columns:
        got = read[name]
        if kind in ("date", "timestamp[us]", "zoned"):
            got = got.cast(pa.int32() if kind == "date" else pa.int64())
        got = got.to_pylist()
        if len(got) != len(values) or not all(same(kind, a, b) for a, b in zip(values, got)):
            return False
    return True


def pandas(data, options, columns):
    numeric = [name for name, (kind, _, _) in columns if kind != "text"]
    types = {"i64": "Int64", "f64": "float64", "bool": "boolean", "text": "str", "date": "str", "timestamp[us]": "str",
             "zoned": "str"}
    read = pd.read_csv(io.BytesIO(data), sep=options["delimiter"], decimal=options["decimal"], engine="c",
                       float_precision="round_trip", keep_default_na=False, encoding="utf-8-sig",
                       na_values={name: WORDS for name in numeric}, names=options.get("names"),
                       header=None if "names" in options else 0, index_col=False,
                       dtype={name: types[kind] for name, (kind, _, _) in columns})
    for name, (kind, values, _) in columns:
        got = [None if pd.isna(value) else value for value in read[name].tolist()]
        if kind == "date":
            got = [None if value is None else (datetime.date.fromisoformat(value) - EPOCH.date()).days for value in got]
        elif kind in ("timestamp[us]", "zoned"):
            continue                    # pandas leaves them texts
        if len(got) != len(values) or not all(same(kind, a, b) for a, b in zip(values, got)):
            return False
    return True


def main(out, files=2000, seed=1):
    r = random.Random(int(seed))
    counts = collections.Counter()
    with open(out, "w", encoding="utf-8") as lines:
        for number in range(int(files)):
            data, options, columns = table(r, int(files) > 1000 and number % 50 == 0)
            for reader in (arrow, pandas):
                try:
                    result = "agrees" if reader(data, options, columns) else "reads other values"
                except Exception as problem:
                    result = "refuses: " + str(problem).split(":")[0][:60]
                counts[reader.__name__ + " " + result] += 1
            name = "t%d.csv" % number
            if number % 7 == 3:
                data = gzip.compress(data, mtime=0)
                name += ".gz"
            lines.write(json.dumps({
                "name": name, "bytes": base64.b64encode(data).decode(), "options": options,
                "columns": [{"name": column, "type": "timestamp[us]" if kind == "zoned" else kind,
                             "values": [shown(kind, value) for value in values]}
                            for column, (kind, values, _) in columns]}) + "\n")
    for what, count in sorted(counts.items()):
        print(count, what)


if __name__ == "__main__":
    main(*sys.argv[1:])
