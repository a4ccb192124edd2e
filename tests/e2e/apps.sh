#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every program of apps/ on small inputs of each kind, with its serial check. The first input of each variant runs on 1
# and 2 workers in all memory modes, whose results (stdout) must be the same bytes; further inputs run in a few of these
# ways, in turn: their question is another format or size. Then wrong usage.
#
# Run by run.sh: $WPCC, $TMP (an empty folder), $E2E (this folder), $DEVICES (the device). Takes the programs
# of the build if they are there, else compiles them. Workers and wrong usage are the CPU device's to check.
set -u
export WARPAGE_DEVICE="$DEVICES"
case $DEVICES in
cpu) all_ways="1-copy 2-copy 1-managed 2-managed 1-zerocopy 2-zerocopy" few="1-copy,2-managed 1-copy,2-zerocopy" ;;
*) all_ways="1-copy 1-managed 1-zerocopy" few="1-managed 1-zerocopy 1-copy" ;;
esac
ways=$all_ways
seen=
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"

# The ways of further inputs, in turn: sets `now`.
next_of_few() {
    now=$(echo "${few%% *}" | tr , ' ')
    few="${few#* } ${few%% *}"
}

# Runs with --check in several ways; all must pass their check and print the same.
check() { # app, arguments...
    exe=$(program "$1") || { fail "$1: compilation failed"; return; }
    label=$*
    kind=$1
    case $label in *" --variant "*) kind=$(echo "$label" | sed 's/^\([^ ]*\) .*--variant \([^ ]*\).*/\1-\2/') ;; esac
    now=$ways
    case " $seen " in
    *" $kind "*) [ "$ways" != "$all_ways" ] || next_of_few ;;
    *) seen="$seen $kind" ;;
    esac
    shift
    rm -f "$TMP/first"
    for way in $now; do
        workers=${way%-*}
        mode=${way#*-}
        if ! WARPAGE_WORKERS=$workers "$exe" "$@" --memory "$mode" --check \
            >"$TMP/stdout" 2>"$TMP/stderr"; then
            fail "$label ($workers workers, $mode): failed"
            tail -n 5 "$TMP/stdout" "$TMP/stderr"
        elif ! grep -q '^check .*: equal' "$TMP/stdout"; then
            fail "$label ($workers workers, $mode): says nothing of its check"
        elif [ ! -e "$TMP/first" ]; then
            mv "$TMP/stdout" "$TMP/first"
        elif ! cmp -s "$TMP/first" "$TMP/stdout"; then
            fail "$label ($workers workers, $mode): prints another result than in the first way"
        fi
    done
}

# ---- small inputs, in every format ---------------------------------------------------------------

cat >"$TMP/roads.gr" <<EOF
c a ring of five with a shortcut that is longer than the way round
p sp 6 7
a 1 2 3
a 2 3 3
a 3 4 3
a 4 5 3
a 5 1 3
a 1 4 20
a 2 6 4000000000
EOF
printf 'p tw 5 4\n1 2\n2 3\n3 4\n4 5\n' >"$TMP/path.tw"
printf '# from to\n9907233\t9301253\n9907233 9504304\n9301253\t12\n12 12\n' >"$TMP/cite.txt"
printf '3\n0 2\n2 1\n3 0\n\n0\n\n3\n1 4\n2 9\n2 4\n' >"$TMP/rodinia.txt"
cat >"$TMP/Packages" <<EOF
Package: editor
Depends: libc (>= 2.36), ui | fancy-ui,
 missing

Package: ui
Provides: fancy-ui, window-thing (= 1)
Depends: libc:any

Package: game
Pre-Depends: libc
Depends: window-thing, game

Package: libc
Status: install ok installed

