#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host threads that ask a stream or an event take turns: their programs take the same simulated time in every run, on
# an idle machine and on a busy one. Where host threads decide the time, the report says so.
set -eu
"$WPCC" -O2 "$E2E/sim/host_polls.cu" -o "$TMP/polls"
cd "$TMP"

fail() {
    echo "$*"
    exit 1
}
# The record of a run, but for what the machine decides.
record() { # name, how, device
    "$WARPAGE" run --device "$3" --report "$1.json" -- ./polls "$2" >"$1.out" 2>&1 || {
        cat "$1.out"
        fail "$2 on $3"
    }
    sed '/"wall_time_ns"/d' "$1.json" >"$1"
}

for device in sim:gtx680 sim:gtx680@xeon-e5-quad; do
    for how in stream event; do
        record first $how $device
        ! grep -q host_threads first || fail "$how: host threads are said to decide the time"
        for i in 1 2 3; do
            record again $how $device
            cmp first again || fail "$how on $device: run $i is different"
        done
        cp first "alone.$how.$device"
    done
done

busy=
for i in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
trap 'kill $busy 2>/dev/null' EXIT
for how in stream event; do
    record again $how sim:gtx680
    cmp "alone.$how.sim:gtx680" again || fail "$how: under load it is different"
done
kill $busy
trap - EXIT

# The kernels' variants are compiled while the program runs, which takes no simulated time.
mkdir empty
export WARPAGE_CACHE="$TMP/empty"
record again stream sim:gtx680
unset WARPAGE_CACHE
cmp alone.stream.sim:gtx680 again || fail "stream: a first run is different"

record sleeps sleep sim:gtx680
grep -q '"host_threads": "decided"' sleeps || fail "threads that sleep are not in the report"
"$WARPAGE" run --device sim:gtx680 -- ./polls spin 1 2>&1 | tr -s ' \n' ' ' |
    grep -q "Host threads .*simulated times, which may differ between runs" ||
    fail "threads that ask nothing are not in the report"
