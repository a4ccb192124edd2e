#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles and runs the feature programs, one after the other.
#
#     tests/e2e/run.sh <wpcc> [names...]      e.g. run.sh build/dev/bin/wpcc barrier_loops bad/trap
#
# A name is a program (X.cu), a script (X.sh) or a bad-input case (bad/X.cu, bad/X.sh), without its
# ending or with it; without names all of them run.
#
# X.cu          compiled by `wpcc X.cu -o X`, run with 1 and 2 worker threads; it must exit with 0 and
#               its last line must be PASS. In its first lines: `// FLAGS: ...` more options for wpcc,
#               `// ENV: K=V ...` environment of the run.
# X.sh          a script; $WPCC, $WARPAGE, $TMP (an empty folder), $E2E (this folder); exit 0 is passed.
# bad/X.cu      must fail as its first lines say: `// STAGE: compile|run`, `// EXIT: 1`,
#               `// STDERR: extended regular expression` (any number, all must match).
#
# Options by environment: WARPAGE (beside wpcc by default), WORKERS ("1 2"), TIMEOUT_S (60), KEEP=1, WPCC_FLAGS
# (more options for the programs, -O0 say).
# Exit status: 0 all passed, 1 some failed, 2 wrong usage.

E2E=$(cd "$(dirname "$0")" && pwd) || exit 2
if [ $# -lt 1 ] || ! command -v "$1" >/dev/null 2>&1; then
    echo "usage: run.sh <wpcc> [names...]" >&2
    exit 2
fi
WPCC=$(cd "$(dirname "$(command -v "$1")")" && pwd)/$(basename "$1")
shift
WARPAGE=${WARPAGE:-$(dirname "$WPCC")/warpage}
WORKERS=${WORKERS:-1 2}
TIMEOUT_S=${TIMEOUT_S:-60}
BASE=$(mktemp -d "${TMPDIR:-/tmp}/e2e.XXXXXX") || exit 2
[ -n "$KEEP" ] || trap 'rm -rf "$BASE"' EXIT
trap 'exit 1' INT TERM
export WPCC WARPAGE E2E TIMEOUT_S

# The text behind `// KEY:` in the first lines of a file, one line each.
header() { sed -n "1,12s|^// $2: *||p" "$1"; }

show() { sed 's/^/    /' "$1" | head -n "${2:-20}"; }

run_program() { # file
    exe=$TMP/$(basename "$1" .cu)
    # shellcheck disable=SC2046  # flags are words
    if ! timeout 120 "$WPCC" $(header "$1" FLAGS) $WPCC_FLAGS "$1" -o "$exe" >"$TMP/compile" 2>&1; then
        echo "  compilation failed:" && show "$TMP/compile"
        return 1
    fi
    for workers in $WORKERS; do
        # shellcheck disable=SC2046
        env WARPAGE_WORKERS="$workers" $(header "$1" ENV) \
            timeout "$TIMEOUT_S" "$exe" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
        status=$?
        if [ $status -ne 0 ] || [ "$(tail -n 1 "$TMP/stdout")" != PASS ]; then
            [ $status -eq 124 ] && echo "  did not finish in $TIMEOUT_S s"
            echo "  with $workers workers: exit status $status; stdout, then stderr:"
            show "$TMP/stdout"
            show "$TMP/stderr"
            return 1
        fi
    done
}

run_bad() { # file
    exe=$TMP/$(basename "$1" .cu)
    # shellcheck disable=SC2046
    timeout 120 "$WPCC" $(header "$1" FLAGS) "$1" -o "$exe" >"$TMP/stdout" 2>"$TMP/stderr"
    status=$?
    if [ "$(header "$1" STAGE)" = run ]; then
        if [ $status -ne 0 ]; then
            echo "  compilation failed:" && show "$TMP/stderr"
            return 1
        fi
        # shellcheck disable=SC2046
        env WARPAGE_WORKERS=1 $(header "$1" ENV) \
            timeout "$TIMEOUT_S" "$exe" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
        status=$?
    elif [ -e "$exe" ]; then
        echo "  an output was left behind"
        return 1
    fi
    if [ $status -ne "$(header "$1" EXIT)" ]; then
        echo "  expected exit status $(header "$1" EXIT), got $status; stderr:" && show "$TMP/stderr"
        return 1
    fi
    header "$1" STDERR >"$TMP/patterns"
    if [ ! -s "$TMP/patterns" ]; then
        echo "  the case names no message" && return 1
    fi
    while IFS= read -r pattern; do
        if ! grep -Eq -- "$pattern" "$TMP/stderr"; then
            echo "  stderr lacks /$pattern/:" && show "$TMP/stderr"
            return 1
        fi
    done <"$TMP/patterns"
}

run_script() { # file
    timeout 300 sh "$1" >"$TMP.log" 2>&1 && return 0
    echo "  exit status $?:" && show "$TMP.log" 30
    rm -f "$TMP.log"
    return 1
}

if [ $# -eq 0 ]; then
    for file in "$E2E"/*.cu "$E2E"/*.sh "$E2E"/bad/*.cu "$E2E"/bad/*.sh; do
        case $file in
        "$E2E/run.sh" | "$E2E"/apps* | *'*'*) ;;
        *) set -- "$@" "${file#"$E2E"/}" ;;
        esac
    done
fi

passed=0 failed=0 failed_names=
for name in "$@"; do
    file=$E2E/$name
    [ -f "$file" ] || file=$E2E/$name.cu
    [ -f "$file" ] || file=$E2E/$name.sh
    if [ ! -f "$file" ]; then
        echo "run.sh: no such test: $name" >&2
        exit 2
    fi
    TMP=$BASE/$(echo "$name" | tr '/.' '__')
    mkdir -p "$TMP"
    export TMP
    case $file in
    */bad/*.cu) run_bad "$file" >"$BASE/log" ;;
    *.cu) run_program "$file" >"$BASE/log" ;;
    *) run_script "$file" >"$BASE/log" ;;
    esac
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    else
        failed=$((failed + 1))
        failed_names="$failed_names $name"
        echo "FAIL $name"
        cat "$BASE/log"
    fi
    [ -n "$KEEP" ] || rm -rf "$TMP" "$TMP.log"
done

echo "$passed passed, $failed failed"
if [ $failed -ne 0 ]; then
    echo "failed:$failed_names"
    exit 1
fi
