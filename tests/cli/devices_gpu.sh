# SPDX-License-Identifier: Apache-2.0
# GPUs are listed with what the driver says of them; here it is the stand-in for the driver.
tests=$(dirname "$(command -v warpage)")/../tests
WARPAGE_LIBCUDA=$tests/libfake_cuda.so FAKE_CUDA_DEVICES=2 warpage devices --measure
