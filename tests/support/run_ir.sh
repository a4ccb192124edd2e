#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the RUN lines of one file of tests/ir:    run_ir.sh <wpcc> <FileCheck> <file>
# A line `// RUN: command` (or `; RUN: command` in .ll) is run by sh; several are one script that stops
# at the first failure. %wpcc, %s (the file), %t (a temporary name), FileCheck and
# trace_show (tests/trace/show.c) are replaced.
set -u
wpcc=$1 filecheck=$2 source=$3
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
sed -n 's%^\(//\|;\) *RUN: *%%p' "$source" | sed \
    -e "s|%wpcc|$wpcc|g" -e "s|%s|$source|g" -e "s|%t|$tmp/t|g" \
    -e "s|trace_show|$(dirname "$wpcc")/../tests/trace_show|g" -e "s|FileCheck|$filecheck|g" >"$tmp/script"
if [ ! -s "$tmp/script" ]; then
    echo "$source: no RUN line"
    exit 1
fi
cd "$tmp" || exit 2
if ! bash -e -o pipefail "$tmp/script" >"$tmp/log" 2>&1; then
    echo "FAILED: $source"
    sed 's/^/  $ /' "$tmp/script"
    cat "$tmp/log"
    exit 1
fi
