# SPDX-License-Identifier: Apache-2.0
# Runs on a simulated GPU and their counts of pages, for scripts of tests/e2e/sim:    . "$E2E/../support/page_counts.sh"
# A script ends by `exit $failures`.
device=sim:gtx1080ti
prefetch=none
failures=0

# Leaves the report in $TMP/r.json.
report() { # options... -- program, arguments
    "$WARPAGE" run --device $device --report "$TMP/r.json" "$@" >"$TMP/out" 2>&1 ||
        { echo "$*:"; cat "$TMP/out"; failures=1; }
}
# The last value of that name is the whole run's; those before are kernels'.
member() { sed -n "s/^ *\"$1\": \([0-9][0-9]*\).*/\1/p" "$TMP/r.json" | tail -n 1; }
counts() { # counters of paging
    for name in "$@"; do
        printf '%s ' "$(member "paging_$name")"
    done
}
expect() { # what, got, wanted
    [ "$2" = "$3" ] || { echo "$1: $2, expected $3"; failures=1; }
}
# A trace that was recorded where pages do not move must, replayed, give the report that the run left.
expect_replay() { # program, argument
    "$WARPAGE" trace record -o "$TMP/t.wpt" --set paging.on=off -- "$1" "$2" >/dev/null 2>&1 &&
        "$WARPAGE" trace replay --device $device --set prefetch=$prefetch --report "$TMP/t.json" "$TMP/t.wpt" || failures=1
    for name in r t; do
        grep -v '"wall_time_ns"' "$TMP/$name.json" >"$TMP/$name"
    done
    cmp -s "$TMP/r" "$TMP/t" || { echo "$2: a replay, another report"; diff "$TMP/r" "$TMP/t" | head; failures=1; }
}
