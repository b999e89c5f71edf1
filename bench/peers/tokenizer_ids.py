# SPDX-License-Identifier: Apache-2.0
"""Compares a store of `penstock tokenize` with the ids of tiktoken, document by document; ends with 1 if they differ.

    ./penstock tokenize target/bench/gigabyte.jsonl -o target/bench/ids --encoding gpt2 --force
    python3 bench/peers/tokenizer_ids.py target/bench/gigabyte.jsonl target/bench/ids gpt2 JTOKKIT.jar

It reads the ranks from jtokkit's jar, as tokenizer_rates.py does.

    pip install tiktoken numpy
"""

import collections
import json
import sys
import unicodedata

import numpy as np

from tokenizer_rates import tiktoken_encoder


def scripts(text, counts):
    """Counts letters by the first word of their names, which is the script's: LATIN, CJK, DEVANAGARI."""
    for character, count in collections.Counter(text).items():
        if character.isalpha():
            counts[unicodedata.name(character, "?").split()[0]] += count


def main():
    corpus, store, encoding, jar = sys.argv[1:]
    encode = tiktoken_encoder(jar, encoding)
    ours = np.memmap(store + ".bin", "<u2" if encoding in ("gpt2", "r50k_base", "p50k_base", "p50k_edit") else "<i4", "r")
    at = documents = text_bytes = 0
    counts = collections.Counter()
    with open(corpus, encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            ids = np.array(encode(text), ours.dtype)
            if not np.array_equal(ids, ours[at:at + len(ids)]):
                sys.exit(f"document {documents} has other ids: {json.dumps(text[:200])}")
            at += len(ids)
            documents += 1
            text_bytes += len(text.encode())
            scripts(text, counts)
    if at != len(ours):
        sys.exit(f"the store has {len(ours)} tokens, tiktoken {at}")
    letters = sum(counts.values())
    print(f"{encoding}: {text_bytes / 1e6:.0f} MB, {documents} documents, {at} tokens, all ids the same; letters: "
          + ", ".join(f"{name} {100 * count / letters:.1f} %" for name, count in counts.most_common(16)))


if __name__ == "__main__":
    main()
