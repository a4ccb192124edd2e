# SPDX-License-Identifier: Apache-2.0
# Programs that rely on the lanes of a warp running in step are right when their kernels run in step with simulated
# time, where the compiler keeps no lanes together and the model does.
set -e
for program in warp_synchronous warp_synchronous_plain; do
    "$WPCC" -O2 -I "$E2E" "$E2E/$program.cu" -o "$TMP/$program"
    for gpu in gtx780ti v100; do
        "$WARPAGE" run --device sim:$gpu --in-step always -- "$TMP/$program" >"$TMP/out" 2>"$TMP/err" ||
            { echo "$program on $gpu"; tail -n 3 "$TMP/out" "$TMP/err"; exit 1; }
        grep -qx PASS "$TMP/out"
    done
done
