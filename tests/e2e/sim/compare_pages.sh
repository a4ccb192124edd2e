#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --pages of compare and of trace replay: for each combination what `run` with the same settings writes, and a page with all pictures.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/page_history.cu" -o history || exit 1

fail() {
    echo "$1"
    failures=1
}
tables() { (cd "$1" && cat pages.csv time.csv link.csv); }

"$WARPAGE" compare --device sim:gtx1080ti --pages both --vary prefetch=none,tree --vary prefetch_threshold=25%,50% --format csv -- ./history >csv 2>err ||
    fail "$(cat err)"
[ "$(find both -type d | wc -l)" -eq 5 ] || fail "folders: $(find both)"
grep -q '^prefetch,prefetch_threshold,.*,far_faults,pages_fetched,pages_fetched_again,remote_accesses,' csv || fail "columns: $(head -n 1 csv)"
for prefetch in none tree; do
    "$WARPAGE" run --device sim:gtx1080ti --prefetch $prefetch --set prefetch_threshold=50% --pages run -- ./history >out 2>&1 || fail "$(cat out)"
    tables run >expected
    tables "both/prefetch=$prefetch,prefetch_threshold=50%" >got
    cmp -s expected got || fail "$prefetch: not as run has it"
    faults=$(awk -F, 'NR > 1 { sum += $6 } END { print sum }' run/pages.csv)
    grep -q "^$prefetch,50%,.*,$faults," csv || fail "$prefetch: $faults far faults: $(cat csv)"
done
if command -v gnuplot >/dev/null; then
    [ "$(grep -c '<img src="./prefetch=\(none\|tree\),prefetch_threshold=\(25\|50\)%25/' both/index.html)" -eq 16 ] || fail "pictures: $(cat both/index.html)"
    [ "$(grep -c '<svg' run/index.html)" -eq 4 ] || fail "run's page lacks pictures"
fi
"$WARPAGE" trace record -o t.wpt -- ./history >out 2>&1 || fail "$(cat out)"
"$WARPAGE" trace replay --device sim:gtx1080ti --set prefetch=tree --set prefetch_threshold=50% --pages replayed t.wpt >out 2>err || fail "$(cat err)"
tables run >expected
tables replayed >got
cmp -s expected got || fail "a replay: not as run has it"

# Asked for in time; nothing is made of what cannot be had.
mkdir -p "other/prefetch=tree" && echo mine >"other/prefetch=tree/notes"
"$WARPAGE" compare --device sim:gtx1080ti --pages other --vary prefetch=none,tree -- ./history >out 2>err && fail "somebody's folder is taken"
grep -q "notes.*which is not part of a report" err && [ ! -s out ] || fail "$(cat err)"
"$WARPAGE" trace replay --device sim:gtx1080ti --pages other/prefetch=tree t.wpt >out 2>err && fail "somebody's folder is taken"
"$WARPAGE" trace replay --device sim:gtx1080ti --set paging.on=off --pages none t.wpt >out 2>err && fail "pages that do not move are taken"
grep -q 'pages do not migrate' err && [ ! -e none ] || fail "$(cat err)"
exit $failures
