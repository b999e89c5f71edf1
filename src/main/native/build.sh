#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels to one fatbin, by default the committed one: build.sh [FOLDER [ARCHITECTURES]]. Needs nvcc of
# CUDA 13.
#
# The same sources and the same nvcc give the same bytes. A GPU newer than those named runs the PTX, which its driver
# compiles when it is first used.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "build.sh: $*" >&2; exit 1; }

architectures=${2:-75 80 86 89 90 100 120}
ptx=75

folder=${1:-$here/../resources/io/penstock/device/cuda}
command -v nvcc > /dev/null || fail "no nvcc on the PATH"
compiler=$(nvcc --version | sed -n 's/^Cuda compilation tools, release [0-9.]*, V\(.*\)$/\1/p')
case "$compiler" in
    13.*) ;;
    *) fail "nvcc is version '$compiler', expected 13" ;;
esac

targets="-gencode arch=compute_$ptx,code=compute_$ptx"
for architecture in $architectures; do
    targets="$targets -gencode arch=compute_$architecture,code=sm_$architecture"
done

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$here"

# -fmad=false: a product and a sum are rounded one by one, as in the Java twins.
# shellcheck disable=SC2086
nvcc -std=c++17 -fatbin -fmad=false -Werror all-warnings --compress-mode=size $targets \
    -o "$folder/kernels.fatbin" kernels.cu

{
    echo "# nvcc $compiler"
    echo "# sm $architectures, ptx $ptx"
    LC_ALL=C
    export LC_ALL
    sha256sum build.sh ./*.cu ./*.cuh | sed 's|\./||'
    (cd "$folder" && sha256sum kernels.fatbin)
} > "$folder/kernels.sha256"
