#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs apps/stream-* whose records the kernel only reads: each way to feed the kernel passes the serial check
# and prints the same. Then small inputs with known results, and wrong usage. Run by run.sh, as apps.sh is.
# Most of the time compiles streamed kernels: overlap, which has windows whatever the kernel, is tried with two programs.
set -u
export WARPAGE_DEVICE="$DEVICES" WARPAGE_WORKERS=2
# shellcheck source=tests/support/apps.sh
. "$E2E/../support/apps.sh"
all="serial threads single double direct full volume zerocopy managed prefetch auto"

# Runs with --check in these ways; all must pass and print the same, which stays in $TMP/first.
check() { # variants, app, arguments...
    variants=$1
    exe=$(program "$2") || { fail "$2: compilation failed"; return; }
    shift
    label=$*
    shift
    rm -f "$TMP/first"
    for variant in $variants; do
        if ! "$exe" "$@" --variant "$variant" --check >"$TMP/stdout" 2>"$TMP/stderr"; then
            fail "$label, $variant: failed"
            tail -n 5 "$TMP/stdout" "$TMP/stderr"
        elif ! grep -q '^check .*: equal' "$TMP/stdout"; then
            fail "$label, $variant: says nothing of its check"
        elif [ ! -e "$TMP/first" ]; then
            mv "$TMP/stdout" "$TMP/first"
        elif ! cmp -s "$TMP/first" "$TMP/stdout"; then
            fail "$label, $variant: prints another result"
            diff "$TMP/first" "$TMP/stdout"
        fi
    done
}

has() { # extended regular expression that a line of the last result must match
    grep -Eq -- "$1" "$TMP/first" || { fail "no '$1' in the result of $label:"; cat "$TMP/first"; }
}

shape="--buffer 64KiB --blocks 3 --threads 100"

# ---- stream-netflix ----

# shellcheck disable=SC2086
check "$all overlap" stream-netflix --size 20000 $shape
check "single full" stream-netflix --size 1 --blocks 1 --threads 1
check "serial full" stream-netflix --size 3000 --slots 4 --without-patterns
check "serial full" stream-netflix --size 3000 --fetch-addresses --flags --host-threads 2
# Users 7 and 9 agree, 8 rates the other way round; the pairs of 7 are (1,1) (4,4) (9,9) and (1,9) (4,6) (9,1):
# n=6, sums 28 and 30, of squares 196 and 216, of products 140.
printf '7::10::1::5\n9::10::1::6\n8::10::9::7\n7::11::4::5\n9::11::4::6\n8::11::6::7\n7::12::9::5\n9::12::9::6\n8::12::1::7\n' \
    >"$TMP/ratings.dat"
check "$all" stream-netflix --input "$TMP/ratings.dat" --least 1
has '^ratings    ratings.dat: 9 of 3 movies$'
has '^records    9 of 40 bytes$'
has "^ +0 +6 +$(awk 'BEGIN { printf "%.4f", (6 * 140 - 28 * 30) / sqrt((6 * 196 - 28 * 28) * (6 * 216 - 30 * 30)) }')\$"
has '^ +2 +6 +-1.0000$'
printf '7;10;0.5;5\n9;10;0.5;6\n' >"$TMP/stars.csv"
check "serial full" stream-netflix --input "$TMP/stars.csv" --least 1
has '^ +0 +1 +0.0000$'
check "serial full" stream-netflix --input "$TMP/ratings.dat" --size 900 --least 1
has '^records    900 of 40 bytes$'
printf '7::10::1::5\n9::10::11::6\n' >"$TMP/bad.dat"
wrong 1 "bad.dat:2: the rating is larger than 10" stream-netflix --input "$TMP/bad.dat"
printf '7::10\n' >"$TMP/bad.dat"
wrong 1 "bad.dat:1: expected user, movie, rating and time" stream-netflix --input "$TMP/bad.dat"
printf '7::10::1::5\n' >"$TMP/bad.dat"
wrong 1 "has no movie with two ratings" stream-netflix --input "$TMP/bad.dat"
wrong 2 "needs a unit" stream-netflix --buffer 3
if exe=$(program stream-netflix); then
    "$exe" --size 3000 --buffer 1KiB >"$TMP/stdout" 2>"$TMP/stderr" && fail "buffers of 1 KiB: succeeded"
    grep -Eq 'smallest buffers of a streamed launch take [0-9]+ bytes of device memory, but 1024 may' "$TMP/stderr" &&
        grep -q 'do not fit: see above, and --buffer$' "$TMP/stderr" || { fail "buffers of 1 KiB:"; cat "$TMP/stderr"; }