Package: gone
Status: deinstall ok config-files
EOF
awk 'BEGIN { for (i = 0; i < 400; i++) print i % 7 * 10 + i * 0.001 ",text," (-(i % 5)) }' >"$TMP/points.csv"
cat >"$TMP/access.log" <<EOF
1.2.3.4 - - [01/May/2025:00:00:00 +0000] "GET /a?x=1 HTTP/1.1" 200 1 "-" "-"
1.2.3.4 - - [01/May/2025:00:00:00 +0000] "GET /a?x=2 HTTP/1.1" 200 1 "-" "-"
1.2.3.4 - - [01/May/2025:00:00:01 +0000] "GET /a HTTP/1.1" 200 1 "-" "-"
1.2.3.4 - - [01/May/2025:00:00:01 +0000] "-" 408 0 "-" "-"
no request at all
1.2.3.4 - - [01/May/2025:00:00:02 +0000] "GET /b" 200 1 "-" "-"
EOF
printf 'host\tlogname\ttime\tmethod\turl\nh\t-\t1\tGET\t/x\t200\nh\t-\t1\tGET\t/x\t200\nh\t-\n' >"$TMP/nasa.tsv"
awk 'BEGIN { for (i = 0; i < 400; i++) print 320 + i % 13 }' >"$TMP/temp"
awk 'BEGIN { for (i = 0; i < 400; i++) print (i % 17) / 1000 }' >"$TMP/power"
# One image in three forms: text, a byte a pixel, two bytes a pixel (as many times the white value).
mkdir "$TMP/plain" "$TMP/raw" "$TMP/wide"
awk 'BEGIN { print "P2 # a comment\n# another\n21 17\n85"; for (i = 0; i < 357; i++) print 33 + i * i % 50 }' \
    >"$TMP/plain/image.pgm"
LC_ALL=C awk 'BEGIN { printf "P5\n21 17 85\n"; for (i = 0; i < 357; i++) printf "%c", 33 + i * i % 50 }' \
    >"$TMP/raw/image.pgm"
LC_ALL=C awk 'BEGIN { printf "P5\n# wide\n21 17\n21845\n"
    for (i = 0; i < 357; i++) printf "%c%c", 33 + i * i % 50, 33 + i * i % 50 }' >"$TMP/wide/image.pgm"
printf ';comment\n>longer of the two\nACGTAACCgg\nATTACGT acg\n\n>another\nTTTT\n' >"$TMP/long.fasta"
printf 'acgtaaccggttacgtacg\n' >"$TMP/short.txt"
printf '%%%%MatrixMarket matrix coordinate real general\n%% c\n\n3 4 5\n3 1 2.5\n1 2 -1e1\n1 1 4\n 3  4\t.5\n1 2 1\n' \
    >"$TMP/general.mtx"
printf '%%%%MatrixMarket Matrix Coordinate Integer Symmetric\n3 3 4\n1 1 2\n2 1 -1\n3 2 5\n3 3 7\n' >"$TMP/symmetric.mtx"
printf '%%%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 5\n' >"$TMP/skew.mtx"
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2\n' >"$TMP/pattern.mtx"

for variant in queue mask visited; do
    check bfs --variant $variant --size 3000 --degree 8
    check bfs --variant $variant --graph grid --size 2K
done
check bfs --graph uniform --size 5000 --degree 2 --seed 7
check bfs --graph regular --size 5000 --degree 3 --undirected
grep -q 'graph      generated regular graph, seed 1: 5,000 vertices, 30,000 edges' "$TMP/first" || fail "bfs: regular graph is wrong"
check bfs --size 64KiB --reverse
check bfs --input "$TMP/path.tw" --source 3
check bfs --input "$TMP/cite.txt"
check bfs --input "$TMP/cite.txt" --undirected --source 12
check bfs --input "$TMP/rodinia.txt"
check bfs --input "$TMP/Packages" --source editor
grep -q 'graph      packages of .*: 4 vertices, 5 edges' "$TMP/first" || fail "bfs: package graph is wrong"
check bfs --input "$TMP/Packages" --reverse --source libc
grep -q 'reached    4 vertices' "$TMP/first" || fail "bfs: packages above libc are wrong"

for variant in near-far bellman-ford mask; do
    check sssp --variant $variant --graph grid --size 3000
    check sssp --variant $variant --graph rmat --size 2000 --weights 1000
    check sssp --variant $variant --input "$TMP/roads.gr" --source 1
    grep -q 'farthest   6 at distance 4,000,000,003' "$TMP/first" || fail "sssp: roads.gr is wrong"
done
check sssp --graph grid --size 1000 --weights 1 --delta 1
check sssp --variant mask --graph regular --degree 2 --size 3000 --rounds 7 --source 0
check sssp --input "$TMP/rodinia.txt"

