# SPDX-License-Identifier: Apache-2.0
"""split.md of docs/spec in plain Python, and its vectors.

    python3 src/test/python/spec_split.py > docs/spec/vectors/split.json
"""

import json
import math
import random
import sys

sys.dont_write_bytecode = True

from spec_permutation import WRAP
from spec_randomness import Words


def fnv(data):
    number = 0xCBF29CE484222325
    for b in data:
        number = ((number ^ b) * 0x100000001B3) & WRAP
    return number


def draw(seed, key):
    return (Words(seed, 0, fnv(key), "penstock.split").next() >> 11) / (1 << 53)


def is_train(seed, key, share):
    return draw(seed, key) < share


def check_split(vectors, check):
    for case in vectors["keys"]:
        check("split by keys", [int(is_train(case["seed"], bytes.fromhex(key), case["share"])) for key in case["keys"]],
              case["train"])
    for case in vectors["indexes"]:
        check("split by indexes", [i for i in range(case["size"])
                                   if is_train(case["seed"], str(i).encode(), case["share"])], case["train"])


def keys_case(seed, share, keys):
    return {"seed": seed, "share": share, "keys": [key.hex() for key in keys],
            "train": [int(is_train(seed, key, share)) for key in keys]}


def indexes_case(seed, share, size):
    return {"seed": seed, "share": share, "size": size,
            "train": [i for i in range(size) if is_train(seed, str(i).encode(), share)]}


def main():
    rng = random.Random(5)
    keys = [b"", b"\0", b"0", b"cats/1.jpg", b"dogs/1.jpg", "Größe/\U0001F600.png".encode(), bytes(range(256))]
    keys += [rng.randbytes(rng.randrange(1, 20)) for _ in range(25)]
    cases = [keys_case(seed, share, keys) for seed in (0, 1, 42, -1, -(1 << 63), rng.getrandbits(63))
             for share in (0.9, 0.5, 0.1)]
    # A draw that equals the share is not below it.
    edge = draw(7, b"edge")
    cases += [keys_case(7, share, [b"edge"]) for share in (edge, math.nextafter(edge, 1), math.nextafter(edge, 0))]
    indexes = [indexes_case(seed, share, size) for seed, share, size in
               ((0, 0.9, 120), (0, 0.9, 100), (7, 0.5, 100), (-3, 0.01, 400))]
    rows = {"keys": cases, "indexes": indexes}
    print("{\n" + ",\n".join('"%s": [\n  ' % name + ",\n  ".join(json.dumps(row) for row in of) + "\n]"
                              for name, of in rows.items()) + "\n}")


if __name__ == "__main__":
    main()
