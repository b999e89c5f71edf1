#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the bundle where there is no GPU: start to end over the simulated runtime of the tests, outside of the project,
# with neither java nor mvn on the PATH. It takes a C++ and a C compiler, and about three minutes; with PENSTOCK_QUICK=1
# about one, as in .ci/run. Its figures say nothing of speed. nvJPEG is simulated where libturbojpeg is: the file that TURBOJPEG names, or the system's. The report
# goes to target/gpu/rehearsal, or to the folder that is named.
set -eu
cd "$(dirname "$0")/../.."
bundle=$PWD/target/gpu/penstock-gpu.tar.gz
[ -f "$bundle" ] || { echo "rehearse: there is no $bundle: run bench/gpu/bundle.sh first" >&2; exit 1; }
report=${1:-target/gpu/rehearsal}
mkdir -p "$report"
report=$(cd "$report" && pwd)

elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
cc -shared -fPIC -O1 -pthread -o "$elsewhere/libcudart.so.13" src/test/native/sim/*.c
cc -shared -fPIC -O3 -pthread -Isrc/test/native/sim -o "$elsewhere/libcublas.so.13" \
    examples/gpt/src/test/native/cublas.c -L"$elsewhere" -l:libcudart.so.13 -Wl,-rpath,'$ORIGIN'
c++ -std=c++17 -O2 -ffp-contract=off -shared -fPIC -o "$elsewhere/kernels.so" -Isrc/main/native \
    -Iexamples/gpt/src/main/cuda src/test/native/sim/outputs.cpp examples/gpt/src/test/native/outputs.cpp
[ -z "${TURBOJPEG:-}" ] || ln -s "$TURBOJPEG" "$elsewhere/libturbojpeg.so.0"
tar xzf "$bundle" -C "$elsewhere"

mkdir "$elsewhere/bin"
for tool in sh env uname date mktemp rm mkdir dirname basename cat sed grep head tail wc find timeout getconf lscpu; do
    path=$(command -v $tool) && ln -s "$path" "$elsewhere/bin/$tool"
done
cd "$elsewhere"
env -i PATH="$elsewhere/bin" PENSTOCK_CUDART="$elsewhere/libcudart.so.13" PENSTOCK_CUBLAS="$elsewhere/libcublas.so.13" \
    PENSTOCK_NVJPEG="$elsewhere/libcudart.so.13" LD_LIBRARY_PATH="$elsewhere" \
    PENSTOCK_QUICK="${PENSTOCK_QUICK:-}" \
    PENSTOCK_GPT="--steps 6 --batch 2 --context 32 --layers 1 --heads 1 --width 32" \
    SIM_CUDA_KERNELS="$elsewhere/kernels.so" penstock-gpu/run.sh "$report"
