# SPDX-License-Identifier: Apache-2.0
# Where kernels cannot be checked, a program that asks for it by its environment gets a warning.
cd "$TMP" || exit 2
echo '__global__ void k(void) {} int main(void) { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }' >k.cu
"$WPCC" k.cu -o k || exit 1
WARPAGE_CHECK=1 WARPAGE_DEVICE=sim:k80 ./k 2>talk || exit 1
grep -q 'kernels are checked on the CPU only, not on sim:k80: use the device cpu$' talk || { cat talk; exit 1; }
WARPAGE_CHECK=1 WARPAGE_DEVICE=cpu ./k 2>talk || exit 1
! grep -q 'on the CPU only' talk
