#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The dependency law (ARCHITECTURE.md), checked over the #include lines of src/: which rooms a room may
# see. Public headers (warpage/...) are open to all. Prints each line that breaks it; exit 1 then.
cd "$(dirname "$0")/.." || exit 2

allowed() { # room -> rooms it may include from
    case $1 in
    base) echo "base" ;;
    report) echo "report base" ;;
    policy) echo "policy base" ;;
    sim) echo "sim policy report base" ;;
    trace) echo "trace sim report base" ;;
    device/sim) echo "device/sim device/cpu device trace sim policy report base" ;;
    device/devicelib) echo "device/devicelib device base" ;;
    device/cpu) echo "device/cpu device/devicelib device report base" ;;
    device/cuda) echo "device/cuda device/devicelib device report base" ;;
    device) echo "device report base" ;;
    stream) echo "stream device report base" ;;
    cache) echo "cache device report base" ;;
    cudart) echo "cudart stream cache device report base" ;;
    compiler) echo "compiler base" ;;
    table) echo "table base" ;;
    mapreduce) echo "mapreduce table_io base" ;;
    table_io) echo "table_io base" ;;
    cli) echo "cli study probe table_io report base" ;;
    study) echo "study report base" ;;
    probe) echo "probe report base" ;;
    gpu) echo "gpu report base" ;;
    ops) echo "ops gpu report base" ;;
    *) echo "$1 device report base" ;;
    esac
}

room_of() { # path below src/ -> room
    case $1 in
    device/*/*) echo "$1" | cut -d/ -f1,2 ;;
    *) echo "${1%%/*}" ;;
    esac
}

broken=0
list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
find src -name '*.[chS]' | sort >"$list"
while IFS= read -r file; do
    room=$(room_of "${file#src/}")
    for include in $(sed -n 's/^# *include *"\([^"]*\)".*/\1/p' "$file"); do
        case $include in
        warpage/*) continue ;;
        */*) ;;
        *)
            echo "$file: \"$include\": name the room, as in \"base/fail.h\""
            broken=1
            continue
            ;;
        esac
        target=$(room_of "$include")
        case " $(allowed "$room") " in
        *" $target "*) ;;
        *)
            echo "$file: $room must not see $target (\"$include\")"
            broken=1
            ;;
        esac
        if [ ! -f "src/$include" ]; then
            echo "$file: \"$include\" does not exist"
            broken=1
        fi
    done
done <"$list"
[ $broken -eq 0 ] && echo "the dependency law holds"
exit $broken
