#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs carry PTX beside the bitcode, linked ones included, and files without device code do no harm.
# Run by run.sh: $WPCC, $TMP (an empty folder), $E2E (this folder).
set -eu
cd "$TMP"
fail() {
    echo "  $*"
    exit 1
}
word() { # file, offset: the 32-bit number there
    od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '
}
# The image's header: magic, abi version, count of sections at 12, 32 bytes in all; a section is 32 bytes,
# its kind and architecture first.
check() { # file, architecture
    at=$(grep -abo 'WPIMAGE' "$1" | while IFS=: read -r offset _; do
        [ "$(word "$1" $((offset + 8)))" != "$version" ] || echo "$offset"
    done | head -n 1)
    [ -n "$at" ] || fail "$1 has no image"
    [ "$(word "$1" $((at + 12)))" = 2 ] || fail "$1: $(word "$1" $((at + 12))) sections, expected 2"
    second=$((at + header_bytes + 32))
    [ "$(word "$1" "$second")" = 2 ] || fail "$1: the second section is not PTX"
    [ "$(word "$1" $((second + 4)))" = "$2" ] || fail "$1: PTX for $(word "$1" $((second + 4)))"
}
header_bytes=32
version=$(sed -n 's/^#define WP_ABI_VERSION \([0-9]*\)u.*/\1/p' "$E2E/../../src/base/abi.h")

cat >main.cu <<'EOF'
__device__ float twice(float x);
__global__ void kernel(float *x) { *x = twice(*x); }
int main() { kernel<<<1, 1>>>(nullptr); return 0; }
EOF
echo '__device__ float twice(float x) { return 2 * x; }' >twice.cu
cat main.cu twice.cu >both.cu
echo 'int host_only() { return 0; }' >host_only.cu

"$WPCC" both.cu host_only.cu -o both
check both 70
"$WPCC" -arch=sm_80 -cubin both.cu -o both.cubin
check both.cubin 80
"$WPCC" -rdc=true main.cu twice.cu -o linked
check linked 70
"$WPCC" -rdc=true -ptx main.cu -o main.ptx
grep -q 'extern .func .*_Z5twicef' main.ptx || grep -A3 'extern .func' main.ptx | grep -q _Z5twicef ||
    fail "relocatable PTX leaves the other file's function external"
echo PASS
