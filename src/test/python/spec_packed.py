# SPDX-License-Identifier: Apache-2.0
"""Prints docs/spec/vectors/packed-tokens.json: narrow packed batches, and the fields that packed-tokens.md derives.

Written from the page, token by token, without the kernels' search. Needs Python 3 alone:

    python3 src/test/python/spec_packed.py > docs/spec/vectors/packed-tokens.json
"""
import json
import random


def batch(rng, rows, length, masked, full):
    owners, lengths = [], []                    # of each token: the number of its sequence, None in padding
    for _ in range(rows):
        used = length if full else rng.randint(0, length)
        row, number = [], 0
        while len(row) < used:
            number += 1
            row += [number] * min(rng.randint(1, max(1, length // 2)), used - len(row))
        owners.append(row + [None] * (length - used))
        lengths.append(used)
    starts = [r * length + t for r, row in enumerate(owners) for t in range(length)
              if t == 0 or row[t] != row[t - 1]] + [rows * length]
    starts += [rows * length] * rng.randint(0, 3)
    tokens = [[0 if owner is None else rng.randint(1, 65535) for owner in row] for row in owners]
    trained = [[rng.randint(0, 1) for _ in range(length)] for _ in range(rows)]
    bits = [[sum(row[8 * b + k] << k for k in range(8) if 8 * b + k < length) for b in range((length + 7) // 8)]
            for row in trained]
    labels, positions, documents, mask = [], [], [], []
    for r, row in enumerate(owners):
        for t, owner in enumerate(row):
            follows = owner is not None and t + 1 < length and row[t + 1] == owner
            labels.append(tokens[r][t + 1] if follows and (not masked or trained[r][t + 1]) else -100)
            positions.append(t - row.index(owner))
            documents.append(owner or 0)
            mask += [int(owner is not None and row[k] == owner and k <= t) for k in range(length)]
    result = {"batch": rows, "length": length, "tokens": sum(tokens, []), "cu_seqlens": starts, "lengths": lengths}
    if masked:
        result["loss_bits"] = sum(bits, [])
    return result | {"labels": labels, "position_ids": positions, "document_ids": documents,
                     "padding_mask": [int(d > 0) for d in documents], "attention_mask": mask}


rng = random.Random(1)
sizes = [(1, 1), (1, 8), (2, 9), (3, 16), (4, 17), (2, 31)]
print("{\"batches\": [")
print(",\n".join(json.dumps(batch(rng, rows, length, masked, full), separators=(",", ":"))
                 for rows, length in sizes for masked in (False, True) for full in (False, True)))
print("]}")
