#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Several devices in one program (devices/), NCCL too: on the CPU, on simulated GPUs, on the stand-in for a GPU's driver;
# what checks find; lists of devices that are refused.

fail() {
    echo "$1" >&2
    exit 1
}

build() { # program, library
    "$WPCC" -I"$E2E" "$E2E/devices/$1.cu" -Xcompiler -pthread -lpthread $2 -o "$TMP/$1" || fail "$1 does not compile"
}

passes() { # devices, program, argument
    out=$(WARPAGE_DEVICE=$1 "$TMP/$2" $3 2>"$TMP/errors") || fail "$2 on $1: $out $(cat "$TMP/errors")"
    [ "$(echo "$out" | tail -n 1)" = PASS ] || fail "$2 on $1: $out"
}

refused() { # devices, words of the message
    WARPAGE_DEVICE=$1 "$TMP/several_devices" >"$TMP/out" 2>&1 && fail "$1 is accepted"
    grep -q -e "$2" "$TMP/out" || fail "$1: $(cat "$TMP/out")"
}

build several_devices
build several_contexts
WARPAGE_WORKERS=1 passes cpu,cpu several_devices
WARPAGE_WORKERS=2 passes cpu,cpu,cpu several_devices
passes sim:p100,sim:p100 several_devices
passes sim:k80,sim:k80,sim:k80 several_devices
passes cpu,cpu several_contexts
passes sim:p100,sim:p100 several_contexts
build nccl -lnccl
passes cpu,cpu nccl
passes cpu,cpu,cpu,cpu nccl
passes sim:p100,sim:p100 nccl

fake=$(dirname "$(dirname "$WPCC")")/tests/libfake_cuda.so
if [ -e "$fake" ]; then
    export WARPAGE_LIBCUDA="$fake" FAKE_CUDA_DEVICES=2
    passes cuda:0,cuda:1 several_devices stand-in
    passes cuda:0,cuda:1 nccl
    refused cuda:0,cuda:0 'named twice'
    refused cuda:0,cuda:2 'there is no cuda:2'
    unset WARPAGE_LIBCUDA FAKE_CUDA_DEVICES
fi

# What the CPU allows and a GPU does not.
sed -e 's/CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));/if (0) &/' -e '/cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlready/d' \
    "$E2E/devices/several_devices.cu" >"$TMP/denied.cu"
"$WPCC" -I"$E2E" "$TMP/denied.cu" -Xcompiler -pthread -lpthread -o "$TMP/denied" || fail 'denied does not compile'
"$WARPAGE" run --device cpu,cpu --check -- "$TMP/denied" >"$TMP/out" 2>&1
grep -q "kernel add, .*access to another device's memory" "$TMP/out" || fail "no finding: $(cat "$TMP/out")"
grep -q 'memory of device 1: cudaDeviceEnablePeerAccess(1) on device 0 allows it' "$TMP/out" || fail "$(cat "$TMP/out")"
"$WARPAGE" run --device cpu,cpu --check -- "$TMP/several_devices" >"$TMP/out" 2>&1
grep -q "another device's memory" "$TMP/out" && fail "a finding too many: $(cat "$TMP/out")"

refused cpu,sim:p100 'are of one kind'
refused sim:p100,sim:v100 'are of one profile'
refused cpu, 'has an empty name'
refused cpu,xyz "there is no device 'xyz'"
refused "$(printf 'cpu,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)cpu" 'a program can have 16'
WARPAGE_DEVICE=sim:p100,sim:p100 WARPAGE_TRACE="$TMP/trace" "$TMP/several_devices" >"$TMP/out" 2>&1 &&
    fail 'a trace of several devices is recorded'
grep -q 'a trace holds the work of one device' "$TMP/out" || fail "$(cat "$TMP/out")"
