/* SPDX-License-Identifier: Apache-2.0 */
/* NVML about the one device of the process: what wp_device_info knows of it. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/cuda/nvml.h"
#include "warpage/cudart.h"
#include "warpage/version.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users; /* calls of nvmlInit without nvmlShutdown */
static wp_device *opened;
static char identity; /* its address is the handle of device 0 */

#define NVML_TRY(expression)                                                                       \
    do {                                                                                           \
        const nvmlReturn_t nvml_try = (expression);                                                \
        if (nvml_try != NVML_SUCCESS) return nvml_try;                                             \
    } while (0)

/* ---- initialisation ---- */

WP_API nvmlReturn_t nvmlInit_v2(void) {
    wp_device *device = wp_cudart_device();
    if (device == NULL) return NVML_ERROR_DRIVER_NOT_LOADED;
    pthread_mutex_lock(&lock);
    users++;
    opened = device;
    pthread_mutex_unlock(&lock);
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    const unsigned known = NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH;
    return (flags & ~known) != 0 ? NVML_ERROR_INVALID_ARGUMENT : nvmlInit_v2();
}

WP_API nvmlReturn_t nvmlShutdown(void) {
    pthread_mutex_lock(&lock);
    const bool was_used = users > 0;
    if (was_used) users--;
    pthread_mutex_unlock(&lock);
    return was_used ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

static nvmlReturn_t is_initialised(void) {
    pthread_mutex_lock(&lock);
    const bool is_used = users > 0;
    pthread_mutex_unlock(&lock);
    return is_used ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

/* The facts of `device`, with somewhere to write (`out`). */
static nvmlReturn_t enter(nvmlDevice_t device, const void *out, const wp_device_info **info) {
    NVML_TRY(is_initialised());
    if ((char *)device != &identity || out == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    *info = wp_device_get_info(opened);
    return NVML_SUCCESS;
}

static nvmlReturn_t put(const char *text, char *out, unsigned int length) {
    if (strlen(text) >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(out, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

/* A number that may be unknown. */
static nvmlReturn_t put_known(uint64_t number, unsigned int *out) {
    if (number == 0) return NVML_ERROR_NOT_SUPPORTED;
    *out = (unsigned int)number;
    return NVML_SUCCESS;
}

WP_API const char *nvmlErrorString(nvmlReturn_t result) {
    static const char *const texts[] = {
        "The operation was successful",
        "NVML was not first initialized with nvmlInit()",
        "A supplied argument is invalid",
        "The requested operation is not available on target device",
        "The current user does not have permission for operation",
        "Already initialized",
        "A query to find an object was unsuccessful",
        "An input argument is not large enough",
        "A device's external power cables are not properly attached",
        "No device could be opened",
        "User provided timeout passed",
        "Interrupt issue",
        "Shared library couldn't be found or loaded",
        "Function couldn't be found in shared library",
        "infoROM is corrupted",
        "The GPU has fallen off the bus",
        "The GPU requires a reset",
        "The GPU control device has been blocked by the operating system",
        "Version mismatch",
        "An operation cannot be performed because the GPU is currently in use",
        "Insufficient memory",
        "No data",
        "Not supported with ECC",
        "Insufficient resources"};
    const unsigned n = (unsigned)result;
    return n < sizeof texts / sizeof *texts ? texts[n] : "An internal driver error occurred";
}

/* ---- the system ---- */

WP_API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    NVML_TRY(is_initialised());
    if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    return put(WP_VERSION_STRING, version, length); /* Warpage is the driver */
}

WP_API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    NVML_TRY(is_initialised());
    if (version == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    return put(NVML_API_VERSION_STR "." WP_VERSION_STRING, version, length);
}

WP_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion) {
    if (cudaDriverVersion == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    return cudaDriverGetVersion(cudaDriverVersion) == cudaSuccess ? NVML_SUCCESS
                                                                  : NVML_ERROR_UNKNOWN;
}

WP_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion) {
    return nvmlSystemGetCudaDriverVersion(cudaDriverVersion);
}

/* ---- which device ---- */

WP_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *deviceCount) {
    NVML_TRY(is_initialised());
    if (deviceCount == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    *deviceCount = 1;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    NVML_TRY(is_initialised());
    if (device == NULL || index != 0) return NVML_ERROR_INVALID_ARGUMENT;
    *device = (nvmlDevice_t)&identity;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device) {
    NVML_TRY(is_initialised());
    if (pciBusId == NULL || device == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    int index;
    if (cudaDeviceGetByPCIBusId(&index, pciBusId) != cudaSuccess) {
        (void)cudaGetLastError();
        return NVML_ERROR_NOT_FOUND;
    }
    return nvmlDeviceGetHandleByIndex_v2((unsigned)index, device);
}

/* The same for a device every time: made of its spec. */
static void make_uuid(const wp_device_info *info, char out[NVML_DEVICE_UUID_BUFFER_SIZE]) {
    const uint64_t a = wpi_hash64(info->spec, strlen(info->spec), 1);
    const uint64_t b = wpi_hash64(info->spec, strlen(info->spec), 2);
    (void)snprintf(out, NVML_DEVICE_UUID_BUFFER_SIZE, "GPU-%08x-%04x-%04x-%04x-%012llx",
                   (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff),
                   (unsigned)(b >> 48), (unsigned long long)(b & 0xffffffffffff));
}

WP_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    const wp_device_info *info;
    char made[NVML_DEVICE_UUID_BUFFER_SIZE];
    NVML_TRY(enter(device, uuid, &info));
    make_uuid(info, made);
    return put(made, uuid, length);
}

WP_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    char own[NVML_DEVICE_UUID_BUFFER_SIZE];
    NVML_TRY(is_initialised());
    if (uuid == NULL || device == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    make_uuid(wp_device_get_info(opened), own);
    return strcmp(own, uuid) == 0 ? nvmlDeviceGetHandleByIndex_v2(0, device) : NVML_ERROR_NOT_FOUND;
}

WP_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
    const wp_device_info *info;
    NVML_TRY(enter(device, index, &info));
    *index = 0;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minorNumber) {
    return nvmlDeviceGetIndex(device, minorNumber);
}

WP_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    const wp_device_info *info;
    NVML_TRY(enter(device, name, &info));
    return put(info->name, name, length);
}

WP_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    const wp_device_info *info;
    char id[32];
    NVML_TRY(enter(device, pci, &info));
    if (cudaDeviceGetPCIBusId(id, sizeof id, 0) != cudaSuccess) return NVML_ERROR_UNKNOWN;
    *pci = (nvmlPciInfo_t){0};
    unsigned function;
    if (sscanf(id, "%x:%x:%x.%x", &pci->domain, &pci->bus, &pci->device, &function) != 4)
        return NVML_ERROR_UNKNOWN;
    (void)snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.%X", pci->domain, pci->bus & 255,
                   pci->device & 255, function & 15);
    (void)snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.%X",
                   pci->domain & 0xffff, pci->bus & 255, pci->device & 255, function & 15);
    return NVML_SUCCESS;
}

