#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Profiles the loader with perf, and prints where the time went: bench/profile.sh narrow, bench/profile.sh i64, or any
# program of the class path: bench/profile.sh NAME MAIN_CLASS ARGUMENT...
#
#   JAVA_HOME      a JDK 25 or newer; without it, the usual places are searched
#   SETTLE_MS      how long it runs before perf looks (3000), so that the JIT is done
#   JAVA_OPTS      further options for the JVM
#
# Leaves target/profile/NAME.txt (the table), NAME.svg (the flame graph), NAME.folded (its stacks) and NAME.stacks (all
# samples with their symbols, as profile.py reads them).
# Needs perf, the stores of bench/prepare.sh and the classes of `mvn -Pbench test-compile`. Where perf may not
# record, lower /proc/sys/kernel/perf_event_paranoid to 2 or below; kernel symbols take 1 or root.
set -eu
cd "$(dirname "$0")/.."

usage() {
    sed -n '2,3p' "$0" | cut -c3- >&2
    exit 2
}

[ $# -ge 1 ] || usage
name=$1
shift
loader="io.penstock.bench.LoaderThroughput --store target/bench/tokens.bin --warmup 2 --rounds 1 --seconds 8"
case $name in
    narrow) set -- $loader --mode narrow --workers 1 ;;
    i64) set -- $loader --mode i64 --workers 2 ;;
    *) [ $# -ge 1 ] || usage ;;
esac
[ -d bench/target/test-classes ] || { echo "profile: first: mvn -Pbench test-compile" >&2; exit 1; }
java=
for home in "${JAVA_HOME:-}" /usr/lib/jvm/* /usr/java/* /opt/java/* /opt/jdk* "${HOME:-}"/.sdkman/candidates/java/* \
    "${HOME:-}"/.jdks/*; do
    if [ -x "$home/bin/java" ] && grep -qs '^JAVA_VERSION="\(2[5-9]\|[3-9][0-9]\)' "$home/release"; then
        java=$home/bin/java
        break
    fi
done
[ -n "$java" ] || { echo "profile: no JDK 25 or newer found: set JAVA_HOME" >&2; exit 1; }
out=target/profile
mkdir -p "$out"

# Frame pointers for perf's stacks, and a map of the code that the JIT made. A method that was inlined counts as its caller.
# shellcheck disable=SC2086
perf record -q -F 999 -g -D "${SETTLE_MS:-3000}" -o "$out/$name.data" -- "$java" --enable-native-access=ALL-UNNAMED \
    -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit ${JAVA_OPTS:-} \
    -cp "$(bench/class-path)" "$@" > "$out/$name.out"
cat "$out/$name.out"
perf script -i "$out/$name.data" -F comm,tid,ip,sym,dso > "$out/$name.stacks" 2> "$out/$name.err"
python3 bench/profile.py --title "$name" --folded "$out/$name.folded" --svg "$out/$name.svg" < "$out/$name.stacks" \
    > "$out/$name.txt"
for pid in $(perf script -i "$out/$name.data" -F pid 2> "$out/$name.err" | sort -u); do
    rm -f "/tmp/perf-$pid.map"
done
rm -f "$out/$name.data" "$out/$name.err"                    # without the map, perf has no names for Java
cat "$out/$name.txt"
echo "$out: $name.txt $name.svg $name.folded $name.stacks"
