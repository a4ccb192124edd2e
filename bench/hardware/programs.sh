#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the programs of `warpage reproduce hardware` in FOLDER, unmodified, compiled by wpcc from public copies, with the
# inputs of their runs: Rodinia's backprop, hotspot, lud and b+tree, of NVIDIA's samples binomialOptions, dct8x8,
# fastWalshTransform, histogram, mergeSort, quasirandomGenerator and SobolQRNG, and Parboil's mri-q and sgemm.
#
#     bench/hardware/programs.sh FOLDER     copies in FOLDER/rodinia, FOLDER/cuda-samples and FOLDER/parboil are taken
#
# wpcc is the one in $PATH, or build/release/bin/wpcc.
set -eu
[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
folder=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
wpcc=$(command -v wpcc || echo "$root/build/release/bin/wpcc")
[ -x "$wpcc" ] || { echo "programs.sh: no wpcc: build Warpage, or put it into \$PATH" >&2; exit 1; }
mkdir -p "$folder"
copy() { # folder, repository, branch
    [ -d "$folder/$1" ] || git clone --quiet --depth 1 --branch "$3" "https://github.com/$2" "$folder/$1"
}
copy rodinia yuhc/gpu-rodinia master
copy cuda-samples NVIDIA/cuda-samples v12.9
copy parboil yuhc/gpu-parboil master
rodinia=$folder/rodinia
samples=$folder/cuda-samples/Samples
parboil=$folder/parboil

# As their makefiles compile them.
cuda=$rodinia/cuda
"$wpcc" -O2 -w "$cuda"/backprop/backprop_cuda.cu "$cuda"/backprop/backprop.c "$cuda"/backprop/facetrain.c \
    "$cuda"/backprop/imagenet.c -o "$folder/backprop"
"$wpcc" -O2 -w "$cuda/hotspot/hotspot.cu" -o "$folder/hotspot"
"$wpcc" -O3 -use_fast_math -w -I "$cuda/lud/common" "$cuda/lud/cuda/lud.cu" "$cuda/lud/cuda/lud_kernel.cu" \
    "$cuda/lud/common/common.c" -o "$folder/lud"
tree=$cuda/b+tree
"$wpcc" -O3 -w -I "$tree" "$tree"/main.c "$tree"/kernel/kernel_gpu_cuda_wrapper.cu "$tree"/kernel/kernel_gpu_cuda_wrapper_2.cu \
    "$tree"/util/timer/timer.c "$tree"/util/num/num.c "$tree"/util/cuda/cuda.cu -o "$folder/b+tree"

for sample in 0_Introduction/mergeSort 2_Concepts_and_Techniques/dct8x8 2_Concepts_and_Techniques/histogram \
    5_Domain_Specific/SobolQRNG 5_Domain_Specific/binomialOptions 5_Domain_Specific/fastWalshTransform \
    5_Domain_Specific/quasirandomGenerator; do
    "$wpcc" -O2 -w -I "$samples/../Common" "$samples/$sample"/*.cpp "$samples/$sample"/*.cu -o "$folder/${sample#*/}"
done
mriq=$parboil/benchmarks/mri-q/src/cuda
"$wpcc" -O3 -w --use_fast_math -I "$parboil/common/include" -I "$mriq" "$mriq/main.cu" "$mriq/file.cc" \
    "$parboil/common/src/parboil_cuda.c" -o "$folder/mri-q"
sgemm=$parboil/benchmarks/sgemm/src/cuda
"$wpcc" -O3 -w -I "$parboil/common/include" -I "$sgemm" "$sgemm/main.cu" "$sgemm/io.cc" \
    "$parboil/common/src/parboil_cuda.c" -o "$folder/sgemm"

cp "$samples/2_Concepts_and_Techniques/dct8x8/data/teapot512.bmp" "$folder"

# b+tree's keys, a million in any order, and its commands; mri-q's large data set has as many points and samples.
seq 1000000 | awk 'BEGIN { srand(1) } { printf "%.9f %d\n", rand(), $1 }' | sort | awk 'BEGIN { print 1000000 } { print $2 }' \
    >"$folder/mil.txt"
printf 'j 6000 3000\nk 10000\n' >"$folder/command.txt"
python3 - "$folder/mri-q.bin" <<'DATA'
import array, random, struct, sys
samples, points = 2048, 262144
random.seed(1)
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<ii", samples, points))
    for count in (samples, samples, samples, points, points, points, samples, samples):
        array.array("f", [random.random() for _ in range(count)]).tofile(file)
DATA
# sgemm's medium data set: matrices by columns, the second one transposed.
for matrix in matrix1:1024:992 matrix2:992:1056 matrix2t:1056:992; do
    IFS=: read -r name rows columns <<MATRIX
$matrix
MATRIX
    awk -v rows="$rows" -v columns="$columns" \
        'BEGIN { srand(1); print rows, columns; for (i = 0; i < rows * columns; i++) printf "%.4f ", rand() }' >"$folder/$name.txt"
done

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
echo "made 13 programs and their inputs in $folder: export WARPAGE_PROGRAMS=$folder"
