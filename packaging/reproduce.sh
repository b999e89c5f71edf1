#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what is committed twice, in two folders whose paths differ in length, and compares every artifact: jars,
# sources, Javadoc, bills of materials and POMs. Prints what differs, entry by entry, and ends with 1 then.
#
#   packaging/reproduce.sh [MAVEN OPTION…]
#   packaging/reproduce.sh --compare A B        two folders that were built before
#
#   PENSTOCK_RELEASE   engine: without the integrations
set -eu
cd "$(dirname "$0")/.."

build() {
    mkdir -p "$1"
    git archive HEAD | tar -x -C "$1"
    shift_to=$1
    shift
    (cd "$shift_to" && mvn -B -q -Prelease -Dmaven.test.skip=true -Dpenstock.url=https://example.org/penstock "$@")
}

# The artifacts of a tree, by their paths in it.
artifacts() {
    (cd "$1" && find . -path '*/target/*' \( -name '*.jar' -o -name '*-cyclonedx.json' -o -name '*-cyclonedx.xml' \
        -o -name 'bom.json' -o -name 'bom.xml' -o -name '.flattened-pom.xml' \) ! -path '*/lib/*' ! -path '*/m2/*' | sort
     find . -name '.flattened-pom.xml' | sort) | sort -u
}

if [ "${1:-}" = --compare ]; then
    one=$2
    two=$3
else
    work=$PWD/target/reproduce
    rm -rf "$work"
    one=$work/a
    two=$work/another-path/that/is-longer
    for tree in "$one" "$two"; do
        build "$tree" -Dmaven.javadoc.skip=false "$@" install
        if [ "${PENSTOCK_RELEASE:-all}" = all ]; then
            (cd "$tree" && mvn -B -q -Prelease -Dmaven.test.skip=true -Dpenstock.url=https://example.org/penstock \
                -f integrations/pom.xml "$@" package)
        fi
    done
fi

count=0
different=0
for file in $(artifacts "$one"); do
    count=$((count + 1))
    cmp -s "$one/$file" "$two/$file" && continue
    different=$((different + 1))
    echo "reproduce: $file differs" >&2
    case $file in
        *.jar) python3 - "$one/$file" "$two/$file" <<'END' >&2
import sys, zipfile
a, b = (zipfile.ZipFile(name) for name in sys.argv[1:])
for name in sorted(set(a.namelist()) ^ set(b.namelist())):
    print("    only in one:", name)
for name in a.namelist():
    if name in b.namelist():
        if a.read(name) != b.read(name):
            print("    other bytes:", name)
        elif a.getinfo(name).date_time != b.getinfo(name).date_time:
            print("    another time:", name)
if a.namelist() != b.namelist() and set(a.namelist()) == set(b.namelist()):
    print("    another order of entries")
END
        ;;
        *) diff "$one/$file" "$two/$file" | head -n 10 >&2 || true ;;
    esac
done
[ "$count" -gt 0 ] || { echo "reproduce: no artifacts in $one" >&2; exit 1; }
echo "$count artifacts, $different differ"
[ "$different" = 0 ]
