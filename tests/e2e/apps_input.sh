#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Inputs larger than host memory: a plain one is mapped, and with --host-memory one that is packed, enlarged or made into
# records goes to a file, so that the memory of a program that no file backs (RssAnon, looked at while it runs) is far
# below the input's 48 MiB. Few pairs, so that the runs are short.
set -u
export WARPAGE_DEVICE=cpu WARPAGE_WORKERS=1
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"
most=16 # MiB

below() { # app, arguments...
    exe=$(program "$1") || { fail "$1: compilation failed"; return; }
    label=$*
    shift
    for attempt in 1 2 3 4 5 6 7 8 9 10; do # until it was looked at often enough
        "$exe" "$@" >"$TMP/stdout" 2>"$TMP/stderr" &
        pid=$!
        peak=0 looks=0
        while kill -0 $pid 2>"$TMP/gone"; do
            kib=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>"$TMP/gone")
            [ "${kib:-0}" -le $peak ] || peak=$kib
            looks=$((looks + 1))
        done
        wait $pid || { fail "$label: failed"; cat "$TMP/stderr"; }
        [ $looks -le 2 ] || break
    done
    [ $looks -gt 2 ] || fail "$label: it ended $attempt times before it was looked at"
    [ $peak -gt 0 ] && [ $peak -lt $((most << 10)) ] || fail "$label: $peak KiB of its own memory"
}

# Lines of 4 KiB, of which little is read into pairs.
awk 'BEGIN { line = sprintf("%4060s", ""); gsub(/ /, ".", line)
    for (i = 0; i < 12288; i++) print "10.0.0.1 - - [x] \"GET /" i % 99 " HTTP/1.1\" 200 1" line }' >"$TMP/log"
few="--table sepo --heap 256KiB --chunk 1MiB"
# shellcheck disable=SC2086
{
    below pvc --input "$TMP/log" $few
    grep -q "99 different URLs" "$TMP/stdout" || { fail "$label: another result"; cat "$TMP/stdout"; }
    below stream-wordcount --input "$TMP/log" $few
    cp "$TMP/stdout" "$TMP/first"
    below patent-citation --input "$TMP/log" --heap 256KiB --chunk 1MiB
    zstd -q -1 "$TMP/log" -o "$TMP/log.zst"
    below stream-wordcount --input "$TMP/log.zst" $few --host-memory 1MiB
    sed 1d "$TMP/first" >"$TMP/plain"; sed 1d "$TMP/stdout" | cmp - "$TMP/plain" || fail "$label: another result than unpacked"
    mkdir "$TMP/site" && split -b 256K --additional-suffix=.html "$TMP/log" "$TMP/site/" # a page is in memory as a whole
    tar cf "$TMP/site.tar" -C "$TMP" site
    most=40 # 33, also for an input of 144 MiB
    below inverted-index --input "$TMP/site.tar" $few --host-memory 1MiB
}
[ "$failures" -eq 0 ]