fi
wrong 2 "pinned-memory needs a unit" stream-netflix --pinned-memory 3
check "full" stream-netflix --size 3000 --blocks 9 --threads 32 --pinned-memory 128KiB
wrong 2 "must hold at least 2 records of 40 bytes" stream-netflix --variant double --buffer 70B

# ---- stream-opinion ----

# shellcheck disable=SC2086
check "$all" stream-opinion --size 3000 $shape
check "serial full" stream-opinion --size 100 --addresses --slots 7 --without-patterns --blocks 2 --threads 10 --subject phone,baba
printf '%s\t%s\n' 1 "I love this phone" 2 "I do not really love it" 3 "BAD BAD phone, don't like" 4 "nothing here" \
    >"$TMP/tweets.tsv"
check "$all" stream-opinion --input "$TMP/tweets.tsv" --blocks 1 --threads 32
has '^records    4 of 192 bytes$'
has '^on subject +4$'
has '^positive +1 '
has '^negative +2 '
has '^words      3 positive, 2 negative, 3 adverbs$'
has '^sentiment  -4.0, -1.0000 a tweet$'
check "serial full" stream-opinion --input "$TMP/tweets.tsv" --subject Phone,here --blocks 1 --threads 32
has '^on subject +3$'
has '^sentiment  -2.0, -0.6667 a tweet$'
# Words of the lists keep their names in copies.
check "serial full" stream-opinion --input "$TMP/tweets.tsv" --size 400 --blocks 2 --threads 32
has '^words      300 positive, 200 negative, 300 adverbs$'
has '^sentiment  -400.0, '
printf ';a comment\n\nnothing\n2-faced\n' >"$TMP/list"
check "serial full" stream-opinion --input "$TMP/tweets.tsv" --positive "$TMP/list" --blocks 1 --threads 32
has '^lists      1 positive and 15 negative words'
has '^words      1 positive, 2 negative, 3 adverbs$'
printf '2-faced\n' >"$TMP/list"
wrong 1 "holds no words" stream-opinion --size 10 --positive "$TMP/list"
wrong 2 "needs words separated by commas" stream-opinion --size 10 --subject ,

# ---- stream-affinity ----

# shellcheck disable=SC2086
check "$all" stream-affinity --size 3000 $shape
mv "$TMP/first" "$TMP/text"
# shellcheck disable=SC2086
check "$all" stream-affinity --size 3000 $shape --indexed
cmp -s "$TMP/text" "$TMP/first" || fail "stream-affinity: --indexed prints another result"
check "single double" stream-affinity --size 300 --buffer 1KiB --blocks 2 --threads 32
check "serial single double" stream-affinity --size 8000 --buffer 600KiB --blocks 2 --threads 64 --stagers 3
check "full volume" stream-affinity --size 3000 $shape --indexed --map-index
cmp -s "$TMP/text" "$TMP/first" || fail "stream-affinity: --map-index prints another result"
check "full" stream-affinity --size 500 --blocks 2 --threads 32 --indexed --map-index --windows
# shellcheck disable=SC2086
check "direct full" stream-affinity --size 3000 $shape --keep 100KiB
cmp -s "$TMP/text" "$TMP/first" || fail "stream-affinity: --keep prints another result"
wrong 2 "keep is for records in memory, and --variant direct, full" stream-affinity --size 500 --keep 1KiB --variant double
wrong 2 "keep needs a unit" stream-affinity --size 500 --keep 100
# shellcheck disable=SC2086
check "direct full overlap" stream-kmeans --size 3000 $shape --iterations 3 --keep 100KiB
# shellcheck disable=SC2086
check "full" stream-kmeans --size 4000 $shape --iterations 2 --keep 1MiB
wrong 2 "map-index needs --indexed" stream-affinity --size 500 --map-index
wrong 2 "map-index needs --indexed, and --variant full" stream-affinity --size 500 --indexed --map-index --variant double
check "serial full" stream-affinity --size 1 --blocks 1 --threads 1 --indexed
# Customers a and b of X: a also visits Y twice and "Z, Inc.", b visits Y; c visits W alone; one is anonymous.
printf '%s\n' when,customer,merchant 1,a,X 2,c,W '3,a,"Z, Inc."' 4,a,Y 5,b,X 6,b,Y 7,,X 8,a,Y 9,c,W 10,c,W >"$TMP/shop.csv"
check "$all" stream-affinity --input "$TMP/shop.csv" --merchant X --blocks 1 --threads 32
has '^purchases  shop.csv: 9 of 3 customers at 4 merchants$'
has '^target     terminal 00000000 with 2 customers$'
has '^affine     2 merchants$'
has '^ +3  [0-9]{8}  Y '
has '^ +1  [0-9]{8}  Z, Inc. '
check "serial single" stream-affinity --input "$TMP/shop.csv" --blocks 1 --threads 32
has '^target     terminal 00000001 with 1 customers$' # W, of most purchases
has '^affine     0 merchants$'
check "serial full" stream-affinity --input "$TMP/shop.csv" --merchant X --size 90 --indexed --blocks 1 --threads 32
has '^payments   90 lines'
check "serial full" stream-affinity --input "$TMP/shop.csv" --columns merchant,when --indexed --merchant 5
has '^affine     2 merchants$' # X is at 5, and at 1 and 7
wrong 1 "shop.csv:1: the header has no columns of customer and merchant called so" \
    stream-affinity --input "$TMP/shop.csv" --columns a,b
