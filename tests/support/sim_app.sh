#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An app on a simulated GPU: sim_app.sh <build folder> <app> [arguments...]
# Its own serial check must hold, and stdout be the CPU device's, in step and ahead.
set -u
exe=$1/apps/$2
shift 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/app.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
WARPAGE_DEVICE=cpu "$exe" "$@" --check >"$tmp/cpu" 2>"$tmp/err" || { cat "$tmp/err"; exit 1; }
for when in auto always never; do
    WARPAGE_DEVICE=sim:p100 WARPAGE_IN_STEP=$when "$exe" "$@" --check >"$tmp/sim" 2>"$tmp/err" ||
        { echo "in step $when:"; cat "$tmp/sim" "$tmp/err"; exit 1; }
    grep -q '^check .*: equal' "$tmp/sim" || { echo "says nothing of its check"; exit 1; }
    diff "$tmp/cpu" "$tmp/sim" || exit 1
done
