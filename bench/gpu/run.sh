#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs Penstock's GPU tests and benchmarks on this machine within ten minutes, and leaves two files in a folder:
# report.md, and report.tar.gz with it and all that it was made of. Both are renewed whenever a part has ended, so that
# a run that is stopped leaves what it has.
# Needs an NVIDIA driver for CUDA 13 and libcudart.so.13; PyTorch is measured beside it where it is installed.
#
#   run.sh [FOLDER]        FOLDER is ./report if not given
#
#   PENSTOCK_SECONDS       the time for all of it (570): what does not fit is left out, the least valuable first
#   PENSTOCK_SMOKE_SECONDS of these, the time for the smoke (60)
#   PENSTOCK_CUDART        the runtime library; without it, the loader's cache, CUDA's and Conda's folders and Python's
#                          packages are searched
#   PENSTOCK_CUBLAS        cuBLAS 13, for the trainer; without it, the same places are searched
#   PENSTOCK_NVJPEG        nvJPEG 13; without it, the same places are searched, and torchvision's libraries
#   PENSTOCK_PYTHON        the Python that has PyTorch; without it, python3 and python are tried
#   PENSTOCK_DEVICE        the device (cuda)
#   PENSTOCK_QUICK         1 for a rehearsal: each measurement takes only as long as it must to run at all
#   PENSTOCK_TOKENS        the tokens of the store that is written to the temporary folder (200000000, 400 MB)
#   PENSTOCK_STRESS        the batches of the stress test (36000: those of an hour of steps of 100 ms)
#   PENSTOCK_GPT           options of the GPT that is trained for its speed (25 million weights, 60 steps)
#
# First a smoke of every part: what fails there is printed with its reason. Then the measurements in the order of their
# worth. Ends with 0 if tests ran and all passed, and everything was measured.
set -u

total_seconds=${PENSTOCK_SECONDS:-570}
smoke_seconds=${PENSTOCK_SMOKE_SECONDS:-60}
case $total_seconds,$smoke_seconds in
    ,* | *, | *[!0-9,]*)
        echo "run.sh: PENSTOCK_SECONDS is $total_seconds and PENSTOCK_SMOKE_SECONDS $smoke_seconds, expected numbers" >&2
        exit 2
        ;;
esac
# For the last report and its archive
last_seconds=10
max_bytes=15000000

here=$(CDPATH='' cd -P "$(dirname "$0")" && pwd)
mkdir -p "${1:-report}" || exit 1
out=$(CDPATH='' cd -P "${1:-report}" && pwd)
device=${PENSTOCK_DEVICE:-cuda}
begin=$(date +%s)
work=$(mktemp -d "${TMPDIR:-/tmp}/penstock-gpu.XXXXXX") || exit 1
parts=$work/report
mkdir "$parts"
rm -f "$out/report.md" "$out/report.tar.gz"
trap 'rm -rf "$work"' EXIT
exec 2> "$parts/run.log"

elapsed() {
    echo $(($(date +%s) - begin))
}

say() {
    echo "$(elapsed) s: $1"
    echo "== $(elapsed) s: $1" >&2
}

# Until when commands may run, in seconds from the start
end=$((total_seconds - last_seconds))

# What limits are multiplied by: they are chosen for 570 seconds in all.
percent=100

# limited SECONDS COMMAND…: runs a command for so long at most, and not beyond the end.
limited() {
    limit=$(($1 * percent / 100))
    shift
    left=$((end - $(elapsed)))
    [ "$limit" -le "$left" ] || limit=$left
    if [ "$limit" -lt 2 ]; then
        echo "no time left" >&2
        return 124
    fi
    if command -v timeout > /dev/null; then
        timeout -k 5 "$limit" "$@"
    else
        "$@"
    fi
    status=$?
    [ "$status" -ne 124 ] || echo "stopped after $limit s" >&2
    [ "$status" -eq 0 ] || echo "exit status $status from: $*" >&2
    return "$status"
}

java() {
    seconds=$1
    shift
    limited "$seconds" "$here/runtime/bin/java" --enable-native-access=ALL-UNNAMED -Xmx1g \
        -cp "$here/lib/*" "$@"
}

