#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Probes simulated GPUs whose TLBs were drawn at random, and compares what was found with what they have:
#
#     tools/probe-check.sh BUILD [COUNT [SEED]]       e.g. tools/probe-check.sh build/release 20 1
#
# Each is a K80 with other TLBs: 3 levels, fully associative or in sets, pages of 64 to 256 KiB and of 1 to 16 of
# them an entry, any delays, shared by SM, GPC or all. Found must be: entries, bytes of an entry, sets, ways, groups
# of SMs, and delays to half a cycle. Prints a line a GPU; exit status 0 when all are right, 1 if not, 2 wrong usage.
set -u
[ $# -ge 1 ] && [ -x "$1/bin/warpage" ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
warpage=$(cd "$1/bin" && pwd)/warpage
count=${2:-20} seed=${3:-1}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/probe-check.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

# Settings, and what the probe should say of them.
draw() { # number
    awk -v seed="$seed" -v number="$1" -v keys="$tmp/keys" -v wanted="$tmp/wanted" '
        function pick(first, last) { return first + int(rand() * (last - first + 1)) }
        function power(first, last) { return 2 ^ pick(first, last) }
        function key(name, value) { print name "=" value >keys }
        function level(n, entries, ways, bytes, shared, groups, sets) {
            sets = ways == 0 ? 1 : entries / ways
            key("tlb.l" n ".entries", entries)
            key("tlb.l" n ".ways", ways)
            key("tlb.l" n ".coverage", bytes / 1024 "KiB")
            key("tlb.l" n ".fill", 0)
            key("tlb.l" n ".sharing", shared)
            printf "l%d.entries %d\nl%d.page_bytes %.12g\nl%d.sets %d\nl%d.ways %d\n", n, entries, n, bytes, n, sets, n,
                ways == 0 ? entries : ways >wanted
            printf "l%d.miss_cycles %d\nl%d.groups %d\n", n, delay[n], n, groups >wanted
        }
        BEGIN {
            srand(seed * 1000 + number)
            delay[1] = pick(6, 30); delay[2] = pick(30, 90); delay[3] = pick(100, 300)
            page = 65536 * power(0, 2)
            wide = page * power(0, 4)
            key("page.bytes", page / 1024 "KiB")
            key("tlb.l2.latency", delay[1] "cycles")
            key("tlb.l3.latency", delay[2] "cycles")
            key("walker.level_latency", delay[3] "cycles")
            first = pick(8, 40)
            level(1, first, 0, page, "sm", 13)
            least = 2 * first # or loads that miss L1 miss L2, too, and L2 cannot be detected
            second = pick(24, 96)
            if (second < least) second = int(least) + pick(1, 20)
            ways = 0
            if (rand() < 0.5) { ways = pick(4, 8); second = ways * power(2, 4); if (second < least) second = ways * 2 ^ int(log(least / ways) / log(2) + 1) }
            level(2, second, ways, wide, "gpc", 5)
            third = pick(4, 12) * power(4, 7)
            while (third < 4 * second) third *= 2
            for (ways = 4; third % ways != 0;) ways++
            while (third / ways > 128) ways *= 2
            level(3, third, ways, wide, "gpu", 1)
        }' </dev/null
}

# What differs: "l2.ways 8, not 4".
compare() {
    awk 'NR == FNR { found[$1] = $2; next }
        { near = $1 ~ /cycles/ ? 0.5 : 0 }
        !($1 in found) { printf " %s unknown, not %s;", $1, $2; next }
        found[$1] - $2 > near || $2 - found[$1] > near { printf " %s %s, not %s;", $1, found[$1], $2 }' \
        "$tmp/found" "$tmp/wanted"
}

wrong=0 number=1
while [ "$number" -le "$count" ]; do
    draw "$number"
    set --
    while read -r row; do set -- "$@" --set "$row"; done <"$tmp/keys"
    began=$(date +%s)
    "$warpage" probe --device sim:k80 "$@" --format values >"$tmp/found" 2>"$tmp/said" || cat "$tmp/said"
    differences=$(compare)
    what=$(awk '$1 ~ /entries|ways|page_bytes/ { printf " %s", $2 }' "$tmp/wanted")
    if [ -z "$differences" ]; then
        echo "right$what  $(($(date +%s) - began)) s"
    else
        echo "WRONG$what: seed $seed, number $number:$differences  $(($(date +%s) - began)) s"
        wrong=$((wrong + 1))
    fi
    number=$((number + 1))
done
echo "$((count - wrong)) of $count right"
[ "$wrong" -eq 0 ]
