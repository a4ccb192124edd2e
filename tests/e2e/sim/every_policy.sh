#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every policy of unified memory with every other: in compare, each has a row; in run, the time that compare has.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/pages_by_allocation.cu" -o program || exit 1

fail() {
    echo "$1"
    failures=1
}
names() { "$WARPAGE" policies "$1" --format csv | tail -n +2 | cut -d, -f2; }
list() { names "$1" | tr '\n' ',' | sed 's/,$//'; }
count() { names "$1" | wc -l; }
compare() { # file, options…
    file=$1
    shift
    "$WARPAGE" compare --device sim:gtx1080ti --oversubscribe 150% --format csv "$@" -- ./program >"$file" 2>err || fail "$*: $(cat err)"
}
rows() { [ $(($(wc -l <"$1") - 1)) -eq "$2" ] && ! grep -q ',,' "$1" || fail "not $2 whole rows: $(cat "$1")"; }

compare bring --vary prefetch="$(list prefetch)" --vary evict="$(list evict)"
rows bring $(($(count prefetch) * $(count evict)))
compare stay --set prefetch=none --vary migrate="$(list migrate)" --vary evict="$(list evict)"
rows stay $(($(count migrate) * $(count evict)))
compare fight --vary thrash="$(list thrash)" --vary service=drained,serial,added,batch
rows fight $(($(count thrash) * 4))

time_ns() { sed -n 's/^run,,,,,\([0-9]*\),.*/\1/p' "$1"; }
same() { # expected row's beginning, its table, options…
    row=$1 table=$2
    shift 2
    "$WARPAGE" run --device sim:gtx1080ti --oversubscribe 150% --report r.csv "$@" -- ./program >out 2>&1 || fail "$*: $(cat out)"
    expected=$(grep "^$row," "$table" | cut -d, -f5)
    [ "$(time_ns r.csv)" = "$expected" ] || fail "$*: $(time_ns r.csv) ns, in compare $expected"
}
for prefetch in $(names prefetch); do
    same "$prefetch,lru-2m" bring --prefetch "$prefetch" --evict lru-2m
done
for evict in $(names evict); do
    same "none,$evict" bring --prefetch none --evict "$evict"
done
for migrate in $(names migrate); do
    same "$migrate,lfu-2m" stay --set prefetch=none --evict lfu-2m --migrate "$migrate"
done
exit $failures
