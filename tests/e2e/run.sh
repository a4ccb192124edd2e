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
#               `// ENV: K=V ...` environment of the run, `// DEVICES: cpu (why)` where it cannot run elsewhere,
#               `// WORKERS: 1 (why)` where their number makes no difference.
# X.sh          a script; $WPCC, $WARPAGE, $TMP (an empty folder), $E2E (this folder), $DEVICES; exit 0 is passed, 77 skipped.
# bad/X.cu      must fail as its first lines say: `// STAGE: compile|run`, `// EXIT: 1`,
#               `// STDERR: extended regular expression` (any number, all must match).
#
# Options by environment: WARPAGE (beside wpcc by default), WORKERS ("1 2"), TIMEOUT_S (500, for each compilation,
# each run of a program and each script), KEEP=1, WPCC_FLAGS
# (more options for the programs, -O0 say), DEVICES ("cpu"; "cpu cuda:0" runs the programs on both). Programs that run
# several times are compiled once: COMPILE_TO=folder leaves them there, with their PTX as X.ptx, and runs nothing;
# COMPILED=folder runs them.
# Exit status: 0 all passed, 1 some failed, 2 wrong usage, 77 all were skipped.

E2E=$(cd "$(dirname "$0")" && pwd) || exit 2
if [ $# -lt 1 ] || ! command -v "$1" >/dev/null 2>&1; then
    echo "usage: run.sh <wpcc> [names...]" >&2
    exit 2
fi
WPCC=$(cd "$(dirname "$(command -v "$1")")" && pwd)/$(basename "$1")
shift
WARPAGE=${WARPAGE:-$(dirname "$WPCC")/warpage}
WORKERS=${WORKERS:-1 2}
TIMEOUT_S=${TIMEOUT_S:-500}
DEVICES=${DEVICES:-cpu}
BASE=$(mktemp -d "${TMPDIR:-/tmp}/e2e.XXXXXX") || exit 2
[ -n "$KEEP" ] || trap 'rm -rf "$BASE"' EXIT
trap 'exit 1' INT TERM
# Code for other processors than this one takes up to two fifths of the time of a compilation; what tests it asks for it.
NVCC_PREPEND_FLAGS="--cpu-isa=native $NVCC_PREPEND_FLAGS"
export WPCC WARPAGE E2E TIMEOUT_S DEVICES NVCC_PREPEND_FLAGS

# The text behind `// KEY:` in the first lines of a file, one line each.
header() { sed -n "1,12s|^// $2: *||p" "$1"; }

show() { sed 's/^/    /' "$1" | head -n "${2:-20}"; }

# The devices of DEVICES that a program can run on.
devices_of() { # file
    allowed=$(header "$1" DEVICES | sed 's/ *(.*//')
    for device in $DEVICES; do
        case " ${allowed:-$device} " in *" ${device%:*} "* | *" $device "*) echo "$device" ;; esac
    done
}

run_once() { # file, exe, device, workers
    # shellcheck disable=SC2046
    env WARPAGE_DEVICE="$3" WARPAGE_WORKERS="$4" $(header "$1" ENV) \
        timeout "$TIMEOUT_S" "$2" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
    status=$?
    if [ $status -ne 0 ] || [ "$(tail -n 1 "$TMP/stdout")" != PASS ]; then
        [ $status -eq 124 ] && echo "  did not finish in $TIMEOUT_S s"
        echo "  on $3 with $4 workers: exit status $status; stdout, then stderr:"
        show "$TMP/stdout"
        show "$TMP/stderr"
        return 1
    fi
    if grep -q '^fake_cuda: misuse' "$TMP/stderr"; then
        echo "  a call that breaks the driver's rules:"
        show "$TMP/stderr"
        return 1
    fi
}

compile() { # file, exe
    # shellcheck disable=SC2046  # flags are words
    timeout "$TIMEOUT_S" "$WPCC" $(header "$1" FLAGS) $WPCC_FLAGS "$1" -o "$2" >"$TMP/compile" 2>&1 && return
    echo "  compilation failed:" && show "$TMP/compile"
    return 1
}

run_program() { # file
    if [ -n "$COMPILE_TO" ]; then
        exe=$COMPILE_TO/$(basename "$1" .cu)
        rm -f "$exe.ptx"
        WPCC_FLAGS="$WPCC_FLAGS --keep --keep-dir $TMP/kept"
        mkdir "$TMP/kept" && compile "$1" "$exe" || return 1
        set -- "$TMP"/kept/*.ptx
        [ $# -ne 1 ] || [ ! -e "$1" ] || mv "$1" "$exe.ptx" # several: of a streamed program
        return 0
    fi
    devices=$(devices_of "$1")
    [ -n "$devices" ] || { echo "only on $(header "$1" DEVICES)"; return 77; }
    exe=${COMPILED:-$TMP}/$(basename "$1" .cu)
    [ -n "$COMPILED" ] || compile "$1" "$exe" || return 1
    only=$(header "$1" WORKERS | sed 's/ *(.*//')
    for device in $devices; do
        for workers in $([ "$device" = cpu ] && echo "${only:-$WORKERS}" || echo 1); do
            run_once "$1" "$exe" "$device" "$workers" || return 1
        done
    done
}

run_bad() { # file
    exe=$TMP/$(basename "$1" .cu)
    # shellcheck disable=SC2046
    timeout "$TIMEOUT_S" "$WPCC" $(header "$1" FLAGS) "$1" -o "$exe" >"$TMP/stdout" 2>"$TMP/stderr"
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
    timeout "$TIMEOUT_S" sh "$1" >"$TMP.log" 2>&1
    status=$?
    [ $status -ne 0 ] || return 0
    if [ $status -eq 77 ]; then
        tail -n 1 "$TMP.log"
    else
        echo "  exit status $status:" && show "$TMP.log" 30
    fi
    rm -f "$TMP.log"
    return $status
}

if [ $# -eq 0 ]; then
    for file in "$E2E"/*.cu "$E2E"/*.sh "$E2E"/bad/*.cu "$E2E"/bad/*.sh; do
        case $file in
        "$E2E/run.sh" | "$E2E"/apps* | *'*'*) ;;
        *) set -- "$@" "${file#"$E2E"/}" ;;
        esac
    done
fi

passed=0 failed=0 skipped=0 failed_names=
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
    status=$?
    if [ $status -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $name"
    elif [ $status -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "skip $name: $(cat "$BASE/log")"
    else
        failed=$((failed + 1))
        failed_names="$failed_names $name"
        echo "FAIL $name"
        cat "$BASE/log"
    fi
    [ -n "$KEEP" ] || rm -rf "$TMP" "$TMP.log"
done

echo "$passed passed, $failed failed, $skipped skipped"
if [ $failed -ne 0 ]; then
    echo "failed:$failed_names"
    exit 1
fi
[ $passed -ne 0 ] || [ $skipped -eq 0 ] || exit 77