/* ---- its memory and clocks ---- */

WP_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    const wp_device_info *info;
    uint64_t free_bytes, total_bytes;
    NVML_TRY(enter(device, memory, &info));
    wp_memory_info(opened, &free_bytes, &total_bytes);
    *memory = (nvmlMemory_t){total_bytes, free_bytes, total_bytes - free_bytes};
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    nvmlMemory_t plain;
    NVML_TRY(nvmlDeviceGetMemoryInfo(device, &plain));
    if (memory == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    memory->total = plain.total;
    memory->reserved = 0;
    memory->free = plain.free;
    memory->used = plain.used;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int *busWidth) {
    const wp_device_info *info;
    NVML_TRY(enter(device, busWidth, &info));
    return put_known(info->memory_bus_bits, busWidth);
}

WP_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                           unsigned int *clock) {
    const wp_device_info *info;
    NVML_TRY(enter(device, clock, &info));
    if ((unsigned)type >= NVML_CLOCK_COUNT) return NVML_ERROR_INVALID_ARGUMENT;
    if (type == NVML_CLOCK_VIDEO) return NVML_ERROR_NOT_SUPPORTED;
    /* Programs stop where a clock cannot be had: one that is not known is 0. */
    *clock =
        (unsigned)((type == NVML_CLOCK_MEM ? info->memory_clock_hz : info->clock_hz) / 1000000);
    return NVML_SUCCESS;
}

/* Clocks do not change. */
WP_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                              unsigned int *clock) {
    return nvmlDeviceGetClockInfo(device, type, clock);
}

