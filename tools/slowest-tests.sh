#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests that took longest, and each label's sum, from what ctest noted of the runs in a build folder:
#     tools/slowest-tests.sh [BUILD [COUNT]]      build/release and 20 if nothing is said
# Seconds are wall time, averaged over runs: compare them on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
costs=${1:-build/release}/Testing/Temporary/CTestCostData.txt
[ -f "$costs" ] || { echo "slowest-tests.sh: $costs is missing: run ctest there first" >&2; exit 1; }
sed '/^---/,$d' "$costs" | sort -k3,3nr | awk -v count="${2:-20}" '
    NR <= count { printf "%8.1f s  %s\n", $3, $1 }
    { label = $1; sub(/\..*/, "", label); sum[label] += $3; tests[label]++ }
    END { for (label in sum) printf "%8.1f s  all of %s, %d tests\n", sum[label], label, tests[label] | "sort -k1,1nr" }'
