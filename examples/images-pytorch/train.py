#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The net and the loop of Train in Python: torchvision's transforms, DataLoader with workers. For comparison.

    python3 train.py --pictures work/pictures --workers 2       # needs torch, torchvision, Pillow and numpy
"""
import argparse
import io
import json
import os
import tarfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from torch.utils.data import DataLoader, Dataset

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
KINDS, STAGES, RATE = 4, 3, 0.01


def transforms():
    """torchvision's, also where its compiled operators are not: the transforms need none, but the import does."""
    declared = torch.library.Library("torchvision", "DEF")
    for operator in ("nms", "qnms"):
        try:
            declared.define(operator + "(Tensor dets, Tensor scores, float t) -> Tensor")
        except RuntimeError:
            pass                                    # it is compiled
    from torchvision.transforms import v2
    return v2, declared


class Pictures(Dataset):
    """JPEG files of tars, read where they lie."""

    def __init__(self, folder, side, via):
        v2, self.library = transforms()
        steps = [v2.PILToTensor()] if via == "tensors" else []
        steps += [v2.RandomResizedCrop(side, scale=(0.5, 1), ratio=(0.75, 4 / 3), antialias=True),
                  v2.RandomHorizontalFlip()]
        steps += [] if via == "tensors" else [v2.PILToTensor()]
        self.transform = v2.Compose(steps + [v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, DEVIATION)])
        self.files, self.places, labels = {}, [], {}
        for path in sorted(Path(folder).glob("*.tar")):
            with tarfile.open(path) as tar:
                for member in tar:
                    key, kind = member.name.rsplit(".", 1)
                    if kind == "jpg":
                        self.places.append((str(path), member.offset_data, member.size, (path, key)))
                    elif kind == "cls":
                        labels[path, key] = int(tar.extractfile(member).read())
        self.labels = [labels[place[3]] for place in self.places]

    def __len__(self):
        return len(self.places)

    def __getitem__(self, i):
        path, offset, size, _ = self.places[i]
        if path not in self.files:
            self.files[path] = os.open(path, os.O_RDONLY)
        data = os.pread(self.files[path], size, offset)
        return self.transform(Image.open(io.BytesIO(data)).convert("RGB")), self.labels[i]


def uniform(tensor, count):
    with np.errstate(over="ignore"):
        x = (np.arange(count, dtype=np.uint64) + np.uint64(tensor << 40)) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(32)
        x *= np.uint64(0xD6E8FEB86659FD93)
        x ^= x >> np.uint64(32)
    return (x >> np.uint64(40)).astype(np.float64) / (1 << 24) - 0.5


