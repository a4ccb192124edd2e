#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stream-kmeans over records in a file that is five times the host memory for it: the same result as from memory, a
# result file that is complete or absent, and one sentence for what goes wrong. stream-wordcount over a text in a file,
# with windows. Run by run.sh, as apps.sh is.
set -u
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"
exe=$(program stream-kmeans) || exit 1
devices=$DEVICES
[ "$devices" != cpu ] || devices="cpu sim:gtx680@xeon-e5-quad"
shape="--size 20000 --blocks 7 --threads 32 --buffer 256KiB"
small="--records $TMP/records --host-memory 256KiB"

# What is in $TMP/dir, and it alone, may have been written.
clean() { [ "$(ls "$TMP/dir")" = "$*" ] || fail "$label: the folder has $(ls "$TMP/dir")"; }

mkdir "$TMP/dir"
# shellcheck disable=SC2086
WARPAGE_DEVICE=cpu "$exe" $shape --variant serial --check >"$TMP/expected" 2>"$TMP/stderr" || fail "serial: failed"
for device in $devices; do
    export WARPAGE_DEVICE="$device" WARPAGE_WORKERS=2
    for variant in full volume overlap; do
        label="$device, $variant"
        # shellcheck disable=SC2086
        "$exe" $shape $small --result "$TMP/dir/result" --variant $variant --check >"$TMP/stdout" 2>"$TMP/stderr" ||
            { fail "$label: failed"; cat "$TMP/stderr"; }
        cmp -s "$TMP/expected" "$TMP/stdout" || { fail "$label: another result"; diff "$TMP/expected" "$TMP/stdout"; }
        grep -q '^files .* in 256.0 KiB of host memory' "$TMP/stderr" || fail "$label: nothing of files"
        [ "$(stat -c %s "$TMP/dir/result")" -eq 1280000 ] || fail "$label: the size of the result"
        clean result
        rm -f "$TMP/dir/result"
    done
    label="$device, no room"
    if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then # a full disk
        # shellcheck disable=SC2086
        unshare -m sh -c 'mount -t tmpfs -o size=1M none "$1" && shift && "$@" && exit 1; ls "$TMP/dir"' sh "$TMP/dir" \
            "$exe" $shape $small --result "$TMP/dir/result" >"$TMP/stdout" 2>"$TMP/stderr"
        grep -q "there is no room for $TMP/dir/result: it takes 1280000 bytes, and 1048576 are free" "$TMP/stderr" ||
            { fail "$label: no such sentence"; cat "$TMP/stderr"; }
        [ -s "$TMP/stdout" ] && fail "$label: there is a result"
    fi
done

# Two iterations, in place: the file is replaced.
label="in place"
export WARPAGE_DEVICE="${devices%% *}"
cp "$TMP/records" "$TMP/dir/records"
# shellcheck disable=SC2086
"$exe" $shape --variant serial --iterations 2 >"$TMP/expected" 2>"$TMP/stderr" || fail "serial: failed"
# shellcheck disable=SC2086
"$exe" $shape --records "$TMP/dir/records" --result "$TMP/dir/records" --host-memory 1MiB --iterations 2 --check \
    >"$TMP/stdout" 2>"$TMP/stderr" || { fail "$label: failed"; cat "$TMP/stderr"; }
grep -v ^check "$TMP/stdout" | cmp -s "$TMP/expected" - || fail "$label: another result"
clean records

printf x >"$TMP/odd"
wrong 1 "odd is no file of records" stream-kmeans --records "$TMP/odd" --result "$TMP/dir/result"
wrong 1 "cannot be written: No such file" stream-kmeans --records "$TMP/none/r" --result "$TMP/dir/result"
wrong 2 "needs a file for the clusters" stream-kmeans --records "$TMP/records"
wrong 2 "is for --variant full, volume or overlap" stream-kmeans --records "$TMP/records" --result r --variant double
wrong 2 "are for records in a file" stream-kmeans --host-memory 1MiB
wrong 2 "has 20,000 records" stream-kmeans --records "$TMP/records" --result r --size 20001
label="too little host memory"
"$exe" --records "$TMP/records" --result "$TMP/dir/result" --host-memory 100KiB >"$TMP/stdout" 2>"$TMP/stderr" &&
    fail "$label: succeeded"
grep -q "need at least 262144 bytes of host memory, but 102400 may be used" "$TMP/stderr" || fail "$label: not said"
clean records

# A text of 498,893 bytes. On simulated GPUs each is read from the file once; on the CPU a thread that the system holds up
# may find its block of the file evicted.
seq 100000 | cut -c 1-4 | tr 0-9 a-j >"$TMP/text"
exe=$(program stream-wordcount) || exit 1
WARPAGE_DEVICE=cpu "$exe" --input "$TMP/text" --variant serial --check >"$TMP/expected" 2>"$TMP/stderr" || fail "serial: failed"
for device in $devices; do
    label="$device, text"
    WARPAGE_DEVICE="$device" "$exe" --text "$TMP/text" --host-memory 256KiB --blocks 2 --threads 32 --check >"$TMP/stdout" \
        2>"$TMP/stderr" || { fail "$label: failed"; cat "$TMP/stderr"; }
    cmp -s "$TMP/expected" "$TMP/stdout" || { fail "$label: another result"; diff "$TMP/expected" "$TMP/stdout"; }
    kib=487.2
    [ "$device" != cpu ] || kib='\(48[7-9]\|49[0-9]\|5[0-9][0-9]\)\.[0-9]'
    grep -q "^files      read $kib KiB, written 0 B, in 256.0 KiB of host memory" "$TMP/stderr" ||
        { fail "$label: files"; cat "$TMP/stderr"; }
done
wrong 1 "none: No such file" stream-wordcount --text "$TMP/none"
wrong 2 "is for --variant full, volume, overlap, serial or threads" stream-wordcount --text "$TMP/text" --variant double
wrong 2 "leave out --input" stream-wordcount --text "$TMP/text" --size 10
wrong 2 "need --table sepo" stream-wordcount --text "$TMP/text" --heap 1MiB

[ "$failures" -eq 0 ]
