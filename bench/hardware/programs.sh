#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the programs of `warpage reproduce hardware` in FOLDER: Rodinia's backprop, hotspot and lud, unmodified, compiled
# by wpcc from a public copy (git clone https://github.com/yuhc/gpu-rodinia), with the inputs of their runs.
#
#     bench/hardware/programs.sh FOLDER [RODINIA]     RODINIA: a copy that is there already
#
# wpcc is the one in $PATH, or build/release/bin/wpcc.
set -eu
[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
wpcc=$(command -v wpcc || echo "$root/build/release/bin/wpcc")
[ -x "$wpcc" ] || { echo "programs.sh: no wpcc: build Warpage, or put it into \$PATH" >&2; exit 1; }
mkdir -p "$folder"
rodinia=${2:-$folder/rodinia}
[ -d "$rodinia" ] || git clone --quiet --depth 1 https://github.com/yuhc/gpu-rodinia "$rodinia"

# As their makefiles compile them.
cuda=$rodinia/cuda
"$wpcc" -O2 -w "$cuda"/backprop/backprop_cuda.cu "$cuda"/backprop/backprop.c "$cuda"/backprop/facetrain.c \
    "$cuda"/backprop/imagenet.c -o "$folder/backprop"
"$wpcc" -O2 -w "$cuda/hotspot/hotspot.cu" -o "$folder/hotspot"
"$wpcc" -O3 -use_fast_math -w -I "$cuda/lud/common" "$cuda/lud/cuda/lud.cu" "$cuda/lud/cuda/lud_kernel.cu" \
    "$cuda/lud/common/common.c" -o "$folder/lud"

# hotspot reads its chip: random numbers, as its kernels do not branch on values.
for side in 64 128 256 512 1024; do
    for what in temp:320:20 power:0:1; do
        IFS=: read -r name low span <<WHAT
$what
WHAT
        awk -v n=$((side * side)) -v low="$low" -v span="$span" \
            'BEGIN { srand(1); for (i = 0; i < n; i++) printf "%.6f\n", low + span * rand() }' >"$folder/${name}_$side"
    done
done
echo "made backprop, hotspot, lud and inputs in $folder: export WARPAGE_PROGRAMS=$folder"
