#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs Penstock's GPU tests and benchmarks on this machine, within ten minutes, and writes a report into a folder.
# Needs an NVIDIA driver for CUDA 13 and libcudart.so.13; PyTorch is measured beside it where it is installed.
#
#   run.sh [FOLDER]        FOLDER is ./report if not given
#
#   PENSTOCK_CUDART        the runtime library; without it, the loader's cache, CUDA's and Conda's folders and Python's
#                          packages are searched
#   PENSTOCK_CUBLAS        cuBLAS 13, for the trainer; without it, the same places are searched
#   PENSTOCK_NVJPEG        nvJPEG 13; without it, the same places are searched
#   PENSTOCK_PYTHON        the Python that has PyTorch; without it, python3 and python are tried
#   PENSTOCK_DEVICE        the device (cuda)
#   PENSTOCK_QUICK         1 for a rehearsal: each measurement takes only as long as it must to run at all
#   PENSTOCK_TOKENS        the tokens of the store that is written to the temporary folder (200000000, 400 MB)
#   PENSTOCK_STRESS        the batches of the stress test (36000: those of an hour of steps of 100 ms)
#   PENSTOCK_GPT           options of the GPT that is trained for its speed (25 million weights, 60 steps)
#
# Ends with 0 if tests ran and all passed, and everything was measured.
set -u

total_seconds=570
max_bytes=15000000
if [ -n "${PENSTOCK_QUICK:-}" ]; then
    rounds="--rounds 1 --round-ms 10"
    sizes="--max-bytes 1048576"
    clocks="--rounds 1 --batches 20"
    loads="--rounds 1 --seconds 0.1 --warmup 0.1"
    : "${PENSTOCK_TOKENS:=2000000}" "${PENSTOCK_STRESS:=500}"
else
    rounds=
    sizes=
    clocks=
    loads="--rounds 3 --seconds 1 --warmup 1"
fi

