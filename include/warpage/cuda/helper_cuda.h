/* SPDX-License-Identifier: Apache-2.0 */
/** Checked calls and the choice of a device, by the names that the sample suites use. */
#ifndef WARPAGE_CUDA_HELPER_CUDA_H
#define WARPAGE_CUDA_HELPER_CUDA_H

#ifndef COMMON_HELPER_CUDA_H_
#define COMMON_HELPER_CUDA_H_
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

inline const char *_cudaGetErrorEnum(cudaError_t error) {
    return cudaGetErrorName(error);
}

template <typename T>
void check(T result, char const *const call, const char *const file, int const line) {
    if (result) {
        fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, (int)result,
                _cudaGetErrorEnum((cudaError_t)result), call);
        exit(EXIT_FAILURE);
    }
}

/** Prints a message and exits if the call failed. */
#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)

/** Prints a message and exits if an earlier call or launch failed. */
#define getLastCudaError(msg) __getLastCudaError(msg, __FILE__, __LINE__)
/** Prints a message if an earlier call or launch failed. */
#define printLastCudaError(msg) __printLastCudaError(msg, __FILE__, __LINE__)

inline void __printLastCudaError(const char *message, const char *file, const int line) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "%s(%i) : %s : (%d) %s.\n", file, line, message, (int)error,
                cudaGetErrorString(error));
    }
}
inline void __getLastCudaError(const char *message, const char *file, const int line) {
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        fprintf(stderr, "%s(%i) : %s : (%d) %s.\n", file, line, message, (int)error,
                cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

inline int ftoi(float value) {
    return value >= 0 ? (int)(value + 0.5) : (int)(value - 0.5);
}

/** Floating-point units of an SM, and the generation's name, by compute capability. */
inline int _ConvertSMVer2Cores(int major, int minor) {
    static const struct {
        int capability;
        int cores;
    } known[] = {{20, 32},  {21, 48},  {30, 192}, {32, 192}, {35, 192}, {37, 192}, {50, 128},
                 {52, 128}, {53, 128}, {60, 64},  {61, 128}, {62, 128}, {70, 64},  {72, 64},
                 {75, 64},  {80, 64},  {86, 128}, {87, 128}, {89, 128}, {90, 128}};
    int cores = 64;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].capability <= major * 10 + minor) {
            cores = known[i].cores;
        }
    }
    return cores;
}
inline const char *_ConvertSMVer2ArchName(int major, int minor) {
    static const struct {
        int capability;
        const char *name;
    } known[] = {{20, "Fermi"},  {30, "Kepler"}, {50, "Maxwell"}, {60, "Pascal"}, {70, "Volta"},
                 {75, "Turing"}, {80, "Ampere"}, {89, "Ada"},     {90, "Hopper"}};
    const char *name = "Graphics Device";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].capability <= major * 10 + minor) {
            name = known[i].name;
        }
    }
    return name;
}

/** Makes device `id` the current one. Returns it. */
inline int gpuDeviceInit(int id) {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count == 0) {
        fprintf(stderr, "gpuDeviceInit() CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    if (id < 0) {
        id = 0;
    }
    if (id >= count) {
        fprintf(stderr, "gpuDeviceInit: -device=%d is not a valid device; there are %d.\n", id,
                count);
        return -id;
    }
    checkCudaErrors(cudaSetDevice(id));
    return id;
}

/** The device with the most arithmetic: SMs × units × clock. */
inline int gpuGetMaxGflopsDeviceId() {
    int count = 0, best = 0;
    double best_rate = -1.0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    if (count == 0) {
        fprintf(stderr, "gpuGetMaxGflopsDeviceId() CUDA error: no devices supporting CUDA.\n");
        exit(EXIT_FAILURE);
    }
    for (int id = 0; id < count; id++) {
        cudaDeviceProp prop;
        checkCudaErrors(cudaGetDeviceProperties(&prop, id));
        const double rate = (double)prop.multiProcessorCount *
                            _ConvertSMVer2Cores(prop.major, prop.minor) * prop.clockRate;
        if (rate > best_rate) {
            best_rate = rate;
            best = id;
        }
    }
    return best;
}

/** Selects the device given on the command line (-device=N), or the fastest. */
inline int findCudaDevice(int argc, const char **argv) {
    int id;
    if (checkCmdLineFlag(argc, argv, "device")) {
        id = gpuDeviceInit(getCmdLineArgumentInt(argc, argv, "device"));
        if (id < 0) {
            exit(EXIT_FAILURE);
        }
    } else {
        id = gpuGetMaxGflopsDeviceId();
        checkCudaErrors(cudaSetDevice(id));
    }
    cudaDeviceProp prop;
    checkCudaErrors(cudaGetDeviceProperties(&prop, id));
    printf("GPU Device %d: \"%s\" with compute capability %d.%d\n\n", id,
           _ConvertSMVer2ArchName(prop.major, prop.minor), prop.major, prop.minor);
    return id;
}

/** Selects a device that shares its memory with the host; returns -1 if there is none. */
inline int findIntegratedGPU() {
    int count = 0;
    checkCudaErrors(cudaGetDeviceCount(&count));
    for (int id = 0; id < count; id++) {
        int integrated = 0;
        checkCudaErrors(cudaDeviceGetAttribute(&integrated, cudaDevAttrIntegrated, id));
        if (integrated) {
            checkCudaErrors(cudaSetDevice(id));
            return id;
        }
    }
    return -1;
}

/** Whether the current device has at least this compute capability. */
inline bool checkCudaCapabilities(int major_version, int minor_version) {
    int id = 0, major = 0, minor = 0;
    checkCudaErrors(cudaGetDevice(&id));
    checkCudaErrors(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, id));
    checkCudaErrors(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, id));
    if (major > major_version || (major == major_version && minor >= minor_version)) {
        printf("  Device %d: compute capability %d.%d\n", id, major, minor);
        return true;
    }
    printf("  No GPU device was found that can support CUDA compute capability %d.%d.\n",
           major_version, minor_version);
    return false;
}

#endif
