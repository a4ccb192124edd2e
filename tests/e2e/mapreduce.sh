# SPDX-License-Identifier: Apache-2.0
# examples/wordcount.cu over a generated text whose words take about four times the heap: the counts of awk, in more
# than one pass, with 1 and 2 workers and on a simulated GTX 780 Ti; over packed files; a full disk; bad files. Then
# random programs on that GPU.
set -eu
cd "$TMP"
"$WPCC" -O2 "$E2E/../../examples/wordcount.cu" -o wordcount
# Words of few and of many letters; common ones and rare ones; an empty line, CR LF, no line end at the end.
LC_ALL=C awk 'BEGIN {
    srand(7)
    for (line = 0; line < 700; line++) {
        for (i = 0; i < 9; i++) {
            n = int(6000 ^ rand()); word = line % 7 || i ? "" : "Aged"
            do { word = word substr("etaoinshrdlu", n % 12 + 1, 1); n = int(n / 12) } while (n)
            printf "%s%s", word, i % 4 ? " " : ", "
        }
        printf line % 50 ? "\n" : "\r\n\n"
    }
    printf "the end"
}' >text
LC_ALL=C awk '{
    gsub(/[^A-Za-z]+/, " ")
    for (i = 1; i <= NF; i++) count[tolower($i)]++
} END { for (word in count) printf "%s\t%d\n", word, count[word] }' text | LC_ALL=C sort >wanted
words=$(wc -l <wanted)
heap=$((words * 48 / 4 / 4096 * 4096))

counts() { # label, files...
    label=$1
    shift
    rm -f counts.txt
    ./wordcount "$@" >report 2>errors || { echo "$label:" && cat errors && exit 1; }
    cmp wanted counts.txt || { echo "$label: other counts than awk's" && cat report && exit 1; }
}
counts "all in memory" text
grep -q "^$words different words" report
for way in cpu-1 cpu-2 sim:gtx780ti-1; do
    WARPAGE_DEVICE=${way%-*} WARPAGE_WORKERS=${way##*-} HEAP=$heap counts "$way, heap of $heap" text
    grep -q '^   2 ' report || { echo "$way: one pass for $words words in $heap bytes" && cat report && exit 1; }
done
# The timeline has passes, what the host does, kernels and copies.
WARPAGE_DEVICE=sim:gtx780ti HEAP=$heap "$WARPAGE" run --timeline time.json -- ./wordcount text >/dev/null 2>&1
for event in '"pass 1","cat":"phase"' '"pass 4","cat":"phase"' '"heap to host","cat":"phase"' \
    '"gather records","cat":"phase"' '"h2d","cat":"copy"' '"cat":"kernel"' '"args":{"name":"passes"}'; do
    grep -qF "$event" time.json || { echo "the timeline has no $event" && exit 1; }
done
gzip -c text >text.gz
counts "gzip" text.gz
if command -v zstd >/dev/null; then
    zstd -q text -o text.zst
    counts "zstd" text.zst
fi
# The reference of bench/mapreduce/check.py, with letters beyond ASCII and a word longer than the 32 bytes that count.
{ cat text && printf "\nL'\303\251t\303\251, the\tetaoinshrdluetaoinshrdluetaoinshrdluetao's end"; } >more
python3 "$E2E/../../bench/mapreduce/check.py" --count more >wanted
grep -q "^etaoinshrdluetaoinshrdluetaoinsh	1$" wanted
counts "Python's count" more

fails() { # message, files...
    message=$1
    shift
    rm -f counts.txt
    if ./wordcount "$@" >report 2>errors; then echo "wordcount $*: succeeded" && exit 1; fi
    grep -q "$message" errors || { echo "wordcount $*: does not say '$message':" && cat errors && exit 1; }
    [ ! -e counts.txt ] || { echo "wordcount $*: a result is there" && exit 1; }
    [ "$(wc -l <errors)" -eq 1 ]
}
head -c 300 text.gz >cut.gz
fails "cut.gz" cut.gz
: >empty
fails "empty is empty" text empty
fails "no such file" none
fails "no input" 
(
    trap '' XFSZ
    ulimit -f 1
    fails "cannot write the result to counts.txt" text
)
[ -z "$(find . -name 'counts.txt*')" ]

"$WPCC" -O1 "$E2E/mapreduce_random.cu" -o random
CASES=5 WARPAGE_DEVICE=sim:gtx780ti ./random >out 2>&1 || { cat out && exit 1; }
