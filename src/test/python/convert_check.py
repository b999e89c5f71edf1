# SPDX-License-Identifier: Apache-2.0
"""Reads with the formats' own libraries what a conversion wrote, and says what they found.

Usage: convert_check.py FOLDER, which holds x.npy, x.safetensors and x.tar, made of the same table by `convert`.
Exits with 77 if a library is not there.
"""
import hashlib
import io
import sys
import tarfile

try:
    import numpy
    from safetensors.numpy import load_file
except ImportError as missing:
    print(missing)
    sys.exit(77)

folder = sys.argv[1]
print("npy", hashlib.sha256(numpy.load(f"{folder}/x.npy", allow_pickle=False).tobytes()).hexdigest())
tensors = load_file(f"{folder}/x.safetensors")
for name in sorted(tensors):
    print("safetensors", name, list(tensors[name].shape), hashlib.sha256(tensors[name].tobytes()).hexdigest())
with tarfile.open(f"{folder}/x.tar") as tar:
    members = {member.name: tar.extractfile(member).read() for member in tar}
arrays = [numpy.load(io.BytesIO(members[name]), allow_pickle=False) for name in sorted(members)
          if name.endswith(".tokens.npy")]
print("tar", len(members), hashlib.sha256(numpy.stack(arrays).tobytes()).hexdigest())
print("labels", [int(members[name]) for name in sorted(members) if name.endswith(".label")][:5])
