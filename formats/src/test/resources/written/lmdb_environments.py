"""Writes the LMDB environments beside it, and what py-lmdb reads in them (truth.json in the manifest's terms).

    python3 lmdb_environments.py FOLDER [--big]

Needs py-lmdb (Debian's python3-lmdb). Environments of other page sizes are written under a preloaded sysconf(3) that
says so; that takes a C compiler.
"""
import hashlib
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

import lmdb

FLAGS = ["reverse_key", "dupsort", "integerkey", "integerdup", "dupfixed"]
PAGE_SIZE_SHIM = """
#include <unistd.h>
#include <sys/syscall.h>
long sysconf(int name) {
    static const long bytes = PAGE_BYTES;
    if (name == _SC_PAGESIZE) return bytes;
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return 1;
    if (name == _SC_OPEN_MAX) return 1024;
    if (name == _SC_CLK_TCK) return 100;
    if (name == _SC_IOV_MAX) return 1024;
    return -1;
}
"""


def describe(env, name):
    db = env.open_db(name, create=False) if name else env.open_db(None)
    digest = hashlib.sha256()
    entries = value_bytes = distinct = 0
    previous = None
    with env.begin(db=db) as txn:
        stat = txn.stat(db)
        flags = db.flags(txn)
        for key, value in txn.cursor(db):
            digest.update(struct.pack("<I", len(key)) + key + struct.pack("<I", len(value)) + value)
            entries += 1
            value_bytes += len(value)
            distinct += key != previous
            previous = key
    return {"db": name.decode() if name else None, "flags": [f for f in FLAGS if flags.get(f)],
            "entries": entries, "distinct_keys": distinct, "value_bytes": value_bytes, "depth": stat["depth"],
            "overflow_pages": stat["overflow_pages"], "record_digest": digest.hexdigest()}


def truth(path, names, subdir=True):
    env = lmdb.open(path, readonly=True, lock=False, max_dbs=64, subdir=subdir)
    info = env.info()
    result = {"databases": [describe(env, name) for name in names], "page_size": env.stat()["psize"],
              "last_txnid": info["last_txnid"], "last_pgno": info["last_pgno"]}
    env.close()
    return result


def blob(rng, most):
    return rng.randbytes(rng.randrange(most + 1))


def kinds_of_keys(env, rng):
    names = [b"a-reversed", b"b-u32", b"c-u64", b"d-longest", b"e-empty"]
    reverse = env.open_db(names[0], reverse_key=True)
    u32 = env.open_db(names[1], integerkey=True)
    u64 = env.open_db(names[2], integerkey=True)
    longest = env.open_db(names[3])
    env.open_db(names[4])
    with env.begin(write=True) as txn:
        for i in range(400):
            txn.put(b"host%d.example.%d" % (i, i % 7), blob(rng, 30), db=reverse)
            txn.put(struct.pack("=I", i * 10_000_019 & 0xFFFFFFFF), blob(rng, 10), db=u32)
            txn.put(struct.pack("=Q", i * 0x9E3779B97F4A7C15 & (1 << 64) - 1), b"", db=u64)
        for i in range(40):
            txn.put(bytes([i]) * 511 if i % 2 else bytes([i]), blob(rng, 9000 if i % 5 == 0 else 600), db=longest)
    return names


def many_values(env, rng):
    names = [b"fixed", b"integers", b"mixed"]
    mixed = env.open_db(b"mixed", dupsort=True)
    fixed = env.open_db(b"fixed", dupsort=True, dupfixed=True)
    integers = env.open_db(b"integers", dupsort=True, dupfixed=True, integerdup=True, integerkey=True)
    with env.begin(write=True) as txn:
        for i, count in enumerate([1, 2, 3, 60, 1, 700, 1, 1, 5, 300, 0, 2, 40]):
            for v in range(count):
                txn.put(b"key-%02d" % i, b"%d-" % (v * 7919 % 10007) + blob(rng, 40), db=mixed)
                txn.put(b"key-%02d" % i, struct.pack(">IB", v * 7919 % 10007, i), db=fixed)
                txn.put(struct.pack("=I", i), struct.pack("=Q", v * 7919 % 10007), db=integers)
        for v in range(4000):
            txn.put(b"wide", struct.pack(">IB", v, 1), db=fixed)
    return names


def plain(env, rng):
    with env.begin(write=True) as txn:
        for i in range(200):
            txn.put(b"%04d" % i, blob(rng, 100))
    return [None]


