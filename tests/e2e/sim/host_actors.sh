#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Actors answer a kernel at the same simulated time in every run, on an idle machine and on a busy one; an actor
# that nothing can wake is reported.
set -u
device=sim:gtx680@xeon-e5-quad
"$WPCC" -O2 "$E2E/sim/host_actors.cu" -o "$TMP/actors" || exit 1

expected=$(WARPAGE_DEVICE=$device "$TMP/actors" handshakes) || exit 1
busy=
for i in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
trap 'kill $busy 2>/dev/null' EXIT
for i in 1 2 3; do
    got=$(WARPAGE_DEVICE=$device "$TMP/actors" handshakes) || exit 1
    if [ "$got" != "$expected" ]; then
        echo "under load: $got; alone: $expected"
        exit 1
    fi
done

waits() { # how, pattern
    WARPAGE_DEVICE=$device WARPAGE_PATIENCE=300ms "$TMP/actors" "$1" >"$TMP/out" 2>&1
    if [ $? -ne 1 ] || ! grep -Eq "$2" "$TMP/out"; then
        echo "$1: not '$2':"
        cat "$TMP/out"
        exit 1
    fi
}
waits alone "host actor 'idler' waits for the word at 0x[0-9a-f]+ to change from 0, and nothing runs that could change it"
waits kernel "kernel wait_for at .*; host actor 'idler' waits for the word"
