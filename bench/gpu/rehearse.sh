#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the bundle where there is no GPU: start to end over the simulated runtime of the tests, outside of the project,
# with neither java nor mvn on the PATH. It takes a C++ and a C compiler, and about four minutes; with PENSTOCK_QUICK=1
# about two, as in .ci/run. Its figures say nothing of speed. nvJPEG is simulated where libturbojpeg is: the file that
# TURBOJPEG names, or the system's. The report goes to target/gpu/rehearsal, or to the folder that is named.
# Checks that both files of the report are there, that the smoke found every part but PyTorch, and that a run without a
# CUDA runtime says so and ends at once.
set -eu
cd "$(dirname "$0")/../.."
bundle=$PWD/target/gpu/penstock-gpu.tar.xz
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
tar xJf "$bundle" -C "$elsewhere"

mkdir "$elsewhere/bin"
for tool in sh env uname date mktemp rm mkdir dirname basename cat sed grep head tail wc find timeout getconf lscpu tr cut cp mv tar gzip; do
    path=$(command -v $tool) && ln -s "$path" "$elsewhere/bin/$tool"
done
cd "$elsewhere"
on_simulation() {
    env -i PATH="$elsewhere/bin" PENSTOCK_CUDART="$elsewhere/libcudart.so.13" \
        PENSTOCK_CUBLAS="$elsewhere/libcublas.so.13" PENSTOCK_NVJPEG="$elsewhere/libcudart.so.13" \
        LD_LIBRARY_PATH="$elsewhere" PENSTOCK_QUICK="${PENSTOCK_QUICK:-}" \
        PENSTOCK_SECONDS=3600 PENSTOCK_SMOKE_SECONDS=1200 \
        PENSTOCK_GPT="--steps 6 --batch 2 --context 32 --layers 1 --heads 1 --width 32" \
        SIM_CUDA_KERNELS="$elsewhere/kernels.so" "$@"
}

fail() {
    echo "rehearse: $1" >&2
    exit 1
}

on_simulation penstock-gpu/run.sh "$report" || fail "the run failed, see $report/report.md"
[ -s "$report/report.md" ] && [ -s "$report/report.tar.gz" ] || fail "no report in $report"
tar xzf "$report/report.tar.gz" -C "$elsewhere"
failed=$(grep '^failed' "$elsewhere/report/smoke.txt" | cut -f 3 | grep -v '^PyTorch$') || true
[ -z "$failed" ] || fail "the smoke failed: $failed"

# Where there is no CUDA runtime, the smoke says so, nothing is measured, and there is a report.
if env -i PATH="$elsewhere/bin" PENSTOCK_CUDART="$elsewhere/none.so" penstock-gpu/run.sh "$elsewhere/none" \
    > "$elsewhere/none.txt"; then
    fail "a run without a CUDA runtime ended with 0"
fi
cat "$elsewhere/none.txt"
grep -q 'smoke: device and copies FAILED: .*none.so' "$elsewhere/none.txt" || fail "it did not name the library"
grep -q 'no device could be used' "$elsewhere/none/report.md" || fail "its report did not say that nothing was measured"
