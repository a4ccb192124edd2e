#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The migration policy payback beside first touch, adaptive, always, the driver and zero-copy where remote accesses cost
# other things than bytes: turns of the link of 0 to 200 cycles, PCIe 3, 4 and 5, faults serviced one by one and in
# batches, for programs that no app resembles (payback_links.cu).
#
#     bench/sim/payback_links.sh BUILD FOLDER [program...]
#
# Prints Markdown: for each program, share of memory and service, payback's kernel time divided by the best of the others',
# by link. Results are kept in FOLDER. $KIB: size of the data (4608); $PERCENT: "125 200"; $SERVICES: "drained batch";
# $TURNS: 0,10,50,200 cycles; $BANDWIDTHS: 12,24,48 GiB/s.
set -eu
[ $# -ge 2 ] && [ -x "$1/bin/warpage" ] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
build=$1
folder=$2
shift 2
[ $# -gt 0 ] || set -- merge-join zipf transpose fft
kib=${KIB:-4608}
turns=$(echo "${TURNS:-0,10,50,200}" | sed 's/\([0-9]\{1,\}\)/\1cycles/g')
bandwidths=$(echo "${BANDWIDTHS:-12,24,48}" | sed 's/\([0-9]\{1,\}\)/\1GiB\/s/g')
mkdir -p "$folder"
[ -x "$folder/programs" ] || "$build/bin/wpcc" -O2 "$here/payback_links.cu" -o "$folder/programs"

run() { # program, percent, service, name of the policy, KEY=VALUE…
    out=$folder/$1-$2-$3-$4
    program=$1 percent=$2 service=$3
    shift 4
    [ -s "$out.csv" ] && return
    for setting in "$@"; do set -- "$@" --set "$setting"; shift; done
    "$build/bin/warpage" compare --device sim:gtx1080ti --oversubscribe "$percent%" --format csv \
        --set paging.service="$service" --vary link.remote_turn="$turns" --vary link.bandwidth="$bandwidths" "$@" \
        -- "$folder/programs" "$program" "$kib" >"$out.part" 2>"$out.err" || { cat "$out.err" >&2; exit 1; }
    mv "$out.part" "$out.csv"
}

for program in "$@"; do
    for percent in ${PERCENT:-125 200}; do
        for service in ${SERVICES:-drained batch}; do
            set -- "$program" "$percent" "$service"
            run "$@" first-touch paging.prefetch=tree paging.evict=lru-2m
            run "$@" adaptive paging.prefetch=tree paging.migrate=adaptive paging.evict=lfu-2m
            run "$@" always paging.prefetch=tree paging.migrate=always paging.evict=lru-2m
            run "$@" zero-copy paging.prefetch=none paging.migrate=zero-copy
            run "$@" payback paging.prefetch=idle-tree paging.migrate=payback paging.evict=lru-2m
            if [ "$service" = batch ]; then
                run "$@" driver paging.prefetch=driver paging.evict=driver paging.thrash=driver
            fi
        done
    done
done
python3 "$here/payback_links_table.py" "$folder"