for variant in thread warp; do
    check pagerank --variant $variant --size 3000
    check pagerank --variant $variant --graph grid --size 2000 --iterations 5
done
check pagerank --input "$TMP/Packages" --top 3
grep -q '^  1  libc ' "$TMP/first" || fail "pagerank: libc should be first"

check pvc --size 4000
check pvc --size 3000 --buckets 1 --seed 3
check pvc --input "$TMP/access.log"
grep -q 'pages      4 different URLs, 2 lines without one' "$TMP/first" || fail "pvc: access.log is wrong"
check pvc --input "$TMP/access.log" --paths
grep -q '^       3  /a ' "$TMP/first" || fail "pvc: --paths is wrong"
check pvc --input "$TMP/nasa.tsv"

# A table larger than its heap, the log in chunks: the same counts as with everything in memory.
sepo() { # arguments of the log, then of the table
    exe=$(program pvc) || { fail "pvc: compilation failed"; return; }
    # shellcheck disable=SC2086
    "$exe" $1 >"$TMP/first" 2>"$TMP/stderr" || fail "pvc $1"
    for workers in $(case $DEVICES in cpu) echo 1 2 ;; *) echo 1 ;; esac); do
        # shellcheck disable=SC2086
        WARPAGE_WORKERS=$workers "$exe" $1 --table sepo $2 >"$TMP/stdout" 2>"$TMP/stderr" ||
            { fail "pvc $1 --table sepo $2 ($workers workers)"; tail -n 5 "$TMP/stderr"; }
        cmp -s "$TMP/first" "$TMP/stdout" || fail "pvc $1 --table sepo $2 ($workers workers): other counts"
        grep -q "  pass $3 " "$TMP/stderr" || fail "pvc $1 --table sepo $2 ($workers workers): no pass $3"
        ! grep -q "copy to \(device\|host\) *0\.0" "$TMP/stderr" || fail "pvc $1 --table sepo $2: copies took no time"
    done
}
sepo "--size 3000" "--heap 1MiB" 1
sepo "--size 3000" "--heap 4KiB --page 256B --chunk 20KiB" 4
sepo "--size 3000" "--heap 4KiB --page 256B --host-memory 6KiB" 4
grep -q "in a file .* in host memory" "$TMP/stderr" || fail "pvc --host-memory: nothing in a file"
sepo "--size 300 --buckets 1" "--heap 128B --page 64B --chunk 1B" 9
sepo "--input $TMP/access.log" "--heap 4KiB" 1
sepo "--input $TMP/access.log --paths" "--heap 80B --page 64B" 2
sepo "--input $TMP/nasa.tsv --size 60KiB" "--heap 64B --page 64B --chunk 7KiB" 1
sepo "--input $TMP/access.log --size 300" "--heap 2KiB --page 128B --chunk 7KiB" 1

# The same table with its entries elsewhere: the same counts, in one pass.
elsewhere() { # arguments of the log, then of the table
    exe=$(program pvc) || { fail "pvc: compilation failed"; return; }
    # shellcheck disable=SC2086
    "$exe" $1 >"$TMP/first" 2>"$TMP/stderr" || fail "pvc $1"
    for table in memory pinned managed; do
        # shellcheck disable=SC2086
        "$exe" $1 --table $table $2 >"$TMP/stdout" 2>"$TMP/stderr" ||
            { fail "pvc $1 --table $table $2"; tail -n 5 "$TMP/stderr"; }
        cmp -s "$TMP/first" "$TMP/stdout" || fail "pvc $1 --table $table $2: other counts"
        grep -q "heap in .* pages, 1 passes" "$TMP/stderr" || fail "pvc $1 --table $table $2: not one pass"
    done
}
elsewhere "--size 3000" ""
elsewhere "--size 3000" "--heap 100KiB --page 256B --chunk 20KiB"
elsewhere "--input $TMP/access.log --paths" "--heap 4KiB"

check kmeans --size 3000 --clusters 5 --dimensions 3
check kmeans --size 2000 --clusters 1 --dimensions 1
check kmeans --size 1500 --clusters 300 --dimensions 33 --iterations 3 # sums exceed shared memory
check kmeans --input "$TMP/points.csv" --clusters 7 --normalize
for variant in serial threads single double direct full volume overlap zerocopy managed prefetch auto; do
    check stream-kmeans --size 3000 --buffer 64KiB --blocks 3 --threads 100 --variant $variant
