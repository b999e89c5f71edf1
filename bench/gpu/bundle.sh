#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes target/gpu/penstock-gpu.tar.xz: a Java runtime, the engine, the tests that are tagged gpu, the benchmarks, the
# trainer of examples/gpt with tokenized text, and the PyTorch peer, for a Linux machine of this architecture that has
# an NVIDIA driver and CUDA's runtime library but no JDK, Maven or network.
# There: tar xJf penstock-gpu.tar.xz && penstock-gpu/run.sh report
# (without xz: python3 -m tarfile -e penstock-gpu.tar.xz)
#
# Nothing in the archive is compressed by itself: xz then finds what repeats among all of it, and the whole is half as
# large as one of compressed parts.
#
#   JAVA_HOME   a JDK 25 or newer with jlink; without it, the usual places are searched
set -eu
cd "$(dirname "$0")/../.."

console_version=1.13.4
# A machine that is lent takes 64 MiB, 67 MB: the archive and the tracked files together.
max_megabytes=30
max_tree_megabytes=36

jdk=$(packaging/jdk)

out=target/gpu
bundle=$out/penstock-gpu
rm -rf "$bundle" "$bundle.tar.xz"
mkdir -p "$bundle/lib" "$bundle/peers" "$bundle/text"

mvn -q -B -Pbench test-compile
class_path=$(bench/class-path)
modules=". $(for main in */src/main; do echo "${main%%/*}"; done)"
mvn -q -B dependency:copy -Dmdep.overWriteSnapshots=false -Dmdep.useBaseVersion=true \
    -Dartifact=org.junit.platform:junit-platform-console-standalone:$console_version -DoutputDirectory="$bundle/lib"
junit=$out/junit
rm -rf "$junit"
mkdir -p "$junit"
(cd "$junit" && "$jdk/bin/jar" -xf "../penstock-gpu/lib/junit-platform-console-standalone-$console_version.jar")
rm "$bundle/lib/junit-platform-console-standalone-$console_version.jar"

# jar FILE OPTION…: a jar that stores what it holds as it is.
jar() {
    "$jdk/bin/jar" --create --no-compress --no-manifest --date=2026-01-01T00:00:00Z --file "$@"
}

"$jdk/bin/jar" --create --no-compress --date=2026-01-01T00:00:00Z --manifest "$junit/META-INF/MANIFEST.MF" \
    --file "$bundle/lib/junit.jar" -C "$junit" .
# On the class path: no module's libraries are asked for.
for module in $modules; do
    name=penstock-$module
    [ "$module" != . ] || name=penstock
    rm -rf "$out/module"
    cp -R "$module/target/classes" "$out/module"
    rm "$out/module/module-info.class"
    jar "$bundle/lib/$name.jar" -C "$out/module" .
done
# JMH is not in the bundle, and neither is what needs it.
classes=$out/classes
rm -rf "$classes"
mkdir -p "$classes"
for module in $modules bench; do
    cp -R "$module/target/test-classes/." "$classes"
done
rm -rf "$classes/META-INF"
# What the tests of formats read: no test that needs a GPU does.
for fixtures in arrow fixtures fuzz hdf5 lz4 nested npz packed parquet webdataset written; do
    rm -rf "${classes:?}/$fixtures"
done
find "$classes" \( -name jmh -o -name jmh_generated -o -name 'SlotHandOver*' \) -prune -exec rm -rf {} +
jar "$bundle/lib/tests.jar" -C "$classes" .

# The trainer, without the class that writes text, which needs a library.
gpt=$out/gpt
rm -rf "$gpt"
mkdir -p "$gpt"
find examples/gpt/src/main/java -name '*.java' ! -name Sample.java > "$out/gpt-sources"
"$jdk/bin/javac" -Xlint:-incubating --add-modules jdk.incubator.vector -cp "$class_path" -d "$gpt" "@$out/gpt-sources"
jar "$bundle/lib/gpt.jar" -C "$gpt" . -C examples/gpt/src/main/resources .
./penstock tokenize examples/corpus/letters.jsonl -o "$bundle/text/letters" --append-eot
./penstock tokenize examples/corpus/almanac.txt examples/corpus/keeper.txt examples/corpus/travels.txt \
    -o "$bundle/text/books" --append-eot

"$jdk/bin/java" -Djava.awt.headless=true -cp "$class_path" io.penstock.bench.JpegFiles \
    "$bundle/jpeg" 48

# The last line: those before it warn that tests are in the packages of what they test.
jdk_modules=$("$jdk/bin/jdeps" --multi-release 25 --ignore-missing-deps --print-module-deps \
    --class-path "$bundle/lib/junit.jar" "$bundle"/lib/penstock*.jar "$bundle/lib/tests.jar" 2>&1 | tail -n 1)
# What tests of images, endpoints and metrics use is no part of what runs there, and half of the runtime's size.
jdk_modules=$(printf %s "$jdk_modules" | tr ',' '\n' | grep -v -x -e java.desktop -e java.net.http -e java.sql | paste -s -d , -)
"$jdk/bin/jlink" --add-modules "$jdk_modules,java.logging,java.xml,jdk.incubator.vector,jdk.management,jdk.zipfs" \
    --strip-java-debug-attributes --no-header-files --no-man-pages --compress zip-0 --output "$bundle/runtime"

cp bench/gpu/run.sh LICENSE "$bundle"
cp bench/peers/torch_cuda.py bench/peers/torch_datasets.py "$bundle/peers"
git rev-parse HEAD > "$bundle/revision" 2>/dev/null || echo unknown > "$bundle/revision"
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime=2026-01-01T00:00:00Z -c penstock-gpu \
    | xz -6 -T0 > "$bundle.tar.xz"

# check WHAT BYTES MEGABYTES
check() {
    echo "$1: $(($2 / 1000000)).$(($2 / 100000 % 10)) MB"
    if [ "$2" -gt $(($3 * 1000000)) ]; then
        echo "bundle: $1: more than $3 MB" >&2
        exit 1
    fi
}
check "$bundle.tar.xz, with $jdk_modules" "$(wc -c < "$bundle.tar.xz")" $max_megabytes
if git rev-parse --is-inside-work-tree > /dev/null 2>&1; then
    check "the tracked files" "$(git ls-files -z | xargs -0 cat | wc -c)" $max_tree_megabytes
fi
