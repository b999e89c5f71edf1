#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds all artifacts of a release as a Maven repository in target/repository: engine, wings, integrations and the BOM,
# each with sources, Javadoc, a bill of materials (CycloneDX) and a POM that stands by itself. Then builds and runs a
# project outside of the tree on that repository alone, once on the class path and once on the module path.
#
#   packaging/repository.sh VERSION URL [MAVEN OPTION…]
#   packaging/repository.sh 0.1.0 https://example.org/penstock            what is committed, as 0.1.0
#   packaging/repository.sh 0.1.0 https://example.org/penstock -Psign     signed with gpg's default key
#
#   PENSTOCK_RELEASE   engine: without the integrations
set -eu
cd "$(dirname "$0")/.."

[ $# -ge 2 ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
version=$1
url=$2
shift 2

top=$PWD/target/release
repository=$PWD/target/repository
rm -rf "$top" "$repository"
mkdir -p "$top/tree"
git archive HEAD | tar -x -C "$top/tree"
cd "$top/tree"

# The version is written in every POM, and in the POM of new projects.
grep -rl --include=pom.xml --include=engine.xml --include=NewCommand.java '0\.1\.0-SNAPSHOT' . |
    xargs sed -i "s/0\.1\.0-SNAPSHOT/$version/g"

deploy() {
    mvn -B -Prelease -Dmaven.test.skip=true -Dpenstock.url="$url" -DaltDeploymentRepository="penstock::default::file://$repository" "$@"
}
deploy "$@" deploy
if [ "${PENSTOCK_RELEASE:-all}" = all ]; then
    deploy -f integrations/pom.xml "$@" deploy
fi
cd ../../..

# Checks each artifact for what it must have beside its jar.
missing=0
for pom in $(find "$repository" -name '*.pom'); do
    base=${pom%.pom}
    for tag in name description url licenses developers scm; do
        grep -q "<$tag>" "$pom" || { echo "repository: $pom has no <$tag>" >&2; missing=1; }
    done
    [ -f "$base.jar" ] || continue
    for part in -sources.jar -javadoc.jar -cyclonedx.json; do
        [ -f "$base$part" ] || { echo "repository: $base$part is missing" >&2; missing=1; }
    done
done
[ $missing = 0 ] || exit 1
find "$repository" -name '*.jar' ! -name '*-sources.jar' ! -name '*-javadoc.jar' -exec ls -l {} + |
    awk '{ print $5, $NF }' | sed "s|$repository/||"

packaging/outside/run "file://$repository" "$version"
