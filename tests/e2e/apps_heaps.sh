#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The seven programs of apps/ that fill a table of warpage/table.h: an input that --size enlarges, with more keys; then
# a heap of 1, 1/2, 1/4 and 1/8 of the table on each device (1 and 1/8 on the simulated GPU), with 1 and 2 workers on the
# CPU; the table in one pass elsewhere; chunks elsewhere (--memory); the table in a file (--host-memory). All pass the
# serial check and print the same. Run by run.sh, as apps.sh is.
set -u
export WARPAGE_DEVICE="$DEVICES"
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"
case $DEVICES in
cpu) ways="cpu-1 cpu-2" all_ways="$ways sim:gtx780ti-1" ;;
*) ways="$DEVICES-1" all_ways=$ways ;;
esac

# One run, which must pass its check, and print what the first one printed.
once() { # device, workers, app, arguments...
    device=$1 workers=$2
    exe=$(program "$3") || { fail "$3: compilation failed"; return 1; }
    shift 2
    label="$* ($device, $workers workers)"
    shift
    if ! WARPAGE_DEVICE=$device WARPAGE_WORKERS=$workers "$exe" "$@" --check >"$TMP/stdout" 2>"$TMP/stderr"; then
        fail "$label: failed"
        tail -n 5 "$TMP/stdout" "$TMP/stderr"
        return 1
    fi
    grep -q '^check .*: equal' "$TMP/stdout" || fail "$label: says nothing of its check"
    if [ ! -e "$TMP/first" ]; then
        grep -v '^check' "$TMP/stdout" >"$TMP/first"
    elif ! grep -v '^check' "$TMP/stdout" | cmp -s "$TMP/first" -; then
        fail "$label: prints another result"
        diff "$TMP/first" "$TMP/stdout"
    fi
}

passes() { # of the last run
    grep -Ec '^ *(pass )?[0-9]+  ' "$TMP/stderr"
}

# The bytes of the last run's table: "table of 1.5 KiB, heap …" or "  table   1.5 KiB   … of heap …".
table_bytes() {
    awk '/table of [0-9]|^  table  / {
        for (i = 1; i < NF; i++) if ($i ~ /^[0-9.]+$/) { value = $i; unit = $(i + 1); break }
        printf "%d\n", value * (unit ~ /^KiB/ ? 1024 : unit ~ /^MiB/ ? 1048576 : 1)
    }' "$TMP/stderr"
}

# The number of keys that the last run found.
keys() { # sed expression that leaves it
    sed -n "$1" "$TMP/stdout" | tr -d ,
}

case_of() { # page, further table options, keys, size, app, input...
    page=$1 more=$2 found=$3 size=$4
    shift 4
    app=$1
    rm -f "$TMP/first"
    # shellcheck disable=SC2086
    once "$DEVICES" 1 "$@" --table sepo || return
    before=$(keys "$found")
    rm -f "$TMP/first"
    once "$DEVICES" 1 "$@" --size "$size" --table sepo || return
    [ "$(keys "$found")" -gt "$before" ] || fail "$app: --size $size has no more keys than the file, $before"
    bytes=$(table_bytes)
    [ "${bytes:-0}" -gt $((16 * page)) ] || fail "$app: a table of ${bytes:-no} bytes is too small for pages of $page"
    for share in 1 2 4 8; do
        heap=$((bytes / share / page * page))
        case $share in
        1 | 8) now=$all_ways ;;
        *) now=$ways ;;
        esac
        for way in $now; do
            # shellcheck disable=SC2086
            once "${way%-*}" "${way##*-}" "$@" --size "$size" --table sepo --heap ${heap}B --page ${page}B $more || return
            [ $share -lt 2 ] || [ "$(passes)" -ge $share ] ||
                fail "$label: $(passes) passes with a heap of 1/$share of the table"
        done
    done
    for table in memory pinned managed; do
        once "$DEVICES" 1 "$@" --size "$size" --table $table || return
        [ "$(passes)" -eq 1 ] || fail "$label: $(passes) passes"
    done
    for memory in managed zerocopy; do
        for way in $ways; do
            # shellcheck disable=SC2086
            once "${way%-*}" "${way##*-}" "$@" --size "$size" --memory $memory --heap ${heap}B --page ${page}B $more \
                --table sepo || return
        done
    done
    for way in $all_ways; do
        # shellcheck disable=SC2086
        once "${way%-*}" "${way##*-}" "$@" --size "$size" --table sepo --heap ${heap}B --page ${page}B $more \
            --host-memory $((2 * heap))B
        grep -q 'in a file' "$TMP/stderr" || { fail "$label: nothing in a file"; cat "$TMP/stderr"; }
    done
}

