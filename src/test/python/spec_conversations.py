# SPDX-License-Identifier: Apache-2.0
"""Prints vectors/conversations.json: masked tokens, answers, and the fields of batches of both, from
docs/spec/conversations.md alone.

    python3 src/test/python/spec_conversations.py > docs/spec/vectors/conversations.json
"""

import json
import random
import struct

IGNORED = -100


def masked(tokens, trained):
    return [token if wanted else -1 - token for token, wanted in zip(tokens, trained)]


def trained(starts, end, spans):
    """Which tokens have a character in a span; starts are those of the tokens, end that of the text."""
    ends = [*starts[1:], end]
    return [any(start < stop and begin < finish for begin, stop in spans) for start, finish in zip(starts, ends)]


def batch(stored):
    ids = [value if value >= 0 else -1 - value for value in stored]
    nexts = [*stored[1:], None][:len(stored)]
    return {"input_ids": ids, "labels": [IGNORED if w is None or w < 0 else w for w in nexts],
            "loss_mask": [0 if w is None or w < 0 else 1 for w in nexts]}


def conversation(rng):
    count = rng.randrange(1, 30)
    starts = sorted(rng.sample(range(3 * count), count))
    starts[0] = 0
    end = max(starts) + rng.randrange(1, 4)
    bounds = sorted(rng.sample(range(end + 1), min(end + 1, 2 * rng.randrange(1, 4))))
    spans = [list(pair) for pair in zip(bounds[::2], bounds[1::2])]
    tokens = [rng.randrange(200_000) for _ in range(count)]
    stored = masked(tokens, trained(starts, end, spans))
    return {"tokens": tokens, "starts": starts, "end": end, "spans": spans, "masked_tokens": stored, **batch(stored)}


def sample(answers):
    """The value of a sample: the number of answers, the length and score of each, the tokens of all."""
    value = [len(answers)]
    for stored, score in answers:
        value += [len(stored), struct.unpack("<i", struct.pack("<f", score))[0]]
    return value + [token for stored, _ in answers for token in stored]


def common(answers):
    ids = [batch(stored)["input_ids"] for stored, _ in answers]
    count = 0
    while all(count < len(one) for one in ids) and len({one[count] for one in ids}) == 1:
        count += 1
    return count


def answers(rng, multiple):
    samples = []
    for _ in range(rng.randrange(1, 5)):
        question = [-1 - rng.randrange(1000) for _ in range(rng.randrange(0, 8))]
        samples.append([(question + [rng.choice((1, -1)) * rng.randrange(1, 4) for _ in range(rng.randrange(0, 6))],
                         rng.choice((0.0, 1.0, -2.5, 0.375, 1e10))) for _ in range(rng.randrange(1, 4))])
    most = max(map(len, samples))
    longest = max(len(stored) for one in samples for stored, _ in one)
    length = -(-longest // multiple) * multiple
    rows = [row for one in samples for row in one + [([], 0.0)] * (most - len(one))]
    fields = [batch(stored) for stored, _ in rows]
    return {"multiple_of": multiple, "pad": 7, "answers": [sample(one) for one in samples],
            "shape": [len(samples), most, length],
            "input_ids": [i for f in fields for i in f["input_ids"] + [7] * (length - len(f["input_ids"]))],
            "labels": [i for f in fields for i in f["labels"] + [IGNORED] * (length - len(f["labels"]))],
            "attention_mask": [int(t < len(f["labels"])) for f in fields for t in range(length)],
            "lengths": [len(stored) for stored, _ in rows], "scores": [score for _, score in rows],
            "prefix_lengths": [common(one) for one in samples]}


def main():
    rng = random.Random(7)
    conversations = [conversation(rng) for _ in range(40)]
    preferences = [answers(rng, multiple) for multiple in (1, 1, 1, 8, 8, 3) for _ in range(4)]
    print("{" + ",\n".join(json.dumps(name) + ": [\n" + ",\n".join(json.dumps(case, separators=(",", ":"))
          for case in cases) + "\n]" for name, cases in (("conversations", conversations), ("answers", preferences)))
          + "}")


if __name__ == "__main__":
    main()
