/* SPDX-License-Identifier: Apache-2.0 */
/** Meanings of the driver's results, one row each. Other numbers are DEVICE errors. */
#include "device/cuda/libcuda.h"

#define RESET "; the device is of no use to this process until cudaDeviceReset()"

/* X(number, name, status, is sticky, text) */
#define RESULT_MAP(X)                                                                              \
    X(0, "CUDA_SUCCESS", OK, false, "success")                                                     \
    X(1, "CUDA_ERROR_INVALID_VALUE", INVALID, false, "the driver refused an argument")             \
    X(2, "CUDA_ERROR_OUT_OF_MEMORY", DEVICE_NOMEM, false, "out of device memory")                  \
    X(3, "CUDA_ERROR_NOT_INITIALIZED", DEVICE, false,                                              \
      "the driver is not initialised: a process that fork() made cannot use its parent's GPU")     \
    X(4, "CUDA_ERROR_DEINITIALIZED", DEVICE, false, "the driver is shutting down")                 \
    X(34, "CUDA_ERROR_STUB_LIBRARY", NOT_FOUND, false,                                             \
      "libcuda.so.1 is the toolkit's stub and no driver: remove its folder from LD_LIBRARY_PATH")  \
    X(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", UNSUPPORTED, false,                             \
      "libcuda.so.1 is newer than the kernel's NVIDIA module: install a newer driver")             \
    X(46, "CUDA_ERROR_DEVICE_UNAVAILABLE", DEVICE, false,                                          \
      "another process has the GPU for itself: see the compute mode in nvidia-smi")                \
    X(100, "CUDA_ERROR_NO_DEVICE", NOT_FOUND, false,                                               \
      "the driver finds no GPU: see nvidia-smi, and CUDA_VISIBLE_DEVICES")                         \
    X(101, "CUDA_ERROR_INVALID_DEVICE", NOT_FOUND, false, "there is no such GPU")                  \
    X(102, "CUDA_ERROR_DEVICE_NOT_LICENSED", DEVICE, false,                                        \
      "the virtual GPU has no licence: see nvidia-smi -q")                                         \
    X(200, "CUDA_ERROR_INVALID_IMAGE", PARSE, false, "the driver does not take the kernel code")   \
    X(201, "CUDA_ERROR_INVALID_CONTEXT", DEVICE, false,                                            \
      "the device's context is gone: something else in the process reset the GPU")                 \
    X(205, "CUDA_ERROR_MAP_FAILED", DEVICE, false, "the memory cannot be mapped for the GPU")      \
    X(209, "CUDA_ERROR_NO_BINARY_FOR_GPU", UNSUPPORTED, false,                                     \
      "the kernel code is not for this GPU: compile with -arch of this GPU or an older one")       \
    X(214, "CUDA_ERROR_ECC_UNCORRECTABLE", DEVICE, true,                                           \
      "the GPU's memory had an error that could not be corrected" RESET)                           \
    X(215, "CUDA_ERROR_UNSUPPORTED_LIMIT", UNSUPPORTED, false, "this GPU has no such limit")       \
    X(218, "CUDA_ERROR_INVALID_PTX", PARSE, false, "the driver could not assemble the PTX")        \
    X(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", DEVICE, true,                                        \
      "an NVLink had an error that could not be corrected" RESET)                                  \
    X(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", TOOLCHAIN, false,                                  \
      "the driver's PTX compiler (libnvidia-ptxjitcompiler.so.1) is missing: install the whole "   \
      "driver package")                                                                            \
    X(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", UNSUPPORTED, false,                               \
      "the driver is too old for this PTX: install a newer one, or compile with an older -arch")   \
    X(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED", TOOLCHAIN, false,                                \
      "the driver may not compile PTX: unset CUDA_DISABLE_PTX_JIT")                                \
    X(226, "CUDA_ERROR_CONTAINED", DEVICE, true,                                                   \
      "the GPU contained an error of its memory and ended the process's work" RESET)               \
    X(300, "CUDA_ERROR_INVALID_SOURCE", PARSE, false, "the driver does not take the kernel code")  \
    X(303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED", DEVICE, false,                                  \
      "a library of the driver does not start: install the whole driver package")                  \
    X(304, "CUDA_ERROR_OPERATING_SYSTEM", IO, false, "a call of the operating system failed")      \
    X(400, "CUDA_ERROR_INVALID_HANDLE", INVALID, false, "the driver does not know the handle")     \
    X(500, "CUDA_ERROR_NOT_FOUND", NOT_FOUND, false, "the code has no such name")                  \
    X(600, "CUDA_ERROR_NOT_READY", NOT_READY, false, "work is still under way")                    \
    X(700, "CUDA_ERROR_ILLEGAL_ADDRESS", KERNEL_ADDRESS, true,                                     \
      "a kernel accessed an address that is not the GPU's; `warpage run --check` on the CPU "      \
      "device finds where" RESET)                                                                  \
    X(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", LAUNCH, false,                                    \
      "a block needs more registers or memory than the GPU has: use smaller blocks")               \
    X(702, "CUDA_ERROR_LAUNCH_TIMEOUT", KERNEL_DEADLOCK, true,                                     \
      "a kernel ran longer than the driver allows on a GPU with a display" RESET)                  \
    X(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", DEVICE, true,                                        \
      "the device's context was destroyed by something else in the process" RESET)                 \
    X(710, "CUDA_ERROR_ASSERT", KERNEL_ASSERT, true, "an assertion in a kernel failed" RESET)      \
    X(712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", INVALID, false,                            \
      "part of the memory is registered already")                                                  \
    X(713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", INVALID, false,                                \
      "the memory is not registered")                                                              \
    X(714, "CUDA_ERROR_HARDWARE_STACK_ERROR", KERNEL_TRAP, true,                                   \
      "a kernel ran out of stack: cudaDeviceSetLimit(cudaLimitStackSize) gives more" RESET)        \
    X(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", KERNEL_TRAP, true,                                    \
      "a kernel executed a trap or an instruction that does not exist" RESET)                      \
    X(716, "CUDA_ERROR_MISALIGNED_ADDRESS", KERNEL_MISALIGNED, true,                               \
      "a kernel accessed a misaligned address" RESET)                                              \
    X(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", KERNEL_ADDRESS, true,                               \
      "a kernel used an address in a space that the instruction does not reach" RESET)             \
    X(718, "CUDA_ERROR_INVALID_PC", KERNEL_ADDRESS, true,                                          \
      "a kernel jumped to an address that is not code" RESET)                                      \
    X(719, "CUDA_ERROR_LAUNCH_FAILED", KERNEL_TRAP, true, "a kernel failed while it ran" RESET)    \
    X(720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", LAUNCH, false,                               \
      "the blocks of a cooperative launch do not fit the GPU at once")                             \
    X(721, "CUDA_ERROR_TENSOR_MEMORY_LEAK", KERNEL_TRAP, true,                                     \
      "a kernel ended without giving its tensor memory back" RESET)                                \
    X(800, "CUDA_ERROR_NOT_PERMITTED", DEVICE, false, "the driver does not permit this")           \
    X(801, "CUDA_ERROR_NOT_SUPPORTED", UNSUPPORTED, false,                                         \
      "this GPU, driver or system does not support it")                                            \
    X(802, "CUDA_ERROR_SYSTEM_NOT_READY", DEVICE, false,                                           \
      "the system is not ready: is nvidia-fabricmanager running?")                                 \
    X(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", DEVICE, false,                                     \
      "libcuda and the kernel's NVIDIA module are of different versions: reboot, or mount the "    \
      "host's libcuda into the container")                                                         \
    X(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", DEVICE, false,                             \
      "this libcuda is a compatibility package that does not support this GPU: use the driver's")  \
    X(805, "CUDA_ERROR_MPS_CONNECTION_FAILED", DEVICE, false,                                      \
      "the GPU is shared through MPS, whose control daemon does not answer")                       \
    X(806, "CUDA_ERROR_MPS_RPC_FAILURE", DEVICE, false, "the MPS server does not answer")          \
    X(807, "CUDA_ERROR_MPS_SERVER_NOT_READY", DEVICE, false,                                       \
      "the MPS server takes no process now: try again")                                            \
    X(808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED", DEVICE, false, "MPS serves no more processes")    \
    X(809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED", DEVICE, false, "MPS has no connection left")  \
    X(810, "CUDA_ERROR_MPS_CLIENT_TERMINATED", DEVICE, true, "the MPS server ended the process")   \
    X(999, "CUDA_ERROR_UNKNOWN", DEVICE, false,                                                    \
      "the driver gives no reason: see nvidia-smi, and the permissions of /dev/nvidia*")

typedef struct result_row {
    wpi_cu_result number;
    const char *name;
    wp_status status;
    bool is_sticky;
    const char *text;
} result_row;

static const result_row rows[] = {
#define RESULT_ROW(number, name, status, is_sticky, text)                                          \
    {number, name, WP_STATUS_##status, is_sticky, text},
    RESULT_MAP(RESULT_ROW)
#undef RESULT_ROW
};

static const result_row unknown = {-1, "an error of a newer driver", WP_STATUS_DEVICE, false,
                                   "the driver reported an error that this version does not know"};

static const result_row *find_row(wpi_cu_result result) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == result) return &rows[i];
    return &unknown;
}

wp_status wpi_cu_status(wpi_cu_result result) {
    return find_row(result)->status;
}

const char *wpi_cu_name(wpi_cu_result result) {
    return find_row(result)->name;
}

const char *wpi_cu_text(wpi_cu_result result) {
    return find_row(result)->text;
}

bool wpi_cu_is_sticky(wpi_cu_result result) {
    return find_row(result)->is_sticky;
}
