#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs what WriteTables wrote into the tests' resources: pack.py FOLDER INTEGRATIONS"""
import pathlib
import sys
import zipfile

out, to = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
for kind in "delta", "iceberg":
    target = to / kind / "src/test/resources/io/penstock" / kind / "tables.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as pack:
        files = [(path, path.relative_to(out)) for path in (out / kind).rglob("*")]
        files += [(path, pathlib.Path("answers") / path.name.removeprefix(kind + "-"))
                  for path in (out / "answers").glob(kind + "-*")]
        for path, name in sorted(files, key=lambda file: str(file[1])):
            if path.is_file() and not path.name.endswith(".crc"):
                pack.writestr(zipfile.ZipInfo(str(name), (2026, 1, 1, 0, 0, 0)), path.read_bytes(),
                              zipfile.ZIP_DEFLATED, 9)
    print(target, target.stat().st_size)
