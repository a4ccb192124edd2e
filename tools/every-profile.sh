#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Feature programs and apps on every simulated GPU of configs/: each is compiled once and run on all of them.
#
#     tools/every-profile.sh BUILD [--log FILE] [name...]     e.g. tools/every-profile.sh build/dev shuffle app.pvc
#     tools/every-profile.sh --table FILE                     what a log says: a row for each GPU, then what failed
#
# Without names: all programs of tests/e2e, but those whose first lines name other devices, and all apps
# (tests/support/sim_apps.txt, as app.NAME), whose output must be the CPU device's. A log has a line for each run;
# with one that is there, what has passed is not run again. By environment: PROFILES ("k80 p100"; all),
# TIMEOUT_S (200, of a run), COMPILED (a folder where the programs are). Says what failed, and why.
# Exit status: 0 all passed, 1 some failed, 2 wrong usage.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
usage() {
    sed -n '3,13s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# A log's last word on each run counts.
table() { # log
    awk '
        { at = $1 " " $2; result[at] = $3; seconds[at] = $4; n = split($0, words, " "); why[at] = "" }
        { for (i = 5; i <= n; i++) why[at] = why[at] " " words[i] }
        END {
            for (at in result) {
                split(at, part, " ")
                is_app = part[1] ~ /^app\./
                profiles[part[2]] = 1
                if (result[at] == "ok") passed[part[2], is_app]++
                else failed[part[2]] = failed[part[2]] " " part[1] ":" why[at] ";"
                took[part[2]] += seconds[at]
            }
            print "| GPU | programs passed | apps passed | failed | seconds |"
            print "|---|---|---|---|---|"
            for (p in profiles)
                printf "| %s | %d | %d | %s | %d |\n", p, passed[p, 0], passed[p, 1],
                    p in failed ? substr(failed[p], 2) : "", took[p] | "sort"
        }' "$1"
}

log=/dev/null
if [ $# -eq 2 ] && [ "$1" = --table ]; then
    table "$2"
    exit
fi
[ $# -ge 1 ] && [ -x "$1/bin/wpcc" ] || usage
build=$(cd "$1" && pwd)
shift
if [ $# -ge 1 ] && [ "$1" = --log ]; then
    [ $# -ge 2 ] || usage
    log=$2
    shift 2
    touch "$log" || exit 2
fi
timeout_s=${TIMEOUT_S:-200}
profiles=${PROFILES:-$(cd "$root/configs" && ls ./*.ini | sed 's|^\./||; s|\.ini$||')}
apps=$root/tests/support/sim_apps.txt
tmp=$(mktemp -d "${TMPDIR:-/tmp}/profiles.XXXXXX") || exit 2
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM

header() { sed -n "1,12s|^// $2: *||p" "$1"; }

if [ $# -eq 0 ]; then
    for file in "$root"/tests/e2e/*.cu; do
        case " $(header "$file" DEVICES) " in
        '  ' | *' sim '*) set -- "$@" "$(basename "$file" .cu)" ;;
        esac
    done
    # shellcheck disable=SC2046  # names have no spaces
    set -- "$@" $(sed 's/^\([^ ]*\).*/app.\1/' "$apps")
fi

# Makes the run's script: $tmp/run, which passes if it exits with 0 and prints $tmp/wanted's last line or all of it.
prepare() { # name
    case $1 in
    app.*)
        line=$(grep "^${1#app.} " "$apps") || { echo "every-profile.sh: unknown app: $1" >&2; exit 2; }
        # shellcheck disable=SC2086
        set -- $line
        exe=$build/apps/$2
        shift 2
        echo "exec '$exe' $* --check" >"$tmp/run"
        WARPAGE_DEVICE=cpu sh "$tmp/run" >"$tmp/wanted" 2>"$tmp/out" </dev/null
        ;;
    *)
        file=$root/tests/e2e/$1.cu
        [ -f "$file" ] || { echo "every-profile.sh: unknown program: $1" >&2; exit 2; }
        rm -f "$tmp/wanted"
        if [ -n "${COMPILED:-}" ]; then
            echo "exec env $(header "$file" ENV) '$COMPILED/$1'" >"$tmp/run"
            return
        fi
        echo "exec env $(header "$file" ENV) '$tmp/program'" >"$tmp/run"
        # shellcheck disable=SC2046  # flags are words
        "$build/bin/wpcc" $(header "$file" FLAGS) "$file" -o "$tmp/program" >"$tmp/out" 2>&1
        ;;
    esac
}

is_right() {
    if [ -e "$tmp/wanted" ]; then
        cmp -s "$tmp/wanted" "$tmp/out" && grep -q '^check .*: equal' "$tmp/out"
    else
        grep -q '^PASS$' "$tmp/out"
    fi
}

note() { # name, profile, ok or FAIL, seconds, why
    echo "$*" >>"$log"
}

runs=0 failed=0 known=0
for name in "$@"; do
    missing=
    for profile in $profiles; do
        if grep -q "^$name $profile ok " "$log"; then
            known=$((known + 1))
        else
            missing="$missing $profile"
        fi
    done
    [ -n "$missing" ] || continue
    if ! prepare "$name"; then
        echo "FAIL $name: compilation, or the CPU device" && head -n 5 "$tmp/out"
        failed=$((failed + 1))
        continue
    fi
    for profile in $missing; do
        runs=$((runs + 1))
        begin=$(date +%s)
        WARPAGE_DEVICE="sim:$profile" timeout "$timeout_s" sh "$tmp/run" >"$tmp/out" 2>"$tmp/err" </dev/null
        status=$?
        seconds=$(($(date +%s) - begin))
        if [ $status -eq 0 ] && is_right; then
            note "$name" "$profile" ok $seconds
            continue
        fi
        failed=$((failed + 1))
        cat "$tmp/err" >>"$tmp/out"
        echo "FAIL $name on $profile: exit status $status" && tail -n 3 "$tmp/out" | sed 's/^/    /'
        note "$name" "$profile" FAIL $seconds "exit status $status: $(tail -n 1 "$tmp/out")"
    done
done
echo "$runs runs on: $(echo $profiles): $failed failed; $known had passed before"
[ $failed -eq 0 ]
