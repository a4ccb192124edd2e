#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CTAs that are done give their places to others at once, or when no page is on its way (paging.cta_ends): 60 KiB, which
# take 8,240 cycles, come behind the page that they waited for.
set -u
failures=0
"$WPCC" -O2 "$E2E/sim/cta_ends.cu" -o "$TMP/cta_ends" || exit 1

cycles() {
    "$WARPAGE" run --device sim:gtx1080ti --prefetch sequential-local "$@" -- "$TMP/cta_ends" >"$TMP/out" 2>&1 ||
        { cat "$TMP/out"; exit 1; }
    sed -n 's/^cycles: //p' "$TMP/out"
}
at_once=$(cycles) || exit 1
quiet=$(cycles --set cta_ends=quiet) || exit 1
[ "$at_once" -lt 2000 ] || { echo "done: the last CTA begins $at_once cycles later"; failures=1; }
[ "$quiet" -gt 7500 ] || { echo "quiet: the last CTA begins $quiet cycles later"; failures=1; }
exit $failures
