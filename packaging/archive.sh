#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes target/penstock-VERSION-linux-ARCHITECTURE.tar.gz: the penstock command with a Java runtime of its own, for a
# Linux machine (glibc) of this architecture without a JDK. Unpack it anywhere; penstock-VERSION-…/penstock runs.
#
# It also has man pages (man/), completion for bash and zsh (completion/penstock.bash), and the examples' text.
# The same commit and JDK give the same archive, byte for byte.
#
#   JAVA_HOME   a JDK 25 or newer with jlink; without it, the usual places are searched
set -eu
cd "$(dirname "$0")/.."

max_megabytes=80

jdk=$(packaging/jdk)

# The launcher builds what is missing, and leaves the name of the jar of the tools.
./penstock --version > /dev/null
jar=$(cat target/.penstock-built)
version=$(basename "$jar" .jar)
version=${version#penstock-tools-}
name=penstock-$version-linux-$(uname -m)
out=target/archive
archive=$out/$name
rm -rf "$out"
mkdir -p "$archive/jars/lib" "$archive/completion" "$archive/target"

cp penstock LICENSE NOTICE "$archive"
cp packaging/README "$archive/README"
cp "$jar" "$archive/jars/penstock-tools.jar"
cp "${jar%/*}"/lib/*.jar "$archive/jars/lib"
mkdir "$archive/examples"
cp -R examples/corpus "$archive/examples"
"$jdk/bin/java" -cp "$jar:${jar%/*}/lib/*" io.penstock.cli.Manual "$out/manual"
cp -R "$out/manual/man1" "$archive/man"
mkdir "$archive/man/man1"
mv "$archive"/man/*.1 "$archive/man/man1"
cp "$out/manual/penstock.bash" "$archive/completion"

# What the jars require of the JDK, always and where it is there; and: zip files as file systems, databases, the classes
# that libraries ask for (jdk.unsupported), what jcmd and jstack attach to, and the compiler, so that
# "penstock java First.java" runs.
modules=$("$jdk/bin/jdeps" --multi-release 25 --ignore-missing-deps --print-module-deps \
    --module-path "$archive/jars/lib" "$archive/jars/penstock-tools.jar" "$archive"/jars/lib/penstock*.jar)
modules=$(printf '%s\n' "$modules" | tr ',' '\n' | grep -E '^(java|jdk)\.' | paste -s -d , -)
modules=$modules,java.desktop,java.instrument,jdk.httpserver,jdk.jfr
"$jdk/bin/jlink" --add-modules "$modules,java.sql,jdk.zipfs,jdk.unsupported,jdk.jcmd,jdk.compiler" \
    --strip-java-debug-attributes --no-header-files --no-man-pages --compress zip-0 --output "$archive/runtime"

find "$archive" -exec touch -h -d 2026-01-01T00:00:00Z {} +
tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner -c "$name" | gzip -9n > "target/$name.tar.gz"
bytes=$(wc -c < "target/$name.tar.gz")
echo "target/$name.tar.gz: $((bytes / 1000000)) MB, with $modules"
if [ "$bytes" -gt $((max_megabytes * 1000000)) ]; then
    echo "archive: more than $max_megabytes MB" >&2
    exit 1
fi
