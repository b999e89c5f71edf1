#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model and the loop of Train in Python: PyTorch with DataLoader workers. For comparison.

    python3 train.py --store work/tokens --steps 100 --workers 2     # needs torch and numpy

With --batch-file it computes the loss of the one batch that Compare has written, with the same first weights.
"""
import argparse
import json
import math
import os
import resource
import struct
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZES = {"nano": (1, 1, 16), "tiny": (2, 2, 64), "small": (4, 4, 128), "25m": (8, 5, 320), "125m": (12, 12, 768),
         "350m": (24, 16, 1024)}
END_OF_TEXT = 50256


def tokens_of(store):
    """The tokens of a store of Megatron's format, mapped."""
    with open(store + ".idx", "rb") as f:
        magic, version, code = struct.unpack("<9sQB", f.read(18))
        assert magic == b"MMIDIDX\0\0" and version == 1, magic
    return np.memmap(store + ".bin", dtype={8: np.uint16, 4: np.int32}[code], mode="r")


class Windows(Dataset):
    """Windows of the text; a token looks at those before it in its document."""

    def __init__(self, store, context):
        self.store, self.context, self.tokens = store, context, None
        self.size = (len(tokens_of(store)) - 1) // context

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if self.tokens is None:
            self.tokens = tokens_of(self.store)
        window = torch.from_numpy(self.tokens[i * self.context:(i + 1) * self.context + 1].astype(np.int64))
        ids, labels = window[:-1], window[1:].clone()
        ends = ids == END_OF_TEXT
        documents = torch.cumsum(ends, 0) - ends.long()
        labels[ends] = -100
        index = torch.arange(self.context)
        starts = torch.where(torch.cat([torch.ones(1, dtype=torch.bool), ends[:-1]]), index, 0)
        positions = index - torch.cummax(starts, 0).values
        return {"input_ids": ids, "labels": labels, "position_ids": positions.int(), "document_ids": documents.int()}


def initial(tensor, count):
    with np.errstate(over="ignore"):
        x = (np.arange(count, dtype=np.uint64) + np.uint64(tensor << 40)) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(32)
        x *= np.uint64(0xD6E8FEB86659FD93)
        x ^= x >> np.uint64(32)
    uniform = (x >> np.uint64(40)).astype(np.float64) / (1 << 24) - 0.5
    return (uniform * 0.02 * math.sqrt(12)).astype(np.float32)


