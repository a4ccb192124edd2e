# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154  # of run.sh: WPCC, TMP, E2E
# For tests of apps/: where programs are, failures, and wrong usage.
apps=$(cd "$E2E/../../apps" && pwd)
built=$(dirname "$WPCC")/../apps
failures=0
fail() {
    echo "  $*"
    failures=$((failures + 1))
    [ $failures -lt 20 ] || { echo "  too many failures, giving up"; exit 1; }
}

program() { # app: prints the path of its executable
    if [ -x "$built/$1" ]; then
        echo "$built/$1"
        return
    fi
    if [ ! -x "$TMP/$1" ]; then
        "$WPCC" -O2 -I "$apps" "$apps/$1"/*.cu "$apps"/common/*.c "$apps"/common/*.cu "$apps"/streaming/*.cu \
            "$apps"/sepo/*.cu \
            -lm -o "$TMP/$1" >&2 || return 1
    fi
    echo "$TMP/$1"
}

wrong() { # exit status, expected words on stderr, app, arguments...
    status=$1
    words=$2
    exe=$(program "$3") || return
    shift 2
    label=$*
    shift
    "$exe" "$@" >"$TMP/stdout" 2>"$TMP/stderr"
    got=$?
    [ $got -eq "$status" ] || fail "$label: exit status $got, expected $status"
    grep -q -- "$words" "$TMP/stderr" || { fail "$label: no '$words' in"; cat "$TMP/stderr"; }
    [ "$(wc -l <"$TMP/stderr")" -eq 1 ] || fail "$label: more than one line on stderr"
}
