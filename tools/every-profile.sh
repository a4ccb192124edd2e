#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Feature programs on every simulated GPU of configs/: each is compiled once and run on all of them.
#
#     tools/every-profile.sh BUILD [program...]     e.g. tools/every-profile.sh build/dev shuffle clocks
#
# Without names: all programs of tests/e2e, but those whose first lines name devices that they need. By
# environment: PROFILES ("k80 p100"; all), TIMEOUT_S (200, of a run). Says what failed, and why.
# Exit status: 0 all passed, 1 some failed, 2 wrong usage.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] && [ -x "$1/bin/wpcc" ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bin=$(cd "$1/bin" && pwd)
shift
timeout_s=${TIMEOUT_S:-200}
profiles=${PROFILES:-$(cd "$root/configs" && ls ./*.ini | sed 's|^\./||; s|\.ini$||')}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/profiles.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

header() { sed -n "1,12s|^// $2: *||p" "$1"; }

if [ $# -eq 0 ]; then
    for file in "$root"/tests/e2e/*.cu; do
        [ -n "$(header "$file" DEVICES)" ] || set -- "$@" "$(basename "$file" .cu)"
    done
fi

runs=0 failed=0
for name in "$@"; do
    file=$root/tests/e2e/$name.cu
    [ -f "$file" ] || { echo "every-profile.sh: no such program: $name" >&2; exit 2; }
    # shellcheck disable=SC2046  # flags are words
    if ! "$bin/wpcc" $(header "$file" FLAGS) "$file" -o "$tmp/$name" >"$tmp/out" 2>&1; then
        echo "FAIL $name: compilation" && head -n 5 "$tmp/out"
        failed=$((failed + 1))
        continue
    fi
    for profile in $profiles; do
        runs=$((runs + 1))
        # shellcheck disable=SC2046
        env WARPAGE_DEVICE="sim:$profile" $(header "$file" ENV) timeout "$timeout_s" "$tmp/$name" \
            >"$tmp/out" 2>&1 </dev/null
        status=$?
        [ $status -eq 0 ] && grep -q '^PASS$' "$tmp/out" && continue
        failed=$((failed + 1))
        echo "FAIL $name on $profile: exit status $status" && tail -n 3 "$tmp/out" | sed 's/^/    /'
    done
    rm -f "$tmp/$name"
done
echo "$runs runs on: $(echo $profiles): $failed failed"
[ $failed -eq 0 ]
