# SPDX-License-Identifier: Apache-2.0
# examples/pagerank_mapreduce.cu, a job of several rounds, beside a serial PageRank in Python with the same whole numbers:
# every rank is equal, on the CPU with 1 and 2 workers, on a simulated GPU and on the driver's stand-in, with memory for
# all pairs and in several passes; a graph with comments, pages without links, and links that come twice; bad input.
set -eu
command -v python3 >/dev/null || exit 77
cd "$TMP"
"$WPCC" -O2 "$E2E/../../examples/pagerank_mapreduce.cu" -o pagerank
LC_ALL=C awk 'BEGIN {
    srand(5)
    print "# from to\n"
    for (i = 0; i < 1500; i++) printf "%d%s%d\n", 300 * rand(), i % 2 ? "\t" : " ", 70000 + 300 * rand() ^ 2 / 300
    for (i = 0; i < 600; i++) printf "%d %d\n", 70000 + 300 * rand(), 300 * rand()
    print "7 7\n7 7"
}' >edges.txt
cat >serial.py <<'END'
import sys
ONE = 1 << 50
links = {}
for line in open(sys.argv[1]):
    if line[:1].isdigit():
        start, end = map(int, line.split())
        links.setdefault(start, []).append(end)
        links.setdefault(end, [])
ranks = dict.fromkeys(links, ONE // len(links))
for _ in range(int(sys.argv[2])):
    kept = sum(ranks[page] for page in links if not links[page])
    least = (ONE - ONE * 85 // 100 + kept * 85 // 100) // len(links)
    sums = dict.fromkeys(links, least)
    for page, ends in links.items():
        for end in ends:
            sums[end] += ranks[page] * 85 // 100 // len(ends)
    ranks = sums
for page in sorted(ranks):
    print(f"{page}\t{ranks[page] / ONE:.12f}")
END
python3 serial.py edges.txt 4 >wanted

ranks() { # label, passes of each round: 1, or more
    rm -f ranks.txt
    ./pagerank edges.txt 4 >report 2>errors || { echo "$1:" && cat errors && exit 1; }
    cmp wanted ranks.txt || { echo "$1: other ranks than the serial ones" && cat report && exit 1; }
    [ "$(grep -c '^round' report)" -eq 5 ] || { echo "$1: not five rounds" && cat report && exit 1; }
    case $2 in
    1) ! grep -q 'passes: [^1]' report ;;
    *) ! grep -q 'passes: 1$' report ;;
    esac || { echo "$1: other passes" && cat report && exit 1; }
}
case $DEVICES in
cpu) ways="cpu-1 cpu-2 sim:gtx780ti-1" ;;
*) ways="$DEVICES-1" ;;
esac
for way in $ways; do
    export WARPAGE_DEVICE="${way%-*}" WARPAGE_WORKERS="${way##*-}"
    ranks "$way" 1
    HEAP=8192 ranks "$way, a small heap" more
done
export WARPAGE_DEVICE="${ways%%-*}"
./pagerank >report # the example's own graph
[ "$(wc -l <ranks.txt)" -eq 4 ]
sort -k2,2nr ranks.txt | head -n 1 | grep -q '^3	'

fails() { # message, arguments...
    message=$1
    shift
    if ./pagerank "$@" >report 2>errors; then echo "pagerank $*: succeeded" && exit 1; fi
    grep -q "$message" errors || { echo "pagerank $*: does not say '$message':" && cat errors && exit 1; }
    [ "$(wc -l <errors)" -eq 1 ]
}
printf '# nothing\n' >none.txt
fails 'no line "from to"' none.txt
fails "no such file" missing.txt
