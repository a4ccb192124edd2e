#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Messages to a program's user about GPUs that cannot be used: one sentence each, once. On the stand-in for the driver,
# of which one call fails.
set -u
fake=$(cd "$(dirname "$WPCC")/../tests" && pwd)/libfake_cuda.so
[ -f "$fake" ] || { echo "$fake is missing"; exit 77; }
cat >"$TMP/errors.cu" <<'END'
#include <stdio.h>
#include <stdlib.h>
__global__ void kernel(int *p) { *p = 1; }
int main(int argc, char **argv) {
    void *memory = NULL;
    cudaError_t error = cudaMalloc(&memory, argc > 1 ? strtoull(argv[1], NULL, 10) : 4);
    if (memory != NULL) kernel<<<1, 1>>>((int *)memory);
    if (error == cudaSuccess) error = cudaGetLastError();
    for (int i = 0; i < 3; i++)
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
    cudaError_t again = cudaDeviceSynchronize();
    printf("%s, then %s\n", cudaGetErrorName(error), cudaGetErrorName(again));
    return 0;
}
END
"$WPCC" "$TMP/errors.cu" -o "$TMP/errors" || exit 1
failures=0
# tell <what the program says> <sentence> <environment>… [-- <arguments>]
tell() {
    says=$1 sentence=$2
    shift 2
    environment=
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        environment="$environment $1"
        shift
    done
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086  # words
    env WARPAGE_DEVICE=cuda:0 WARPAGE_LIBCUDA="$fake" $environment "$TMP/errors" "$@" >"$TMP/out" 2>"$TMP/err"
    if [ "$(cat "$TMP/out")" != "$says" ] || [ "$(wc -l <"$TMP/err")" -ne 1 ] || ! grep -q -e "$sentence" "$TMP/err"; then
        echo "  $environment $*: expected '$says' and a line with '$sentence', got"
        cat "$TMP/out" "$TMP/err"
        failures=1
    fi
}
none="cudaErrorNoDevice, then cudaErrorNoDevice"
tell "$none" 'no device: no CUDA driver: /nowhere/.*install NVIDIA.s driver, or run on the device cpu' WARPAGE_LIBCUDA=/nowhere/libcuda.so.1
tell "$none" 'no device: the CUDA driver supports CUDA 9.2, which is too old: install a driver for CUDA 10.0' FAKE_CUDA_VERSION=9020
tell "$none" 'no device: .*the driver finds no GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES' FAKE_CUDA_DEVICES=0
tell "$none" 'no device: there is no cuda:3; the driver reports 1 GPU' WARPAGE_DEVICE=cuda:3
tell "$none" 'no device: .*different versions: reboot' FAKE_CUDA_FAIL=cuInit:1:803
tell "cudaErrorMemoryAllocation, then cudaSuccess" \
    'out of device memory: 2.00 GiB requested, 1.00 GiB of 1.00 GiB free on cuda:0; free some, or use cudaMallocManaged' -- 2147483648
tell "cudaErrorIllegalAddress, then cudaErrorIllegalAddress" \
    'cuda:0: waiting for the device: a kernel accessed an address .*run --check.*cudaDeviceReset().*ILLEGAL_ADDRESS' \
    FAKE_CUDA_FAIL=cuCtxSynchronize:1:700
tell "cudaErrorIllegalAddress, then cudaErrorIllegalAddress" 'cuda:0: launching _Z6kernelPi: a kernel accessed' \
    FAKE_CUDA_FAIL=cuLaunchKernel:1:700
tell "cudaErrorInvalidKernelImage, then cudaSuccess" \
    'could not assemble the PTX (CUDA_ERROR_INVALID_PTX): ptxas application ptx input, line 7; error' FAKE_CUDA_FAIL=cuModuleLoadDataEx:1:218
tell "cudaErrorNotSupported, then cudaSuccess" 'PTX has version 6.3, newer than this driver for CUDA 12.4' FAKE_CUDA_FAIL=cuModuleLoadDataEx:1:222
tell "cudaErrorNotSupported, then cudaSuccess" 'need a GPU of sm_70 or later, cuda:0 (Fake GPU 0) is sm_61' FAKE_CUDA_SM=61
tell "cudaErrorJitCompilerNotFound, then cudaSuccess" 'libnvidia-ptxjitcompiler.so.1) is missing' FAKE_CUDA_FAIL=cuModuleLoadDataEx:1:221
# The compiler's whole log is at level info.
WARPAGE_DEVICE=cuda:0 WARPAGE_LIBCUDA=$fake WARPAGE_LOG=device.cuda:info FAKE_CUDA_FAIL=cuModuleLoadDataEx:1:218 "$TMP/errors" 2>&1 |
    grep -q 'info: device.cuda: PTX compiler: ptxas application ptx input, line 7' || { echo "  no log"; failures=1; }
exit $failures
