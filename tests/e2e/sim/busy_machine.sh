#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Simulated time waits for the host however slowly the machine lets it run: beside a process that takes nine tenths of
# its processor, a program is not taken for one that polls memory without a call of the runtime.
set -u
"$WPCC" -O2 "$E2E/sim/busy_machine.cu" -o "$TMP/busy_machine" || exit 1
WARPAGE_DEVICE=sim:gtx1080ti "$TMP/busy_machine" || exit 1
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -c "$cpu" sh -c 'while :; do :; done' &
hog=$!
WARPAGE_DEVICE=sim:gtx1080ti taskset -c "$cpu" nice -n 10 "$TMP/busy_machine" >"$TMP/out" 2>&1
status=$?
kill $hog
cat "$TMP/out"
[ $status -eq 0 ] && ! grep -q 'results may differ' "$TMP/out"