done
check stream-kmeans --size 1 --clusters 1 --blocks 1 --threads 1
check stream-kmeans --size 20000 --buffer 1MiB --variant double --stagers 4 # which share what comes back, too
check stream-kmeans --size 3000 --slots 4 --without-patterns
awk 'BEGIN { for (i = 0; i < 300; i++) print i % 7, i % 11 * 2.5, -(i % 5), i }' >"$TMP/points4"
check stream-kmeans --input "$TMP/points4" --size 5000 --clusters 7 --iterations 3
check kmeans --input "$TMP/points.csv" --clusters 3 --columns 3

for steps in 1 2 5 6; do
    check hotspot --size 5000 --iterations 7 --steps-per-launch $steps
done
check hotspot --size 1 --iterations 3
# Small cells need a shorter time step: temperatures stay between those of the start and the hottest unit.
if [ "$DEVICES" = cpu ]; then # two million cells take minutes where kernels are interpreted
    ways=2-managed # one: it is the temperatures that are looked at
    check hotspot --size 2100K --iterations 60
    ways=$all_ways
    grep -q 'after .* 3[0-9][0-9]\.[0-9]* to 3[0-9][0-9]\.' "$TMP/first" || fail "hotspot: a fine grid is unstable"
fi
check hotspot --input "$TMP/temp" --power "$TMP/power" --iterations 20

check backprop --size 3000
check backprop --size 100KiB --iterations 3 --seed 2 # 483 inputs: no multiple of a block
check backprop --size 1 --iterations 2

check fdtd-2d --size 5000 --iterations 9
check fdtd-2d --size 100KiB --iterations 2 --seed 4 # 92 x 92 cells: no multiple of a block
check fdtd-2d --size 1 --iterations 3

check srad --size 5000 --iterations 3
check srad --size 2000 --iterations 2 --region 1 --rate 1 --local-scratch
check srad --size 1 --iterations 2
check srad --input "$TMP/plain/image.pgm" --iterations 4 --region 5
grep -q 'image      image.pgm: 21 x 17 pixels' "$TMP/first" || fail "srad: image.pgm is read wrong"
mv "$TMP/first" "$TMP/plain/result"
for form in raw wide; do
    check srad --input "$TMP/$form/image.pgm" --iterations 4 --region 5
    cmp -s "$TMP/first" "$TMP/plain/result" || fail "srad: the $form image is not the plain one"
done

check nw --size 130
check nw --size 100KiB --penalty 0 --seed 3
check nw --size 1
check nw --input "$TMP/long.fasta" --second "$TMP/short.txt" --scores dna --penalty 3
grep -q 'sequences  longer: 20 letters; short.txt: 19 letters' "$TMP/first" || fail "nw: FASTA is read wrong"
grep -q 'score      92: of 20 columns 19 are equal (95.0%), 1 have a gap' "$TMP/first" ||
    fail "nw: the alignment is wrong"
grep -q '^  ACGTAACCGG-TTACGTACG$' "$TMP/first" || fail "nw: the gap is elsewhere"
check nw --input "$TMP/short.txt" --second "$TMP/long.fasta"

check ra --size 5000 --updates 3 --updates-per-thread 7
grep -q 'table      4,096 words' "$TMP/first" || fail "ra: the table is no power of two"
check ra --size 1
check ra --variant lookup --size 20000
check ra --variant lookup --size 100KiB --stride 1 --seed 5
check ra --variant lookup --size 1

check triad --size 5000 --iterations 2
check triad --size 100KiB --type float --seed 3
check triad --size 1

check sgemm --size 5000 # 70 x 70: no multiple of a tile
check sgemm --m 33 --n 70 --k 15 --alpha 0.5 --beta 0 --seed 2
check sgemm --size 1

check stencil --size 9000 --depth 9 --iterations 3
check stencil --size 200KiB --depth 25 --iterations 2 --seed 3 # 32 x 32 x 25 cells
check stencil --size 27 --depth 3 --iterations 2