WP_API nvmlReturn_t nvmlDeviceGetApplicationsClock(nvmlDevice_t device, nvmlClockType_t type,
                                                   unsigned int *clockMHz) {
    return nvmlDeviceGetClockInfo(device, type, clockMHz);
}

/* ---- its kind and modes ---- */

WP_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                       int *minor) {
    const wp_device_info *info;
    NVML_TRY(enter(device, major, &info));
    if (minor == NULL) return NVML_ERROR_INVALID_ARGUMENT;
    *major = (int)info->compute_major;
    *minor = (int)info->compute_minor;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode) {
    const wp_device_info *info;
    NVML_TRY(enter(device, mode, &info));
    *mode = NVML_COMPUTEMODE_DEFAULT;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type) {
    const wp_device_info *info;
    NVML_TRY(enter(device, type, &info));
    *type = NVML_BRAND_UNKNOWN;
    return NVML_SUCCESS;
}

WP_API nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode) {
    const wp_device_info *info;
    NVML_TRY(enter(device, mode, &info));
    *mode = NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

#define LINK_FACT(name, field)                                                                     \
    WP_API nvmlReturn_t name(nvmlDevice_t device, unsigned int *out) {                             \
        const wp_device_info *info;                                                                \
        NVML_TRY(enter(device, out, &info));                                                       \
        return put_known(info->field, out);                                                        \
    }

LINK_FACT(nvmlDeviceGetCurrPcieLinkGeneration, link_generation)
LINK_FACT(nvmlDeviceGetMaxPcieLinkGeneration, link_generation_max)
LINK_FACT(nvmlDeviceGetCurrPcieLinkWidth, link_width)
LINK_FACT(nvmlDeviceGetMaxPcieLinkWidth, link_width_max)

/* ---- what no device here has ---- */

static nvmlReturn_t unsupported(nvmlDevice_t device, const void *out) {
    const wp_device_info *info;
    NVML_TRY(enter(device, out, &info));
    return NVML_ERROR_NOT_SUPPORTED;
}

#define UNSUPPORTED(name, type)                                                                    \
    WP_API nvmlReturn_t name(nvmlDevice_t device, type *out) {                                     \
        return unsupported(device, out);                                                           \
    }

UNSUPPORTED(nvmlDeviceGetUtilizationRates, nvmlUtilization_t)
UNSUPPORTED(nvmlDeviceGetPowerUsage, unsigned int)
UNSUPPORTED(nvmlDeviceGetTotalEnergyConsumption, unsigned long long)
UNSUPPORTED(nvmlDeviceGetFanSpeed, unsigned int)
UNSUPPORTED(nvmlDeviceGetPerformanceState, nvmlPstates_t)
UNSUPPORTED(nvmlDeviceGetPowerManagementLimit, unsigned int)
UNSUPPORTED(nvmlDeviceGetEnforcedPowerLimit, unsigned int)
UNSUPPORTED(nvmlDeviceGetPowerManagementMode, nvmlEnableState_t)
UNSUPPORTED(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int)

WP_API nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device,
                                             nvmlTemperatureSensors_t sensorType,
                                             unsigned int *temp) {
    (void)sensorType;
    return unsupported(device, temp);
}

WP_API nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned int length) {
    (void)length;
    return unsupported(device, serial);
}

WP_API nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t device, char *version,
                                              unsigned int length) {
    (void)length;
    return unsupported(device, version);
}

WP_API nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current,
                                         nvmlEnableState_t *pending) {
    (void)pending;
    return unsupported(device, current);
}

WP_API nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device,
                                                nvmlMemoryErrorType_t errorType,
                                                nvmlEccCounterType_t counterType,
                                                unsigned long long *eccCounts) {
    (void)errorType, (void)counterType;
    return unsupported(device, eccCounts);
}

WP_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device,
                                                            unsigned int *infoCount,
                                                            nvmlProcessInfo_t *infos) {
    (void)infos;
    return unsupported(device, infoCount);
}

WP_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device,
                                                             unsigned int *infoCount,
                                                             nvmlProcessInfo_t *infos) {
    (void)infos;
    return unsupported(device, infoCount);
}

WP_API nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link,
                                             nvmlEnableState_t *isActive) {
    (void)link;
    return unsupported(device, isActive);
}
