# SPDX-License-Identifier: Apache-2.0
# What is out of range is told with the range's units.
for set in gpu.memory=0B gpu.core_clock=1Hz tlb.l1.entries=0 link.bandwidth=1B/s gpu.launch_latency=9999999s; do
    warpage params --device sim:k80 --set $set 2>&1 | head -n 1
done