for variant in thread warp; do
    check spmv --variant $variant --size 500 --iterations 2
    check spmv --variant $variant --size 300 --matrix band --degree 100
    check spmv --variant $variant --input "$TMP/general.mtx" --ones
    grep -q 'matrix     general.mtx: 3 x 4, 5 entries' "$TMP/first" || fail "spmv: general.mtx is read wrong"
    grep -q 'product    sum -2, norm 5.83095189' "$TMP/first" || fail "spmv: rows of general.mtx are wrong"
done
check spmv --size 1
check spmv --size 100KiB --degree 3 --seed 2
check spmv --input "$TMP/symmetric.mtx" --ones
grep -q 'product    sum 17, norm 12.6885775' "$TMP/first" || fail "spmv: symmetric.mtx is read wrong"
check spmv --input "$TMP/skew.mtx" --ones
grep -q 'product    sum 0, norm 7.07106781' "$TMP/first" || fail "spmv: skew.mtx is read wrong"
check spmv --input "$TMP/pattern.mtx" --ones
grep -q 'product    sum 2, norm 1.41421356' "$TMP/first" || fail "spmv: pattern.mtx is read wrong"
if zstd -q "$TMP/general.mtx" -o "$TMP/general.mtx.zst" 2>/dev/null; then
    check spmv --input "$TMP/general.mtx.zst" --ones
    grep -q 'product    sum -2, norm 5.83095189' "$TMP/first" || fail "spmv: a packed file is read wrong"
fi

check pathfinder --size 50K --rows 30
check pathfinder --size 20000 --rows 100 --pyramid 100 --seed 2 # one launch; strips are mostly halo
check pathfinder --size 100KiB --rows 41 --pyramid 1
check pathfinder --size 2 --rows 2

check conv2d --size 5000
check conv2d --size 100KiB --seed 3 # 113 x 113 pixels: no multiple of a block
check conv2d --size 1
check conv2d --input "$TMP/raw/image.pgm"
grep -q 'image      image.pgm: 21 x 17 pixels' "$TMP/first" || fail "conv2d: image.pgm is read wrong"

check atax --size 20000
check atax --size 100KiB --rows 300 --seed 3 # 300 x 85
check atax --size 1

check xs-lookup --size 20 --lookups 1000
mv "$TMP/first" "$TMP/union"
check xs-lookup --size 20 --lookups 1000 --grid nuclide
cmp -s "$TMP/first" "$TMP/union" || fail "xs-lookup: the grids differ"
check xs-lookup --size 300KiB --lookups 500 --nuclides 20 --seed 3
check xs-lookup --size 2 --lookups 1 --nuclides 1

check md --size 500 --iterations 3
check md --size 1MiB --iterations 2 --seed 3 --temperature 10
check md --size 600 --iterations 20 --temperature 3 # atoms change their cells

check cg --size 500
grep -q '|b - A x| / |b| is [1-9][.0-9]*e-09$' "$TMP/first" || fail "cg: A x is not b"
mv "$TMP/first" "$TMP/csr"
check cg --size 500 --format ell
cmp -s "$TMP/first" "$TMP/csr" || fail "cg: the formats differ"
check cg --size 1MiB --iterations 3 --seed 2
check cg --size 343 --tolerance 0 --iterations 70 --format ell
check cg --size 1

check lud --size 100 # no multiple of a tile
grep -q '^factors .* is [0-9.]*e-0[789]$' "$TMP/first" || fail "lud: L U is not A"
check lud --size 256KiB --seed 3
check lud --size 1

check adi --size 5000
check adi --size 100KiB --iterations 2 --rate 0.3 --seed 2 # 80 x 80 items: no multiple of a block
check adi --size 100KiB --iterations 2 --columns by-rows --block 48
check adi --size 10000 --start wave --iterations 50
grep -q '^wave       0.8238[89] high in the middle, by theory 0.82388$' "$TMP/first" || fail "adi: the wave is too high or low"
check adi --size 1

# A triangle with a tail, a loop and edges given twice: 1-2, 2-3, 3-1, 3-4.
printf '1 2\n2 1\n2 3\n3 1\n3 4\n4 4\n3 4\n' >"$TMP/tail.txt"
check mis --size 3000
check mis --graph grid --size 2000 --seed 4
check mis --graph uniform --size 3000 --degree 1 # vertices without neighbours
check mis --input "$TMP/tail.txt"
grep -q 'graph      tail.txt: 4 vertices, 4 edges both ways' "$TMP/first" || fail "mis: tail.txt is read wrong"
check mis --input "$TMP/Packages"

