/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cublas/cublas_handle.h"

#include <string.h>

#include "base/alloc.h"
#include "warpage/cudart.h"

#define MAGIC 0x776172702d626c61u
#define RESULT_BYTES 16

/* ---- create, destroy ---- */

WP_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    if (handle == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = NULL;
    wp_device *device = wp_cudart_device();
    if (device == NULL) return CUBLAS_STATUS_NOT_INITIALIZED;
    struct cublasContext *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUBLAS_STATUS_ALLOC_FAILED;
    *made =
        (struct cublasContext){.magic = MAGIC,
                               .special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT,
                               .is_on_host = strcmp(wp_device_get_info(device)->spec, "cpu") == 0};
    const size_t bytes = WPI_PARTIALS * sizeof(wpi_partial) + RESULT_BYTES;
    if (cudaMalloc((void **)&made->partials, bytes) != cudaSuccess) {
        wpi_free(made);
        return CUBLAS_STATUS_ALLOC_FAILED;
    }
    *handle = made;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    const cudaError_t error = cudaFree(handle->partials); /* waits for queued work */
    handle->magic = 0;
    wpi_free(handle);
    return wpi_cublas_status(error);
}

cublasStatus_t wpi_cublas_enter(cublasHandle_t handle) {
    return handle != NULL && handle->magic == MAGIC ? CUBLAS_STATUS_SUCCESS
                                                    : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t wpi_cublas_status(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CUBLAS_STATUS_ALLOC_FAILED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

/* ---- settings ---- */

WP_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
    (void)handle;
    if (version == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    if (value == NULL || (int)type < 0 || (int)type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = values[type];
    return CUBLAS_STATUS_SUCCESS;
}

WP_API size_t cublasGetCudartVersion(void) {
    return CUDART_VERSION;
}

WP_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t streamId) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    handle->stream = streamId;
    return CUBLAS_STATUS_SUCCESS;
}

/* The kernels need no workspace of the program's. */
WP_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace,
                                            size_t workspaceSizeInBytes) {
    CUBLAS_TRY(wpi_cublas_enter(handle));
    return workspace == NULL && workspaceSizeInBytes > 0 ? CUBLAS_STATUS_INVALID_VALUE
                                                         : CUBLAS_STATUS_SUCCESS;
}