wrong 2 "needs two names from the header" stream-affinity --input "$TMP/shop.csv" --columns customer
wrong 2 "has no merchant 'V'" stream-affinity --input "$TMP/shop.csv" --merchant V
wrong 1 "are known; name them with --columns" stream-affinity --input "$TMP/ratings.dat"
wrong 2 "is too small: record 0 does not fit a piece of 50 B" stream-affinity --size 9 --buffer 50B --variant single

# ---- stream-wc ----

# shellcheck disable=SC2086
check "$all" stream-wc --size 30000 $shape
check "serial full" stream-wc --size 100 --addresses --slots 7 --without-patterns --blocks 2 --threads 10
printf 'one two\n\n three  four' >"$TMP/few"
check "$all" stream-wc --input "$TMP/few" --blocks 1 --threads 32
has '^text       few: 21 bytes, 2 lines, 4 words$'

# ---- stream-dna ----

# shellcheck disable=SC2086
check "$all" stream-dna --size 3000 $shape
check "serial full" stream-dna --size 300 --k 15 --addresses --slots 5 --without-patterns --blocks 2 --threads 32
check "single full" stream-dna --size 1 --blocks 1 --threads 1
# With k=3, bases 17 to 19 count. AAC between G and T; its reverse complement GTT between A and C, in a read of two
# fragments, the second of which is unclear; CCC once.
a15=AAAAAAAAAAAAAAA t16=tttttttttttttttt
{
    printf '@one\n%s\n+\n%s\n' ${a15}GAACT${t16}acgt $a15$a15$a15$a15 | cut -c 1-40
    printf '@two\n%s\n+one\n%s\n' ${a15}AGTTC${t16}${a15}NAACT${t16} $a15$a15$a15$a15$a15 | cut -c 1-72
    printf '@short\nACG\n+\nFFF\n'
    printf '@three\n%s\n+\n%s\n' ${a15}ACCCA${t16} $a15$a15$a15 | cut -c 1-36
} >"$TMP/reads.fastq"
check "$all" stream-dna --input "$TMP/reads.fastq" --k 3 --blocks 1 --threads 32
has '^sample     reads.fastq: 4 fragments$'
has '^3-mers     2 different in 3 fragments; 1 fragments are unclear$'
has '^noise      1 were seen once$'
has '^edges      1 others have one base before and one behind$'
has '^ +2 +1  '
check "serial full" stream-dna --input "$TMP/reads.fastq" --k 3 --size 40 --blocks 1 --threads 32
has '30 fragments; 10 fragments are unclear$'
printf '>g\n%s\nCGT\n' $t16$t16$t16 >"$TMP/genome.fa"
check "serial full" stream-dna --input "$TMP/genome.fa" --size 200 --blocks 1 --threads 32
has '^sample     genome.fa: genome of 51 bases$'
wrong 2 "must be odd" stream-dna --k 10
wrong 1 "the table of k-mers is too small: .* see --keys" stream-dna --size 3000 --keys 10 --variant single
wrong 1 "is neither FASTQ" stream-dna --input "$TMP/shop.csv"
printf '@one\nACGT\n+\nFFF\n' >"$TMP/bad.fastq"
wrong 1 "bad.fastq:4: expected a line with +" stream-dna --input "$TMP/bad.fastq"
printf '@one\nACGT\n+\nFFFF\n' >"$TMP/bad.fastq"
wrong 1 "has no read of 36 bases" stream-dna --input "$TMP/bad.fastq"

