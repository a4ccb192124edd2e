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
expect global_over "$(line_of 'void global_over')" ': out-of-bounds access$' \
    '^    thread \(2,0,0\) of block \(0,0,0\) writes 4 bytes at 0x[0-9a-f]+,$' \
    '^    immediately past the end of the nearest allocation: 1000 bytes at 0x[0-9a-f]+, number 1, allocated by ' \
    'out-of-bounds access, 2 times$'
expect global_under "$(line_of 'void global_under')" "$thread reads 4 bytes" '4 bytes before the nearest allocation: 1000 '
expect straddle "$(line_of 'void straddle')" "misaligned access" 'which is not a multiple of 8'
expect shared_static "$(line_of 'tile\[threadIdx.x + n\]')" 'thread \(31,0,0\) of block \([01],0,0\) reads 4 bytes' \
    'immediately past the end of the __shared__ variable tile, which has 128 bytes' ', 2 times$'
expect shared_dynamic "$(line_of 'dynamic\[threadIdx.x + n\]')" 'thread \(30,0,0\)' \
    'immediately past the end of the dynamic shared memory, which has 128 bytes'
expect local_array "$(line_of 'a\[n + threadIdx.x\]')" '4 bytes past the end of the local array, which has 32 bytes'
expect constant_variable "$(line_of 'void constant_variable')" 'thread \(3,0,0\)' \
    'immediately past the end of the __constant__ variable coefficients, which has 32 bytes'
expect device_variable "$(line_of 'void device_variable')" 'thread \(7,0,0\)' \
    'immediately past the end of the __device__ variable table, which has 64 bytes'
expect misaligned "$(line_of 'void misaligned')" ': misaligned access$' "$thread writes 4 bytes" 'which is not a multiple of 4'
expect atomic_over "$(line_of 'void atomic_over')" "$thread atomically updates 4 bytes" 'immediately past the end of the nearest allocation'
expect copies "$(line_of 'void copies')" "$thread reads 808 bytes" '^    608 of them past the end of the allocation: 1000 bytes'
expect null "$(line_of 'void store')" "$thread writes 4 bytes at 0x0,$" 'which is NULL'
expect host_memory "$(line_of 'void store')" 'which is host memory that is not registered with CUDA'
expect wild "$(line_of 'void store')" 'at 0x123456789000' 'which is a wild pointer'
expect freed "$(line_of 'void store')" ': use of freed memory$' \
    'at byte 0 of the freed allocation: 64 bytes at 0x[0-9a-f]+, number 2, allocated by ' 'use of freed memory, 4 times$'
expect freed_later "$(line_of 'void store')" ': use of freed memory$' 'use of freed memory, 4 times$'
expect neighbours "$(line_of 'the last one leaves')" 'thread \(62,0,0\) of block \(0,0,0\) reads 4 bytes' \
    'immediately past the end of the nearest allocation: 1000 bytes'
expect two_barriers "$(line_of 'some wait here')" ': divergent barrier$' \
    '^    40 threads of block \(0,0,0\) wait here, the first is \(0,0,0\);$' \
    "^    24 wait at another barrier, .*mistakes.cu:$(line_of 'others here'), the first is \(40,0,0\)$"
expect same_arms "$(line_of 'an arm of nothing else')" ': divergent barrier$' \
    "^    24 wait at another barrier, .*mistakes.cu:$(line_of 'the other arm is the same'), the first is \(40,0,0\)$"
expect one_line "$(line_of 'two on one line')" ': divergent barrier$' \
    '^    24 wait at another barrier on the same line, the first is \(40,0,0\)$'
expect in_function "$(line_of 'void meet()')" ': divergent barrier$' \
    "^    40 threads of block \(0,0,0\) wait here, called at .*mistakes.cu:$(line_of 'from a function'), .*mistakes.cu:$(line_of 'some call it here'), the first is \(0,0,0\);$" \
    "^    10 wait at another barrier on the same line, called at .*mistakes.cu:$(line_of 'others call it here'), the first is \(40,0,0\);$" \
    '^    14 wait at further barriers, the first is \(50,0,0\)$'
expect counting "$(line_of 'some count here')" ': divergent barrier$' \
    "^    24 wait at another barrier, .*mistakes.cu:$(line_of 'others count here'), the first is \(40,0,0\)$"
expect numbered "$(line_of 'some at barrier 3')" ': divergent barrier$' \
    "^    24 wait at another barrier, .*mistakes.cu:$(line_of 'others at it here'), the first is \(40,0,0\)$"
expect early_return "$(($(line_of 'void early_return') + 5))" ': divergent barrier$' \
    '40 threads of block \(0,0,0\) wait here' '24 have returned, the first is \(40,0,0\)'
for right in none copied_barrier counted_threads; do
    "$WARPAGE" run --check --output report -- ./mistakes $right >out 2>talk && grep -q 'nothing found$' talk ||
        { echo "$right is reported"; cat talk; failed=1; }
done
exit $failed