#define GETTER(name, type, field)                                                                  \
    WP_API cublasStatus_t name(cublasHandle_t handle, type *out) {                                 \
        CUBLAS_TRY(wpi_cublas_enter(handle));                                                      \
        if (out == NULL) return CUBLAS_STATUS_INVALID_VALUE;                                       \
        *out = handle->field;                                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

#define SETTER(name, type, field, is_valid)                                                        \
    WP_API cublasStatus_t name(cublasHandle_t handle, type value) {                                \
        CUBLAS_TRY(wpi_cublas_enter(handle));                                                      \
        if (!(is_valid)) return CUBLAS_STATUS_INVALID_VALUE;                                       \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

GETTER(cublasGetStream_v2, cudaStream_t, stream)
GETTER(cublasGetPointerMode_v2, cublasPointerMode_t, pointer_mode)
GETTER(cublasGetAtomicsMode, cublasAtomicsMode_t, atomics_mode)
GETTER(cublasGetMathMode, cublasMath_t, math_mode)
GETTER(cublasGetSmCountTarget, int, sm_count)
SETTER(cublasSetPointerMode_v2, cublasPointerMode_t, pointer_mode, (unsigned)value <= 1)
SETTER(cublasSetAtomicsMode, cublasAtomicsMode_t, atomics_mode, (unsigned)value <= 1)
SETTER(cublasSetMathMode, cublasMath_t, math_mode,
       ((unsigned)value & ~28u) <= 3 && ((unsigned)value & 12) != 12)
SETTER(cublasSetSmCountTarget, int, sm_count, value >= 0)

/* Products of CUDA 13 in narrow types, as exact as those in the wide ones: done in the wide ones.
 */
GETTER(cublasGetEmulationStrategy, cublasEmulationStrategy_t, emulation)
SETTER(cublasSetEmulationStrategy, cublasEmulationStrategy_t, emulation, (unsigned)value <= 2)
GETTER(cublasGetEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values)
SETTER(cublasSetEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values,
       (unsigned)value <= 3 || (unsigned)value == 0xffff)
GETTER(cublasGetFixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control)
SETTER(cublasSetFixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control,
       (unsigned)value <= 1)
GETTER(cublasGetFixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits)
SETTER(cublasSetFixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits, value >= 0)
GETTER(cublasGetFixedPointEmulationMantissaBitOffset, int, mantissa_offset_bits)
SETTER(cublasSetFixedPointEmulationMantissaBitOffset, int, mantissa_offset_bits, true)
GETTER(cublasGetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_bits)
SETTER(cublasSetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_bits, true)

WP_API cublasStatus_t cublasLoggerConfigure(int logIsOn, int logToStdOut, int logToStdErr,
                                            const char *logFileName) {
    (void)logIsOn, (void)logToStdOut, (void)logToStdErr, (void)logFileName;
    return CUBLAS_STATUS_SUCCESS; /* nothing is logged */
}

WP_API cublasStatus_t cublasSetLoggerCallback(cublasLogCallback userCallback) {
    (void)userCallback;
    return CUBLAS_STATUS_SUCCESS;
}

WP_API cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *userCallback) {
    if (userCallback == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    *userCallback = NULL;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- names ---- */

typedef struct status_row {
    cublasStatus_t status;
    const char *name, *text;
} status_row;

#define ROW(name, text) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text}

static const status_row *status_of(cublasStatus_t status) {
    static const status_row rows[] = {
        ROW(SUCCESS, "success"),
        ROW(NOT_INITIALIZED, "the library was not initialized"),
        ROW(ALLOC_FAILED, "the resource allocation failed"),
        ROW(INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
        ROW(ARCH_MISMATCH, "the function requires an architectural feature absent from the device"),
        ROW(MAPPING_ERROR, "an access to GPU memory space failed"),
        ROW(EXECUTION_FAILED, "the function failed to launch on the GPU"),
        ROW(INTERNAL_ERROR, "an internal operation failed"),
        ROW(NOT_SUPPORTED, "the functionality is not supported"),
        ROW(LICENSE_ERROR, "the functionality requested requires some license and an error was "
                           "detected when trying to check the current licensing")};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status) return &rows[i];
    return NULL;
}

WP_API const char *cublasGetStatusName(cublasStatus_t status) {
    const status_row *row = status_of(status);
    return row != NULL ? row->name : "CUBLAS_STATUS_UNKNOWN";
}

WP_API const char *cublasGetStatusString(cublasStatus_t status) {
    const status_row *row = status_of(status);
    return row != NULL ? row->text : "unknown status";
}

/* ---- factors and vectors ---- */

static bool is_double(wpi_blas_type type) {
    return type == WPI_BLAS_D || type == WPI_BLAS_Z;
}

wpi_scalar wpi_cublas_real_scalar(cublasHandle_t handle, wpi_blas_type type, const void *value) {
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return (wpi_scalar){.pointer = value};
    return wpi_cublas_constant(is_double(type) ? *(const double *)value
                                               : (double)*(const float *)value);
}

cublasStatus_t wpi_cublas_read(cublasHandle_t handle, wpi_blas_type type, bool is_complex,
                               const void *value, wpi_scalar *out) {
    float singles[2] = {0};
    double doubles[2] = {0};
    void *to = is_double(type) ? (void *)doubles : (void *)singles;
    const size_t real_bytes = is_double(type) ? sizeof(double) : sizeof(float);
    const bool is_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
    const cudaError_t error = cudaMemcpy(to, value, is_complex ? 2 * real_bytes : real_bytes,
                                         is_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
    *out = is_double(type) ? (wpi_scalar){.re = doubles[0], .im = doubles[1]}
                           : (wpi_scalar){.re = (double)singles[0], .im = (double)singles[1]};
    return wpi_cublas_status(error);
}

static double widen_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = (double)(bits & 1023) / 1024;
    double value = exponent == 0 ? fraction / 16384 : 1 + fraction;
    if (exponent == 31)
        value = fraction != 0 ? (double)__builtin_nanf("") : (double)__builtin_inff();
    for (int i = 15; i < exponent && exponent < 31; i++)
        value *= 2;
    for (int i = exponent; i < 15 && exponent > 0; i++)
        value /= 2;
    return bits >> 15 ? -value : value;
}

wpi_scalar wpi_cublas_scalar(cublasHandle_t handle, wpi_blas_type type, const void *value) {
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) return (wpi_scalar){.pointer = value};
    switch (type) {
    case WPI_BLAS_C: {
        const cuComplex *c = value;
        return (wpi_scalar){.re = (double)c->x, .im = (double)c->y};
    }
    case WPI_BLAS_Z: {
        const cuDoubleComplex *z = value;
        return (wpi_scalar){.re = z->x, .im = z->y};
    }
    case WPI_BLAS_I: return wpi_cublas_constant(*(const int *)value);
    case WPI_BLAS_HH: return wpi_cublas_constant(widen_half(*(const uint16_t *)value));
    default: return wpi_cublas_real_scalar(handle, type, value);
    }
}

wpi_scalar wpi_cublas_constant(double value) {
    return (wpi_scalar){.re = value};
}

bool wpi_cublas_is(wpi_scalar scalar, double value) {
    return scalar.pointer == NULL && scalar.im == 0 && scalar.re == value;
}

size_t wpi_cublas_element_bytes(wpi_blas_type type) {
    static const size_t bytes[WPI_BLAS_PRODUCTS] = {4,
                                                    8,
                                                    8,
                                                    16,
                                                    [WPI_BLAS_H] = 2,
                                                    [WPI_BLAS_HS] = 2,
                                                    [WPI_BLAS_HH] = 2,
                                                    [WPI_BLAS_B] = 2,
                                                    [WPI_BLAS_BS] = 2,
                                                    [WPI_BLAS_I] = 1,
                                                    [WPI_BLAS_IS] = 1};
    return bytes[type];
}

wpi_vector wpi_cublas_vector(wpi_blas_type type, int n, const void *x, int inc) {
    char *first = (char *)(uintptr_t)x;
    if (inc < 0 && n > 0)
        first += (size_t)(n - 1) * (size_t)(-(int64_t)inc) * wpi_cublas_element_bytes(type);
    return (wpi_vector){first, inc};
}

cublasStatus_t wpi_cublas_product(cublasHandle_t handle, wpi_blas_type type,
                                  const wpi_product *product) {
    cudaError_t error;
    if (handle->is_on_host && wpi_host_blas_product(handle->stream, type, product, &error))
        return wpi_cublas_status(error);
    return wpi_cublas_status(handle->is_on_host
                                 ? wpi_blas_cpu_product(handle->stream, type, product)
                                 : wpi_blas_product(handle->stream, type, product));
}
