# SPDX-License-Identifier: Apache-2.0
# A GPU, what it enables; and a driver that is too old, what would mend it.
tests=$(dirname "$(command -v warpage)")/../tests
WARPAGE_LIBCUDA=$tests/libfake_cuda.so warpage doctor | grep cuda:0
WARPAGE_LIBCUDA=$tests/libfake_cuda.so FAKE_CUDA_SM=61 warpage doctor | grep cuda:0
WARPAGE_LIBCUDA=$tests/libfake_cuda_old.so warpage doctor | grep cuda:0
WARPAGE_LIBCUDA=/nowhere/libcuda.so.1 warpage doctor | grep cuda:0
