/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plain names of functions that cuda.h declares with a suffix (cuEventDestroy_v2), for programs
 * that look them up by dlsym: Taichi, Warp, hashcat. Only those whose first form has the same
 * parameters in 64-bit programs, cuGetProcAddress, which had no status before CUDA 12, and
 * cuMemsetD8 and its like, which programs look up under these names although their addresses had 32
 * bits. Others, such as cuMemAlloc, had 32-bit addresses and sizes: programs look their new names
 * up.
 */
#include "cudart/driver/driver.h"

#undef cuCtxDestroy
#undef cuCtxPopCurrent
#undef cuCtxPushCurrent
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuDevicePrimaryCtxSetFlags
#undef cuEventDestroy
#undef cuGetProcAddress
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuLinkCreate
#undef cuMemHostRegister
#undef cuMemsetD16
#undef cuMemsetD32
#undef cuMemsetD8
#undef cuStreamDestroy

#define OLD_NAME(name, params, args)                                                               \
    WP_API CUresult name params;                                                                   \
    WP_API CUresult name params {                                                                  \
        return name##_v2 args;                                                                     \
    }

OLD_NAME(cuCtxDestroy, (CUcontext context), (context))
OLD_NAME(cuCtxPopCurrent, (CUcontext * context), (context))
OLD_NAME(cuCtxPushCurrent, (CUcontext context), (context))
OLD_NAME(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
OLD_NAME(cuDevicePrimaryCtxReset, (CUdevice device), (device))
OLD_NAME(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags), (device, flags))
OLD_NAME(cuEventDestroy, (CUevent event), (event))
OLD_NAME(cuStreamDestroy, (CUstream stream), (stream))
OLD_NAME(cuMemHostRegister, (void *memory, size_t bytes, unsigned int flags),
         (memory, bytes, flags))
OLD_NAME(cuMemsetD8, (CUdeviceptr address, unsigned char value, size_t count),
         (address, value, count))
OLD_NAME(cuMemsetD16, (CUdeviceptr address, unsigned short value, size_t count),
         (address, value, count))
OLD_NAME(cuMemsetD32, (CUdeviceptr address, unsigned int value, size_t count),
         (address, value, count))
OLD_NAME(cuLinkCreate,
         (unsigned int options_count, CUjit_option *options, void **values, CUlinkState *state),
         (options_count, options, values, state))
OLD_NAME(cuLinkAddData,
         (CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
          unsigned int options_count, CUjit_option *options, void **values),
         (state, type, data, bytes, name, options_count, options, values))
OLD_NAME(cuLinkAddFile,
         (CUlinkState state, CUjitInputType type, const char *path, unsigned int options_count,
          CUjit_option *options, void **values),
         (state, type, path, options_count, options, values))
OLD_NAME(cuGetProcAddress, (const char *symbol, void **found, int version, cuuint64_t flags),
         (symbol, found, version, flags, NULL))
