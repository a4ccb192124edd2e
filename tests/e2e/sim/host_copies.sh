#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# memcpy into page-locked memory takes simulated time where the host has a model, once if it is declared as well;
# loops are free, and the report says how many bytes of copies nothing declared.
set -eu
cd "$TMP"
"$WPCC" -O2 "$E2E/sim/host_copies.cu" -o copies
host=sim:gtx680@xeon-e5-quad

fail() {
    echo "$*"
    exit 1
}
time_of() { WARPAGE_DEVICE=$1 ./copies "$2"; }
within() { # got, expected: equal within 1 %
    [ $((100 * $1)) -ge $((99 * $2)) ] && [ $((100 * $1)) -le $((101 * $2)) ]
}

loop=$(time_of $host loop)
[ "$loop" = "$(time_of sim:gtx680 loop)" ] || fail "a loop takes time"
[ "$loop" = "$(time_of sim:gtx680 memcpy)" ] || fail "memcpy takes time without a host"
[ "$loop" = "$(WARPAGE_SET=host.on=off time_of $host memcpy)" ] || fail "host.on=off does not turn it off"

# 64 MiB are read, and written with a read before: 3 * 64 MiB at 12.8 GB/s
one=$((3 * 67108864 * 10 / 128))
for how in memcpy pieces function declared both; do
    got=$(($(time_of $host $how) - loop))
    within $got $one || fail "$how: $got ns instead of $one"
done
got=$(($(time_of $host threads) - loop)) # two cores: half of it
within $got $((one / 2)) || fail "threads: $got ns instead of $((one / 2))"

undeclared() {
    "$WARPAGE" run --device $host --report "$1.json" -- ./copies "$1" >/dev/null 2>&1
    sed -n 's/.*"undeclared_copy_bytes": *\([0-9]*\).*/\1/p' "$1.json"
}
for how in memcpy pieces function declared both threads; do
    [ "$(undeclared $how)" = 0 ] || fail "$how: $(undeclared $how) bytes are said to be undeclared"
done
[ "$(undeclared loop)" = 67108864 ] || fail "loop: $(undeclared loop) undeclared bytes"
[ "$(undeclared again)" = 67108864 ] || fail "again: $(undeclared again) undeclared bytes"
"$WARPAGE" run --device $host -- ./copies loop 2>&1 | tr -s ' \n' ' ' |
    grep -q "64.00 MiB of 64.00 MiB copied to the device came from host memory that no declared host work" ||
    fail "the text report has no sentence of undeclared copies"
"$WARPAGE" run --device sim:gtx680 --report off.json -- ./copies loop >/dev/null 2>&1
! grep -q undeclared off.json || fail "a report without a host speaks of undeclared copies"

# A trace has the copies as host work.
"$WARPAGE" run --device $host --report run.json -- ./copies memcpy >/dev/null 2>&1
"$WARPAGE" trace record --device $host -o copies.wpt -- ./copies memcpy >/dev/null 2>&1
"$WARPAGE" trace replay --device $host --report replay.json copies.wpt >/dev/null 2>&1
simulated() { sed -n 's/.*"simulated_time_ns": *\([0-9]*\).*/\1/p' "$1" | head -n 1; }
[ "$(simulated run.json)" = "$(simulated replay.json)" ] ||
    fail "run $(simulated run.json) ns, replay $(simulated replay.json) ns"
