#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# warpage advise finds what is known to help: memory that is read rarely stays on the host, memory that is read again and again is
# prefetched, a program with one of each wants both.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/advise.cu" -o advise || exit 1

fail() {
    echo "$1"
    failures=1
}
advise() { # what, options…
    what=$1
    shift
    "$WARPAGE" advise --device sim:gtx1080ti --format csv "$@" -- ./advise "$what" >"$what.csv" 2>err || fail "$what: $(cat err)"
}
first() { sed -n 2p "$1.csv"; }
value() { # case, try, column: of its row
    grep "^\"*$2" "$1.csv" | sed 's/"[^"]*"/quoted/g' | cut -d, -f"$3"
}

advise sparse --limit 6
first sparse | grep -q '^pin all to host,' || fail "sparse: $(first sparse)"
grep -q ' more are not tried (--limit)$' err || fail "sparse: $(cat err)"
[ "$(wc -l <sparse.csv)" -eq 8 ] || fail "not 6 tries: $(cat sparse.csv)"
[ "$(value sparse 'pin all to host' 5)" -eq 0 ] || fail "pages came, although all stay: $(cat sparse.csv)"
[ "$(value sparse 'unchanged' 5)" -eq 512 ] || fail "not every page came: $(cat sparse.csv)"

advise stream --limit 4
bytes=$(((2 << 20) + 4)) # the table, and a sum that the program copies
first stream | grep -Eq '^(prefetch all before each launch|explicit copies of all),' || fail "stream: $(first stream)"
[ "$(value stream 'prefetch all' 4)" -eq 0 ] || fail "stream: far faults in spite of prefetches: $(cat stream.csv)"
[ "$(value stream 'prefetch all' 8)" -eq "$bytes" ] || fail "stream: not once over the link: $(cat stream.csv)"
[ "$(value stream 'explicit copies' 8)" -eq "$bytes" ] || fail "stream: not copied once: $(cat stream.csv)"

advise both --output kept
first both | grep -q '^pin to host: cold; prefetch: hot,' || fail "both: $(first both)"
grep -q '^explicit copies of all,.*,program,' both.csv && grep -q '^no prefetcher,.*,driver,uvm_perf_prefetch_enable=0,' both.csv ||
    fail "both: $(cat both.csv)"
"$WARPAGE" advise --device sim:gtx1080ti --output kept --format json -- ./advise both >both.json 2>err || fail "$(cat err)"
grep -q '"schema": "warpage.advise/1"' both.json || fail "json: $(cat both.json)"
[ "$(grep -c '"times_faster"' both.json)" -eq $(($(wc -l <both.csv) - 1)) ] || fail "json has other tries: $(cat both.json)"

# The same in words, with what to write; each with the time of its kernels.
"$WARPAGE" advise --device sim:gtx1080ti --output kept -- ./advise both >text 2>err || fail "$(cat err)"
sed -n '/^Change of the program, /,/^program:/p' text >say
[ "$(grep -c '^    cudaMem' say)" -eq 3 ] &&
    grep -q '^    cudaMemAdvise(cold, 2097152, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId); // 2.00 MiB by ' say &&
    grep -q '^    cudaMemAdvise(cold, 2097152, cudaMemAdviseSetAccessedBy, device);$' say &&
    grep -q '^    cudaMemPrefetchAsync(hot, 2097152, device, stream); /\* before each launch \*/ // 2.00 MiB by ' say || fail "say: $(cat text)"
grep -q '"say": "pin to host: cold; prefetch: hot"' both.json || fail "json: $(cat both.json)"
now=$(sed -n 's/^  "kernel_time_ns": \([0-9]*\),$/\1/p' both.json)
[ "$(grep '^unchanged,' both.csv | cut -d, -f13 | tr -d '\r')" = "$now" ] && [ "$now" -gt "$(sed -n 2p both.csv | sed 's/"[^"]*"/q/g' | cut -d, -f13 | tr -d '\r')" ] ||
    fail "kernels: now $now, $(cat both.csv)"

# In words: there is room for one of the two tables, one after the other.
"$WARPAGE" advise --device sim:gtx1080ti --oversubscribe 200% --limit 1 -- ./advise both >text 2>err || fail "$(cat err)"
grep -q '^Device memory is smaller than the data, but no evicted page was migrated again.$' text || fail "$(cat text)"
"$WARPAGE" advise --device sim:gtx1080ti --limit 1 -- ./advise sparse >text 2>err || fail "$(cat err)"
grep -q '^The data fits in device memory; 99.9 % of the access time is spent on far faults, all on pages accessed for the first time.$' text || fail "$(cat text)"
grep -q '^  far faults  *512$' text || fail "$(cat text)"

"$WARPAGE" advise --device sim:gtx1080ti -- ./advise device >out 2>err && fail "there is no managed memory"
grep -q 'allocates no managed memory' err || fail "$(cat err)"

# On a terminal: progress counts one by one up to a total that stays.
script -qec "'$WARPAGE' advise --device sim:gtx1080ti -j 3 -- ./advise both" seen >/dev/null </dev/null || fail "advise on a terminal"
tr -d '\r' <seen | sed -n 's/^warpage advise: \([0-9]*\) of \([0-9]*\): .*/\1 \2/p' >progress
awk '$1 <= last || $2 < $1 || (NR > 1 && $2 != total) { bad = 1 } { last = $1; total = $2 } END { exit bad || NR < 10 }' progress ||
    fail "progress: $(grep 'warpage advise' seen)"

# A replay with a hint; one of no allocation is refused.
"$WARPAGE" trace replay --device sim:gtx1080ti --hint 1=host --hint 2=prefetch --report r.json kept/*.wpt || failures=1
[ "$(sed -n 's/.*"paging_far_faults": \([0-9][0-9]*\).*/\1/p' r.json | tail -n 1)" -eq 0 ] || fail "far faults, although all is said"
# Memory is as small for a prefetch before the first launch as for any other.
"$WARPAGE" trace replay --device sim:gtx1080ti --set oversubscribe=200% --hint all=prefetch --report r.json kept/*.wpt || failures=1
[ "$(sed -n 's/.*"paging_evicted": \([0-9][0-9]*\).*/\1/p' r.json | tail -n 1)" -ge 512 ] || fail "a prefetch finds more memory than there is"
"$WARPAGE" trace replay --device sim:gtx1080ti --hint 7=host kept/*.wpt >out 2>err && fail "there is no allocation 7"
grep -q 'a hint names allocation 7, but there are 2 managed allocations' err || fail "$(cat err)"
exit $failures
