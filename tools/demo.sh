#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A CUDA program at work on data that every Debian machine has, without a GPU:
#
#     tools/demo.sh [BUILD]      e.g. tools/demo.sh build/release
#
# Compiles three programs of apps/ with BUILD/bin/wpcc and runs them under BUILD/bin/warpage: two on the
# graph of Debian's packages on this processor, one on three simulated GPUs, and one with a page that
# shows what a simulated GPU did. Without BUILD: installs what is missing, builds build/release first.
set -eu
cd "$(dirname "$0")/.."

if [ $# -gt 1 ]; then
    echo "usage: tools/demo.sh [BUILD]" >&2
    exit 2
fi
if [ $# -eq 1 ]; then
    build=$1
else
    build=build/release
    tools/setup.sh
    echo "demo: building in $build"
    mkdir -p build
    cmake --preset release >build/configure-release.log 2>&1 || {
        cat build/configure-release.log >&2
        exit 1
    }
    cmake --build --preset release
fi
for tool in wpcc warpage; do
    if [ ! -x "$build/bin/$tool" ]; then
        echo "demo: $build/bin/$tool is missing; build first: cmake --workflow --preset release" >&2
        exit 1
    fi
done
bin=$(cd "$build/bin" && pwd)
out=$build/demo
mkdir -p "$out"

bold= dim= plain=
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
    bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
fi
title() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
say() { printf '%s\n' "$1"; }
shown() { printf '%s    $ %s%s\n\n' "$dim" "$1" "$plain"; }
now_ms() { date +%s%3N; }

compile() { # app
    start=$(now_ms)
    "$bin/wpcc" -O2 -I apps "apps/$1/$1.cu" apps/common/*.c apps/common/*.cu -o "$out/$1"
    printf '    $ wpcc -O2 -I apps apps/%s/%s.cu apps/common/*.c* -o %-10s %s %d.%d s\n' "$1" "$1" \
        "$1" "#" $((($(now_ms) - start) / 1000)) $((($(now_ms) - start) % 1000 / 100))
}

# stdout (the result) is shown and kept; stderr (times and the report) follows it.
run() { # app, arguments...
    app=$1
    shift
    "$bin/warpage" run -- "$out/$app" "$@" >"$out/$app.out" 2>"$out/$app.err" || {
        cat "$out/$app.out" "$out/$app.err" >&2
        echo "demo: $app failed" >&2
        exit 1
    }
    sed '/./s/^/    /' "$out/$app.out"
}
talk() { sed '/./s/^/    /' "$out/$1.err"; } # app
brief() { # app: the line of its kernels, and where they ran
    awk '/^  on / { sub(/^  on /, ""); sub(/, --memory.*/, ""); where = $0 }
         $1 == "kernels" { printf "    kernels    %s %s in %s launches, %s %s %s on %s\n",
                           $2, $3, $4, $6, $7, $8, where; exit }' "$out/$1.err"
}

start_demo=$(now_ms)
title "1. Three ordinary CUDA programs become executables. No GPU, no CUDA toolkit."
compile pagerank
compile bfs
compile triad

if [ -r /var/lib/dpkg/status ]; then
    input="--input debian:all"
    title "2. Which packages do most others in Debian depend on?"
    say "   PageRank of the dependency graph of packages, from this machine's package lists."
else
    input="--graph rmat --size 64K"
    title "2. Which vertices of a social-network-like graph rank highest?"
fi
# shellcheck disable=SC2086  # two words
{
    shown "warpage run -- pagerank $input --top 15 --check"
    run pagerank $input --top 15 --check
    printf '\n    %sDevices and times:%s\n' "$bold" "$plain"
    talk pagerank
    top=$(awk '$1 == 1 { print $2; exit }' "$out/pagerank.out")

    title "3. Which packages depend on $top, and in how many steps?"
    shown "warpage run -- bfs $input --reverse --source $top --check"
    run bfs $input --reverse --source "$top" --check
    brief bfs

    title "4. How deep are the dependencies of the package that has the most?"
    shown "warpage run -- bfs $input --check"
    run bfs $input --check
    brief bfs

    title "5. A program on simulated GPUs: which has the fastest memory?"
    gpus=sim:k80,sim:gtx1080ti,sim:h200
    rm -rf "$out/gpus" "$out/page"
    shown "warpage compare --vary device=$gpus --show occupancy_pct --output gpus -- triad --size 4M"
    "$bin/warpage" compare --vary "device=$gpus" --show occupancy_pct --output "$out/gpus" -- "$out/triad" --size 4M \
        >"$out/gpus.out" 2>"$out/gpus.err" || {
        cat "$out/gpus.out" "$out/gpus.err" >&2
        echo "demo: the comparison failed" >&2
        exit 1
    }
    sed '/./s/^/    /' "$out/gpus.out"
    say "    Each thread reads two numbers and writes one, so the kernel time follows the bandwidth of DRAM:"
    say "    240 GB/s on the K80, 484 GB/s on the GTX 1080 Ti, 4.8 TB/s on the H200."
    say "    The table and the plot as a page: $out/gpus/index.html"

    title "6. What does a simulated GPU do in detail?"
    shown "warpage run --device sim:gtx1080ti --output page -- bfs $input"
    "$bin/warpage" run --device sim:gtx1080ti --output "$out/page" -- "$out/bfs" $input \
        >/dev/null 2>"$out/page.err" || {
        cat "$out/page.err" >&2
        echo "demo: the simulated run failed" >&2
        exit 1
    }
    say "    Open $out/page/index.html, and $out/page/timeline.json with https://ui.perfetto.dev"
}
ms=$(($(now_ms) - start_demo))
title "The demo took $((ms / 1000)).$((ms % 1000 / 100)) s. The sources are ordinary CUDA: see apps/."
cat <<EOF
Try next:
    $build/demo/bfs --input debian:all --reverse --source python3
    $build/demo/pagerank --size 1M --memory managed --check
    $build/bin/warpage compare --device sim:k80 --vary tlb.l2.entries=16,65,256 -- $build/demo/bfs --size 20K
    $build/bin/warpage reproduce tlb-damon17/table2
    $build/bin/wpcc examples/histogram.cu -o histogram && ./histogram examples/histogram.cu
    $build/bin/warpage run --report run.json -- $build/demo/bfs --size 256K
Your own program:   $build/bin/wpcc program.cu -o program && ./program
More programs:      docs/guide/apps.md     Commands:   $build/bin/warpage help
EOF
