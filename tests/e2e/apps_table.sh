#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs of apps/ whose result is a table larger than device memory: with a heap of a fraction of the table, in
# several passes, and with the table elsewhere, they pass the serial check and print the same. Then small inputs with
# known results, in fewer ways, and wrong usage. Run by run.sh, as apps.sh is.
set -u
export WARPAGE_DEVICE="$DEVICES"
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"
case $DEVICES in
cpu) all_ways="cpu-1 cpu-2 sim:gtx780ti-1" few_ways=cpu-2 ;;
*) all_ways="$DEVICES-1" few_ways=$all_ways ;;
esac
seen=
places="memory pinned managed"

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
    elif ! grep -q '^check .*: equal' "$TMP/stdout"; then
        fail "$label: says nothing of its check"
    elif [ ! -e "$TMP/first" ]; then
        grep -v '^check' "$TMP/stdout" >"$TMP/first"
    elif ! grep -v '^check' "$TMP/stdout" | cmp -s "$TMP/first" -; then
        fail "$label: prints another result"
        diff "$TMP/first" "$TMP/stdout"
    fi
}

# Several passes, with each number of workers and on a simulated GPU; then the other places of the table. Further inputs
# of a program: with two workers, and in one of the other places, in turn.
tables() { # heap options for several passes, app, input...
    heap=$1
    shift
    rm -f "$TMP/first"
    ways=$all_ways now=$places
    case " $seen " in
    *" $1 "*)
        ways=$few_ways now=${places%% *}
        places="${places#* } $now"
        ;;
    *) seen="$seen $1" ;;
    esac
    for way in $ways; do
        # shellcheck disable=SC2086
        once "${way%-*}" "${way##*-}" "$@" --table sepo $heap || return
        grep -Eq '^ *(pass )?2  ' "$TMP/stderr" || { fail "$label: one pass"; cat "$TMP/stderr"; }
    done
    for table in $now; do
        once "$DEVICES" 1 "$@" --table "$table" || return
        ! grep -Eq '^ *(pass )?2  ' "$TMP/stderr" || fail "$label: more than one pass"
    done
}

has() { # extended regular expression that a line of the last result must match
    grep -Eq -- "$1" "$TMP/first" || { fail "no '$1' in the result of $label:"; cat "$TMP/first"; }
}

# ---- stream-wordcount ----

once "$DEVICES" 1 stream-wordcount --size 20K --variant serial
mv "$TMP/first" "$TMP/whole"
tables "--heap 16KiB --page 1KiB" stream-wordcount --size 20K
cmp "$TMP/whole" "$TMP/first" || fail "stream-wordcount: the table has other words than --table whole"
rm -f "$TMP/first"
once "$DEVICES" 1 stream-wordcount --size 20K --random-words 50 --variant serial
once "$DEVICES" 2 stream-wordcount --size 20K --random-words 50 --table sepo --heap 16KiB --page 1KiB
once "$DEVICES" 2 stream-wordcount --size 20K --random-words 50 --table sepo --heap 16KiB --page 1KiB --combine lock
rm -f "$TMP/first"
printf "The cat's hat. THE 'cats'\nthe-hat \303\211t\303\251\n\r\n''' ''\nthe" >"$TMP/cats.txt"
tables "--heap 64B --page 64B" stream-wordcount --input "$TMP/cats.txt"
has '^words      9, 4 different, 1 of them once$'
has '^ +4  the '
has '^ +2  cats '

# ---- stream-dna ----

rm -f "$TMP/first"
once "$DEVICES" 1 stream-dna --size 3000 --variant serial
mv "$TMP/first" "$TMP/whole"
tables "--heap 16KiB --page 512B" stream-dna --size 3000
cmp "$TMP/whole" "$TMP/first" || fail "stream-dna: the table has other k-mers than --table whole"
once "$DEVICES" 1 stream-dna --size 3000 --table sepo --chunk 4KiB # fragments of several chunks

# ---- stream-netflix ----

