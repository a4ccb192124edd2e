#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Policies under oversubscription: kernel times, in ms, of each app under each of them.
#
#     bench/sim/migration.sh BUILD FOLDER [policy...]     e.g. bench/sim/migration.sh build/release /tmp/migration payback
#
# A policy is one of migration, or NAME:KEYS, such as "driver:service=batch;prefetch=driver"; "remedies" is a list of these:
# what both papers propose, what the driver does, and ours. Apps are recorded once, in FOLDER, and replayed; a row is app,
# oversubscription, policy, eviction, time. A replay that takes longer than $LIMIT_S seconds (100) has no time. $LEVELS: per cent.
# $APPS: only these. $EVICT: of migration policies, lru-2m. $SET: more keys.
set -u
[ $# -ge 2 ] && [ -d "$1/apps" ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
build=$1
folder=$2
shift 2
[ $# -gt 0 ] || set -- payback adaptive first-touch
[ "$*" != remedies ] || set -- "first-touch:prefetch=tree;evict=lru-2m" "512-KiB:prefetch=locality;evict=lru-2m" \
    "adaptive:prefetch=tree;migrate=adaptive;evict=lfu-2m" "across-the-link:migrate=zero-copy;evict=lru-2m" \
    "driver:service=batch;prefetch=driver;evict=driver;thrash=driver" "oracle:prefetch=oracle;evict=oracle" \
    "payback:prefetch=tree;migrate=payback;evict=lru-2m"
mkdir -p "$folder" || exit 1

rows() { # app, arguments: as in `replay`, for all policies and levels
    app=$1
    case " ${APPS:-$app} " in *" $app "*) ;; *) return ;; esac
    trace=$folder/$app.wpt
    [ -e "$trace" ] || "$build/bin/warpage" trace record --device sim:gtx1080ti -o "$trace" -- "$build/apps/$@" \
        --memory managed >/dev/null 2>"$folder/$app.log" || { cat "$folder/$app.log" >&2; return; }
    for percent in ${LEVELS:-110 125 200 400}; do
        for evict in ${EVICT:-lru-2m}; do
            keys="migrate=$policy;evict=$evict"
            case $policy in *:*) keys=${policy#*:} evict=- ;; esac
            ms=$(timeout "${LIMIT_S:-100}" "$build/bin/warpage" trace replay --device sim:gtx1080ti \
                --set "oversubscribe=$percent%;$keys" ${SET:+--set "$SET"} \
                --format json "$trace" 2>>"$folder/$app.log" |
                python3 -c 'import json, sys
print("%.3f" % (sum(k["time_ns"] for k in json.load(sys.stdin)["kernels"]) / 1e6))' 2>/dev/null)
            echo "$app $percent ${policy%%:*} $evict ${ms:--}"
        done
    done
}

for policy in "$@"; do
    # What it was tuned on, and what it was not.
    rows bfs --size 128K
    rows ra --variant lookup --size 1M
    rows backprop --size 64K
    rows srad --size 512K --iterations 3
    rows nw --size 1024 --penalty 10
    rows sssp --graph grid --size 160K
    rows fdtd-2d --size 720000 --iterations 2
    rows hotspot --size 720K --iterations 4
    rows spmv --size 12MiB
    rows xs-lookup --size 512 --lookups 16K
    rows sgemm --size 256K
    rows pagerank --size 128K --iterations 4
done
