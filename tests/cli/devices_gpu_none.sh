# SPDX-License-Identifier: Apache-2.0
# Why there is no GPU: no driver, one that is too old, or that finds none.
tests=$(dirname "$(command -v warpage)")/../tests
WARPAGE_LIBCUDA=/nowhere/libcuda.so.1 warpage devices | grep ^cuda
WARPAGE_LIBCUDA=$tests/libfake_cuda.so FAKE_CUDA_VERSION=9020 warpage devices | grep ^cuda
WARPAGE_LIBCUDA=$tests/libfake_cuda.so FAKE_CUDA_DEVICES=0 warpage devices --measure | grep ^cuda
# One whose memory is taken is there, without a measurement.
WARPAGE_LIBCUDA=$tests/libfake_cuda.so FAKE_CUDA_FAIL="cuMemAlloc_v2:1:2" warpage devices --measure | grep ^cuda
