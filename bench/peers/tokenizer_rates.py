# SPDX-License-Identifier: Apache-2.0
"""The side of tiktoken or of Hugging Face's tokenizers in TokenizerRates, and a check of ids.

    python3 bench/peers/tokenizer_rates.py tiktoken|tokenizers JTOKKIT.jar

It reads the ranks from jtokkit's jar. Lines on standard input: `load ENCODING CORPUS.jsonl`, answered with a checksum of
the ids of each document; `round`, answered with the CPU nanoseconds of one pass. So the sides take turns.

    pip install tiktoken tokenizers
"""

import array
import base64
import json
import os
import sys
import time
import zipfile
import zlib

os.environ["TOKENIZERS_PARALLELISM"] = "false"

RANKS = {"gpt2": "r50k_base", "p50k_edit": "p50k_base"}


def ranks(jar, name):
    with zipfile.ZipFile(jar) as archive:
        lines = archive.read(f"com/knuddels/jtokkit/{RANKS.get(name, name)}.tiktoken").splitlines()
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}


def tiktoken_encoder(jar, name):
    """A published encoding, without the network."""
    import tiktoken
    from tiktoken_ext import openai_public
    known = ranks(jar, name)
    openai_public.load_tiktoken_bpe = lambda *_, **__: known
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda *_, **__: known
    return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]()).encode_ordinary


def tokenizers_encoder(jar, name):
    """The same as a tokenizer.json."""
    from tokenizers import Tokenizer
    from tokenizer_json import published
    codec = Tokenizer.from_str(json.dumps(published(jar, name)))
    codec.encode_special_tokens = True
    return lambda text: codec.encode_batch_fast([text], add_special_tokens=False)[0].ids


def checksum(ids):
    """As `TokenizerRates.checksum`."""
    return zlib.crc32(array.array("I", ids).tobytes())


def main():
    library, jar = sys.argv[1:]
    for line in sys.stdin:
        words = line.split()
        if words[0] == "load":
            encode = (tiktoken_encoder if library == "tiktoken" else tokenizers_encoder)(jar, words[1])
            with open(words[2], encoding="utf-8") as file:
                texts = [json.loads(document)["text"] for document in file]
            print(*(checksum(encode(text)) for text in texts), flush=True)
        else:
            start = time.thread_time_ns()
            for text in texts:
                encode(text)
            print(time.thread_time_ns() - start, flush=True)


if __name__ == "__main__":
    main()