threads() { # app, input...: the same by threads of the host
    rm -f "$TMP/first"
    for crew in 1 3; do
        once "$DEVICES" 1 "$@" --table threads --workers $crew
        grep -q "^  threads .* $crew of the host" "$TMP/stderr" || { fail "$label: no threads"; cat "$TMP/stderr"; }
    done
}

awk 'BEGIN { for (i = 0; i < 300; i++) printf "10.0.0.%d - - [01/Jan/2020:00:00:%02d +0000] \"GET /p/%d.html HTTP/1.0\" 200 9\n",
    i % 250, i % 60, i % 4 ? i : i % 5 }' >"$TMP/access.log"
case_of 256 "" 's/^pages  *\([0-9,]*\) different.*/\1/p' 128KiB pvc --input "$TMP/access.log"
threads pvc --input "$TMP/access.log" --size 128KiB

mkdir -p "$TMP/site" && awk -v folder="$TMP/site" 'BEGIN { for (f = 0; f < 6; f++) { name = folder "/" f ".html"
    for (i = 0; i < 40; i++) printf "<p>%d <a class=x href=\"/page/%d.html\">link</a>\n", i, (f * 31 + i * i) % 90 >name
    close(name) } }' && tar cf "$TMP/site.tar" -C "$TMP" site
case_of 256 "--buckets 256" 's/^links .* to \([0-9,]*\) URLs.*/\1/p' 60000B inverted-index --input "$TMP/site.tar"
threads inverted-index --input "$TMP/site.tar" --size 60000B

awk 'BEGIN { srand(5); print ">g"; for (i = 0; i < 60; i++) { for (j = 0; j < 60; j++) printf "%s", substr("ACGT", int(rand() * 4) + 1, 1)
    print "" } }' >"$TMP/genome.fa"
awk 'BEGIN { srand(6); for (i = 0; i < 400; i++) { printf "@r%d\n", i; for (j = 0; j < 50; j++) printf "%s", substr("ACGT", int(rand() * 4) + 1, 1)
    print "\n+"; for (j = 0; j < 50; j++) printf "I"; print "" } }' >"$TMP/reads.fastq"
case_of 256 "--buckets 1024" 's/^31-mers  *\([0-9,]*\) different.*/\1/p' 2000 stream-dna --input "$TMP/reads.fastq"
threads stream-dna --input "$TMP/genome.fa" --size 3000

awk 'BEGIN { for (u = 1; u <= 40; u++) for (m = 1; m <= 12; m++) if ((u * m) % 5 < 2) printf "%d::%d::%d::%d\n", u, m, (u + m) % 10 + 1, u }' \
    >"$TMP/ratings.dat"
case_of 256 "--buckets 1024" 's/^pairs  *\([0-9,]*\) of.*/\1/p' 6000 stream-netflix --input "$TMP/ratings.dat"
threads stream-netflix --input "$TMP/ratings.dat" --size 6000

awk 'BEGIN { srand(7); for (i = 0; i < 1500; i++) { n = int(exp(rand() * 7)); printf "w%sx%s ", substr("abcdefghij", n % 10 + 1, 1),
    substr("klmnopqrstuvwxyzabcdefghij", int(n / 10) % 26 + 1, 3 + n % 4); if (i % 9 == 0) print "" } }' >"$TMP/novel.txt"
case_of 256 "--buckets 1024" 's/^words .*, \([0-9,]*\) different.*/\1/p' 200000 stream-wordcount --input "$TMP/novel.txt"

awk 'BEGIN { for (i = 0; i < 400; i++) printf "1\tP%d\t\t\t%.3f\t%.3f\tP\tPPL\t%s\t\n", i, i % 20 * 3 - 30, int(i / 20) * 4 - 40, "DE" }' \
    >"$TMP/places.txt"
awk 'BEGIN { for (i = 0; i < 500; i++) printf "en\tt%d\t%.5f\t%.5f\n", i, i * 7 % 60 - 30 + i % 7 / 100, i * i % 80 - 40 + i % 11 / 100 }' \
    >"$TMP/articles.tsv"
case_of 256 "--buckets 256" 's/^located .* at \([0-9,]*\) places.*/\1/p' 60000B geo-location --input "$TMP/articles.tsv" --places "$TMP/places.txt"

awk 'BEGIN { for (i = 100; i < 700; i++) printf "%d\t%d\n", i, i % 4 ? int(i / 2) : i % 9 }' >"$TMP/cite.txt"
case_of 256 "--buckets 256" 's/^cited  *\([0-9,]*\) patents.*/\1/p' 20000B patent-citation --input "$TMP/cite.txt"

[ "$failures" -eq 0 ]