for variant in max max-min; do
    check color --variant $variant --size 2000
    check color --variant $variant --graph grid --size 2000 --seed 4
    check color --variant $variant --graph uniform --size 3000 --degree 1
    check color --variant $variant --input "$TMP/tail.txt"
    grep -q 'coloured   with [34] colours' "$TMP/first" || fail "color: a triangle needs 3 colours"
done

check bc --size 3000
check bc --graph grid --size 900 --sources 20 --seed 2
check bc --input "$TMP/path.tw" --sources 5
grep -q '^  1  3 *8.000 ' "$TMP/first" || fail "bc: the middle of the path is on 8 ways"
grep -q '^  3  4 *6.000 ' "$TMP/first" || fail "bc: the ways beside the middle are wrong"
printf '1 2\n1 3\n2 4\n3 4\n4 5\n4 5\n5 5\n' >"$TMP/diamond.txt"
check bc --input "$TMP/diamond.txt" --sources 5
grep -q '^  1  4 *3.000 ' "$TMP/first" || fail "bc: three ways lead through 4"
grep -q '^  2  2 *1.000 ' "$TMP/first" || fail "bc: half of the ways from 1 to 4 and 5 lead through 2"
check bc --input "$TMP/Packages" --sources 4

# The same generated problem gives the same answer whichever variant finds it.
for pair in "bfs queue mask" "bfs mask visited" "sssp near-far bellman-ford" "sssp near-far mask"; do
    # shellcheck disable=SC2086
    set -- $pair
    exe=$(program "$1") || continue
    "$exe" --variant "$2" --size 2000 >"$TMP/a" 2>/dev/null
    "$exe" --variant "$3" --size 2000 >"$TMP/b" 2>/dev/null
    cmp -s "$TMP/a" "$TMP/b" || fail "$1: $2 and $3 differ"
done

# ---- wrong usage and broken input ----------------------------------------------------------------

[ "$DEVICES" = cpu ] || { [ "$failures" -eq 0 ]; exit; }
wrong 2 "did you mean --size" bfs --sise 10
wrong 2 "needs a value" bfs --size
wrong 2 "one of copy|managed|zerocopy" sssp --memory far
wrong 2 "--rounds is for --variant mask" sssp --rounds 3
wrong 2 "must lie between" kmeans --clusters 0
wrong 2 "unexpected argument" pvc access.log
wrong 2 "takes no value" hotspot --check=1
wrong 2 "reads no files" ra --input "$TMP/temp"
wrong 2 "reads no files" ra "$TMP/temp"
wrong 2 "unknown option '--inputs'" ra --inputs "$TMP/temp"
wrong 2 "items are needed" ra --size 3B
wrong 2 "reads no files" backprop --input "$TMP/temp"
wrong 2 "reads no files" fdtd-2d --input="$TMP/temp"
wrong 2 "go together" hotspot --input "$TMP/temp"
wrong 2 "needs a unit" stream-kmeans --buffer 3
wrong 2 "must hold at least 1 records" stream-kmeans --variant single --buffer 3B
wrong 2 "exceeds the number of points" kmeans --size 3 --clusters 4
wrong 2 "no package 'emacs'" bfs --input "$TMP/Packages" --source emacs
wrong 2 "has at most 9 edges: lower --degree" bfs --graph regular --size 10 --degree 10
wrong 2 "no vertex 99" bfs --input "$TMP/cite.txt" --source 99
wrong 2 "debian:installed or debian:all" pagerank --input debian:most
wrong 1 "cannot open" pagerank --input "$TMP/nothing"
printf 'p sp 3 2\na 1 2 5\n' >"$TMP/short.gr"
wrong 1 "says it has 2 edges, but holds 1" sssp --input "$TMP/short.gr"
printf 'p sp 3 1\na 1 9 5\n' >"$TMP/bad.gr"
wrong 1 "bad.gr:2: a vertex number is 9" sssp --input "$TMP/bad.gr"
printf '1 2\n3 x\n' >"$TMP/bad.txt"
wrong 1 "bad.txt:2: expected a second vertex number" bfs --input "$TMP/bad.txt"
printf '1 2\n3\n' >"$TMP/odd"
wrong 1 "which is not a square" hotspot --input "$TMP/odd" --power "$TMP/odd"
printf 'a b c\n' >"$TMP/words"
wrong 1 "holds no row" kmeans --input "$TMP/words"
printf 'just words\n' >"$TMP/nolog"
wrong 1 "neither a combined log" pvc --input "$TMP/nolog"
printf 'h - - [t] "GET /%0100d HTTP/1.1" 200 5\n' 7 >"$TMP/longurl"
wrong 2 "need --table sepo" pvc --heap 4KiB
wrong 2 "--heap needs bytes" pvc --table sepo --heap 4
for table in memory pinned managed; do
    wrong 1 "heap of 4.0 KiB is full.*use a larger --heap, or --table sepo" pvc --size 3000 --table $table --heap 4KiB --page 256B
