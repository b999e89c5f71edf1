#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes Megatron indexes over one shared .bin, as filtering and reordering tools do, and truth.json: the documents that
Megatron's IndexedDataset reads in each.

    python src/test/python/megatron_indexes.py src/test/resources/written/megatron_indexes

The layout is that of megatron/core/datasets/indexed_dataset.py (_IndexWriter, _IndexReader): magic, version 1, dtype code,
counts of sequences and of document indices, then lengths (i32), pointers in bytes (i64), document indices (i64). Reading
a document is what IndexedDataset.get does for each of its sequences: numpy.frombuffer at the pointer, and nothing else.
"""
import hashlib
import json
import pathlib
import shutil
import struct
import sys

import numpy as np

SEED = 20261122
CODE = {'u2': 8, 'i4': 4, 'u1': 1}
random = np.random.default_rng(SEED)


def index(path, dtype, lengths, pointers, documents):
    with open(path, 'wb') as out:
        out.write(b'MMIDIDX\x00\x00')
        out.write(struct.pack('<Q', 1))
        out.write(struct.pack('<B', CODE[dtype]))
        out.write(struct.pack('<Q', len(lengths)))
        out.write(struct.pack('<Q', len(documents)))
        out.write(np.array(lengths, '<i4').tobytes(order='C'))
        out.write(np.array(pointers, '<i8').tobytes(order='C'))
        out.write(np.array(documents, '<i8').tobytes(order='C'))


def read(prefix, dtype):
    """The documents, each as one list of tokens."""
    idx = pathlib.Path(f'{prefix}.idx').read_bytes()
    bin_buffer = pathlib.Path(f'{prefix}.bin').read_bytes()
    count, = struct.unpack_from('<Q', idx, 18)
    indices, = struct.unpack_from('<Q', idx, 26)
    lengths = np.frombuffer(idx, '<i4', count, 34)
    pointers = np.frombuffer(idx, '<i8', count, 34 + lengths.nbytes)
    documents = np.frombuffer(idx, '<i8', indices, 34 + lengths.nbytes + pointers.nbytes)
    found = []
    for first, end in zip(documents, documents[1:]):
        tokens = []
        for s in range(first, end):
            tokens += np.frombuffer(bin_buffer, '<' + dtype, lengths[s], pointers[s]).tolist()
        found.append(tokens)
    return found


def sequences(dtype, count, longest):
    """Lengths, zero among them, and pointers of sequences that lie one behind the other, and their tokens."""
    lengths = random.integers(0, longest, count)
    lengths[random.integers(0, count, count // 10)] = 0
    size = np.dtype(dtype).itemsize
    pointers = np.concatenate([[0], np.cumsum(lengths)[:-1]]) * size
    tokens = random.integers(0, min(np.iinfo(dtype).max, 50000), lengths.sum()).astype('<' + dtype)
    return lengths, pointers, tokens


def grouped(order, size):
    """Documents of one to `size` sequences over so many."""
    bounds = [0]
    while bounds[-1] < len(order):
        bounds.append(min(len(order), bounds[-1] + int(random.integers(1, size + 1))))
    return bounds


def main():
    folder = pathlib.Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    truth = {}
    for dtype, count, longest in (('u2', 150, 40), ('i4', 70, 20), ('u1', 40, 9)):
        lengths, pointers, tokens = sequences(dtype, count, longest)
        every = np.arange(count)
        order = {
            'filtered': every[random.random(count) < 0.8],
            'shuffled': random.permutation(count),
            'backwards': every[::-1],
            'repeated': np.sort(random.integers(0, count, count)),
            'tail': every[count // 3:],
            'blocks': np.concatenate([every[i:i + 7] for i in random.permutation(range(0, count, 7))]),
        }
        for name, chosen in order.items():
            # Documents of one sequence, and of several that need not lie together.
            for kind, bounds in (('', list(range(len(chosen) + 1))), ('_many', grouped(chosen, 5))):
                prefix = folder / f'{dtype}_{name}{kind}'
                index(f'{prefix}.idx', dtype, lengths[chosen], pointers[chosen], bounds)
                pathlib.Path(f'{prefix}.bin').write_bytes(tokens.tobytes())
                found = read(prefix, dtype)
                flat = np.array([t for document in found for t in document], '<' + dtype)
                starts = np.cumsum([0] + [len(document) for document in found])
                truth[prefix.name] = dict(dtype=dtype, sequences=len(chosen), tokens=len(flat),
                                          starts=starts.tolist(), sha256=hashlib.sha256(flat.tobytes()).hexdigest(),
                                          max=int(flat.max()), in_order=name == 'tail')
        # Pieces of sequences that overlap, as no writer makes them and Megatron reads them.
        size = np.dtype(dtype).itemsize
        starts = random.integers(0, len(tokens) - 20, 50)
        prefix = folder / f'{dtype}_overlapping'
        index(f'{prefix}.idx', dtype, random.integers(0, 20, 50), starts * size, grouped(range(50), 3))
        pathlib.Path(f'{prefix}.bin').write_bytes(tokens.tobytes())
        found = read(prefix, dtype)
        flat = np.array([t for document in found for t in document], '<' + dtype)
        truth[prefix.name] = dict(dtype=dtype, sequences=50, tokens=len(flat),
                                  starts=np.cumsum([0] + [len(d) for d in found]).tolist(),
                                  sha256=hashlib.sha256(flat.tobytes()).hexdigest(), max=int(flat.max()),
                                  in_order=False)
    (folder / 'truth.json').write_text(json.dumps(truth) + '\n')


if __name__ == '__main__':
    main()
