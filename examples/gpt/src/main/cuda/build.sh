#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the kernels to one fatbin, by default the committed one: build.sh [FOLDER]. Needs nvcc of CUDA 13.
#
# It has machine code for Hopper, and PTX that the driver compiles for other GPUs when they first use it: since Turing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
engine=$here/../../../../../src/main/native
folder=${1:-$here/../resources/io/penstock/examples/gpt}

targets="-gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=sm_90"

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$here"
# shellcheck disable=SC2086
nvcc -std=c++17 -fatbin -Werror all-warnings --compress-mode=size $targets -I "$engine" -o "$folder/gpt.fatbin" gpt.cu

# What tests compare: the fatbin is of these sources, and this compiler makes the same bytes of them again.
{
    nvcc --version | sed -n 's/^Cuda compilation tools, release [0-9.]*, V\(.*\)$/# nvcc \1/p'
    sha256sum build.sh gpt.cu
    (cd "$folder" && sha256sum gpt.fatbin)
} > "$folder/gpt.sha256"
