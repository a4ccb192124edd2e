# SPDX-License-Identifier: Apache-2.0
# Programs that NVIDIA's nvcc builds, with the static runtime (its default) and the shared one, on cpu and a simulated
# GPU: what they print is right, and the report has their kernels. tools/nvcc.sh fetches an nvcc; tools/foreign-ptx.sh
# runs more programs.
set -e
unset NVCC_PREPEND_FLAGS # wpcc's, for which nvcc would stop
cd "$TMP"
for nvcc in "${WARPAGE_NVCC:-}" "$E2E/../../build/nvcc/bin/nvcc" "$(command -v nvcc || true)" /usr/local/cuda/bin/nvcc; do
    [ ! -x "$(dirname "$nvcc")/cudafe++" ] || break
done
[ -x "$(dirname "$nvcc")/cudafe++" ] || { echo "there is no nvcc: tools/nvcc.sh fetches one"; exit 77; }
for name in managed_variables managed_advice device_queries wide_integers host_memory per_thread_stream constant_symbols texture_layers; do
    flags=$(sed -n '1,12s|^// FLAGS: *||p' "$E2E/$name.cu")
    "$nvcc" -std=c++17 -w $flags -I "$E2E" -c "$E2E/$name.cu" -o "$name.o"
    for kind in static shared; do
        "$nvcc" -cudart $kind $flags "$name.o" -o "$name-$kind"
        for device in cpu sim:v100; do
            "$WARPAGE" run --device $device -- "./$name-$kind" >said 2>talk || true
            [ "$(tail -n 1 said)" = PASS ] || { echo "$name, $kind, on $device:"; cat said talk; exit 1; }
        done
    done
done
# Clocks that follow the simulated GPU, with a runtime that is loaded for the static one alone.
"$nvcc" -std=c++17 -w "$E2E/sim/simulated_clock.cu" -o clocks
"$WARPAGE" run --device sim:v100 --simulated-clock -- ./clocks >said 2>talk
awk '$1 == "event" && $4 > $2 - 1.5 && $4 < $2 + 1.5 { found = 1 } END { exit !found }' said || { cat said talk; exit 1; }
# Without a symbol table, and without `warpage`: a sentence.
strip constant_symbols-static -o stripped
"$WARPAGE" run -- ./stripped >said 2>talk && { echo "the stripped program succeeded"; exit 1; }
grep -q "contains NVIDIA's own runtime" talk || { cat said talk; exit 1; }
names=$(cd "${WARPAGE%/*}/../lib/warpage/nvidia" && pwd)
LD_LIBRARY_PATH=$names ./constant_symbols-static >said 2>talk && { echo "the program succeeded without warpage"; exit 1; }
grep -q "contains NVIDIA's own runtime" talk || { cat said talk; exit 1; }
LD_PRELOAD=$names/libcudart_static.so ./constant_symbols-static >said
[ "$(tail -n 1 said)" = PASS ] || { cat said; exit 1; }
