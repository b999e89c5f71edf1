# SPDX-License-Identifier: Apache-2.0
"""tiktoken's side of TokenizerRates, and a check of ids: it reads the ranks from jtokkit's jar.

Lines on standard input: `load ENCODING CORPUS.jsonl`, answered with a checksum of the ids of each document; `round`,
answered with the CPU nanoseconds of one pass. So the sides take turns.

    pip install tiktoken
"""

import array
import base64
import json
import sys
import time
import zipfile
import zlib

import tiktoken
from tiktoken_ext import openai_public

RANKS = {"gpt2": "r50k_base", "p50k_edit": "p50k_base"}


def encoding(jar, name):
    """A published encoding, without the network."""
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read(f"com/knuddels/jtokkit/{RANKS.get(name, name)}.tiktoken").splitlines()
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda *_, **__: ranks
    return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]())


def checksum(ids):
    """As `TokenizerRates.checksum`."""
    return zlib.crc32(array.array("I", ids).tobytes())


def main():
    jar = sys.argv[1]
    for line in sys.stdin:
        words = line.split()
        if words[0] == "load":
            codec = encoding(jar, words[1])
            with open(words[2], encoding="utf-8") as file:
                texts = [json.loads(document)["text"] for document in file]
            print(*(checksum(codec.encode_ordinary(text)) for text in texts), flush=True)
        else:
            start = time.thread_time_ns()
            for text in texts:
                codec.encode_ordinary(text)
            print(time.thread_time_ns() - start, flush=True)


main()