# ---- stream-wordcount ----

# shellcheck disable=SC2086
check "$all overlap" stream-wordcount --size 100K $shape
check "serial single" stream-wordcount --size 1 --blocks 1 --threads 1
has '^words      1, 1 different, 1 of them once$'
check "single double" stream-wordcount --size 3000 --buffer 256B --blocks 2 --threads 300 # words of many threads
printf "The cat's hat. THE 'cats'\nthe-hat \303\211t\303\251\n''' ''\nthe" >"$TMP/cats.txt"
check "$all" stream-wordcount --input "$TMP/cats.txt" --blocks 1 --threads 100
has '^text       cats.txt: 50 bytes$'
has '^words      9, 4 different, 1 of them once$'
has '^ +4  the '
has '^ +2  cats '
has '^ +2  hat '
(cd "$TMP" && mkdir -p novels && cp cats.txt novels/one && printf 'one dog' >novels/two && tar cf novels.tar novels)
check "serial double" stream-wordcount --input "$TMP/novels.tar" --blocks 1 --threads 100
has '^text       novels.tar: 59 bytes$'
has '^words      11, 6 different'
# Where half of the text has half of the words, copies have new words only; where it has all, none.
awk 'BEGIN { for (i = 0; i < 260; i++) printf "w%c%c\n", 97 + i / 26, 97 + i % 26 }' >"$TMP/all_new"
check "serial double" stream-wordcount --input "$TMP/all_new" --size $((1040 + 1561 * 2))
has '^words      780, 780 different'
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "w%c\n", 97 + i % 7 }' >"$TMP/none_new"
check "serial double" stream-wordcount --input "$TMP/none_new" --size 18001
has '^words      6,000, 7 different'
wrong 1 "the table of words is too small: .* see --keys" stream-wordcount --size 1M --keys 10 --variant single
: >"$TMP/empty"
wrong 1 "empty is empty" stream-wordcount --input "$TMP/empty"
wrong 2 "is too small: record 0 does not fit" stream-wordcount --size 3000 --variant single --buffer 10B

# auto measures up to four ways, each on records of its own, where there are enough, two of them in two steps; else a rule
# chooses.
auto() { # what was chosen, how many measurements there were, why not; app, arguments...
    chosen=$1 measured=$2 reason=$3
    exe=$(program "$4") || return
    shift 4
    "$exe" "$@" --variant auto --explain >"$TMP/stdout" 2>"$TMP/stderr"
    [ "$(grep -Ec '^measured   (full|volume|double|direct|zerocopy): .* for .*: .*B/s$' "$TMP/stderr" | grep -cEx "$measured")" -eq 1 ] &&
        grep -Eq "^chosen     ($chosen)\$" "$TMP/stderr" && grep -q "$reason" "$TMP/stderr" ||
        { fail "auto: $*"; cat "$TMP/stderr"; }
}
auto 'full|volume|double|zerocopy' '[3-6]' '' stream-netflix --size 20000 --buffer 16KiB --blocks 2 --threads 32
auto double 0 'unmeasured .* fit the buffers of 64.0 KiB' stream-netflix --size 1000 --buffer 64KiB
auto full 0 'with address threads, and reads 3[0-9] %' stream-netflix --size 3000 --buffer 64KiB --blocks 2 --threads 32
auto full 0 'streamed with windows' stream-affinity --size 3000 --buffer 64KiB --blocks 2 --threads 32
auto full 0 'streamed with windows' stream-opinion --size 3000 --buffer 64KiB --blocks 2 --threads 32
auto double 0 'with address threads, and reads 7[0-9] %' stream-opinion --addresses --size 3000 --buffer 64KiB --blocks 2 --threads 32
auto double 0 'with address threads, and reads 7[0-9] %' stream-opinion --addresses --size 30000 --buffer 1MiB --page-locked
auto full 0 'streamed with windows' stream-affinity --size 3000 --buffer 64KiB --blocks 2 --threads 32 --page-locked
auto direct 0 'with address threads, and reads 7[0-9] %' stream-opinion --addresses --size 3000 --buffer 64KiB --blocks 2 --threads 32 --page-locked
auto full 0 'with address threads, and reads 3[0-9] %' stream-netflix --size 3000 --buffer 64KiB --blocks 2 --threads 32 --page-locked

[ "$failures" -eq 0 ]
