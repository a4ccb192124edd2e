# SPDX-License-Identifier: Apache-2.0
# `warpage run --check`: each kind of mistake is found, named with its place, and survived.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache"
"$WPCC" "$E2E/check/mistakes.cu" -o mistakes || exit 1
failed=0

line_of() { grep -n "$1" "$E2E/check/mistakes.cu" | head -n 1 | cut -d: -f1; }

# expect MISTAKE LINE PATTERN...: the first paragraph's place, then patterns that stderr must match.
expect() {
    mistake=$1 line=$2
    shift 2
    "$WARPAGE" run --check --output report -- ./mistakes "$mistake" >out 2>talk
    status=$?
    [ $status -eq 1 ] || { echo "$mistake: exit status $status"; failed=1; }
    [ "$(cat out)" = cudaSuccess ] || { echo "$mistake: the program did not go on: $(cat out)"; failed=1; }
    for pattern in "/mistakes\\.cu:$line: " '^warpage check: 1 finding$' "$@"; do
        grep -Eq -- "$pattern" talk || { echo "$mistake: nothing matches $pattern"; cat talk; failed=1; }
    done
}

thread='thread \(0,0,0\) of block \(0,0,0\)'
expect global_over "$(line_of 'void global_over')" ': access out of bounds$' \
    '^    thread \(2,0,0\) of block \(0,0,0\) stores 4 bytes at 0x[0-9a-f]+,$' \
    '^    right behind the end of the nearest allocation: 1000 bytes at 0x[0-9a-f]+, number 1, allocated by ' \
    'access out of bounds, 2 times$'
expect global_under "$(line_of 'void global_under')" "$thread loads 4 bytes" '4 bytes before the nearest allocation: 1000 '
expect straddle "$(line_of 'void straddle')" "misaligned access" 'which is not a multiple of 8'
expect shared_static "$(line_of 'tile\[threadIdx.x + n\]')" 'thread \(31,0,0\) of block \([01],0,0\) loads 4 bytes' \
    'right behind the end of the __shared__ variable tile, which has 128 bytes' ', 2 times$'
expect shared_dynamic "$(line_of 'dynamic\[threadIdx.x + n\]')" 'thread \(30,0,0\)' \
    'right behind the end of the dynamic shared memory, which has 128 bytes'
expect local_array "$(line_of 'a\[n + threadIdx.x\]')" '4 bytes behind the end of the local array, which has 32 bytes'
expect constant_variable "$(line_of 'void constant_variable')" 'thread \(3,0,0\)' \
    'right behind the end of the __constant__ variable coefficients, which has 32 bytes'
expect device_variable "$(line_of 'void device_variable')" 'thread \(7,0,0\)' \
    'right behind the end of the __device__ variable table, which has 64 bytes'
expect misaligned "$(line_of 'void misaligned')" ': misaligned access$' "$thread stores 4 bytes" 'which is not a multiple of 4'
expect atomic_over "$(line_of 'void atomic_over')" "$thread atomically changes 4 bytes" 'right behind the end of the nearest allocation'
expect copies "$(line_of 'void copies')" "$thread loads 808 bytes" 'the last 608 bytes of it behind the end of the allocation: 1000 bytes'
expect null "$(line_of 'void store')" "$thread stores 4 bytes at 0x0,$" 'a NULL pointer'
expect host_memory "$(line_of 'void store')" 'memory of the host, which CUDA does not know'
expect wild "$(line_of 'void store')" 'at 0x123456789000' 'a wild pointer'
expect freed "$(line_of 'void store')" ': use of freed memory$' \
    'byte 0 of the freed allocation: 64 bytes at 0x[0-9a-f]+, number 2, allocated by ' 'use of freed memory, 4 times$'
expect freed_later "$(line_of 'void store')" ': use of freed memory$' 'use of freed memory, 4 times$'
expect neighbours "$(line_of 'the last one leaves')" 'thread \(62,0,0\) of block \(0,0,0\) loads 4 bytes' \
    'right behind the end of the nearest allocation: 1000 bytes'
expect two_barriers "$(line_of 'some wait here')" ': divergent barrier$' \
    '^    40 threads of block \(0,0,0\) wait here, the first is \(0,0,0\);$' \
    "^    24 at another barrier, .*mistakes.cu:$(line_of 'others here'), the first is \(40,0,0\)$"
expect early_return "$(($(line_of 'void early_return') + 5))" ': divergent barrier$' \
    '40 threads of block \(0,0,0\) wait here' '24 have returned, the first is \(40,0,0\)'
exit $failed
