#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Operations of the P100's SM take what was published, to a quarter; a profile that is wrong is noticed.
set -u
operations="$E2E/../../bench/hardware/operations.py"
build=$(cd "$(dirname "$WARPAGE")/.." && pwd)
python3 "$operations" --build "$build" --dry --check 0.25 p100 >"$TMP/right" || { cat "$TMP/right"; exit 1; }
python3 "$operations" --build "$build" --dry --check 0.25 --set class.fp32.latency=12cycles --set class.fp64.lanes=8 p100 >"$TMP/wrong"
[ $? -eq 1 ] || { echo "wrong latencies pass"; exit 1; }
grep -q "p100: latency of float multiply-add, 12.0 for 6" "$TMP/wrong" && grep -q "p100: throughput of double" "$TMP/wrong" && exit 0
cat "$TMP/wrong"
exit 1
