# SPDX-License-Identifier: Apache-2.0
# All devices read the same positions, whatever the strategy and the placement: one estimate.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
awk 'BEGIN { print "fare"; for (i = 0; i < 30000; i++) print i % 7 == 3 ? "" : i % 1000 }' >t.csv
sample() {
    warpage sample --column fare --n 4096 --seed 3 --range ..249 --format csv "$@" t.csv || echo "status $?: $*"
}
sample >wanted
for device in cpu sim:k80 sim:p100 cuda:0; do
    for how in "--strategy auto" "--strategy direct" "--strategy scoped --scope 64KiB"; do
        for placement in auto zero-copy resident; do
            # shellcheck disable=SC2086  # they are several words
            sample --device $device $how --placement $placement --threads 512 >ours
            cmp wanted ours || echo "differs: $device $how $placement"
        done
    done
done
tail -1 wanted | cut -d, -f1,2,8,9
