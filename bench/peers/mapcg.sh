#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds programs of MapCG, a MapReduce library for CPUs and GPUs (GPL 3), outside of the source tree, by wpcc.
#     mapcg.sh FOLDER [REPOSITORY]
# clones the repository (by default the author's on GitHub) into FOLDER and leaves there the programs words (MapCG's own
# map), patents and places (mapcg_map.h), which bench/mapreduce/mapcg.py runs beside the apps. They need Warpage built
# in build/release (or BUILD=folder).
set -eu
[ $# -ge 1 ] || { echo "usage: mapcg.sh FOLDER [REPOSITORY]" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
repository=${2:-https://github.com/hjk41/mapcg}
[ -d "$folder/mapcg" ] || git clone -q "$repository" "$folder/mapcg"
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$here/build/release}
wpcc=$build/bin/wpcc
objects=$build/objects/apps
for program in words patents places; do
    work=$folder/build-$program
    rm -rf "$work"
    cp -R "$folder/mapcg/examples/8_wordcount" "$work"
    cp "$here/bench/peers/mapcg_main.cu" "$work/main.cu"
    cp "$here/bench/peers/mapcg_data.h" "$work/DS.h"
    [ $program = words ] || cp "$here/bench/peers/mapcg_map.h" "$work/mapreduce.h"
    case $program in words) kind=-DMAPCG_WORDS ;; places) kind=-DMAPCG_PLACES ;; *) kind= ;; esac
    flags="-O2 -w -arch=sm_35 -DLONG_PTR $kind -I $here/apps"
    for source in main.cu HMM/HMMGPUScheduler.cu HMM/HMMMain.cpp HMM/HMMSchedulerSpec.cpp HMM/HMMGlobalData.cu \
        HMM/GPULib/HMMSchedulerGPU.cu HMM/UtilLib/HMMCommUtil.cu; do
        "$wpcc" $flags -c "$work/$source" -o "$work/$(basename "$source").o"
    done
    # The library's part for CPUs, which is linked, but not called.
    for source in "$work"/HMM/HMMCPUScheduler.cxx "$work"/HMM/CPULib/*.cxx; do
        g++ -O2 -w -fopenmp $kind -I "$here/apps" -I "$here/include/warpage/cuda" -I "$here/include" -c "$source" \
            -o "$work/$(basename "$source").o"
    done
    "$wpcc" -o "$folder/$program" "$work"/*.o "$objects/geo-location_places.cu.o" "$objects"/common_*.o \
        "$objects/streaming_words.cu.o" "$objects/streaming_growth.cu.o" -lgomp -lpthread -lzstd -lm
done
