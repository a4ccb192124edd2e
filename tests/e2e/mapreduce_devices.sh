#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A MapReduce job whose records are divided among devices counts what one device counts, in one pass and in several.

fail() {
    echo "$1" >&2
    exit 1
}

root=$(cd "$E2E/../.." && pwd)
cd "$TMP" || exit 1
"$WPCC" -O2 "$root/examples/wordcount_devices.cu" -o wordcount_devices || fail 'the example does not compile'
text=$root/CHANGELOG.md
WARPAGE_DEVICE=cpu ./wordcount_devices "$text" >out || fail "$(cat out)"
mv counts.txt expected
[ "$(wc -l <expected)" -gt 500 ] || fail 'hardly any words'

counts() { # devices, how many of them, heap
    rm -f counts.txt
    HEAP=$3 WARPAGE_DEVICE=$1 ./wordcount_devices "$text" >out 2>&1 || fail "$1: $(cat out)"
    cmp counts.txt expected || fail "$1: other counts"
    [ "$(grep -c '^device .* lines' out)" -eq "$2" ] || fail "$1: $(cat out)"
}

counts cpu,cpu,cpu 3 0
counts cpu,cpu 2 16384
grep -q '^device 1: .* [2-9][0-9]* passes' out || fail "one pass with a small heap: $(cat out)"
counts sim:p100,sim:p100 2 0
counts sim:p100,sim:p100 2 16384
fake=$(dirname "$(dirname "$WPCC")")/tests/libfake_cuda.so
if [ -e "$fake" ]; then
    export WARPAGE_LIBCUDA="$fake" FAKE_CUDA_DEVICES=2
    counts cuda:0,cuda:1 2 16384
fi
: >empty
WARPAGE_DEVICE=cpu,cpu ./wordcount_devices empty 2>out && fail 'an empty file is accepted'
grep -q 'not empty' out || fail "$(cat out)"
