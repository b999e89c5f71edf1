# SPDX-License-Identifier: Apache-2.0
"""Makes tokenizer.json files with Hugging Face's tokenizers, and the ids that it gives texts.

    python3 bench/peers/tokenizer_json.py train DIR --texts 100       # what src/test/resources/io/penstock/tokenize has
    python3 bench/peers/tokenizer_json.py train DIR --texts 300000    # for -Dtokenizer.json=DIR of TokenizerJsonTest
    python3 bench/peers/tokenizer_json.py offsets DIR                 # where tokens begin, DIR as "train" left it
    python3 bench/peers/tokenizer_json.py published JTOKKIT.jar cl100k_base > tokenizer.json

No model hub is needed: `train` trains small vocabularies on text of its own, with the normalizers, splits and added tokens
of published models. A line of DIR/NAME.cases.jsonl has a text, its ids, and its ids where special tokens are plain text, if they are others.

    pip install tokenizers
"""

import argparse
import itertools
import json
import pathlib
import random
import sys

from text_corpus import code_points, random_texts
from tokenizer_rates import ranks

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
MANY = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
ONE = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
LLAMA3 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
QWEN2 = LLAMA3.replace("{1,3}", "")
GPT4O = MANY + CONTRACTION + "?|" + ONE + CONTRACTION + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES
TEKKEN = MANY + "|" + ONE + r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES

# The expression (None: that of GPT-2), the special tokens, other added tokens, NFC or not.
MODELS = {
    "gpt2": (None, ["<|endoftext|>"], [], False),
    "neox": (None, ["<|endoftext|>", "<|padding|>"], ["  ", "   ", "     ", "        "], True),
    "llama3": (LLAMA3, ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"], [], False),
    "qwen2": (QWEN2, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], ["<tool_call>"], True),
    "gpt4o": (GPT4O, ["<|endoftext|>", "<|endofprompt|>"], [], False),
    "mistral": (TEKKEN, ["<s>", "</s>", "[INST]"], [], False),
}

TEXT = [
    "The quick brown fox doesn't jump over the lazy dog; it's 3141 times slower than we'd thought, isn't it? I'LL SEE.",
    "Der schnelle braune Fuchs springt über den faulen Hund. Die Straße heißt Größenwahn.",
    "Быстрая коричневая лиса перепрыгивает через ленивую собаку, и это ЗАМЕЧАТЕЛЬНО.",
    "敏捷的棕色狐狸跳过了懒狗。今天是2024年10月31日,天气很好!", "素早い茶色のキツネがのろまな犬を飛び越える。",
    "for (int i = 0; i < n; i++) {\n        if (a[i] != b[i]) {\n            return -1;\n        }\n}\n\n\n",
    "def getX2Y(self):\n\treturn x**2 if x>0 else None  # isn't it?\r\n\r\n", "<|endoftext|> <tool_call> aaaa aaa aaaaaaa",
]