def freed_pages(env, rng):
    db = env.open_db(None)
    for round in range(6):
        with env.begin(write=True) as txn:
            for i in range(120):
                key = b"%05d" % rng.randrange(400)
                if rng.random() < 0.4:
                    txn.delete(key, db=db)
                else:
                    txn.put(key, blob(rng, 200 if rng.random() < 0.9 else 6000), db=db)
    return [None]


def empty(env, rng):
    return [None]


def values_around_a_page(env, rng):
    psize = env.stat()["psize"]
    with env.begin(write=True) as txn:
        for i in range(60):
            txn.put(b"small-%03d" % i, blob(rng, 300))
        for bytes in [0, 1, psize // 2 - 40, psize // 2, psize - 17, psize - 16, psize - 15, psize, 2 * psize - 16,
                      2 * psize - 15]:
            txn.put(b"large-%06d" % bytes, rng.randbytes(bytes))
    return [None]


def nested_transactions(env, rng):
    db = env.open_db(b"only")
    with env.begin(write=True) as parent:
        for i in range(20):
            child = env.begin(write=True, parent=parent)
            for j in range(20):
                child.put(b"%d/%d" % (i, j), blob(rng, 50), db=db)
            if i % 3:
                child.commit()
            else:
                child.abort()
    return [b"only"]


def lost_values(env, rng):
    """More entries than there are: the second value of a key replaces an empty first one, and the library counts both."""
    db = env.open_db(b"lost", dupsort=True)
    with env.begin(write=True) as txn:
        for i in range(30):
            for value in [b"", b"%d" % i, b"more"][i % 3:]:
                txn.put(b"%03d" % i, value, db=db)
        assert txn.stat(db)["entries"] == 60 and sum(1 for _ in txn.cursor(db)) == 50
    return [b"lost"]


def big(env, rng):
    with env.begin(write=True) as txn:
        for i in range(200_000):
            txn.put(b"%012d" % i, rng.randbytes(rng.choice([10, 500, 2048, 5000])), append=True)
    return [None]


def write(folder, name, writer, seed=7, shim=None, **options):
    path = os.path.join(folder, name)
    shutil.rmtree(path, ignore_errors=True)
    env = lmdb.open(path, map_size=options.pop("map_size", 1 << 22), max_dbs=64, **options)
    names = writer(env, random.Random(seed))
    env.close()
    lock = os.path.join(path, "lock.mdb") if options.get("subdir", True) else path + "-lock"
    os.remove(lock)
    return {"path": name, **truth(path, names, options.get("subdir", True))}


CASES = {
    "kinds_of_keys": (kinds_of_keys, {}),
    "many_values": (many_values, {}),
    "plain": (plain, {}),
    "freed_pages": (freed_pages, {}),
    "empty": (empty, {}),
    "nested_transactions": (nested_transactions, {}),
    "values_around_a_page": (values_around_a_page, {}),
    "one_file.lmdb": (values_around_a_page, {"subdir": False, "seed": 8}),
    "pages_of_16k": (values_around_a_page, {"seed": 9}),
    "pages_of_32k": (many_values, {"seed": 10}),
    "lost_values": (lost_values, {}),
    "writemap": (values_around_a_page, {"writemap": True, "seed": 11, "map_size": 1 << 20}),
}
BIG = {"big": (big, {"map_size": 1 << 31})}


def main():
    folder = sys.argv[1]
    if len(sys.argv) > 2 and sys.argv[2] in CASES:
        writer, options = CASES[sys.argv[2]]
        print(json.dumps(write(folder, sys.argv[2], writer, **dict(options))))
        return
    truths = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, (writer, options) in {**CASES, **(BIG if "--big" in sys.argv else {})}.items():
            if name.startswith("pages_of_"):
                bytes = int(name.split("_")[2][:-1]) << 10
                shim = os.path.join(scratch, name + ".so")
                source = os.path.join(scratch, name + ".c")
                with open(source, "w") as file:
                    file.write(PAGE_SIZE_SHIM.replace("PAGE_BYTES", str(bytes)))
                subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source], check=True)
                out = subprocess.run([sys.executable, __file__, folder, name], check=True, stdout=subprocess.PIPE,
                                     env={**os.environ, "LD_PRELOAD": shim})
                truths.append(json.loads(out.stdout))
            else:
                truths.append(write(folder, name, writer, **dict(options)))
    with open(os.path.join(folder, "truth.json"), "w") as file:
        json.dump(truths, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
