# SPDX-License-Identifier: Apache-2.0
"""Random reads from an LMDB environment by py-lmdb: a JSON line a round. Writes the environment if it is not there.

    apt-get install python3-lmdb        # or: pip install lmdb
    python3 bench/peers/lmdb_get.py --store target/bench/lmdb --seconds 1.5 --rounds 5

200,000 records of 2,048 bytes with keys of 8 decimal digits, 800 MB, in the page cache; keys are drawn before the clock
starts. `bytes` is txn.get as people write it; `buffers` gets a view of the map; `copy` copies it into one array, which
is what a batch needs.
"""

import argparse
import json
import os
import random
import time

import lmdb

RECORDS = 200_000
VALUE_BYTES = 2048


def write(path):
    rng = random.Random(0)
    with lmdb.open(path, map_size=1 << 32) as env:
        for first in range(0, RECORDS, 10_000):
            with env.begin(write=True) as txn:
                for i in range(first, first + 10_000):
                    txn.put(b"%08d" % i, rng.randbytes(VALUE_BYTES), append=True)


def measure(env, mode, keys, seconds):
    target = bytearray(VALUE_BYTES)
    view = memoryview(target)
    done = 0
    with env.begin(buffers=mode != "bytes") as txn:
        get = txn.get
        start = time.perf_counter()
        while time.perf_counter() - start < seconds:
            some = keys[done % len(keys) : done % len(keys) + 1000]
            if mode == "copy":
                for key in some:
                    view[:] = get(key)
            else:
                for key in some:
                    get(key)
            done += len(some)
        return done / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", default="target/bench/lmdb")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if not os.path.exists(os.path.join(args.store, "data.mdb")):
        os.makedirs(args.store, exist_ok=True)
        write(args.store)
    rng = random.Random(1)
    keys = [b"%08d" % rng.randrange(RECORDS) for _ in range(RECORDS)]
    env = lmdb.open(args.store, readonly=True, lock=False, readahead=False)
    for mode in ("bytes", "buffers", "copy"):
        measure(env, mode, keys, args.seconds)
    for _ in range(args.rounds):
        for mode in ("bytes", "buffers", "copy"):
            print(json.dumps({"peer": "py-lmdb", "version": lmdb.__version__, "lmdb": ".".join(map(str, lmdb.version())),
                              "mode": mode, "records_per_s": round(measure(env, mode, keys, args.seconds))}))


if __name__ == "__main__":
    main()