def split(expression):
    from tokenizers import Regex, pre_tokenizers
    if expression is None:
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(expression), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def trained(name):
    """A tokenizer with a small vocabulary, in the manner of a published one."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, trainers
    expression, specials, others, nfc = MODELS[name]
    tokenizer = Tokenizer(models.BPE(ignore_merges=name in ("llama3", "gpt4o")))
    tokenizer.pre_tokenizer = split(expression)
    if nfc:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.train_from_iterator(TEXT * 3, trainers.BpeTrainer(
        vocab_size=256 + 180, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=specials if name == "neox" else []))
    if name in ("llama3", "qwen2"):
        # A token to which no merge leads: a piece that is a token is that token only with ignore_merges.
        state = json.loads(tokenizer.to_str())
        state["model"]["vocab"]["zzzz"] = len(state["model"]["vocab"])
        tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.add_tokens([AddedToken(text, normalized=True) for text in others])
    tokenizer.add_special_tokens(specials)
    return tokenizer


def texts(name, count):
    specials = MODELS[name][1] + MODELS[name][2]
    rng = random.Random(name)
    # Of few texts a third has code points, from all over Unicode.
    points = code_points(max(1, 3 * 0x110000 // count))
    for text in itertools.chain(points, random_texts(count)):
        pick = rng.randrange(6)
        if pick == 0:
            words = rng.choice(TEXT)
            start = rng.randrange(len(words))
            text += words[start:start + rng.randrange(30)]
        elif pick == 1:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice([*specials, " zzzz", "\nzzzz "]) + text[at:]
        yield text


def cases(name, tokenizer, count):
    for text in texts(name, count):
        tokenizer.encode_special_tokens = False
        allowed = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        ordinary = tokenizer.encode(text, add_special_tokens=False).ids
        yield [text, allowed] if allowed == ordinary else [text, allowed, ordinary]


def train(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        tokenizer = trained(name)
        state = json.loads(tokenizer.to_str())
        (folder / f"{name}.tokenizer.json").write_text(json.dumps(state, ensure_ascii=False, separators=(",", ":")))
        with open(folder / f"{name}.cases.jsonl", "w", encoding="utf-8") as out:
            for case in cases(name, tokenizer, count):
                out.write(json.dumps(case, separators=(",", ":")) + "\n")


def offsets(folder):
    """A line a text: the tokenizer, the text, its ids, and the character at which each begins."""
    from tokenizers import Tokenizer
    composing = ["e\u0301a <|im_end|>", "\u1100\u1161\u11a8x", "a\u0323\u0307b", "caf\u00e9 e\u0301<tool_call>\u0301",
                 "\u212b and \u2126", "A\u030a<|im_start|>o\u0308o\u0308", "\u0958x", "plain", ""]
    with open(folder / "offsets.jsonl", "w", encoding="utf-8") as out:
        for name in MODELS:
            tokenizer = Tokenizer.from_file(str(folder / f"{name}.tokenizer.json"))
            for text in [*composing, *TEXT, *itertools.islice(texts(name, 100), 0, None, 9)]:
                encoded = tokenizer.encode(text, add_special_tokens=False)
                starts = [start for start, _ in encoded.offsets]
                out.write(json.dumps([name, text, encoded.ids, starts], separators=(",", ":")) + "\n")


def spelled():
    """GPT-2's spelling of bytes as characters."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {byte: chr(byte) for byte in plain} | {byte: chr(0x100 + i) for i, byte in enumerate(others)}


def published(jar, name):
    """A published encoding of OpenAI as a tokenizer.json, in the way in which transformers converts it."""
    known = ranks(jar, name)
    letters = spelled()
    text = {token: "".join(letters[byte] for byte in token) for token in known}
    merges = []
    for token, rank in sorted(known.items(), key=lambda item: item[1]):
        ways = [(token[:i], token[i:]) for i in range(1, len(token)) if token[:i] in known and token[i:] in known]
        merges += [[text[left], text[right]] for left, right in
                   sorted(ways, key=lambda way: (known[way[0]], known[way[1]]))]
    expression = {"cl100k_base": LLAMA3, "o200k_base": GPT4O}.get(name)
    end = {"cl100k_base": 100257, "o200k_base": 199999}.get(name, 50256)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": expression is None}
    steps = byte_level if expression is None else {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}, byte_level]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [
                {"id": end, "content": "<|endoftext|>", "single_word": False, "lstrip": False, "rstrip": False,
                 "normalized": False, "special": True}],
            "normalizer": None, "pre_tokenizer": steps, "post_processor": None, "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                      "vocab": {text[token]: rank for token, rank in known.items()} | {"<|endoftext|>": end},
                      "merges": merges}}


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True, dest="command")
    command = commands.add_parser("train")
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("--texts", type=int, default=100)
    command = commands.add_parser("offsets")
    command.add_argument("folder", type=pathlib.Path)
    command = commands.add_parser("published")
    command.add_argument("jar")
    command.add_argument("name")
    options = parser.parse_args()
    if options.command == "train":
        train(options.folder, options.texts)
    elif options.command == "offsets":
        offsets(options.folder)
    else:
        json.dump(published(options.jar, options.name), sys.stdout, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    main()
