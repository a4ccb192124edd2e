#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The dependency law (ARCHITECTURE.md), checked over the #include lines of src/: which rooms a room may
# see. Public headers (warpage/...) are open to all. Three rules on names besides: no folder has more than 25
# sources; a file name stands once in src/ (but for policies, docs/decisions/0005-names-of-policy-files.md); a name
# with wp_ is public, or of the interface between compiled programs and the runtime, all others have wpi_.
# Prints each line that breaks a rule; exit 1 then.
cd "$(dirname "$0")/.." || exit 2

broken=0
list=$(mktemp) || exit 2
trap 'rm -f "$list"' EXIT
find src -type f >"$list"
find src -name '*.[chS]' | sort | xargs awk -v list="$list" '
    BEGIN { # room -> rooms it may include from
        may["base"] = "base"
        may["report"] = "report base"
        may["policy"] = "policy base"
        may["sim"] = "sim policy report base"
        may["trace"] = "trace sim report base"
        may["device/sim"] = "device/sim device/cpu device trace sim policy report base"
        may["device/devicelib"] = "device/devicelib device base"
        may["device/cpu"] = "device/cpu device/devicelib device report base"
        may["device/cuda"] = "device/cuda device/devicelib device report base"
        may["device"] = "device report base"
        may["stream"] = "stream cache device report base"
        may["cache"] = "cache device report base"
        may["cudart"] = "cudart stream cache device report base"
        may["compiler"] = "compiler base"
        may["table"] = "table base"
        may["mapreduce"] = "mapreduce table_io base"
        may["table_io"] = "table_io base"
        may["cli"] = "cli study probe table_io report base"
        may["study"] = "study report base"
        may["probe"] = "probe report base"
        may["libraries"] = "libraries base"
        may["gpu"] = "gpu report base"
        may["ops"] = "ops gpu report base"
        while ((getline file <list) > 0) exists[file]
    }
    function room_of(path,   part, count) { # path below src/ -> room
        count = split(path, part, "/")
        return part[1] == "device" && count > 2 ? part[1] "/" part[2] : part[1]
    }
    function complain(words) { print FILENAME ": " words; broken = 1 }
    FNR == 1 {
        room = room_of(substr(FILENAME, 5))
        allowed = " " (room in may ? may[room] : room " device report base") " "
    }
    /^# *include *"/ {
        split($0, part, "\"")
        include = part[2]
        if (include ~ /^warpage\//) next
        if (include !~ /\//) {
            complain("\"" include "\": name the room, as in \"base/fail.h\"")
            next
        }
        target = room_of(include)
        if (!index(allowed, " " target " ")) complain(room " must not see " target " (\"" include "\")")
        if (!(("src/" include) in exists)) complain("\"" include "\" does not exist")
    }
    END { exit broken }' || broken=1

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