here=$(CDPATH='' cd -P "$(dirname "$0")" && pwd)
mkdir -p "${1:-report}"
out=$(CDPATH='' cd -P "${1:-report}" && pwd)
device=${PENSTOCK_DEVICE:-cuda}
begin=$(date +%s)
work=$(mktemp -d "${TMPDIR:-/tmp}/penstock-gpu.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for file in report.md report.json transfer.jsonl stages.jsonl jpegs.jsonl clocks.jsonl throughput.jsonl torch.jsonl torch.txt \
    tests.txt machine.txt run.log; do
    rm -f "$out/$file"
done
rm -f "$out"/gpt-*
exec 2> "$out/run.log"

say() {
    echo "$(($(date +%s) - begin)) s: $1"
    echo "== $(($(date +%s) - begin)) s: $1" >&2
}

# Runs a command for so many seconds at most, and not beyond the end of the whole.
limited() {
    limit=$1
    shift
    left=$((total_seconds - ($(date +%s) - begin)))
    [ "$limit" -le "$left" ] || limit=$left
    if [ "$limit" -lt 5 ]; then
        echo "no time left for: $*" >&2
        return 124
    fi
    if command -v timeout > /dev/null; then
        timeout -k 5 "$limit" "$@"
    else
        "$@"
    fi
    status=$?
    [ "$status" -eq 0 ] || echo "exit status $status from: $*" >&2
    return "$status"
}

java() {
    seconds=$1
    shift
    limited "$seconds" "$here/runtime/bin/java" --enable-native-access=ALL-UNNAMED -Xmx1g \
        -cp "$here/lib/penstock.jar:$here/lib/tests.jar:$here/lib/junit.jar" "$@"
}

pythons() {
    for python in "${PENSTOCK_PYTHON:-}" python3 python; do
        [ -n "$python" ] && command -v "$python"
    done
}

# candidates NAME: files that may be the library of that name.
candidates() {
    for ldconfig in ldconfig /sbin/ldconfig; do
        "$ldconfig" -p | sed -n "s/.*$1 .*=> //p"
    done
    for root in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${CONDA_PREFIX:-}" /usr/local/cuda /usr/local/cuda-13* /opt/cuda; do
        [ -n "$root" ] || continue
        for folder in lib64 lib targets/x86_64-linux/lib targets/sbsa-linux/lib; do
            echo "$root/$folder/$1"
        done
    done
    pythons | while read -r python; do
        "$python" -c 'import site, sys
for folder in dict.fromkeys(sys.path + site.getsitepackages() + [site.getusersitepackages()]): print(folder)'
    done | while read -r folder; do
        [ -d "$folder/nvidia" ] && find "$folder/nvidia" -name "$1"
    done
    find /opt /usr/local/lib /usr/lib/python3 -maxdepth 8 -path '*nvidia*' -name "$1"
}

# library NAME SETTING: the file that the setting names, else the first of that name; nothing if there is none.
library() {
    if [ -f "$2" ]; then
        echo "$(CDPATH='' cd -P "$(dirname "$2")" && pwd)/$(basename "$2")"
    elif [ -n "$2" ]; then
        echo "$2"
    else
        candidates "$1" 2> /dev/null | while read -r file; do
            if [ -f "$file" ]; then
                echo "$file"
                break
            fi
        done
    fi
}

PENSTOCK_CUDART=$(library libcudart.so.13 "${PENSTOCK_CUDART:-}")
if [ -n "$PENSTOCK_CUDART" ]; then
    export PENSTOCK_CUDART
else
    unset PENSTOCK_CUDART
fi
PENSTOCK_CUBLAS=$(library libcublas.so.13 "${PENSTOCK_CUBLAS:-}")
if [ -n "$PENSTOCK_CUBLAS" ]; then
    export PENSTOCK_CUBLAS
else
    unset PENSTOCK_CUBLAS
fi
PENSTOCK_NVJPEG=$(library libnvjpeg.so.13 "${PENSTOCK_NVJPEG:-}")
if [ -n "$PENSTOCK_NVJPEG" ]; then
    export PENSTOCK_NVJPEG
else
    unset PENSTOCK_NVJPEG
fi
say "CUDA runtime: ${PENSTOCK_CUDART:-none found}, cuBLAS: ${PENSTOCK_CUBLAS:-none found}"
say "nvJPEG: ${PENSTOCK_NVJPEG:-none found}"

{
    echo "revision $(cat "$here/revision")"
    echo "libcudart ${PENSTOCK_CUDART:-not found}"
    echo "libcublas ${PENSTOCK_CUBLAS:-not found}"
    echo "libnvjpeg ${PENSTOCK_NVJPEG:-not found}"
    uname -srm
    getconf GNU_LIBC_VERSION
    lscpu
    head -n 3 /proc/meminfo
    nvidia-smi
    nvidia-smi -q -d PERFORMANCE,CLOCK,POWER
    nvidia-smi --format=csv \
        --query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.gen.current,pcie.link.width.current,memory.total
    nvidia-smi topo -m
} > "$out/machine.txt" 2>&1

say "tests"
java 150 "-Dpenstock.stress.batches=${PENSTOCK_STRESS:-36000}" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=tree \
    --scan-class-path="$here/lib/tests.jar" --include-tag=gpu > "$out/tests.txt" 2>&1

say "store"
store=$work/tokens.bin
java 60 io.penstock.bench.TokenFile "$store" "${PENSTOCK_TOKENS:-200000000}"

# shellcheck disable=SC2086  # lists of options, here and below
{
    say "transfer"
    java 200 io.penstock.bench.TransferBench --device "$device" --store "$store" --seconds 150 $rounds $sizes \
        > "$out/transfer.jsonl"

    say "stages"
    java 40 io.penstock.bench.StageRates --device "$device" $rounds > "$out/stages.jsonl"

    say "JPEG files"
    java 40 io.penstock.bench.JpegRates --device "$device" --files "$here/jpeg" $rounds > "$out/jpegs.jsonl"

    say "clocks and several loaders"
    java 40 io.penstock.bench.DeviceClocks --device "$device" $clocks > "$out/clocks.jsonl"

    say "throughput"
    for mode in narrow i64; do
        for workers in 1 4; do
            java 20 io.penstock.bench.LoaderThroughput --device "$device" --store "$store" --mode $mode \
                --workers $workers $loads
        done
    done > "$out/throughput.jsonl"
}

say "training"
# train SECONDS NAME OPTION…: the trainer of examples/gpt. What it prints goes to gpt-NAME.txt, its losses to
# gpt-NAME.csv.
train() {
    seconds=$1
    name=$2
    shift 2
    limited "$seconds" "$here/runtime/bin/java" --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED \
        -Xmx3g -cp "$here/lib/penstock.jar:$here/lib/gpt.jar" io.penstock.examples.gpt.Train --input windows \
        --first "$here/text/letters" --second "$here/text/books" --out "$work/$name" "$@" > "$out/gpt-$name.txt" 2>&1 \
        && cat "$work/$name/losses.csv" > "$out/gpt-$name.csv"
}
small="--steps 20 --batch 4 --context 64 --layers 2 --heads 2 --width 64 --warmup 10 --print-every 10"
# shellcheck disable=SC2086  # lists of options
{
    train 30 cpu --device cpu $small
    train 30 device --device "$device" $small
    train 30 again --device "$device" $small
    train 60 speed --device "$device" --print-every 20 \
        ${PENSTOCK_GPT:---steps 60 --batch 32 --context 256 --layers 8 --heads 8 --width 512}
}

say "PyTorch"
torch=
for python in $(pythons); do
    if [ -z "$torch" ] && "$python" -c 'import torch, numpy' 2> /dev/null; then
        torch=$python
    fi
done
if [ -z "$torch" ]; then
    echo "no Python here has torch and numpy" > "$out/torch.txt"
else
    for options in "item --workers 0" "item --workers 4" "take --workers 0" "take --workers 4" \
        "item --workers 4 --step-ms 2" "take --workers 4 --step-ms 2"; do
        # shellcheck disable=SC2086  # a list of options
        limited 40 "$torch" "$here/peers/torch_cuda.py" --store "$store" --mode i64 --fetch $options || break
    done > "$work/torch.out"
    grep '^{' "$work/torch.out" > "$out/torch.jsonl"
    grep -v '^{' "$work/torch.out" > "$out/torch.txt"
fi

say "report"
for file in "$out"/*.txt "$out"/*.csv "$out"/*.jsonl "$out/run.log"; do
    if [ -f "$file" ] && [ "$(wc -c < "$file")" -gt $max_bytes ]; then
        tail -c $max_bytes "$file" > "$work/tail" && cat "$work/tail" > "$file"
    fi
done
"$here/runtime/bin/java" -cp "$here/lib/penstock.jar:$here/lib/tests.jar" io.penstock.bench.GpuReport "$out"
status=$?
say "done, status $status: $out/report.md"
exit $status