tables "--heap 64KiB --page 1KiB" stream-netflix --size 5000
printf '7::10::1::5\n9::10::1::6\n8::10::9::7\n7::11::4::5\n9::11::4::6\n8::11::6::7\n7::12::9::5\n9::12::9::6\n8::12::1::7\n' \
    >"$TMP/ratings.dat"
tables "--heap 64B --page 64B" stream-netflix --input "$TMP/ratings.dat"
has '^pairs      3 of users with a movie in common$'
has '^ +0 +1 +30$' # 7 and 9 agree about three films
has '^ +0 +2 +12$' # 7 and 8 differ by 8, 2 and 8
has '^ +1 +2 +12$'

# ---- patent-citation ----

tables "--heap 64KiB --page 1KiB" patent-citation --size 5000
printf '# from to\n9907233\t9301253\n9907233 9504304\r\n9301253\t12\n12 12\n7\n\n8 9301253 3' >"$TMP/cite.txt"
tables "--heap 256B --page 64B" patent-citation --input "$TMP/cite.txt"
has '^citations  cite.txt: 8 lines, 74 bytes$'
has '^cited      3 patents, 5 times$'
has '^ +2  12 '
has '^ +2  9301253 '
# Copies, in which cited patents that are not common get new numbers.
rm -f "$TMP/first"
once "$DEVICES" 1 patent-citation --input "$TMP/cite.txt" --size 250B
has '^cited      [4-9] patents, 1[0-9] times$'
once "$DEVICES" 1 patent-citation --input "$TMP/cite.txt" --size 250B --heap 1KiB

# ---- geo-location ----

tables "--heap 64KiB --page 1KiB" geo-location --size 3000
# Nearest across the date line and near a pole; degrees where no place is near; lines that are passed over.
place() { # name, latitude, longitude, country
    printf '1\t%s\t\t\t%s\t%s\tP\tPPL\t%s\t\n' "$@"
}
{ place East -16.5 179.9 FJ; place West -16.5 -179.8 FJ; place North 89.9 10 NO; place Twin 50 8 DE; place Twin 50 8 DE
    place Far 50 8.4 DE; } >"$TMP/places.txt"
printf '%s\t%s\t%s\t%s\n' en a -16.5 -179.96 en b -16.6 -179.84 en c 90 10 en d 50.1 8.123456789 en e 50 8.3 \
    en f -48.00001 12 en g -48 12 en h 91 0 en i 0 180.00001 en j 1.2.3 4 en k "" 5 en l -0.5 -180 >"$TMP/articles.tsv"
printf 'en\tm\nen\tn\t50.0\t8.0\r\nen\to\t50.0\t8.0\tmore\nen\tp\t5' >>"$TMP/articles.tsv"
tables "--heap 512B --page 64B --buckets 16" geo-location --input "$TMP/articles.tsv" --places "$TMP/places.txt"
has '^articles   articles.tsv: 16 lines'
has '^located    10 articles at 8 places$'
has '^ +3  Twin, DE '
for place in "East, FJ" "West, FJ" "North, NO" "Far, DE" "-49, 12" "-48, 12" "-1, -180"; do
    has "^ +1  $place "
done
rm -f "$TMP/first"
once "$DEVICES" 1 geo-location --input "$TMP/articles.tsv" --places "$TMP/places.txt" --size 2K
once "$DEVICES" 1 geo-location --input "$TMP/articles.tsv" --places "$TMP/places.txt" --size 2K --heap 4KiB

# ---- inverted-index ----

tables "--heap 16KiB --page 512B" inverted-index --size 60K
# Every way to write a link, and what looks like one.
cat >"$TMP/one.html" <<'EOF'
<!DOCTYPE html><html><A HREF=one.html>x</A><a class="b" href='two > 1.html'>x</a>
<a title="<a href=no1>" href = "three.html" >x</a><a href=""></a><a href=><a name=x>y</a><abbr href=no2>z</abbr>
<!-- <a href=no3> -- > --><script>"<a href='no4'>"</script ><style>a{}<a href=no5></style><a/href=four.html>
< a href=no6>a << b <<a href="one.html"data-href=no7>x</a><a data-href=no8 href=five.html/ href=no9>x
<a disabled href=six.html =x>y</a><a href="seven.html" title="not closed><a href=no10>
EOF
tables "--heap 256B --page 64B --buckets 16" inverted-index --input "$TMP/one.html"
has '^pages      one.html: 1 files'
has '^links      7 to 6 URLs$'
has '^ +2  one.html '
for url in "two > 1.html" three.html four.html five.html/ six.html; do
    has "^ +1  $url "
