#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No set of policies stops: four programs, in memory of 2 MiB, end with their right results under every prefetcher with
# every evictor. Migration policy, fault service, UVMSmart's choices, program and ratio take turns; with
# WARPAGE_TEST_PRODUCT=full every pair meets all of them (hours). tests/model/test_sim_every_policy.c runs the product
# without computing results.
set -u
failures=0
cd "$TMP" || exit 1
"$WPCC" -O2 "$E2E/sim/policies_end.cu" -o program || exit 1

names() { "$WARPAGE" policies "$1" --format csv | tail -n +2 | cut -d, -f2; }
one_of() { # number, words…
    i=$(($1 % ($# - 1)))
    shift
    shift "$i"
    echo "$1"
}
try() { # program, percent, options…
    name=$1 percent=$2
    shift 2
    "$WARPAGE" run --device sim:gtx1080ti --set gpu.memory=2MiB "$@" -- ./program "$name" $((2048 * percent / 100)) >out 2>&1 || {
        echo "$name, $percent %: $*: $(grep -v '^  ' out | head -n 3)"
        failures=1
    }
}

all() {
    for evict in $(names evict); do for prefetch in $(names prefetch); do for migrate in $(names migrate); do
        [ "$migrate" != zero-copy ] || [ "$prefetch" = none ] || continue
        for service in drained pipelined serial added batch; do for choices in "" "--as uvmsmart"; do
            for percent in 105 125 200; do for program in stream sweep gather update; do
                try "$program" "$percent" $choices --set paging.prefetch="$prefetch" --evict "$evict" --migrate "$migrate" \
                    --set paging.service="$service"
            done; done
        done; done
    done; done; done
}
some() {
    number=0
    for evict in $(names evict); do
        for prefetch in $(names prefetch); do
            number=$((number + 1))
            migrate=$(one_of $((number + number / 5)) first-touch oversub adaptive always payback)
            service=$(one_of "$number" added drained batch pipelined serial)
            percent=$(one_of $((number + number / 3)) 105 125 200)
            program=$(one_of $((number + number / 4)) stream sweep gather update)
            try "$program" "$percent" $(one_of $((number + number / 2)) "" "--as uvmsmart") --prefetch "$prefetch" \
                --evict "$evict" --migrate "$migrate" --set paging.service="$service"
        done
        try "$program" "$percent" --set paging.prefetch=none --migrate zero-copy --evict "$evict"
    done
}
if [ "${WARPAGE_TEST_PRODUCT:-}" = full ]; then all; else some; fi

# Victims that leave in several runs after the last page that arrives.
"$WARPAGE" run --device sim:gtx1080ti --as uvmsmart --oversubscribe 133% --migrate oversub --evict tree -- \
    "$(dirname "$WPCC")/../apps/sssp" --memory managed --size 6MB --graph uniform --check >out 2>&1 || {
    echo "sssp: $(head -n 3 out)"
    failures=1
}
exit $failures