class Model:
    def __init__(self, size, context, tokens):
        self.layers, self.heads, self.width = SIZES[size]
        self.context = context
        self.hidden = -(-8 * self.width // 96) * 32
        self.vocabulary = -(-len(tokens) // 32) * 32 if len(tokens) else 50304
        self.numbers = None
        if len(tokens):
            self.numbers = torch.zeros(101 + int(tokens[-1]), dtype=torch.int64)
            self.numbers[0] = -100
            self.numbers[100 + torch.from_numpy(tokens.astype(np.int64))] = torch.arange(len(tokens))
        half = self.width // self.heads // 2
        angles = torch.arange(context, dtype=torch.float64)[:, None] * 10_000 ** (-torch.arange(half) / half).double()
        self.cos, self.sin = angles.cos().float(), angles.sin().float()
        self.causal = torch.ones(context, context, dtype=torch.bool).tril()
        self.p = {}
        self.add("wte", self.vocabulary, self.width)
        for layer in range(self.layers):
            for name, shape in [("norm1", (self.width,)), ("qkv", (3 * self.width, self.width)),
                                ("out", (self.width, self.width)), ("norm2", (self.width,)),
                                ("gate", (self.hidden, self.width)), ("up", (self.hidden, self.width)),
                                ("down", (self.width, self.hidden))]:
                self.add(f"{layer}.{name}", *shape)
        self.add("norm", self.width)

    def add(self, name, *shape):
        count = int(np.prod(shape))
        values = np.ones(count, np.float32) if len(shape) == 1 else initial(len(self.p), count)
        self.p[name] = torch.tensor(values.reshape(shape), requires_grad=True)

    def number(self, x):
        return x if self.numbers is None else self.numbers[x + 100]

    def loss(self, input_ids, labels, position_ids, document_ids):
        ids, targets = self.number(input_ids), self.number(labels).view(-1)
        mask = ((document_ids[:, :, None] == document_ids[:, None, :]) & self.causal)[:, None]
        cos, sin = self.cos[position_ids.long()][:, None], self.sin[position_ids.long()][:, None]

        def norm(x, name):
            return F.rms_norm(x, (self.width,), self.p[name], 1e-5)

        def heads(x):
            return x.view(len(x), self.context, self.heads, -1).transpose(1, 2)

        def rotated(x):
            a, b = x.chunk(2, 3)
            return torch.cat([a * cos - b * sin, a * sin + b * cos], 3)

        x = F.embedding(ids, self.p["wte"])
        for layer in range(self.layers):
            n = f"{layer}."
            q, k, v = F.linear(norm(x, n + "norm1"), self.p[n + "qkv"]).chunk(3, 2)
            y = F.scaled_dot_product_attention(rotated(heads(q)), rotated(heads(k)), heads(v), attn_mask=mask)
            x = x + F.linear(y.transpose(1, 2).reshape(x.shape), self.p[n + "out"])
            h = norm(x, n + "norm2")
            x = x + F.linear(F.silu(F.linear(h, self.p[n + "gate"])) * F.linear(h, self.p[n + "up"]),
                             self.p[n + "down"])
        logits = F.linear(norm(x, "norm"), self.p["wte"]).view(-1, self.vocabulary)
        return F.cross_entropy(logits, targets, ignore_index=-100, reduction="sum"), (targets >= 0).sum()


def worker_seconds():
    """CPU time of the processes that are children now."""
    ticks = 0
    for child in open(f"/proc/self/task/{os.getpid()}/children").read().split():
        fields = open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_bytes():
    """The most memory that was resident: of this process, and of its largest child."""
    return sum(resource.getrusage(who).ru_maxrss * 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def reference():
    """The losses that TrainTest expects, of three steps."""
    torch.set_num_threads(1)
    model = Model("tiny", 32, np.arange(96) * 2)
    index = torch.arange(64).view(2, 32)
    ids = index * 37 % 96 * 2
    labels = (ids + 10) % 192
    labels[:, 10] = -100
    place = index % 32
    positions, documents = (place % 11).int(), (place - place % 11).int()
    optimizer = torch.optim.AdamW([{"params": [each for each in model.p.values() if each.dim() == dims],
                                    "weight_decay": decay} for dims, decay in [(2, 0.1), (1, 0.0)]], lr=1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        total, count = model.loss(ids, labels, positions, documents)
        (total / count).backward()
        torch.nn.utils.clip_grad_norm_(model.p.values(), 1.0)
        optimizer.step()
        losses.append((total / count).item())
    print(losses)


def main():
    began = time.perf_counter()
    parser = argparse.ArgumentParser()
    parser.add_argument("--reference", action="store_true", help="print what TrainTest expects")
    parser.add_argument("--store")
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warmup-steps", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--batch-file")
    parser.add_argument("--input-batches", type=int, default=0, help="only take batches, so many")
    o = parser.parse_args()
    if o.reference:
        reference()
        return
    torch.set_num_threads(o.threads)
    model = Model(o.size, o.context, np.unique(tokens_of(o.store)))
    if o.batch_file:
        fields = np.fromfile(o.batch_file, dtype=np.int64).reshape(4, o.batch, o.context)
        total, labels = model.loss(*map(torch.from_numpy, fields))
        print(json.dumps({"first_loss": (total / labels).item()}))
        return
    matrices = [each for each in model.p.values() if each.dim() == 2]
    vectors = [each for each in model.p.values() if each.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1},
                                   {"params": vectors, "weight_decay": 0.0}], lr=1e-3)
    loader = DataLoader(Windows(o.store, o.context), o.batch, shuffle=True, drop_last=True, num_workers=o.workers,
                        persistent_workers=o.workers > 0, prefetch_factor=4 if o.workers else None)
    if o.input_batches:
        for _ in loader:
            pass                                    # warms up
        done, workers, process = 0, worker_seconds(), time.process_time()
        while done < o.input_batches:
            for _ in loader:
                done += 1
        seconds = worker_seconds() - workers + time.process_time() - process
        print(json.dumps({"input_cpu_ns_per_token": 1e9 * seconds / done / o.batch / o.context}))
        return
    step, waited, inline, cpus = 0, 0.0, 0.0, []
    batches = iter(loader)
    first = start = workers = None
    while step < o.steps + o.warmup_steps:
        if step == o.warmup_steps:
            start, waited, workers = time.perf_counter(), 0.0, worker_seconds()
            process, inline = time.process_time(), 0.0
        before, cpu = time.perf_counter(), time.thread_time()
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        waited += time.perf_counter() - before
        inline += time.thread_time() - cpu
        cpu = time.thread_time()
        optimizer.zero_grad()
        total, labels = model.loss(**batch)
        (total / labels).backward()
        torch.nn.utils.clip_grad_norm_(model.p.values(), 1.0)
        optimizer.step()
        total.item()
        cpus.append(time.thread_time() - cpu)
        step += 1
        if first is None:
            first = time.perf_counter() - began
    seconds = time.perf_counter() - start
    tokens = o.steps * o.batch * o.context
    print(json.dumps({"tokens_per_s": tokens / seconds, "wait_share": waited / seconds,
                      "input_cpu_ns_per_token": 1e9 * (worker_seconds() - workers + inline) / tokens,
                      "process_cpu_s": time.process_time() - process, "first_step_s": first,
                      "step_cpu_ms": 1e3 * sorted(cpus)[len(cpus) // 2],
                      "peak_bytes": peak_bytes()}))


if __name__ == "__main__":
    main()
