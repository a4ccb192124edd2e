# SPDX-License-Identifier: Apache-2.0
# Names of simulated GPUs without their "sim:", or in capitals.
for device in k80 V100 SIM:P100 sim-h200 nonesuch; do
    warpage run --device $device -- ./none 2>&1 | head -n 1
done
