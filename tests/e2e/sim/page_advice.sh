#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cudaMemPrefetchAsync moves pages without faults, in both directions; pages whose preferred location is the host are used
# across the link; read-mostly ones are on both sides until they are written. 1024 pages, prefetching by faults off.
set -u
"$WPCC" -O2 "$E2E/sim/page_advice.cu" -o "$TMP/page_advice" || exit 1
. "$E2E/../support/page_counts.sh"

# far_faults fetched requested sent_back remote host_faults
check() { # what, counts
    report --prefetch $prefetch -- "$TMP/page_advice" "$1"
    expect "$1" "$(counts far_faults fetched requested sent_back remote host_faults)" "$2 "
    expect_replay "$TMP/page_advice" "$1"
}
check to_device "512 1024 512 0 0 0"
check to_host "1536 1536 0 512 0 0"
check stays "512 512 0 0 512 0"
check read_mostly "1024 1024 0 0 0 512"
prefetch=sequential-local # of which the host gets nothing
check prefers "1152 1152 0 0 0 128"
# What is there as a whole is one page of 2 MiB for TLBs, until a part of it leaves.
device=sim:p100
report --set paging.on=on --prefetch none -- "$TMP/page_advice" all
walks=$(member walker_walks) # a few, then 512 pages and one again, and a few
[ "$walks" -gt 512 ] && [ "$walks" -lt 600 ] || { echo "all: $walks page walks"; failures=1; }
exit $failures
