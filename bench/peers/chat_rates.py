# SPDX-License-Identifier: Apache-2.0
"""Conversations to ids and masks: penstock tokenize --chat, tokenize on the same text joined, and transformers.

    python3 bench/peers/text_corpus.py --out target/bench/text.jsonl --megabytes 20
    python3 bench/peers/chat_rates.py target/bench/text.jsonl JTOKKIT.jar --times 8 --rounds 3

It cuts the corpus into conversations of 2 to 6 messages of 20 to 600 characters, with the vocabulary of cl100k_base and
the template of ChatML. All sides have one thread and run by turns; a side's time is its CPU time, the JVM's start and
its compilers' included. --times repeats the conversations for penstock. --command says how penstock is run.

    pip install tokenizers transformers
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import tempfile
import time

from tokenizer_json import published

CHATML = ("{% for message in messages %}<|im_start|>{{ message.role }}\n{% if message.role == 'assistant' %}"
          "{% generation %}{{ message.content }}<|im_end|>{% endgeneration %}{% else %}{{ message.content }}<|im_end|>"
          "{% endif %}\n{% endfor %}")


def conversations(corpus):
    rng = random.Random(34)
    with open(corpus, encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            at = 0
            while at < len(text):
                messages = []
                for turn in range(2 * rng.randrange(1, 4)):
                    size = rng.randrange(20, 600)
                    messages.append({"role": "assistant" if turn % 2 else "user", "content": text[at:at + size]})
                    at += size
                yield messages


def joined(messages):
    return "".join(f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages)


def write_model(folder, jar):
    folder.mkdir()
    tokenizer = published(jar, "cl100k_base")
    for number, token in enumerate(("<|im_start|>", "<|im_end|>")):
        tokenizer["added_tokens"].append(tokenizer["added_tokens"][0] | {"id": 100258 + number, "content": token})
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "<|im_end|>", "chat_template": CHATML}))


def cpu(command):
    """CPU seconds of a command."""
    before = os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("jar")
    parser.add_argument("--times", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--command", default="./penstock")
    parser.add_argument("--no-peer", action="store_true")
    options = parser.parse_args()
    chats = list(conversations(options.corpus))
    with tempfile.TemporaryDirectory(dir=options.corpus.parent) as name:
        folder = pathlib.Path(name)
        write_model(folder / "model", options.jar)
        lines = [json.dumps({"messages": messages}, ensure_ascii=False) + "\n" for messages in chats]
        texts = [json.dumps({"text": joined(messages)}, ensure_ascii=False) + "\n" for messages in chats]
        json_bytes = options.times * sum(len(line.encode()) for line in lines)
        for file, content in (("chats.jsonl", lines), ("text.jsonl", texts)):
            with open(folder / file, "w", encoding="utf-8") as out:
                for _ in range(options.times):
                    out.writelines(content)
        if not options.no_peer:
            from transformers import PreTrainedTokenizerFast
            peer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "model/tokenizer.json"), eos_token="<|im_end|>")
            peer.chat_template = CHATML
            some = chats[::max(1, len(chats) // 4000)]
            some_bytes = sum(len(json.dumps({"messages": messages}, ensure_ascii=False).encode()) + 1
                             for messages in some)
        common = ["-o", str(folder / "out"), "--force", "--threads", "1"]
        penstock = shlex.split(options.command)
        seconds = {"chat": [], "joined": [], "transformers": []}
        for _ in range(options.rounds):
            seconds["chat"].append(cpu([*penstock, "tokenize", "--chat", str(folder / "chats.jsonl"), "--template",
                                        str(folder / "model"), *common]))
            seconds["joined"].append(cpu([*penstock, "tokenize", str(folder / "text.jsonl"), "--vocabulary",
                                          str(folder / "model/tokenizer.json"), *common]))
            if not options.no_peer:
                start = time.thread_time()
                for messages in some:
                    peer.apply_chat_template(messages, tokenize=True, return_dict=True,
                                             return_assistant_tokens_mask=True)
                seconds["transformers"].append((time.thread_time() - start) * json_bytes / some_bytes)
        print(f"{len(chats) * options.times} conversations, {json_bytes / 1e6:.0f} MB of JSON; MB of it a CPU second:")
        for side, runs in seconds.items():
            if runs:
                rates = [json_bytes / 1e6 / run for run in runs]
                print(f"{side}: {statistics.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})")
        ratios = [text / chat for text, chat in zip(seconds["joined"], seconds["chat"])]
        print(f"chat is {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) of joined")


if __name__ == "__main__":
    main()
