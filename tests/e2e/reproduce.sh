#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A figure run again gives what is recorded.
set -eu
"$WARPAGE" reproduce --list --format csv tlb-damon17/table2 >"$TMP/recorded"
"$WARPAGE" reproduce --format csv tlb-damon17/table2 >"$TMP/again"
diff "$TMP/recorded" "$TMP/again"

# Claims about the reports of apps, over several runs, in a tree of their own.
prefix=$(dirname "$(dirname "$WARPAGE")")
mkdir -p "$TMP/bin" "$TMP/lib/warpage/repro/paper/figure"
cp "$WARPAGE" "$TMP/bin"
ln -s "$prefix"/lib/lib* "$TMP/lib"
ln -s "$prefix/apps" "$TMP/lib/warpage/apps"
write() { # claim
    cat >"$TMP/lib/warpage/repro/paper/figure/claims.json" <<CLAIMS
{"title": "Walks", "source": "nowhere", "program": "apps",
 "runs": {"all": {"device": "sim:gtx1080ti", "arguments": ["hotspot", "--size", "3000", "--iterations", "2"]},
          "ahead": {"device": "sim:gtx480-paged", "set": "paging.prefetch=oracle", "arguments": ["backprop", "--size", "4K", "--memory", "managed"]},
          "shared": {"device": "sim:gem5-16sm", "set": "tlb_sharing.policy=neidty", "arguments": ["triad", "--size", "4K"]},
          "half": {"device": "sim:gtx1080ti", "set": "sm.warps=8", "arguments": ["hotspot", "--size", "3000", "--iterations", "1"]}},
 "claims": [{"claim": "c", "run": "all", "unit": "u", $1}]}
CLAIMS
}
claim() { # claim, verdict
    write "$1"
    "$TMP/bin/warpage" reproduce --format csv paper/figure >"$TMP/out" 2>/dev/null
    grep -q ",c,.*,u,$2," "$TMP/out" || { echo "$1:"; cat "$TMP/out"; exit 1; }
}
claim '"ascending": ["half:kernel_ctas", "kernel_ctas"]' 'same shape'
claim '"ascending": ["kernel_ctas", "half:kernel_ctas"]' differs
claim '"value": ["kernel_ctas", "-half:kernel_ctas"], "published": 9' reproduced
claim '"value": ["kernel_ctas"], "published": 0' differs
claim '"value": {"over": ["kernel_ctas", "half:kernel_ctas"]}, "published": 1.5' reproduced
claim '"value": {"max": ["copy_h2d_time_ns", {"over": ["simulated_time_ns", 2]}]}, "published": 0' differs
# A run before has noted what is used when: nearly all pages are there ahead of need.
claim '"ascending": [0, {"over": ["ahead:paging_demanded", "ahead:paging_prefetched"]}, 0.5]' 'same shape'
# Some of them came before the second of two kernels began.
claim '"ascending": [-1, "paging_between_kernels_ns", "ahead:paging_between_kernels_ns", {"over": ["ahead:paging_link_to_device_ps", 1000]}]' 'same shape'
# What TLBs that query each other need: 16 directories of 32 entries of 22 bits.
claim '"value": "shared:tlb_directory_bits", "published": 11264, "tolerance": 0' reproduced
claim '"value": "tlb_directory_bits", "published": 0, "tolerance": 0' reproduced
# A source's own values, or with "report" its report's.
cat >"$TMP/lib/warpage/repro/paper/figure/own.cu" <<'SOURCE'
#include <stdio.h>
__global__ void count(int *sum) { atomicAdd(sum, 1); }
int main(int argc, char **argv)
{
    int *sum;
    cudaMallocManaged(&sum, 4);
    count<<<argc, 1>>>(sum);
    printf("arguments %d\n", argc);
    return cudaDeviceSynchronize();
}
SOURCE
ln -sf "$prefix/bin/wpcc" "$TMP/bin/wpcc"
ln -s "$prefix/include" "$TMP/include"
own() { # members, value, verdict
    cat >"$TMP/lib/warpage/repro/paper/figure/claims.json" <<CLAIMS
{"title": "Own", "source": "nowhere", "program": "own.cu", $1
 "runs": {"all": {"device": "sim:gtx1080ti", "arguments": ["one", "two"]}},
 "claims": [{"claim": "c", "run": "all", "unit": "u", "value": "$2", "published": 3}]}
CLAIMS
    "$TMP/bin/warpage" reproduce --format csv paper/figure >"$TMP/out"
    grep -q ",c,.*,u,reproduced," "$TMP/out" || { echo "$1:"; cat "$TMP/out"; exit 1; }
}
own '' arguments
own '"report": true,' kernel_ctas
write '"value": ["neither:kernel_ctas"]'
"$TMP/bin/warpage" reproduce paper/figure >"$TMP/out" 2>&1 && { echo "a value of no run is taken"; exit 1; }
grep -q 'claim 1 lacks its claim, unit, or value, or a run' "$TMP/out"
write '"value": ["half:nothing"]'
"$TMP/bin/warpage" reproduce paper/figure >"$TMP/out" 2>&1 && { echo "a value that no run gives is taken"; exit 1; }
grep -q "'c': no run has given 'half:nothing'" "$TMP/out"
rm "$TMP/lib/warpage/apps"
"$TMP/bin/warpage" reproduce paper/figure >"$TMP/out" 2>&1 && { echo "an app that is not there runs"; exit 1; }
grep -q 'lib/warpage/apps/hotspot is missing: the app does not exist, or the installation is incomplete' "$TMP/out"
