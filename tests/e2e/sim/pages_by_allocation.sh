#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All forms of the report list paging by allocation, and the numbers add up to the run's counters.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/pages_by_allocation.cu" -o program || exit 1

fail() {
    echo "$1"
    failures=1
}
# Sums of the CSV's columns over rows of a kind: "far_faults fetched made …"
sums() {
    awk -F, -v kind="$1" -v names="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) { sub(/\r/, "", $i); at[$i] = i } }
        $1 == kind { for (i = 1; i <= split(names, name, " "); i++) sum[i] += $at["paging_" name[i]] }
        END { for (i = 1; i <= split(names, name, " "); i++) printf "%d ", sum[i] }' r.csv
}
all="far_faults fetched made evicted thrashed remote host_fetched sent_back returned"
add_up() { # options…
    "$WARPAGE" run --device sim:gtx1080ti --report r.csv "$@" -- ./program >out 2>&1 || fail "$*: $(cat out)"
    [ "$(sums allocation "$all")" = "$(sums run "$all")" ] ||
        fail "$*: by allocation $(sums allocation "$all"), in all $(sums run "$all")"
}
moved() { # what must have happened at all
    for name in $1; do
        [ "$(sums run "$name")" -gt 0 ] || fail "no $name: $(cat r.csv)"
    done
}

add_up --prefetch tree
moved "far_faults fetched made host_fetched sent_back"
row() { awk -F, -v name="$1" '$1 == "allocation" && $2 == name' r.csv | wc -l; }
[ "$(row walked)" -eq 1 ] && [ "$(row shared)" -eq 1 ] && [ "$(row scattered)" -eq 1 ] && [ "$(row variables)" -eq 1 ] || fail "names: $(cut -d, -f1,2 r.csv)"
add_up --oversubscribe 150% --prefetch tree --evict lru-2m
moved "evicted thrashed"
add_up --oversubscribe 150% --prefetch none --evict lru-4k --set zero_fill=off
add_up --oversubscribe 150% --migrate adaptive --prefetch sequential-local
moved "remote"
add_up --oversubscribe 150% --set service=batch --prefetch driver --evict driver --set thrash=driver
moved "evicted"
add_up --as uvmsmart --oversubscribe 120% # more pages come than the program has
moved "returned"
add_up --migrate zero-copy --prefetch none
moved "remote"
# Of what selected launches do, only that.
add_up --oversubscribe 150% --kernels scatter
[ "$(row walked)" -eq 0 ] || fail "a launch that was not asked for is counted"

# The same in the other forms.
for form in json txt html; do
    "$WARPAGE" run --device sim:gtx1080ti --oversubscribe 150% --report "r.$form" -- ./program >out 2>&1 || fail "$(cat out)"
done
"$WARPAGE" run --device sim:gtx1080ti --oversubscribe 150% --report r.csv -- ./program >out 2>&1 || fail "$(cat out)"
faults=$(sums run far_faults)
[ "$(sed -n 's/^ *"far_faults": \([0-9]*\).*/\1/p' r.json | awk '{ sum += $1 } END { printf "%d ", sum }')" = "$faults" ] || fail "JSON: $faults"
[ "$(sed -n '/^  managed memory/,/^$/p' r.txt | awk 'NR > 1 && NF { sum += $(NF - 5) } END { printf "%d ", sum }')" = "$faults" ] ||
    fail "text: $faults, $(sed -n '/^  managed memory/,/^$/p' r.txt)"
grep -q 'aria-label="Pages of managed memory, by allocation"' r.html || fail "not in HTML"
# Where pages do not move there is nothing to tell.
"$WARPAGE" run --device sim:k80 --set paging.on=off --report r.txt -- ./program >out 2>&1
grep -q '^  managed memory' r.txt && fail "moves where nothing moves"
exit $failures
