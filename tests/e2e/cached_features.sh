#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs of the tests give the same answers with wpcc --cache: barriers in loops, divergent warps, recursion, loops that
# wait for other threads. All of them: CACHED="$(ls tests/e2e/*.cu | …)", names without .cu; it takes some minutes.
set -e
cd "$TMP"
for name in ${CACHED:-barrier_loops warp_divergent recursion calls_that_wait}; do
    flags=$(sed -n 's|^// FLAGS: ||p' "$E2E/$name.cu")
    # shellcheck disable=SC2086
    "$WPCC" --cache -w $flags "$E2E/$name.cu" -o program
    last=$(./program | tail -n 1)
    [ "$last" = PASS ] || { echo "$name with --cache: $last"; exit 1; }
done
