# SPDX-License-Identifier: Apache-2.0
# The same kernels, as PTX, on the stand-in for the driver: which takes what time it takes.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
warpage probe points --device cuda:0 a=4KiB*8 b=64KiB*100 c=0,3:4KiB*8 | sed 's/ .*//'