done
wrong 1 "a larger heap is needed" pvc --input "$TMP/longurl" --table sepo --heap 64B
wrong 1 "a heap of 100 bytes holds no page; 4096 bytes are needed" pvc --size 9 --table sepo --heap 100B --page 4KiB
wrong 1 "is not a PGM image" srad --input "$TMP/words"
printf 'P2\n2 x' >"$TMP/bad.pgm"
wrong 1 "the height of the image" srad --input "$TMP/bad.pgm"
printf 'P2\n2 2\n9\n1 2 10 3\n' >"$TMP/bad.pgm"
wrong 1 "pixel 3 of 4 is not a number up to 9" srad --input "$TMP/bad.pgm"
printf 'P5\n2 2\n9\n123' >"$TMP/bad.pgm"
wrong 1 "is cut off" srad --input "$TMP/bad.pgm"
wrong 2 "go together" nw --second "$TMP/short.txt"
wrong 1 "points.csv:1: column 1 holds no letter" nw --input "$TMP/points.csv" --second "$TMP/short.txt"
printf '>name only\n' >"$TMP/empty.fasta"
wrong 1 "holds no sequence" nw --input "$TMP/empty.fasta" --second "$TMP/short.txt"
wrong 1 "is not a Matrix Market file" spmv --input "$TMP/words"
printf '%%%%MatrixMarket matrix array real general\n2 2\n' >"$TMP/bad.mtx"
wrong 1 "bad.mtx:1: this is a 'matrix array'" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 0\n' >"$TMP/bad.mtx"
wrong 1 "values are 'complex'" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n1 1 1 0\n' >"$TMP/bad.mtx"
wrong 1 "the matrix is 'hermitian'" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2\n' >"$TMP/bad.mtx"
wrong 1 "bad.mtx:2: expected three sizes" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n' >"$TMP/bad.mtx"
wrong 1 "bad.mtx:3: row 3, column 1 lie outside" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1\n' >"$TMP/bad.mtx"
wrong 1 "bad.mtx:3: expected a value" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n' >"$TMP/bad.mtx"
wrong 1 "must be square" spmv --input "$TMP/bad.mtx"
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 1\n' >"$TMP/bad.mtx"
wrong 1 "says it has 2 entries, but holds 1" spmv --input "$TMP/bad.mtx"
wrong 1 "is not a PGM image" conv2d --input "$TMP/words"
wrong 2 "at least 2 are needed" xs-lookup --size 1
wrong 2 "reads no files" lud --input "$TMP/temp"
wrong 2 "must lie between" adi --iterations 0
wrong 2 "one of max|max-min" color --variant min
wrong 2 "must lie between" bc --sources 0
wrong 1 "cannot open" mis --input "$TMP/nothing"
# 1100 pairs of vertices, each pair with edges to the next: 2^1099 shortest paths.
awk 'BEGIN { for (i = 0; i < 1100; i++) for (k = 0; k < 4; k++) print 2*i + k % 2, 2*i + 2 + int(k / 2) }' >"$TMP/ladder.txt"
wrong 1 "more than 10^308 shortest paths" bc --input "$TMP/ladder.txt" --sources 100
wrong 2 "at least 500" md --size 499
exe=$(program ra) && { "$exe" --help | grep -q -- '--input' && fail "ra --help tells of --input"; }
exe=$(program bfs) && { "$exe" --help | grep -q 'usage: bfs' || fail "bfs --help says nothing"; }

[ "$failures" -eq 0 ]
