# SPDX-License-Identifier: Apache-2.0
# Kernels are checked on the CPU: on another device a run would find nothing.
warpage run --check --device sim:k80 -- true
echo "status $?"
WARPAGE_DEVICE=sim:p100 warpage run --check -- true
echo "status $?"
