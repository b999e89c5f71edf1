# SPDX-License-Identifier: Apache-2.0
"""The benchmarks' stores as PyTorch datasets. `item` is `__getitem__` and the usual collation: what people write.
`rows` and `take` are `__getitems__`, the whole batch in one call: the fastest that PyTorch gets.

A dataset has `batch_samples`, and `collate` for its DataLoader: None stands for PyTorch's own.
"""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset

WIDE = {"i64": np.int64, "i32": np.int32}
MEAN = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)


def as_is(batch):
    return batch


class Windows(Dataset):
    """Windows of tokens over a raw u16 file, an item a call. They share nothing but the last label."""

    batch_samples = 32
    collate = None

    def __init__(self, path, length=1024, mode="i64"):
        # Copy-on-write, never written: a read-only map makes torch.from_numpy warn.
        self.tokens = np.memmap(path, dtype=np.uint16, mode="c")
        self.length = length
        self.wide = WIDE.get(mode)

    def __len__(self):
        return (len(self.tokens) - 1) // self.length

    def __getitem__(self, index):
        start = index * self.length
        window = self.tokens[start : start + self.length + 1]
        if self.wide is None:
            return torch.from_numpy(window)
        window = torch.from_numpy(window.astype(self.wide))
        return window[:-1], window[1:]


class RowBatches(Windows):
    """Row by row into arrays made for the batch: no small tensors, no second copy."""

    collate = staticmethod(as_is)

    def __init__(self, path, length=1024, mode="i64"):
        super().__init__(path, length, mode)
        self.plain = np.asarray(self.tokens)  # a slice of np.memmap costs several times one of ndarray

    def __getitems__(self, indices):
        if self.wide is None:
            windows = np.empty((len(indices), self.length + 1), np.uint16)
            for row, index in enumerate(indices):
                windows[row] = self.plain[index * self.length : (index + 1) * self.length + 1]
            return torch.from_numpy(windows)
        ids = np.empty((len(indices), self.length), self.wide)
        labels = np.empty_like(ids)
        for row, index in enumerate(indices):
            start = index * self.length
            ids[row] = self.plain[start : start + self.length]
            labels[row] = self.plain[start + 1 : start + self.length + 1]
        return torch.from_numpy(ids), torch.from_numpy(labels)


class TakenBatches(Windows):
    """All rows in one NumPy call over a strided view of the file: the fastest that we found."""

    collate = staticmethod(as_is)

    def __init__(self, path, length=1024, mode="i64"):
        super().__init__(path, length, mode)
        token = self.tokens.itemsize
        self.windows = np.lib.stride_tricks.as_strided(
            np.asarray(self.tokens), (len(self), length + 1), (length * token, token))

    def __getitems__(self, indices):
        windows = self.windows[indices]
        if self.wide is None:
            return torch.from_numpy(windows)
        return torch.from_numpy(windows[:, :-1].astype(self.wide)), torch.from_numpy(windows[:, 1:].astype(self.wide))


class Images(Dataset):
    """Images of bytes, as they are or normalized to f32 by torchvision's steps."""

    batch_samples = 64
    collate = None

    def __init__(self, path, mode):
        self.pixels = torch.from_numpy(np.asarray(np.load(path, mmap_mode="c")))
        self.normalized = mode == "f32"

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        image = self.pixels[index]
        return image.to(torch.float32).div_(255).sub_(MEAN).div_(DEVIATION) if self.normalized else image


class ImageBatches(Images):
    """Rows by one call, normalized by one multiplication and one addition of the batch."""

    collate = staticmethod(as_is)
    scale = 1 / (255 * DEVIATION)
    shift = -MEAN / DEVIATION

    def __getitems__(self, indices):
        images = self.pixels.index_select(0, torch.tensor(indices))
        return images.to(torch.float32).mul_(self.scale).add_(self.shift) if self.normalized else images


def padded(documents):
    lengths = torch.tensor([len(document) for document in documents], dtype=torch.int32)
    ids = pad_sequence(documents, batch_first=True)
    return ids, torch.arange(ids.shape[1]) < lengths[:, None], lengths


class Documents(Dataset):
    """Documents of a Megatron pair, padded by pad_sequence, with a mask."""

    batch_samples = 32
    collate = staticmethod(padded)

    def __init__(self, path, mode="i64"):
        with open(f"{path}.idx", "rb") as file:
            index = file.read()
        count = int.from_bytes(index[18:26], "little")
        lengths = np.frombuffer(index, "<i4", count, 34)
        self.starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).tolist()
        self.tokens = np.asarray(np.memmap(f"{path}.bin", dtype=np.uint16, mode="c"))

    def __len__(self):
        return len(self.starts) - 1

    def __getitem__(self, index):
        return torch.from_numpy(self.tokens[self.starts[index] : self.starts[index + 1]].astype(np.int64))


class DocumentBatches(Documents):
    """Row by row into arrays of the batch's shape."""

    collate = staticmethod(as_is)

    def __getitems__(self, indices):
        lengths = [self.starts[index + 1] - self.starts[index] for index in indices]
        ids = np.zeros((len(indices), max(lengths)), np.int64)
        mask = np.zeros(ids.shape, np.bool_)
        for row, (index, length) in enumerate(zip(indices, lengths)):
            ids[row, :length] = self.tokens[self.starts[index] : self.starts[index] + length]
            mask[row, :length] = True
        return torch.from_numpy(ids), torch.from_numpy(mask), torch.tensor(lengths, dtype=torch.int32)


class Constants(Dataset):
    """Numbers that are there already: what is left is the DataLoader's own."""

    batch_samples = 64
    collate = None

    def __init__(self, path=None, mode=None):
        pass

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        return 0


class ReadyBatches(Constants):
    """A batch that is there already, as one item."""

    batch_samples = 1
    ready = torch.zeros(64, dtype=torch.int64)

    def __getitem__(self, index):
        return self.ready


FETCHES = {"item": Windows, "rows": RowBatches, "take": TakenBatches}
WORKLOADS = {
    "tokens": FETCHES,
    "images": {"item": Images, "rows": ImageBatches},
    "documents": {"item": Documents, "rows": DocumentBatches},
    "empty": {"item": Constants, "ready": ReadyBatches},
}


def tensors_of(batch):
    return batch if isinstance(batch, (list, tuple)) else [batch]


def sum_words(batch):
    """The consumer that reads the whole batch, as 64-bit words on every side."""
    for tensor in tensors_of(batch):
        tensor.view(-1).view(torch.int64).sum().item()


def check(batch, mode, size, length):
    """The contract on windows: shapes, dtypes, contiguity, labels shifted by one."""
    tensors = [batch] if mode == "narrow" else list(batch)
    shape = (size, length + 1) if mode == "narrow" else (size, length)
    dtype = {"narrow": torch.uint16, "i32": torch.int32, "i64": torch.int64}[mode]
    for tensor in tensors:
        assert tensor.shape == shape and tensor.dtype == dtype and tensor.is_contiguous(), (tensor.shape, tensor.dtype)
    if len(tensors) == 2:
        assert torch.equal(tensors[0][:, 1:], tensors[1][:, :-1])
        assert tensors[0].min() >= 0


def without_end(loader):
    while True:
        yield from loader
