#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the artifacts of a release twice, of what is committed, in two folders whose paths differ in length, and compares
# what would be published: jars, sources, Javadoc, bills of materials, POMs. Names each that differs, and in a jar each
# entry; ends with 1 then. Takes twice as long as packaging/repository.sh.
#
#   packaging/reproduce.sh [MAVEN OPTION…]
#   packaging/reproduce.sh --compare A B      two repositories that were built before
#
#   PENSTOCK_RELEASE   engine: without the integrations
set -eu
cd "$(dirname "$0")/.."

version=0.1.0
work=$PWD/target/reproduce
commit=$(git rev-parse HEAD)                     # also where somebody commits while the first is built

build() {
    tree=$1
    shift
    mkdir -p "$tree"
    git archive "$commit" | tar -x -C "$tree"
    grep -rl --include=pom.xml --include=engine.xml --include=NewCommand.java '0\.1\.0-SNAPSHOT' "$tree" |
        xargs sed -i "s/0\.1\.0-SNAPSHOT/$version/g"
    for pom in pom.xml integrations/pom.xml; do
        if [ "$pom" = pom.xml ] || [ "${PENSTOCK_RELEASE:-all}" = all ]; then
            (cd "$tree" && mvn -B -q -Prelease -Dmaven.test.skip=true -Dpenstock.url=https://example.org/penstock \
                -DaltDeploymentRepository="penstock::default::file://$tree/repository" -f "$pom" "$@" deploy)
        fi
    done
}

if [ "${1:-}" = --compare ]; then
    one=$2
    two=$3
else
    rm -rf "$work"
    build "$work/a" "$@"
    build "$work/another-path/that/is-longer" "$@"
    one=$work/a/repository
    two=$work/another-path/that/is-longer/repository
fi

# The entries of a jar that differ.
entries() {
    mkdir -p "$work/entries/one" "$work/entries/two"
    (cd "$work/entries/one" && unzip -q -o "$1")
    (cd "$work/entries/two" && unzip -q -o "$2")
    diff -rq "$work/entries/one" "$work/entries/two" | sed "s|$work/entries/||g; s/^/    /" | head -n 20
    rm -rf "$work/entries"
}

count=0
different=0
for file in $(cd "$one" && find . \( -name '*.jar' -o -name '*.json' -o -name '*.pom' \) | sort); do
    count=$((count + 1))
    cmp -s "$one/$file" "$two/$file" && continue
    different=$((different + 1))
    echo "reproduce: $file differs" >&2
    case $file in
        *.jar) [ ! -f "$two/$file" ] || entries "$one/$file" "$two/$file" >&2 ;;
        *) diff "$one/$file" "$two/$file" | head -n 10 >&2 || true ;;
    esac
done
[ "$count" -gt 0 ] || { echo "reproduce: no artifacts in $one" >&2; exit 1; }
echo "$count artifacts, $different differ"
[ "$different" = 0 ]
