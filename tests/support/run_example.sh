#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one example as its first lines tell the reader to:    run_example.sh <folder of wpcc> <file.cu>
# The command is the `wpcc … && ./…` in the opening comment. It must exit with 0 and print something.
# DEVICES names the device to run on, as in tests/e2e/run.sh.
set -u
export WARPAGE_DEVICE=${DEVICES:-cpu}
bin=$(cd "$1" && pwd) || exit 2
source=$2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
command=$(sed -n '1,6s%.*\(wpcc .* && \./[^*]*\).*%\1%p' "$source" | head -n 1)
if [ -z "$command" ]; then
    echo "$source: its first lines do not say how to compile and run it"
    exit 1
fi
cp "$source" "$tmp" && cd "$tmp" || exit 2
PATH=$bin:$PATH
echo "$command"
sh -c "$command" >output 2>&1
status=$?
cat output
[ $status -eq 0 ] && [ -s output ]