class ResNet:
    def __init__(self, blocks, width):
        self.blocks, self.width, self.weights, self.averages = blocks, width, {}, {}
        self.convolution("stem", width, 3, 3)
        inner = width
        for stage in range(STAGES):
            outer = width << stage
            for block in range(blocks):
                name = f"{stage}.{block}"
                self.convolution(name + ".a", outer, inner, 3)
                self.convolution(name + ".b", outer, outer, 3)
                if inner != outer:
                    self.convolution(name + ".skip", outer, inner, 1)
                inner = outer
        self.add("head", 1, KINDS, inner)

    def convolution(self, name, outer, inner, side):
        self.add(name, 2, outer, inner, side, side)
        self.add(name + ".scale", 1, outer)
        self.add(name + ".shift", 0, outer)
        self.averages[name] = torch.zeros(outer), torch.ones(outer)

    def add(self, name, gain, *shape):
        count = int(np.prod(shape))
        values = (np.full(count, gain) if len(shape) == 1
                  else uniform(len(self.weights), count) * np.sqrt(12 * gain * shape[0] / count))
        self.weights[name] = torch.tensor(values.astype(np.float32).reshape(shape), requires_grad=True)

    def normed(self, x, name, stride):
        kernel = self.weights[name]
        y = F.conv2d(x, kernel, None, stride, kernel.shape[2] // 2)
        return F.batch_norm(y, *self.averages[name], self.weights[name + ".scale"], self.weights[name + ".shift"],
                            True, 0.1, 1e-5)

    def scores(self, pictures):
        x = F.relu_(self.normed(pictures, "stem", 2))
        inner = self.width
        for stage in range(STAGES):
            for block in range(self.blocks):
                name, wider = f"{stage}.{block}", inner != self.width << stage
                skip = self.normed(x, name + ".skip", 2) if wider else x
                y = F.relu_(self.normed(x, name + ".a", 2 if wider else 1))
                x = F.relu_(self.normed(y, name + ".b", 1).add_(skip))
                inner = self.width << stage
        return F.linear(F.adaptive_avg_pool2d(x, 1).flatten(1), self.weights["head"])


def optimizer_of(net):
    groups = [{"params": [each for each in net.weights.values() if (each.dim() > 1) == decayed],
               "weight_decay": decay} for decayed, decay in [(True, 5e-4), (False, 0.0)]]
    return torch.optim.SGD(groups, lr=RATE, momentum=0.9, nesterov=True)


def step(net, optimizer, pictures, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(net.scores(pictures), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def reference():
    """The losses that TrainTest expects, of three steps."""
    torch.set_num_threads(1)
    net = ResNet(1, 16)
    index = torch.arange(4 * 3 * 16 * 16)
    pictures = ((index * 37 % 101).float() / 50 - 1).view(4, 3, 16, 16)
    optimizer = optimizer_of(net)
    print([step(net, optimizer, pictures, torch.arange(4)) for _ in range(3)])


def worker_seconds():
    """CPU time of the processes that are children now."""
    ticks = 0
    for child in open(f"/proc/self/task/{os.getpid()}/children").read().split():
        fields = open(f"/proc/{child}/stat").read().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def endless(loader):
    while True:
        yield from loader


def main():
    began = time.perf_counter()
    parser = argparse.ArgumentParser()
    parser.add_argument("--reference", action="store_true", help="print the losses that TrainTest expects")
    parser.add_argument("--pictures", default="work/pictures")
    parser.add_argument("--via", default="tensors", choices=["tensors", "pil"], help="what transforms work on")
    for name, value in [("blocks", 1), ("width", 16), ("side", 64), ("batch", 64), ("steps", 60),
                        ("warmup-steps", 40), ("workers", 2), ("threads", 1), ("input-batches", 0)]:
        parser.add_argument("--" + name, type=int, default=value)
    o = parser.parse_args()
    if o.reference:
        reference()
        return
    torch.set_num_threads(o.threads)
    loader = DataLoader(Pictures(Path(o.pictures) / "train", o.side, o.via), o.batch, shuffle=True,
                        num_workers=o.workers, persistent_workers=o.workers > 0,
                        prefetch_factor=4 if o.workers else None)
    batches = endless(loader)

    def cpu():
        return time.process_time() + worker_seconds()

    if o.input_batches:
        for _ in range(o.warmup_steps):
            next(batches)
        before = cpu()
        rows = sum(len(next(batches)[1]) for _ in range(o.input_batches))
        print(json.dumps({"input_cpu_ms_per_image": 1e3 * (cpu() - before) / rows}))
        return
    net = ResNet(o.blocks, o.width)
    optimizer = optimizer_of(net)
    step(net, optimizer, *next(batches))
    first = time.perf_counter() - began
    for _ in range(o.warmup_steps - 1):
        step(net, optimizer, *next(batches))
    waited, inline, workers, before, start, rows = 0.0, 0.0, worker_seconds(), cpu(), time.perf_counter(), 0
    for _ in range(o.steps):
        asked, own = time.perf_counter(), time.thread_time()
        pictures, labels = next(batches)
        waited += time.perf_counter() - asked
        inline += time.thread_time() - own
        step(net, optimizer, pictures, labels)
        rows += len(labels)
    seconds = time.perf_counter() - start
    print(json.dumps({"images_per_s": rows / seconds, "cpu_ms_per_image": 1e3 * (cpu() - before) / rows,
                      "input_cpu_ms_per_image": 1e3 * (worker_seconds() - workers + inline) / rows,
                      "wait_share": waited / seconds, "first_step_s": first}))


if __name__ == "__main__":
    main()
