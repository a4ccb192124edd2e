#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs one case of tests/cli in an empty folder and compares what it promises:
#     run_cli.sh <folder of the programs> <case.sh>
# Beside case.sh may lie: case.sh.stdout.exact or .glob, case.sh.stderr.exact or .glob, case.sh.exit
# (default 0). A .glob file is one shell pattern for the whole output: * also spans lines; put a
# backslash before a literal * ? [. The case finds its own folder in $CASES.
set -u
bin=$(cd "$1" && pwd) || exit 2
case_file=$2
CASES=$(cd "$(dirname "$case_file")" && pwd) || exit 2
case_file=$CASES/$(basename "$case_file")
PATH=$bin:$PATH
export CASES PATH
unset WARPAGE_LOG WARPAGE_DEVICE WARPAGE_DEVICE_MEMORY WARPAGE_WORKERS WARPAGE_CHECK
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/here" && cd "$tmp/here" || exit 2

sh "$case_file" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null
status=$?
want=0
[ -f "$case_file.exit" ] && want=$(cat "$case_file.exit")

failed=0
complain() {
    failed=1
    echo "FAILED: $1"
}
[ "$status" -eq "$want" ] || complain "exit status $status, expected $want"
promises=0
for stream in stdout stderr; do
    if [ -f "$case_file.$stream.exact" ]; then
        promises=1
        diff -u "$case_file.$stream.exact" "$tmp/$stream" || complain "$stream differs"
    fi
    if [ -f "$case_file.$stream.glob" ]; then
        promises=1
        # shellcheck disable=SC2254  # a pattern is wanted
        case $(cat "$tmp/$stream") in
        $(cat "$case_file.$stream.glob")) ;;
        *) complain "$stream does not match $case_file.$stream.glob" ;;
        esac
    fi
done
[ $promises -eq 1 ] || [ -f "$case_file.exit" ] || complain "the case promises nothing"
if [ $failed -ne 0 ]; then
    echo "---- stdout" && cat "$tmp/stdout"
    echo "---- stderr" && cat "$tmp/stderr"
fi
exit $failed
