#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A kernel that cannot end is ended in bounded time; who waits for what is said, and where. Kernels that wait for
# a block that works for long, or for a host thread that does not wait itself, are let go on.
set -u
"$WPCC" -O2 -g "$E2E/sim/deadlock.cu" -o "$TMP/deadlock" || exit 1
export WARPAGE_DEVICE=sim:k80 WARPAGE_PATIENCE=500ms
failures=0

never_ends() { # kernel, pattern of what is said
    for when in auto never; do
        WARPAGE_IN_STEP=$when timeout 200 "$TMP/deadlock" "$1" >"$TMP/out" 2>&1
        status=$?
        if [ $status -ne 1 ] || ! grep -Eq "$2" "$TMP/out" || ! grep -q LaunchTimeout "$TMP/out"; then
            echo "$1, in step $when: exit status $status, not '$2':"
            cat "$TMP/out"
            failures=1
        fi
    done
}

line() { grep -n "$1" "$E2E/sim/deadlock.cu" | head -n 1 | cut -d: -f1; }

# whatever its warps do at the moment at which they are found out
for WARPAGE_PATIENCE in 1ms 10ms 31ms 500ms; do
    never_ends flag "SM 0, CTA 0, warp 0 of kernel flag at .*deadlock.cu:$(line 'f.0. == 0. /. nobody') "
done
never_ends lock "SM 0, CTA 0, warp [01] of kernel lock at .*deadlock.cu:$(line 'atomicCAS') "
never_ends barrier "kernel barrier, .*SM 0, warp 0 at .*deadlock.cu:[0-9]+: waits at .*barrier 1, 32 of 64 threads"
never_ends open_barrier "SM 0, warp 0 at .*deadlock.cu:[0-9]+: waits at .*barrier 3, 32 of 64 threads"
never_ends grid "SM 0, CTA 0, warp 0 of kernel grid at .*; 208 warps are there; 1792 CTAs have no place"
never_ends shuffle "SM 0, CTA 0, warp 0 of kernel shuffle at .*deadlock.cu:"
for when in auto never; do
    for name in long_work host; do
        WARPAGE_IN_STEP=$when timeout 200 "$TMP/deadlock" $name || failures=1
    done
done
exit $failures
