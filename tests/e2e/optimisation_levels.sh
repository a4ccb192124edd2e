# SPDX-License-Identifier: Apache-2.0
# Programs with barriers, warp operations, recursion and local arrays give the same answers at -O0, -O1, -O3, -g -G, with fast
# mathematics, with relocatable device code, and on processors without AVX.
set -e
cd "$TMP"
for name in barrier_loops warp_divergent recursion local_arrays; do
    for flags in "-O0" "-O3 -rdc=true" "-g -G" "-O1 -use_fast_math"; do
        # shellcheck disable=SC2086
        "$WPCC" --cpu-isa=all $flags "$E2E/$name.cu" -o program
        for isa in best baseline; do
            last=$(WARPAGE_CPU_ISA=$isa ./program | tail -n 1)
            [ "$last" = PASS ] || { echo "$name with $flags, cpu-isa $isa: $last"; exit 1; }
        done
    done
done
