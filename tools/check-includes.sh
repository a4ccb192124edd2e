#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The dependency law (ARCHITECTURE.md), checked over the #include lines of src/: which rooms a room may
# see. Public headers (warpage/...) are open to all. Three rules on names besides: no folder has more than 25
# sources; a file name stands once in src/ (but for policies, docs/decisions/0005-names-of-policy-files.md); a name
# with wp_ is public, or of the interface between compiled programs and the runtime, all others have wpi_.
# Prints each line that breaks a rule; exit 1 then.
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
    stream) echo "stream cache device report base" ;;
    cache) echo "cache device report base" ;;
    cudart) echo "cudart stream cache device report base" ;;
    compiler) echo "compiler base" ;;
    table) echo "table base" ;;
    mapreduce) echo "mapreduce table_io base" ;;
    table_io) echo "table_io base" ;;
    cli) echo "cli study probe table_io report base" ;;
    study) echo "study report base" ;;
    probe) echo "probe report base" ;;
    libraries) echo "libraries base" ;;
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

find src -name '*.c' -o -name '*.cu' -o -name '*.cpp' | sed 's|/[^/]*$||' | sort | uniq -c |
    awk '$1 > 25 { print $2 ": " $1 " sources in one folder, 25 at most"; bad = 1 } END { exit bad }' || broken=1
find src \( -name '*.[ch]' -o -name '*.cu' \) ! -path 'src/policy/*/*' | awk -F/ '
    { if ($NF in seen) { print $0 ": " seen[$NF] " has the same name"; bad = 1 } seen[$NF] = $0 } END { exit bad }' || broken=1

# The interface of compiled programs: base/*abi.h, cudart/entry.h, wp_rt_..., kernels and sections by prefix.
grep -rhoE '\bwp_[a-z0-9_]+' include src/base/*abi.h src/cudart/entry.h | sort -u >"$list"
grep -rhoE '\bwp_[a-z0-9_]+' src --include='*.[ch]' | sort -u | comm -13 "$list" - |
    grep -vE '_$|^wp_(rt|gpu|probe)_' | sed 's/$/: an internal name has wpi_/' | grep . && broken=1
[ $broken -eq 0 ] && echo "the dependency law holds"
exit $broken
