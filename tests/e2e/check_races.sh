# SPDX-License-Identifier: Apache-2.0
# `warpage run --check`: races between threads of a block are found, with both lines, and nothing else is called one.
cd "$TMP" || exit 2
export WARPAGE_CACHE="$TMP/cache"
"$WPCC" -arch=sm_70 "$E2E/check/races.cu" -o races || exit 1
failed=0

line_of() { grep -n "$1" "$E2E/check/races.cu" | head -n 1 | cut -d: -f1; }

# expect NAME STATUS FINDINGS PATTERN...
expect() {
    name=$1 wanted=$2 count=$3
    shift 3
    "$WARPAGE" run --check --workers 2 --output report -- ./races "$name" >out 2>talk
    status=$?
    [ $status -eq "$wanted" ] || { echo "$name: exit status $status"; cat talk; failed=1; }
    [ "$(cat out)" = cudaSuccess ] || { echo "$name: the program did not go on: $(cat out)"; failed=1; }
    for pattern in "^warpage check: $count$" "$@"; do
        grep -Eq -- "$pattern" talk || { echo "$name: nothing matches $pattern"; cat talk; failed=1; }
    done
}

expect lanes_shared 1 '1 finding' \
    "kernel lanes_shared, .*races.cu:$(line_of 'neighbours read'): race between lanes of a warp$" \
    'thread \([0-9]+,0,0\) of block \(0,0,0\) reads 4 bytes at byte [0-9]+ of the block.s shared memory, in tile,$' \
    "which thread \([0-9]+,0,0\) wrote at .*races.cu:$(line_of 'lanes write'), with no __syncwarp\(\) in between" \
    'wpcc --lockstep, or WARPAGE_LOCKSTEP=1, keeps them so' 'race between lanes of a warp, [0-9]+ times$'
expect lanes_global 1 '1 finding' \
    "kernel lanes_global, .*races.cu:$(line_of 'its upper half'): race between lanes of a warp$" \
    'thread \(0,0,0\) of block \(0,0,0\) reads 4 bytes at byte 32 of the allocation, number 1, allocated by races\+0x' \
    "which thread \(8,0,0\) wrote at .*races.cu:$(line_of 'upper half is added'), with no __syncwarp"
expect warps_shared 1 '1 finding' ': race between warps of a block$' \
    "races.cu:$(line_of "another warp's"), with no __syncthreads\(\) in between$|races.cu:$(line_of 'each its own'), with no __syncthreads\(\) in between$"
grep -q 'lockstep' talk && { echo "warps_shared: --lockstep does not help"; failed=1; }
expect lost_update 1 '1 finding' "kernel lost_update, .*races.cu:$(line_of 'void lost_update'): race between lanes of a warp$"
expect template 1 '1 finding' '^warpage check: kernel counters::lost<2>, .*: race between lanes of a warp$'
expect variable 1 '1 finding' "kernel variable, .*races.cu:$(line_of 'all others add'): race between lanes of a warp$" \
    'thread \(1,0,0\) of block \(0,0,0\) updates atomically 4 bytes at byte 0 of the variable total,$' \
    "which thread \(0,0,0\) wrote at .*races.cu:$(line_of 'one sets it')"
for right in right locked reversed vectors; do
    expect $right 0 'nothing found'
done

# Without races, and in the environment of a program.
WARPAGE_CHECK_RACES=0 "$WARPAGE" run --check --output report -- ./races lanes_shared >out 2>talk &&
    grep -q 'nothing found$' talk || { echo "WARPAGE_CHECK_RACES=0 is not obeyed"; cat talk; failed=1; }
WARPAGE_CHECK=1 WARPAGE_CHECK_STOP=1 ./races lost_update >out 2>talk
[ "$(cat out)" = cudaErrorLaunchFailure ] || { echo "WARPAGE_CHECK_STOP=1: $(cat out)"; failed=1; }
exit $failed
