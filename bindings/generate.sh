#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Regenerates bindings/java from CUDA's headers. Needs jextract on the PATH and CUDA_HOME.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fail() { echo "generate.sh: $*" >&2; exit 1; }

command -v jextract > /dev/null || fail "no jextract on the PATH (https://jdk.java.net/jextract/)"
[ -n "${CUDA_HOME:-}" ] || fail "CUDA_HOME is not set"
api="$CUDA_HOME/include/cuda_runtime_api.h"
[ -f "$api" ] || fail "there is no $api"

# Other major versions give the same names to functions of another shape.
version=$(sed -n 's/^#define CUDART_VERSION  *\([0-9]*\).*/\1/p' "$api")
case "$version" in
    13???) ;;
    *) fail "$api is CUDA version '$version', expected 13xxx" ;;
esac

# The headers that belong to the compiler itself, such as stddef.h. A jextract that brings its own needs none.
builtin_headers() {
    if command -v clang > /dev/null; then
        echo "$(clang -print-resource-dir)/include"
        return
    fi
    for folder in /usr/lib/llvm-*/lib/clang/*/include /usr/lib/clang/*/include /usr/lib64/clang/*/include; do
        if [ -f "$folder/stddef.h" ]; then
            echo "$folder"
            return
        fi
    done
}
builtin=$(builtin_headers)

output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# The header is named by its full path: CUDA has one of the same name, which -I would find.
jextract -I "$CUDA_HOME/include" ${builtin:+-I "$builtin"} \
    -t io.penstock.cuda.bindings --header-class-name CudaRuntime \
    --output "$output" "@$here/cuda_runtime.includes" "$here/cuda_runtime.h"

[ -f "$output/io/penstock/cuda/bindings/CudaRuntime.java" ] || fail "jextract wrote no CudaRuntime.java"
# The bindings would look functions up in all libraries of their class loader: here in the one that is chosen.
package=io/penstock/cuda/bindings
sed -i '/SYMBOL_LOOKUP = SymbolLookup.loaderLookup()$/{
N
s/SymbolLookup.loaderLookup().*;/CudaSymbols::find;/
}' "$output/$package/CudaRuntime.java"
grep -q 'SYMBOL_LOOKUP = CudaSymbols::find;$' "$output/$package/CudaRuntime.java" ||
    fail "jextract looks symbols up in another way"
cp "$here/java/$package/CudaSymbols.java" "$output/$package/"
rm -rf "$here/java"
mkdir "$here/java"
cp -R "$output/." "$here/java/"
(cd "$here/java" && find . -type f | sed 's|^\./||' | LC_ALL=C sort | xargs -I '{}' sha256sum '{}') > "$here/java.sha256"
echo "Wrote $here/java from CUDA $version. Look at the difference before you commit it."
