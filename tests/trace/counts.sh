#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Do kernels have the accesses of their PTX? Compares, kernel by kernel, the sites of the variant `trace`
# with the loads, stores and atomics of the text: how many of which kind, memory and size.
#     counts.sh <wpcc> <source.cu>...
set -u
wpcc=$1
shift
show=$(dirname "$wpcc")/../tests/trace_show
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT

# kernel kind memory bytes, of each access
of_ptx() {
    awk '
    /^\.(visible|weak) \.entry/ { name = $3; sub(/\(.*/, "", name); inside = 1 }
    /^(\.visible |\.weak |)\.func/ { inside = 0 }
    inside {
        sub(/^[ \t]*(@!?%p[0-9]+[ \t]+)?/, "")
        if ($1 !~ /^(ld|st|atom|red)\./ || $1 ~ /\.(param|local|const)\./) next
        kind = $1 ~ /^ld/ ? "load" : $1 ~ /^st/ ? "store" : "atomic"
        memory = $1 ~ /\.global/ ? "global" : $1 ~ /\.shared/ ? "shared" : "generic"
        lanes = $1 ~ /\.v4/ ? 4 : $1 ~ /\.v2/ ? 2 : 1
        bits = $1; sub(/.*[a-z]/, "", bits)
        print name, kind, memory, bits / 8 * lanes
    }' "$1"
}
of_tables() {
    awk '
    $1 == "kernel" { kernel[$2] = 1 }
    $1 == "function" { name = $2 }
    # Fetches are not ld and st.
    $1 == "access" && $5 != "texture" && $4 != "const" && name in kernel { print name, $3 == "reduce" ? "atomic" : $3, $4, $6 }' "$1"
}

status=0
for source; do
    name=$(basename "$source" .cu)
    "$wpcc" -ptx "$source" -o "$tmp/x.ptx" && "$wpcc" -emit-llvm "$source" -o "$tmp/x.bc" &&
        "$wpcc" --variant=trace "$tmp/x.bc" -o "$tmp/x.so" && "$show" "$tmp/x.so" >"$tmp/x.txt" ||
        exit 1
    of_ptx "$tmp/x.ptx" | sort >"$tmp/ptx"
    of_tables "$tmp/x.txt" | sort >"$tmp/tables"
    if [ ! -s "$tmp/ptx" ]; then
        echo "$name: its PTX has no access"
        status=1
    elif ! cmp -s "$tmp/ptx" "$tmp/tables"; then
        echo "$name: < PTX, > tables"
        diff "$tmp/ptx" "$tmp/tables"
        status=1
    fi
done
exit $status
