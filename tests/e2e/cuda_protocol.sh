#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that wpcc compiled, on the stand-in for NVIDIA's driver: their PTX is loaded, their launches
# have the parameters that it declares, and no call breaks the driver's rules. Kernels do nothing there, so
# what the programs make of it is not looked at; but they must end.
fake=$(dirname "$WPCC")/../tests/libfake_cuda.so
[ -f "$fake" ] || { echo "$fake is missing"; exit 77; }
failed=0
for name in structs_by_value constant_symbols managed_variables texture_reference texture_object_2d texture_layers \
    surfaces arrays copies_3d cg_grid streams_order host_functions device_reset; do
    # shellcheck disable=SC2046  # flags are words
    "$WPCC" $(sed -n '1,12s|^// FLAGS: *||p' "$E2E/$name.cu") "$E2E/$name.cu" -o "$TMP/$name" || exit 1
    WARPAGE_DEVICE=cuda:0 WARPAGE_LIBCUDA=$fake timeout 30 "$TMP/$name" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
    status=$?
    if [ $status -gt 1 ] || grep -q -e 'fake_cuda: misuse' -e 'no device:' "$TMP/stderr"; then
        echo "$name: exit status $status"
        head -n 5 "$TMP/stderr"
        failed=1
    fi
done

# The run record knows the GPU, its kernels and its copies.
"$WPCC" "$E2E/../../examples/vecadd.cu" -o "$TMP/vecadd" || exit 1
WARPAGE_LIBCUDA=$fake "$WARPAGE" run --device cuda:0 "$TMP/vecadd" >/dev/null 2>"$TMP/report"
for part in 'on cuda:0 (Fake GPU 0)' ' add  *1  *1048576'; do
    grep -q -e "$part" "$TMP/report" || { echo "the report lacks '$part':"; cat "$TMP/report"; failed=1; }
done
exit $failed
