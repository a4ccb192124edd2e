#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All programs on a real GPU:    gpu_check.sh <build folder>
# Exit status 77 without one. The results are left in <build folder>/gpu-results.
set -u
build=$1
"$build/bin/warpage" devices --format=csv | grep -q '^cuda:0,yes,' || exit 77
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
"$(dirname "$0")/../../tools/gpu-check.sh" pack "$build" "$tmp/packed" || exit 1
"$tmp/packed/gpu-check.sh" run "$build/gpu-results"
