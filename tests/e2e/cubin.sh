#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# code=sm_NN: kernels assembled for these GPUs beside the PTX, where ptxas is at hand; without it, or where it
# refuses, the PTX alone. The GPU is the stand-in for the driver, which takes no real cubin.
set -u
ptxas=${WARPAGE_PTXAS:-$E2E/../../build/ptxas/ptxas}
[ -x "$ptxas" ] || { echo "ptxas is not there; fetch it by tools/ptxas.sh, or set WARPAGE_PTXAS to a ptxas 12"; exit 77; }
fake=$(cd "$(dirname "$WPCC")/../tests" && pwd)/libfake_cuda.so
cd "$TMP" || exit 1
failures=0
fail() {
    echo "  $*"
    failures=1
}
word() { # file, offset: the 32-bit number there
    od -An -tu4 -j "$2" -N 4 "$1" | tr -d ' '
}
# The image's header: magic, abi version, count of sections at 12, 32 bytes in all; then 32 bytes a section, its
# kind and architecture first.
version=$(sed -n 's/^#define WP_ABI_VERSION \([0-9]*\)u.*/\1/p' "$E2E/../../src/base/abi.h")
sections() { # file: "<kind>:<architecture> …"
    at=$(grep -abo 'WPIMAGE' "$1" | while IFS=: read -r offset _; do
        [ "$(word "$1" $((offset + 8)))" != "$version" ] || echo "$offset"
    done | head -n 1)
    i=0
    while [ $i -lt "$(word "$1" $((at + 12)))" ]; do
        printf '%s:%s ' "$(word "$1" $((at + 32 + 32 * i)))" "$(word "$1" $((at + 36 + 32 * i)))"
        i=$((i + 1))
    done
}
expect() { # what it should be, options of wpcc
    wanted=$1
    shift
    "$WPCC" "$@" add.cu -o add 2>"talk" || { fail "$*: exit status $?"; cat talk; return; }
    found=$(sections add)
    [ "$found" = "$wanted " ] || fail "$*: sections $found, expected $wanted"
    ./add || fail "$*: exit status $?"
}
cat >add.cu <<'END'
__managed__ int total = 1;
__global__ void add(int n) { atomicAdd(&total, n); }
int main() { add<<<1, 32>>>(2); return cudaDeviceSynchronize() != cudaSuccess || total != 65; }
END

export WARPAGE_PTXAS="$ptxas"
expect "1:0 2:70"
expect "1:0 2:70" -arch=sm_70
expect "1:0 2:70 3:80" -gencode arch=compute_70,code=sm_80
expect "1:0 2:70 3:70 3:80" "-gencode=arch=compute_70,code=[sm_70,compute_70]" -gencode arch=compute_80,code=sm_80
expect "1:0 2:75 3:75 3:90" -arch=compute_75 -code=sm_75,sm_90,compute_75
expect "1:0 2:70" -arch=compute_60 -code=sm_60
expect "1:0 2:70 3:80" -rdc=true -gencode arch=compute_70,code=sm_80
[ ! -s talk ] || fail "says $(cat talk)"

# The device tries the code for its GPU first. Here that is refused, and the PTX does.
WARPAGE_LOG=device.cuda:info WARPAGE_DEVICE=cuda:0 WARPAGE_LIBCUDA=$fake ./add 2>"talk"
grep -q 'using the PTX instead of the code for sm_80: .*CUDA_ERROR_INVALID_IMAGE' talk || { fail "the log says"; cat talk; }
FAKE_CUDA_SM=90 WARPAGE_LOG=device.cuda:info WARPAGE_DEVICE=cuda:0 WARPAGE_LIBCUDA=$fake ./add 2>"talk"
! grep -q 'using the PTX instead' talk || { fail "sm_80 was tried on sm_90"; cat talk; }

# A ptxas that was named and does not do: a warning. One that is found, or none: the PTX does.
export WARPAGE_PTXAS=/nowhere/ptxas
expect "1:0 2:70" -gencode arch=compute_70,code=sm_80
grep -q 'warning: no code=sm_80, only PTX: .*/nowhere/ptxas' talk || { fail "no warning"; cat talk; }
unset WARPAGE_PTXAS
mkdir bin
printf '#!/bin/sh\necho "ptxas fatal: sm_80 is not known"; exit 1\n' >bin/ptxas
chmod +x bin/ptxas
PATH=$TMP/bin:$PATH
expect "1:0 2:70" -gencode arch=compute_70,code=sm_80
[ ! -s talk ] || { fail "a ptxas that nobody named is a matter of"; cat talk; }
"$WPCC" -v -gencode arch=compute_70,code=sm_80 add.cu -o add 2>&1 | grep -q 'ptxas fatal: sm_80 is not known' ||
    fail "-v does not say what ptxas said"
exit $failures