# Renews report.md and report.tar.gz from what there is.
conclude() {
    for file in "$parts"/*; do
        if [ -f "$file" ] && [ "$(wc -c < "$file")" -gt $max_bytes ]; then
            tail -c $max_bytes "$file" > "$work/tail" && cat "$work/tail" > "$file"
        fi
    done
    "$here/runtime/bin/java" -XX:TieredStopAtLevel=1 -cp "$here/lib/*" \
        io.penstock.bench.GpuReport "$parts"
    whole=$?
    if [ ! -s "$parts/report.md" ]; then
        {
            printf '# Penstock on a GPU\n\nThe report could not be made:\n\n'
            cat "$parts/smoke.txt" "$parts/run.log" | head -n 100 | sed 's/^/    /'
        } > "$out/report.md"
        whole=1
    else
        cp "$parts/report.md" "$out/report.md"
    fi
    if tar -C "$work" -czf "$work/report.tar.gz" report && [ -s "$work/report.tar.gz" ]; then
        cp "$work/report.tar.gz" "$out/report.part" && mv -f "$out/report.part" "$out/report.tar.gz"
    else
        mkdir -p "$out/parts" && cp "$parts"/* "$out/parts" && echo "no archive: its files are in $out/parts" >&2
    fi
    return $whole
}

stopped() {
    trap '' INT TERM
    echo "stopped from outside" >> "$parts/left-out.txt"
    conclude
    exit "$1"
}
trap 'stopped 130' INT
trap 'stopped 143' TERM

# ---- what this machine has

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
    # torchvision's wheels have nvJPEG with a digest in its name.
    hashed=$(echo "$1" | sed 's/\.so/.*.so/')
    pythons | while read -r python; do
        "$python" -c 'import site, sys
for folder in dict.fromkeys(sys.path + site.getsitepackages() + [site.getusersitepackages()]): print(folder)'
    done | while read -r folder; do
        [ -d "$folder/nvidia" ] && find "$folder/nvidia" -name "$1"
        [ -d "$folder/torchvision.libs" ] && find "$folder/torchvision.libs" -name "$hashed"
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
if [ -n "$PENSTOCK_CUDART" ]; then export PENSTOCK_CUDART; else unset PENSTOCK_CUDART; fi
PENSTOCK_CUBLAS=$(library libcublas.so.13 "${PENSTOCK_CUBLAS:-}")
if [ -n "$PENSTOCK_CUBLAS" ]; then export PENSTOCK_CUBLAS; else unset PENSTOCK_CUBLAS; fi
PENSTOCK_NVJPEG=$(library libnvjpeg.so.13 "${PENSTOCK_NVJPEG:-}")
if [ -n "$PENSTOCK_NVJPEG" ]; then export PENSTOCK_NVJPEG; else unset PENSTOCK_NVJPEG; fi
torch=
for python in $(pythons); do
    if [ -z "$torch" ] && limited 30 "$python" -c 'import torch, numpy'; then
        torch=$python
    fi
done
say "CUDA runtime: ${PENSTOCK_CUDART:-none found}"
say "cuBLAS: ${PENSTOCK_CUBLAS:-none found}, nvJPEG: ${PENSTOCK_NVJPEG:-none found}, PyTorch: ${torch:-none found}"

{
    echo "revision $(cat "$here/revision")"
    echo "libcudart ${PENSTOCK_CUDART:-not found}"
    echo "libcublas ${PENSTOCK_CUBLAS:-not found}"
    echo "libnvjpeg ${PENSTOCK_NVJPEG:-not found}"
    echo "PyTorch of ${torch:-no Python}"
    uname -srm
    getconf GNU_LIBC_VERSION
    lscpu
    head -n 3 /proc/meminfo
    nvidia-smi
    nvidia-smi -q -d PERFORMANCE,CLOCK,POWER
    nvidia-smi --format=csv \
        --query-gpu=name,driver_version,pcie.link.gen.max,pcie.link.gen.current,pcie.link.width.current,memory.total
    nvidia-smi topo -m
} > "$parts/machine.txt" 2>&1

# ---- the parts, for the smoke and for the measurements: each prints what it found

# A choice of the fastest options, for the smoke and for rehearsals
quick() {
    rounds="--rounds 1 --round-ms 10"
    sizes="--max-bytes ${1:-1048576}"
    clocks="--rounds 1 --batches 20"
    loads="--rounds 1 --seconds 0.1 --warmup 0.1"
    launches="--rounds 1 --seconds 0.1 --warmup 0.05"
    moments="--seconds 0.3"
}

full() {
    rounds=
    sizes=
    clocks=
    loads="--rounds 3 --seconds 1 --warmup 1"
    launches=
    moments=
}

# shellcheck disable=SC2086  # lists of options, here and below
{
    write_store() { java 60 io.penstock.bench.TokenFile "$@"; }

    transfer() {
        java "$1" io.penstock.bench.TransferBench --device "$device" \
            --seconds "$(($1 * percent * 3 / 400))" $rounds $sizes
    }

    steps() {
        java "$1" io.penstock.bench.TransferBench --device "$device" --store "$store" \
            --seconds "$(($1 * percent * 3 / 400))" $rounds --max-bytes 0
    }

    jitter() { java "$1" io.penstock.bench.LaunchJitter --device "$device" --store "$store" $launches; }

    # run_tests SECONDS OPTION…: tests that are tagged gpu
    run_tests() {
        seconds=$1
        shift
        java "$seconds" "-Dpenstock.stress.batches=${PENSTOCK_STRESS:-36000}" \
            org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=tree \
            --include-tag=gpu "$@" 2>&1
    }

    kernels() { run_tests "$1" "--scan-class-path=$here/lib/tests.jar" '--exclude-classname=.*GpuLoaderTest.*'; }

    loader_tests() { run_tests "$1" --select-class=io.penstock.loader.GpuLoaderTest; }

    throughput() {
        for mode in narrow i64; do
            for workers in 1 4; do
                java "$1" io.penstock.bench.LoaderThroughput --device "$device" --store "$store" --mode $mode \
                    --workers $workers $loads || return
            done
        done
    }

    # beside SECONDS OPTIONS…: PyTorch's loader, once for each list of options
    beside() {
        seconds=$1
        shift
        if [ -z "$torch" ]; then
            echo "no Python here has torch and numpy"
            return 1
        fi
        for options in "$@"; do
            limited "$seconds" "$torch" "$here/peers/torch_cuda.py" --store "$store" --mode i64 --fetch $options \
                $loads || return
        done
    }

    jpegs() { java "$1" io.penstock.bench.JpegRates --device "$device" --files "$here/jpeg" $rounds; }

    stages() { java "$1" io.penstock.bench.StageRates --device "$device" $rounds; }

    readings() { java "$1" io.penstock.bench.GpuReadings --device "$device" $moments; }

    clocks() { java "$1" io.penstock.bench.DeviceClocks --device "$device" $clocks; }

    # train SECONDS NAME OPTION…: the trainer of examples/gpt; its losses go to gpt-NAME.csv.
    train() {
        seconds=$1
        name=$2
        shift 2
        limited "$seconds" "$here/runtime/bin/java" --add-modules jdk.incubator.vector \
            --enable-native-access=ALL-UNNAMED -Xmx3g -cp "$here/lib/*" \
            io.penstock.examples.gpt.Train --input windows --first "$here/text/letters" --second "$here/text/books" \
            --out "$work/$name" "$@" 2>&1 && cat "$work/$name/losses.csv" > "$parts/gpt-$name.csv"
    }
}
small="--batch 4 --context 64 --layers 2 --heads 2 --width 64 --warmup 10"

# ---- the smoke

failed=0
# smoke NAME COMMAND…: whether a part runs at all; a line of smoke.txt: ok or failed, seconds, name, and why
smoke() {
    part=$1
    shift
    from=$(elapsed)
    if "$@" > "$work/smoke.out" 2> "$work/smoke.err"; then
        verdict=ok
        why=
    else
        verdict=failed
        failed=$((failed + 1))
        why=$(cat "$work/smoke.out" "$work/smoke.err" | grep -v '^exit status' | grep -E \
            'unavailable|Exception|Error|error|cannot|not found|no |stopped|failed' | head -n 1 | cut -c 1-300)
        [ -n "$why" ] || why=$(cat "$work/smoke.out" "$work/smoke.err" | grep -v '^[[:space:]]*$' | tail -n 1 \
            | cut -c 1-300)
        say "smoke: $part FAILED: $why"
    fi
    printf '%s\t%s\t%s\t%s\n' $verdict $(($(elapsed) - from)) "$part" "$why" >> "$parts/smoke.txt"
    { echo "-- $part: $verdict"; cat "$work/smoke.out" "$work/smoke.err"; } >> "$parts/smoke.log"
    [ $verdict = ok ]
}

say "smoke"
end=$(($(elapsed) + smoke_seconds))
[ $end -le $((total_seconds - last_seconds)) ] || end=$((total_seconds - last_seconds))
quick 65536
store=$work/smoke.bin
most=$((smoke_seconds / 3))
smoke "Java runtime" "$here/runtime/bin/java" -version
smoke "device and copies" transfer $most
has_device=$?
if [ $has_device -eq 0 ]; then
    smoke "token store" write_store "$store" 2000000
    smoke "training steps" steps $most
    smoke "launching thread" jitter $most
    smoke "kernels" run_tests $most '--select-class=io.penstock.device.cuda.CudaGpuTest' \
        '--select-method=io.penstock.transform.TransformTest$OnAGpu#kernelsGiveWhatTheDefinitionsSay(long)'
    smoke "throughput" throughput $most
    smoke "PyTorch" beside $most "take --workers 0"
    smoke "JPEG files" jpegs $most
    smoke "GPT" train $most smoke --device "$device" $small --steps 2
    smoke "augmentation" stages $most
    smoke "clocks" clocks $most
    smoke "NVML" readings $most
fi
smoke "archive" tar -C "$work" -czf "$work/smoke.tar.gz" report
rm -rf "$store" "$work/smoke.tar.gz" "$work/smoke" "$parts/gpt-smoke.csv"
end=$((total_seconds - last_seconds))
percent=$((total_seconds * 100 / 570))
say "smoke: $failed failed"
conclude

# ---- the measurements, in the order of their worth

# measure NAME FILE COMMAND…: what the command prints goes to the file.
measure() {
    part=$1
    file=$2
    shift 2
    if [ $((end - $(elapsed))) -lt 5 ]; then
        say "$part: no time left"
        echo "$part: no time left" >> "$parts/left-out.txt"
        return 1
    fi
    say "$part"
    "$@" > "$parts/$file"
    status=$?
    [ $status -ne 124 ] || echo "$part: stopped when its time was up; what it had found by then counts" >> "$parts/left-out.txt"
    conclude
    return $status
}

if [ $has_device -ne 0 ]; then
    echo "all measurements: no device could be used, see the smoke" > "$parts/left-out.txt"
else
    if [ -n "${PENSTOCK_QUICK:-}" ]; then
        quick
        : "${PENSTOCK_TOKENS:=2000000}" "${PENSTOCK_STRESS:=100}"
    else
        full
    fi
    store=$work/tokens.bin
    write_store "$store" "${PENSTOCK_TOKENS:-200000000}" || say "the store could not be written, see run.log"
    measure "copies and the loader" transfer.jsonl transfer 120
    measure "training steps" steps.jsonl steps 90
    measure "launching thread" jitter.jsonl jitter 45
    measure "tests of kernels and devices" tests-kernels.txt kernels 90
    measure "throughput" throughput.jsonl throughput 20
    if [ -n "$torch" ]; then
        measure "PyTorch" torch.txt beside 40 "take --workers 4" "item --workers 4" "take --workers 4 --step-ms 2" \
            "take --workers 0" "item --workers 4 --step-ms 2" "item --workers 0"
    else
        echo "PyTorch: no Python here has torch and numpy" >> "$parts/left-out.txt"
    fi
    measure "JPEG files" jpegs.jsonl jpegs 40
    # shellcheck disable=SC2086  # lists of options
    {
        measure "GPT on the CPU" gpt-cpu.txt train 30 cpu --device cpu $small --steps 20 --print-every 10
        measure "GPT on the device" gpt-device.txt train 30 device --device "$device" $small --steps 20 --print-every 10
        measure "GPT again" gpt-again.txt train 30 again --device "$device" $small --steps 20 --print-every 10
        measure "a larger GPT" gpt-speed.txt train 60 speed --device "$device" --print-every 20 \
            ${PENSTOCK_GPT:---steps 60 --batch 32 --context 256 --layers 8 --heads 8 --width 512}
    }
    measure "tests of the loader" tests-loader.txt loader_tests 90
    measure "augmentation" stages.jsonl stages 40
    measure "clocks and several loaders" clocks.jsonl clocks 40
    measure "NVML" readings.jsonl readings 15
fi

conclude
status=$?
say "done, status $status: $out/report.md and $out/report.tar.gz"
exit $status
