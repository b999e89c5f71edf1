# SPDX-License-Identifier: Apache-2.0
"""Writes conversations and answers as tables of Parquet and Arrow, and as the same lines of JSON, for tests.

    python3 bench/peers/chat_tables.py tools/src/test/resources/io/penstock/chat

chats have nested messages and a text of tools; pairs have a question and answers as lists of messages and a margin;
ranked have lists of texts and of scores. A null in a table is a member that a line lacks.

    pip install pyarrow
"""

import json
import pathlib
import sys

import pyarrow
from pyarrow import feather, parquet


def message(role, content, **more):
    return {"role": role, "content": content, **more}


def chats():
    tools = [{"type": "function", "function": {"name": "sum", "parameters": {"type": "object"}}}]
    for i in range(40):
        record = {"id": i, "messages": [message("user", f"question {i} " + "why " * (i % 7)),
                                        message("assistant", f"answer {i} " + "because " * (i % 5))]}
        if i % 3 == 1:
            record["messages"] += [message("user", "more"), message("assistant", "no", weight=i % 2)]
        if i % 4 == 2:
            record["tools"] = json.dumps(tools)
        if i % 10 == 9:
            record["messages"] = record["messages"][:1]         # nothing to train on
        yield record


def pairs():
    for i in range(30):
        record = {"prompt": [message("user", f"question {i}")],
                  "chosen": [message("assistant", "yes " * (1 + i % 4))], "rejected": [message("assistant", "no")]}
        if i % 2:
            record["margin"] = i / 8
        yield record


def ranked():
    for i in range(20):
        completions = [f"answer {i} " + "very " * n + "good" for n in range(1 + i % 3)]
        yield {"prompt": f"question {i}", "completions": completions,
               "scores": [n / 4 for n in range(len(completions))]}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, records in (("chats", chats()), ("pairs", pairs()), ("ranked", ranked())):
        records = list(records)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        # A table's columns are those of its first record, so what the others have more is added.
        table = pyarrow.Table.from_pylist(records)
        if name == "pairs":
            table = table.append_column("margin", pyarrow.array([r.get("margin") for r in records], pyarrow.float64()))
        if name == "chats":
            table = table.append_column("tools", pyarrow.array([r.get("tools") for r in records], pyarrow.string()))
        parquet.write_table(table, folder / f"{name}.parquet", row_group_size=16)
        feather.write_feather(table, folder / f"{name}.arrow", compression="uncompressed")


if __name__ == "__main__":
    main()
