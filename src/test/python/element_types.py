#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small files whose elements are of types that few files have, and truth.json: what the library that each format
belongs to reads in them.

    python src/test/python/element_types.py src/test/resources/written/element_types

Truth values whose bytes are not only 0 and 1 (numpy 2.4.6, h5py 3.16.0, safetensors 0.8.0 take every other byte for
true); integers of 24 bits in HDF5, read by the HDF5 library as 64-bit ones; safetensors with types that Penstock has not.
"""
import hashlib
import io
import json
import pathlib
import sys

import h5py
import numpy as np
from safetensors import TensorSpec, safe_open, serialize_file
from safetensors.numpy import load_file, save_file

BYTES = np.array([[0, 1, 2, 255, 128], [0, 0, 1, 1, 0], [3, 0, 0, 0, 127], [0, 254, 16, 0, 1]] * 5, np.uint8)


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def truths(folder):
    """The same bytes in every format, each written by its library and then put where it had zeros."""
    zeros = np.zeros(BYTES.shape, bool)
    stored = BYTES.view(bool)
    (folder / 'truths.npy').write_bytes(npy(stored))
    (folder / 'truths_fortran.npy').write_bytes(npy(np.asfortranarray(stored)))
    np.savez(folder / 'truths.npz', truths=stored)
    np.savez_compressed(folder / 'truths_deflated.npz', truths=stored)
    save_file({'truths': stored}, folder / 'truths.safetensors')
    with h5py.File(folder / 'truths.h5', 'w') as file:
        offset = file.create_dataset('truths', data=zeros)
        file.flush()
        offset = offset.id.get_offset()
    data = bytearray((folder / 'truths.h5').read_bytes())
    data[offset:offset + BYTES.size] = BYTES.tobytes()
    (folder / 'truths.h5').write_bytes(data)
    with h5py.File(folder / 'truths_chunked.h5', 'w') as file:
        chunked = file.create_dataset('truths', shape=BYTES.shape, dtype=bool, chunks=(6, 5))
        for row in range(0, len(BYTES), 6):
            chunk = np.zeros((6, 5), np.uint8)
            part = BYTES[row:row + 6]
            chunk[:len(part)] = part
            chunked.id.write_direct_chunk((row, 0), chunk.tobytes())
    read = {'truths.npy': np.load(folder / 'truths.npy'), 'truths_fortran.npy': np.load(folder / 'truths_fortran.npy'),
            'truths.npz': np.load(folder / 'truths.npz')['truths'],
            'truths_deflated.npz': np.load(folder / 'truths_deflated.npz')['truths'],
            'truths.safetensors': load_file(folder / 'truths.safetensors')['truths']}
    for name in ('truths.h5', 'truths_chunked.h5'):
        with h5py.File(folder / name) as file:
            read[name] = file['truths'][()]
    for name, found in read.items():
        assert found.dtype == bool, name
        assert np.array_equal(np.ascontiguousarray(found).view(np.uint8), BYTES), name
    return {name: found.astype(np.uint8).ravel().tolist() for name, found in read.items()}


def int24(base):
    kind = base.copy()
    kind.set_precision(24)
    kind.set_size(3)
    return kind


def integers(folder):
    """Signed and unsigned, in both byte orders, in every layout; never written ones too."""
    signed = np.array([0, 1, -1, 2**23 - 1, -2**23, 0x123456, -0x123456, 255, 256, 65535, 65536, -255], np.int64)
    unsigned = np.abs(signed) * 2 % 2**24
    names = {'i_little': (h5py.h5t.STD_I32LE, signed), 'i_big': (h5py.h5t.STD_I32BE, signed),
             'u_little': (h5py.h5t.STD_U32LE, unsigned), 'u_big': (h5py.h5t.STD_U32BE, unsigned)}
    found = {}
    with h5py.File(folder / 'int24.h5', 'w') as file:
        for name, (base, values) in names.items():
            for layout in ('contiguous', 'compact', 'chunked', 'unwritten'):
                plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                if layout == 'compact':
                    plist.set_layout(h5py.h5d.COMPACT)
                elif layout == 'chunked':
                    plist.set_chunk((5, 2))
                    plist.set_shuffle()
                    plist.set_deflate(4)
                elif layout == 'unwritten':
                    plist.set_chunk((5, 2))
                    plist.set_fill_value(np.array(7, np.int32))
                space = h5py.h5s.create_simple((6, 2))
                dataset = h5py.h5d.create(file.id, f'{name}_{layout}'.encode(), int24(base), space, plist)
                if layout != 'unwritten':
                    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values.reshape(6, 2))
        group = file.create_group('with_attribute')
        attribute = h5py.h5a.create(group.id, b'limits', int24(h5py.h5t.STD_I32BE), h5py.h5s.create_simple((3,)))
        attribute.write(np.array([-5, 0, 8388607], np.int32), mtype=h5py.h5t.NATIVE_INT32)
        file.create_dataset('plain', data=np.arange(6, dtype='u2'))
    with h5py.File(folder / 'int24.h5') as file:
        for name in names:
            for layout in ('contiguous', 'compact', 'chunked', 'unwritten'):
                dataset = h5py.h5d.open(file.id, f'{name}_{layout}'.encode())
                values = np.zeros((6, 2), np.int64)
                dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, values)
                found['/' + f'{name}_{layout}'] = values.ravel().tolist()
    return found


def others(folder):
    """A tensor of each type that the library writes, beside two that Penstock reads."""
    data = np.arange(64, dtype=np.uint8)
    kinds = {'float8_e8m0fnu': ([3, 4], 12), 'float8_e4m3fnuz': ([4], 4), 'float8_e5m2fnuz': ([4], 4),
             'float4_e2m1fn_x2': ([2, 5], 10), 'complex64': ([2, 2], 32), 'float32': ([2, 3], 24), 'int16': ([5], 10)}
    specs = {name: TensorSpec(dtype=name, shape=shape, data_ptr=data.ctypes.data, data_len=size)
             for name, (shape, size) in kinds.items()}
    serialize_file(specs, str(folder / 'others.safetensors'))
    found = {'read': {}, 'others': {}}
    with safe_open(folder / 'others.safetensors', 'numpy') as file:
        for name in file.keys():
            part = file.get_slice(name)
            if name in ('float32', 'int16'):
                found['read'][name] = hashlib.sha256(file.get_tensor(name).tobytes()).hexdigest()
            else:
                found['others'][name] = dict(stored_dtype=part.get_dtype(), shape=part.get_shape())
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    truth = dict(truths=truths(folder), integers=integers(folder), others=others(folder))
    (folder / 'truth.json').write_text(json.dumps(truth) + '\n')


if __name__ == '__main__':
    main()
