#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small HDF5 files of the kinds that the fixtures of src/test/resources/fixtures/hdf5 have not, and truth.json:
what h5py reads in them, in the words of that folder's manifest.

    python src/test/python/hdf5_fixtures.py src/test/resources/hdf5

Written with h5py 3.16.0 / HDF5 2.0.0. Files differ from run to run in their timestamps alone.
"""
import hashlib
import json
import pathlib
import sys

import h5py
import numpy as np

SEED = 20261121
FILTERS = {1: 'deflate', 2: 'shuffle', 3: 'fletcher32', 6: 'scaleoffset', 32000: 'lzf'}
LAYOUTS = {h5py.h5d.COMPACT: 'compact', h5py.h5d.CONTIGUOUS: 'contiguous', h5py.h5d.CHUNKED: 'chunked'}
PIPELINES = {
    'plain': {},
    'gzip': dict(compression='gzip'),
    'lzf': dict(compression='lzf', shuffle=True),
    'fletcher': dict(fletcher32=True),
    'all': dict(shuffle=True, compression='gzip', fletcher32=True),
}
# What each chunk index is for: name, shape, maximal shape, chunks.
GRIDS = [
    ('fixed', (10, 9, 5), None, (3, 4, 5)),
    ('grows_first', (13, 9), (None, 9), (4, 5)),
    ('grows_last', (13, 9), (13, None), (4, 5)),
    ('grows_first_bounded_second', (6, 5, 4), (None, 30, 4), (2, 2, 3)),
    ('grows_second_bounded_first', (6, 5, 4), (30, None, 9), (2, 2, 3)),
    ('grows_both', (13, 9), (None, None), (4, 5)),
    ('grows_one_of_four', (4, 3, 3, 4), (None, 3, 3, 4), (2, 2, 2, 4)),
    ('bounded', (13, 9), (50, 40), (4, 5)),
    ('one_chunk', (6, 6), None, (6, 6)),
    ('less_than_one_chunk', (4, 5), (6, 6), (6, 6)),
]

random = np.random.default_rng(SEED)


def values(dtype, shape):
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == 'f':
        found = (random.standard_normal(count) * 100).astype(dtype)
    elif dtype.kind == 'b':
        found = random.integers(0, 2, count).astype(bool)
    else:
        found = (random.integers(-50, 50, count) * 3).astype(dtype)
    return found.reshape(shape)


def compact(file, name, data):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    low_level(file, name, data.dtype, data.shape, None, plist)[...] = data


def low_level(file, name, dtype, shape, maxshape, plist):
    space = h5py.h5s.create_simple(shape, maxshape or shape)
    dtype = dtype if isinstance(dtype, h5py.h5t.TypeID) else h5py.h5t.py_create(np.dtype(dtype))
    return h5py.Dataset(h5py.h5d.create(file.id, name.encode(), dtype, space, plist))


def bfloat16():
    dtype = h5py.h5t.IEEE_F32LE.copy()
    dtype.set_fields(15, 7, 8, 0, 7)
    dtype.set_precision(16)
    dtype.set_size(2)
    dtype.set_ebias(127)
    return dtype


def implicit(file, name, shape, maxshape):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((3, 4))
    plist.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    low_level(file, name, '<i4', shape, maxshape, plist)[2:9] = values('<i4', (7, shape[1]))


def chunk_indexes(file):
    for pipeline, filters in PIPELINES.items():
        for name, shape, maxshape, chunks in GRIDS:
            file.create_dataset(f'{pipeline}/{name}', data=values('<i4', shape), maxshape=maxshape, chunks=chunks,
                                **filters)
        sparse = file.create_dataset(f'{pipeline}/sparse', (50, 40), '>f4', chunks=(7, 9), fillvalue=3.25,
                                     maxshape=(None, 40), **filters)
        sparse[10:12, 5:30] = values('>f4', (2, 25))
        shrunk = file.create_dataset(f'{pipeline}/shrunk', data=values('<i2', (30, 20)), chunks=(7, 9),
                                     maxshape=(None, None), **filters)
        shrunk.resize((12, 12))
        shrunk.resize((20, 22))
    implicit(file, 'implicit', (10, 11), None)
    implicit(file, 'implicit_may_grow', (10, 11), (20, 21))


def kinds(file):
    for order in '<>':
        compact(file, f'compact_{"le" if order == "<" else "be"}', values(f'{order}i4', (4, 5)))
    for fill_time, name in ((h5py.h5d.FILL_TIME_NEVER, 'fill_never'), (h5py.h5d.FILL_TIME_IFSET, 'fill_if_set')):
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((3, 4))
        plist.set_fill_value(np.array(7, '<i4'))
        plist.set_fill_time(fill_time)
        low_level(file, name, '<i4', (10, 11), None, plist)[0:2, 0:2] = values('<i4', (2, 2))
    file.create_dataset('never_written', (9, 9), '<i4', fillvalue=-5)
    file.create_dataset('null', data=h5py.Empty('f4'))
    file.create_dataset('scalar', data=np.float32(2.5))
    file.create_dataset('scalar_be', data=np.array(2.5, '>f8'))
    file.create_dataset('no_rows_be', (0, 3), '>i4')
    file.create_dataset('no_columns', (3, 0), 'i4')
    file.create_dataset('no_rows_in_chunks', (0, 3), 'i4', chunks=(2, 3), maxshape=(None, 3))
    file.create_dataset('flags', data=values('?', (5,)), chunks=(2,))
    file.create_dataset('colours', data=np.array([0, 1, 2, 1], '<i2'),
                        dtype=h5py.enum_dtype({'RED': 0, 'GREEN': 1, 'BLUE': 2}, basetype='<i2'))
    low_level(file, 'bit_field', h5py.h5t.STD_B16LE, (4,), None, None)
    file.create_dataset('arrays', (4,), np.dtype(('>f4', (2, 3))), chunks=(3,))[...] = values('f4', (4, 2, 3))
    low_level(file, 'bfloat16', bfloat16(), (3,), None, None)[...] = np.array([1, -2.5, 3e38], '<f4')
    file.create_dataset('strings', data=['a', 'bb'], dtype=h5py.string_dtype())
    file.create_dataset('compounds', data=np.zeros(3, dtype=[('a', 'i4'), ('b', 'f4')]))
    file['named'] = np.dtype('<i8')
    file['named'].attrs['on a type'] = 1
    file.create_dataset('of_named', data=np.arange(4), dtype=file['named'])
    file['group/x'] = np.arange(3)
    file['soft'] = h5py.SoftLink('/group')
    file['group/up'] = h5py.SoftLink('x')
    file['dangling'] = h5py.SoftLink('/nowhere')
    file['elsewhere'] = h5py.ExternalLink('/etc/passwd', '/x')
    file['hard'] = file['group']
    file['group/circle'] = file['/']
    for name in ('é', '日本', 'a b', 'A', 'a', 'a-b', 'a.b', '\U0001F600', '\uff5e'):
        file[f'names/{name}/x'] = np.arange(2)


def attributes(file):
    at = file.attrs
    at['table'] = np.array([['a', 'bé'], ['', 'dd']], dtype=h5py.string_dtype())
    at['not numbers'] = np.array([np.nan, np.inf, -np.inf, 1.5])
    at['big'] = np.array([2 ** 63 - 1, -2 ** 63, 5])
    at['biggest'] = np.uint64(2 ** 64 - 1)
    at['nothing'] = h5py.Empty('f4')
    at['none'] = np.zeros((0, 3))
    at['matrix'] = np.arange(6, dtype='>u2').reshape(2, 3)
    at['flags'] = np.array([True, False])
    at['padded'] = np.array(b'ab')
    at.create('utf8', np.array('日本'.encode(), dtype=h5py.string_dtype('utf-8', 10)))
    at['compound'] = np.zeros(2, dtype=[('a', 'i4')])
    at['reference'] = file.ref
    at['long'] = 'x' * 5000


def dense(file):
    file.attrs['large'] = np.arange(9000)
    for i in random.permutation(400):
        file.attrs[f'attribute {i}'] = f'value {i}' if i % 3 else np.arange(i % 7)
    group = file.create_group('group')
    for i in random.permutation(900):
        group[f'{i}{"n" * int(i % 50)}'] = h5py.SoftLink('/x')
    for i in random.permutation(40):
        group[f'dataset {i}'] = np.int16(i)


def deep_indexes(file):
    file.create_dataset('fixed_pages', data=values('u1', (1500,)), chunks=(1,))
    some = file.create_dataset('some_fixed_pages', (3500,), '<u2', chunks=(1,), fillvalue=9)
    some[1100:1105] = 5
    some[3490:] = 6
    file.create_dataset('extensible', data=values('u1', (300,)), chunks=(1,), maxshape=(None,))
    pages = file.create_dataset('extensible_pages', (140000,), 'u1', chunks=(1,), maxshape=(None,), fillvalue=3)
    pages[135000:135004] = 7
    pages[139999:] = 9
    file.create_dataset('tree', data=values('u1', (60, 40)), chunks=(2, 2), maxshape=(None, None))
    file.create_dataset('filtered_tree', data=values('u1', (30, 20)), chunks=(3, 2), maxshape=(None, None),
                        compression='gzip')


def old_deep_indexes(file):
    file.create_dataset('tree', data=values('u1', (60, 40)), chunks=(2, 2))


def bands(file):
    data = (np.arange(24)[:, None] * 100 + np.arange(16384) % 7).astype('<i2')
    file.create_dataset('images', data=data, chunks=(4, 5000), compression='gzip', shuffle=True)
    file.create_dataset('labels', data=values('>i4', (24,)))


def deleted(path, options):
    with h5py.File(path, 'w', **options) as file:
        for i in range(60):
            file[f'd{i}'] = np.arange(3)
            file.attrs[f'a{i}'] = 'y' * i
    with h5py.File(path, 'r+') as file:
        for i in range(0, 60, 3):
            del file[f'd{i}']
            del file.attrs[f'a{i}']


OLD = dict(libver=('earliest', 'v108'))
LATEST = dict(libver='latest')
FILES = {
    'indexes_old.h5': (chunk_indexes, OLD),
    'indexes_v110.h5': (chunk_indexes, dict(libver=('v110', 'v110'))),
    'indexes_latest.h5': (chunk_indexes, LATEST),
    'deep_old.h5': (old_deep_indexes, OLD),
    'deep_latest.h5': (deep_indexes, LATEST),
    'kinds_old.h5': (kinds, OLD),
    'kinds_latest.h5': (kinds, LATEST),
    'attributes_old.h5': (attributes, OLD),
    'attributes_latest.h5': (attributes, LATEST),
    'dense_latest.h5': (dense, LATEST),
    'dense_ordered.h5': (dense, dict(libver='latest', track_order=True)),
    'bands.h5': (bands, {}),
    'user_block_old.h5': (bands, dict(userblock_size=1024)),
    'user_block_latest.h5': (old_deep_indexes, dict(userblock_size=2048, libver='latest')),
}


def little(array):
    array = np.ascontiguousarray(array)
    return hashlib.sha256(array.astype(array.dtype.newbyteorder('<')).tobytes()).hexdigest()


def text(value):
    return value if isinstance(value, str) else value.decode()


def attribute_truth(path, owner, name):
    dtype = owner.attrs.get_id(name).dtype
    value = owner.attrs[name]
    found = dict(path=path, name=name)
    if isinstance(value, h5py.Empty):
        return dict(found, type='empty')
    if isinstance(value, (str, bytes)):
        raw = value.encode() if isinstance(value, str) else bytes(value)
        return dict(found, type='string', bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest(), value=text(value))
    if dtype.kind == 'S' or h5py.check_string_dtype(dtype):
        return dict(found, type='strings', shape=list(value.shape), value=[text(v) for v in value.ravel().tolist()])
    if dtype.kind in 'iufb':
        array = np.asarray(value)
        return dict(found, type='array', shape=list(array.shape), dtype=array.dtype.str, sha256=little(array))
    return dict(found, type='unsupported')


def stored_dtype(dtype):
    members = h5py.check_enum_dtype(dtype)
    if dtype.kind == 'b':
        return 'enum{FALSE,TRUE} of |i1'
    return f'enum{{{",".join(members)}}} of {dtype.str}' if members else dtype.str


def dataset_truth(path, dataset):
    plist = dataset.id.get_create_plist()
    if path.endswith('/bfloat16'):
        array, dtype = (dataset.astype('<f4')[()].view('<u4') >> 16).astype('<u2'), 'bf16'
    else:
        array, dtype = np.asarray(dataset[()]), stored_dtype(dataset.dtype.base)
    found = dict(name=path, stored_dtype=dtype, shape=list(array.shape), nbytes=array.nbytes,
                 sha256=little(array), layout=LAYOUTS[plist.get_layout()])
    if dataset.chunks:
        found['chunks'] = list(dataset.chunks)
        found['filters'] = [FILTERS[plist.get_filter(i)[0]] for i in range(plist.get_nfilters())]
    if dataset.maxshape != dataset.shape:
        found['maxshape'] = list(dataset.maxshape)
    return found


def truth(path):
    arrays, found, others = [], [], []
    with h5py.File(path) as file:
        def visit(name, item):
            path = '/' + name
            found.extend(attribute_truth(path, item, a) for a in item.attrs)
            if isinstance(item, h5py.Dataset):
                if item.shape is None or item.dtype.base.kind not in 'iufb':
                    others.append(path)
                else:
                    arrays.append(dataset_truth(path, item))
        visit('', file)
        file.visititems(visit)
        return dict(superblock_offset=file.userblock_size, arrays=arrays, attributes=found, other_datasets=others)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (write, options) in FILES.items():
        with h5py.File(folder / name, 'w', **options) as file:
            write(file)
    for name, options in (('deleted_old.h5', OLD), ('deleted_latest.h5', LATEST)):
        deleted(folder / name, options)
    names = list(FILES) + ['deleted_old.h5', 'deleted_latest.h5']
    with open(folder / 'truth.json', 'w', encoding='utf-8') as out:
        json.dump({name: truth(folder / name) for name in names}, out, ensure_ascii=False)
        out.write('\n')
    with h5py.File(folder / 'refused.h5', 'w') as file:
        file.create_dataset('scaled', data=np.arange(100, dtype='i4'), chunks=(10,), scaleoffset=0)
        file.create_dataset('outside', (10,), 'i4', external=[('elsewhere.bin', 0, 40)])
        file.create_dataset('read', data=np.arange(3))
    with h5py.File(folder / 'virtual.h5', 'w', libver='latest') as file:
        layout = h5py.VirtualLayout(shape=(3,), dtype='i4')
        layout[:] = h5py.VirtualSource('elsewhere.h5', 'x', shape=(3,))
        file.create_virtual_dataset('virtual', layout)


if __name__ == '__main__':
    main()
