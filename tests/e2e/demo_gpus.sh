#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo's comparison of GPUs: its workload fills each of them, and the row that is marked best has the least time.
set -u
case $DEVICES in cpu) ;; *) exit 77 ;; esac
app=$(dirname "$WPCC")/../apps/triad
[ -x "$app" ] || { echo "the apps are not built"; exit 77; }
size=$(sed -n 's/.*-- triad --size \([0-9A-Z]*\)"$/\1/p' "$E2E/../../tools/demo.sh")
gpus=$(sed -n 's/^ *gpus=//p' "$E2E/../../tools/demo.sh")
[ -n "$size" ] && [ -n "$gpus" ] || { echo "the demo compares nothing"; exit 1; }
"$WARPAGE" compare --vary "device=$gpus" --show occupancy_pct --format csv -- "$app" --size "$size" >"$TMP/csv" 2>"$TMP/err" ||
    { cat "$TMP/err"; exit 1; }
tr -d '\r' <"$TMP/csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { time = $at["kernel_time_ns"]; if (least == "" || time < least) { least = time; fastest = $1 }
      if ($at["mark"] == "best") best = $1
      if ($at["occupancy_pct"] < 50) { print $1 " is not filled: " $at["occupancy_pct"]; bad = 1 } }
    END { if (best != fastest || NR != 4) { print best " is marked, " fastest " is the fastest"; bad = 1 }; exit bad }'
