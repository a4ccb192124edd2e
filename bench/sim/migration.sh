#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Policies under oversubscription: times, in ms, of each app under each of them.
#
#     bench/sim/migration.sh BUILD FOLDER [policy...]     e.g. bench/sim/migration.sh build/release /tmp/migration payback
#
# A policy is one of migration, or NAME:KEYS, such as "driver:service=batch;prefetch=driver". "table" is a list of these for
# one page about payback, "remedies" another: what both papers propose, what the driver does, and ours; "large" is the first
# list for data of 1, 4 and 8 GB. All three print Markdown.
# Apps are recorded once, in FOLDER, and replayed; a row is app, data in per cent of memory (none: memory enough), policy,
# eviction, time of kernels, time of the run. Rows are kept in FOLDER/rows and not run again. A replay that takes more than
# $LIMIT_S seconds of processor time (100) has no time. $LEVELS: per cent. $APPS: only these. $EVICT: of migration policies,
# lru-2m. $SET: more keys. $GRAPHS: a folder with road_ny.txt.zst (DIMACS) and graph_twitter.txt.zst (SNAP), for rows of them.
set -u
[ $# -ge 2 ] && [ -d "$1/apps" ] || { sed -n '3,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(dirname "$0")
build=$1
folder=$2
shift 2
[ $# -gt 0 ] || set -- payback adaptive first-touch
form= list=apps
first_touch="first-touch:prefetch=tree;evict=lru-2m"
adaptive="adaptive:prefetch=tree;migrate=adaptive;evict=lfu-2m" # with the evictor of its paper
driver="driver:service=batch;prefetch=driver;evict=driver;thrash=driver"
payback="payback:prefetch=idle-tree;migrate=payback;evict=lru-2m"
case $* in
table | large)
    form=table LEVELS=${LEVELS:-none 110 125 200 400}
    [ "$1" != large ] || list=large LEVELS=125
    set -- "$first_touch" "$adaptive" "$driver" "zero-copy:migrate=zero-copy" "$payback" ;;
remedies)
    form=table
    set -- "$first_touch" "512-KiB:prefetch=locality;evict=lru-2m" "$adaptive" "$driver" \
        "across-the-link:migrate=zero-copy;evict=lru-2m" "$payback" "oracle:prefetch=oracle;evict=oracle" ;;
esac
mkdir -p "$folder" && touch "$folder/rows" || exit 1

record() { # row, app and arguments
    row=$1
    shift
    [ -e "$folder/$row.wpt" ] || "$build/bin/warpage" trace record --device sim:gtx1080ti -o "$folder/$row.wpt" -- \
        "$build/apps/$@" --memory managed >/dev/null 2>"$folder/$row.log" || { cat "$folder/$row.log" >&2; return 1; }
}

replay() { # row, settings: the two times, or two dashes
    (
        ulimit -t "${LIMIT_S:-100}"
        "$build/bin/warpage" trace replay --device sim:gtx1080ti --set "$2" ${SET:+--set "$SET"} --format json \
            "$folder/$1.wpt" 2>>"$folder/$1.log"
    ) | python3 -c 'import json, sys
run = json.load(sys.stdin)
print("%.3f %.3f" % (sum(k["time_ns"] for k in run["kernels"]) / 1e6, run["simulated_time_ns"] / 1e6))' 2>/dev/null || echo - -
}

rows() { # row, app and arguments: as in `replay`, for all policies and levels
    case " ${APPS:-$1} " in *" $1 "*) ;; *) return ;; esac
    record "$@" || return
    for percent in ${LEVELS:-110 125 200 400}; do
        level="oversubscribe=$percent%;"
        [ "$percent" != none ] || level=
        for policy in $policies; do
            for evict in ${EVICT:-lru-2m}; do
                keys="migrate=$policy;evict=$evict"
                case $policy in *:*) keys=${policy#*:} evict=- ;; esac
                cell="$1 $percent ${policy%%:*} $evict${SET:+,$SET}"
                kept=$(grep -F "$cell " "$folder/rows")
                [ -n "$kept" ] || { kept="$cell $(replay "$1" "$level$keys")"; echo "$kept" >>"$folder/rows"; }
                [ -n "$form" ] || echo "$kept"
                [ -z "$form" ] || echo "$kept" >>"$folder/table"
            done
        done
    done
}

group() {
    echo "# $1" >>"$folder/table"
}

large() {
    group "1, 4 and 8 GB"
    for gb in 1 4 8; do
        rows triad-${gb}GB triad --size ${gb}GB --iterations 1
        rows ra-${gb}GB ra --variant lookup --size ${gb}GB --stride $((gb * 350))
    done
}

apps() {
    group "tuned on"
    rows bfs bfs --size 128K
    rows ra ra --variant lookup --size 1M
    rows backprop backprop --size 64K
    rows srad srad --size 512K --iterations 3
    group "other apps"
    rows nw nw --size 1024 --penalty 10
    rows sssp sssp --graph grid --size 160K
    rows fdtd-2d fdtd-2d --size 720000 --iterations 2
    rows hotspot hotspot --size 720K --iterations 4
    rows spmv spmv --size 12MiB
    rows xs-lookup xs-lookup --size 512 --lookups 16K
    rows sgemm sgemm --size 256K
    rows pagerank pagerank --size 128K --iterations 4
    rows stencil stencil --size 1200K --iterations 3
    rows cg cg --size 12MiB --iterations 6
    rows md md --size 12MiB --iterations 2
    rows atax atax --size 3M
    group "other inputs"
    rows bfs-grid bfs --graph grid --size 256K
    rows sssp-rmat sssp --graph rmat --size 80K
    rows ra-update ra --variant update --size 2M --updates 1
    rows nw-1536 nw --size 1536 --penalty 10
    rows srad-larger srad --size 1M --iterations 2
    rows spmv-band spmv --size 12MiB --matrix band --iterations 3
    if [ -n "${GRAPHS:-}" ]; then
        rows bfs-road bfs --input "$GRAPHS/road_ny.txt.zst" --undirected
        rows sssp-road sssp --input "$GRAPHS/road_ny.txt.zst" --undirected
        rows bfs-twitter bfs --input "$GRAPHS/graph_twitter.txt.zst" --undirected
    fi
}

policies=$*
: >"$folder/table"
$list
[ -z "$form" ] || python3 "$here/migration_table.py" "$folder/table"