done
# Files of an archive; long comments and scripts are not cut; copies have other paths.
(cd "$TMP" && mkdir -p pages/deep && printf '<a href=u>x</a>' >pages/a.html && printf 'no <a href=v>' >pages/b.txt &&
    awk 'BEGIN { for (i = 0; i < 500; i++) printf "<a href=u%d>\n<!-- %0*d <a href=no> --><script>%0*d<a href=no></script>\n",
        i % 90, i % 9 * 700 + 1, 0, i % 7 * 600 + 1, 0 }' >pages/deep/c.html && tar cf pages.tar pages)
tables "--heap 8KiB --page 256B" inverted-index --input "$TMP/pages.tar"
has '^pages      pages.tar: 2 files'
has '^links      501 to 91 URLs$'
tables "--heap 32KiB --page 256B" inverted-index --input "$TMP/pages.tar" --size 5000K
has '^pages      pages.tar: [3-9] files, 5,120,000 bytes$'

if [ "$DEVICES" = cpu ]; then
    (cd "$TMP" && tar cf text.tar pages/b.txt)
    wrong 1 "text.tar has no file whose name ends with .html" inverted-index --input "$TMP/text.tar"
    head -c 20000 "$TMP/pages.tar" >"$TMP/cut.tar"
    wrong 1 "cut.tar is cut off" inverted-index --input "$TMP/cut.tar"
    printf 'no links' >"$TMP/none.html"
    wrong 1 "the pages have no links" inverted-index --input "$TMP/none.html" --size 100
    wrong 1 "larger heap is needed" inverted-index --input "$TMP/one.html" --heap 64B --page 64B
    printf '1\tname\n' >"$TMP/bad.txt"
    wrong 1 "bad.txt:1: expected a line of GeoNames" geo-location --places "$TMP/bad.txt"
    place Nowhere 91 0 XX >"$TMP/bad.txt"
    wrong 1 "bad.txt:1: latitude or longitude is out of range" geo-location --places "$TMP/bad.txt"
    printf 'a\nb\n' >"$TMP/bad.txt"
    wrong 1 "bad.txt has no article with coordinates" geo-location --input "$TMP/bad.txt" --size 100
    : >"$TMP/empty"
    wrong 1 "empty is empty" patent-citation --input "$TMP/empty"
    printf 'a b\n' >"$TMP/words.txt"
    wrong 1 "words.txt has no line with two numbers" patent-citation --input "$TMP/words.txt" --size 1K
    wrong 2 "option --heap needs bytes" patent-citation --heap 4
    wrong 2 "need --table sepo" stream-wordcount --heap 4KiB
    wrong 2 "combine is for tables that are filled by MapReduce" stream-wordcount --combine lock
    wrong 2 "need --table sepo" stream-dna --chunk 4KiB
    wrong 2 "need --table sepo" stream-netflix --buckets 4
    wrong 1 "use a larger --heap, or --table sepo" stream-dna --size 3000 --table memory --heap 4KiB --page 256B
    wrong 2 "host-memory need --table sepo" stream-wordcount --host-memory 4KiB
    wrong 2 "option --table must be one of" stream-wordcount --table threads
    wrong 2 "option --host-memory needs bytes" patent-citation --host-memory 4
    for table in memory pinned managed; do
        wrong 1 "use a larger --heap, or --table sepo" patent-citation --size 5000 --table $table --heap 4KiB --page 256B
    done
    wrong 1 "more than a chunk of 8" stream-wordcount --input "$TMP/cats.txt" --table sepo --chunk 8B
fi

[ "$failures" -eq 0 ]
