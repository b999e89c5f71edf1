# SPDX-License-Identifier: Apache-2.0
"""Prints docs/spec/vectors/manifest.json: stores in parts, as docs/spec/manifest.md says, and what is refused.

    python3 src/test/python/spec_manifest.py > docs/spec/vectors/manifest.json
"""

import base64
import copy
import hashlib
import itertools
import json
import random
import struct

CODES = {"u16": (8, "<H"), "i32": (4, "<i")}
VOCABULARY = hashlib.sha256(b"a vocabulary").hexdigest()


def part(dtype, documents):
    """The .bin and .idx of documents, each a list of tokens."""
    code, form = CODES[dtype]
    size = struct.calcsize(form)
    tokens = b"".join(struct.pack(form, token) for document in documents for token in document)
    starts = [size * sum(len(d) for d in documents[:i]) for i in range(len(documents))]
    index = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, len(documents), len(documents) + 1)
    index += b"".join(struct.pack("<i", len(document)) for document in documents)
    index += b"".join(struct.pack("<q", start) for start in starts)
    index += b"".join(struct.pack("<q", i) for i in range(len(documents) + 1))
    return tokens, index


def entry(path, dtype, documents):
    tokens, index = part(dtype, documents)
    return {"path": path, "documents": len(documents), "tokens": sum(map(len, documents)),
            "bin_sha256": hashlib.sha256(tokens).hexdigest(), "idx_bytes": len(index),
            "idx_sha256": hashlib.sha256(index).hexdigest()}


def manifest(dtype, parts):
    entries = [entry(path, dtype, documents) for path, documents in parts]
    return {"format": "penstock-manifest", "version": 1, "dtype": dtype, "tokenizer": "none",
            "vocabulary_sha256": VOCABULARY, "documents": sum(e["documents"] for e in entries),
            "tokens": sum(e["tokens"] for e in entries), "parts": entries}


def files(dtype, parts, content):
    all_files = {"x.manifest.json": json.dumps(content).encode()}
    for path, documents in parts:
        all_files[path + ".bin"], all_files[path + ".idx"] = part(dtype, documents)
    return {name: base64.b64encode(data).decode() for name, data in all_files.items()}


def fingerprint(content):
    digests = "".join(e["bin_sha256"] + e["idx_sha256"] for e in content["parts"])
    return (f"manifest:{content['dtype']}:tokens={content['tokens']}:docs={content['documents']}:sha256="
            + hashlib.sha256(digests.encode()).hexdigest()[:32])


def store(name, dtype, parts):
    content = manifest(dtype, parts)
    documents = [document for _, some in parts for document in some]
    starts = [0, *itertools.accumulate(map(len, documents))]
    return {"name": name, "files": files(dtype, parts, content), "dtype": dtype,
            "tokens": [token for document in documents for token in document], "document_starts": starts,
            "fingerprint": fingerprint(content)}


def refused(name, file, change):
    """A store of two parts that is changed; `file` is the one to be named."""
    content = manifest("u16", TWO)
    all_files = files("u16", TWO, content)
    changed = copy.deepcopy(content)
    change(changed, all_files)
    all_files["x.manifest.json"] = base64.b64encode(json.dumps(changed).encode()).decode()
    return {"name": name, "files": all_files, "file": file}


def one_token_less(content, _):
    content["parts"][0]["tokens"] -= 1
    content["tokens"] -= 1


def other_documents(content, all_files):
    content["parts"][0]["documents"] -= 1
    content["documents"] -= 1


def setting(part_number, member, value):
    def change(content, _):
        (content if part_number is None else content["parts"][part_number])[member] = value
    return change


TWO = [("p", [[1, 2, 3], [4, 5]]), ("q", [[6]])]


def main():
    rng = random.Random(16)
    some = lambda *lengths: [[rng.randrange(65536) for _ in range(length)] for length in lengths]
    stores = [
        store("two parts", "u16", TWO),
        store("empty parts and documents", "u16", [("a.attempt-3", []), ("b", some(4, 0)), ("c", some(0)), ("d", []),
                                                   ("e", some(7, 1, 2))]),
        store("folders", "i32", [("tasks/0/part", [[-1, 100000]]), ("tasks/1/part", [[2147483647], [0, 5]])]),
        store("no tokens", "u16", [("a", []), ("b", [[]])]),
    ]
    bad = [
        refused("a missing part", "q.bin", lambda _, all_files: all_files.pop("q.bin")),
        refused("a missing index", "q.idx", lambda _, all_files: all_files.pop("q.idx")),
        refused("other sizes", "p.bin", one_token_less),
        refused("another index", "p.idx", setting(0, "idx_bytes", 1)),
        refused("an index of other documents", "p.idx", other_documents),
        refused("another number of documents", "x.manifest.json", setting(None, "documents", 4)),
        refused("another number of tokens", "x.manifest.json", setting(None, "tokens", 7)),
        refused("another version", "x.manifest.json", setting(None, "version", 2)),
        refused("an unknown member", "x.manifest.json", setting(1, "note", "hello")),
        refused("a path that leads out", "x.manifest.json", setting(1, "path", "../q")),
        refused("a part twice", "x.manifest.json", setting(1, "path", "p")),
        refused("no parts", "x.manifest.json", setting(None, "parts", [])),
        refused("no digest", "x.manifest.json", setting(0, "bin_sha256", "0")),
        refused("another dtype", "p.bin", setting(None, "dtype", "i32")),
    ]
    print(json.dumps({"stores": stores, "refused": bad}, indent=1))


main()
