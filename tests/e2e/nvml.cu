/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lnvidia-ml
/* NVML: the facts are those of the CUDA runtime; what a device does not have is not supported; wrong arguments. */
#include <dlfcn.h>
#include <nvml.h>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)NVML_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)NVML_ERROR_##status)

/* Programs look plain names up in the library, hashcat for one. The first structure of the bus's facts was shorter. */
static void old_names(void) {
    nvmlReturn_t (*get_count)(unsigned *), (*get_pci)(nvmlDevice_t, void *);
    nvmlReturn_t (*get_handle)(unsigned, nvmlDevice_t *), (*find_handle)(const char *, nvmlDevice_t *);
    get_count = (nvmlReturn_t(*)(unsigned *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetCount");
    get_pci = (nvmlReturn_t(*)(nvmlDevice_t, void *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetPciInfo");
    get_handle = (nvmlReturn_t(*)(unsigned, nvmlDevice_t *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetHandleByIndex");
    find_handle = (nvmlReturn_t(*)(const char *, nvmlDevice_t *))dlsym(RTLD_DEFAULT, "nvmlDeviceGetHandleByPciBusId");
    CHECK(get_count && get_pci && get_handle && find_handle);
    if (!(get_count && get_pci && get_handle && find_handle)) return;
    nvmlDevice_t device = NULL, again = NULL;
    unsigned count = 0;
    nvmlPciInfo_t now;
    struct { char id[16]; unsigned domain, bus, device, pci_device, after; } then = {"", 0, 0, 0, 0, 77};
    OK(get_count(&count));
    CHECK_EQ(count, 1u);
    OK(get_handle(0, &device));
    OK(nvmlDeviceGetPciInfo(device, &now));
    OK(get_pci(device, &then));
    CHECK(strcmp(then.id, now.busIdLegacy) == 0 && then.bus == now.bus && then.device == now.device);
    CHECK_EQ(then.after, 77u);
    IS(get_pci(device, NULL), INVALID_ARGUMENT);
    OK(find_handle(now.busId, &again));
    CHECK(again == device);
}

/* What a monitor of a training run asks: its types and constants are there, the device has no such facts. */
static void samples(nvmlDevice_t device) {
    nvmlSample_t sample[4];
    nvmlValueType_t type;
    unsigned count = 4, limit;
    unsigned long long reasons;
    IS(nvmlDeviceGetSamples(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, sample), NOT_SUPPORTED);
    IS(nvmlDeviceGetTemperatureThreshold(device, NVML_TEMPERATURE_THRESHOLD_SLOWDOWN, &limit), NOT_SUPPORTED);
    IS(nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons), NOT_SUPPORTED);
    CHECK_EQ(sizeof sample, (size_t)64);
    char version[NVML_DEVICE_PART_NUMBER_BUFFER_SIZE];
    OK(nvmlSystemGetDriverVersion(version, sizeof version));
    CHECK_EQ(nvmlClocksThrottleReasonSwPowerCap | nvmlClocksThrottleReasonHwPowerBrakeSlowdown |
                 nvmlClocksThrottleReasonHwThermalSlowdown,
             nvmlClocksThrottleReasonAll & 0xc4ULL);
}

int main() {
    nvmlDevice_t device, again;
    unsigned int count, number;
    char text[96], uuid[96];
    IS(nvmlDeviceGetCount(&count), UNINITIALIZED);
    IS(nvmlShutdown(), UNINITIALIZED);
    OK(nvmlInit());
    OK(nvmlDeviceGetCount(&count));
    CHECK_EQ(count, 1u);
    OK(nvmlDeviceGetHandleByIndex(0, &device));
    IS(nvmlDeviceGetHandleByIndex(1, &device), INVALID_ARGUMENT);

    cudaDeviceProp prop;
    CUDA_OK(cudaGetDeviceProperties(&prop, 0));
    OK(nvmlDeviceGetName(device, text, sizeof text));
    CHECK(strcmp(text, prop.name) == 0);
    IS(nvmlDeviceGetName(device, text, 2), INSUFFICIENT_SIZE);
    OK(nvmlDeviceGetUUID(device, uuid, sizeof uuid));
    CHECK_EQ(strlen(uuid), (size_t)40);
    OK(nvmlDeviceGetHandleByUUID(uuid, &again));
    CHECK(again == device);
    IS(nvmlDeviceGetHandleByUUID("GPU-0", &again), NOT_FOUND);
    nvmlPciInfo_t pci;
    OK(nvmlDeviceGetPciInfo(device, &pci));
    OK(nvmlDeviceGetHandleByPciBusId(pci.busId, &again));
    CHECK(again == device);
    int major, minor;
    OK(nvmlDeviceGetCudaComputeCapability(device, &major, &minor));
    CHECK(major == prop.major && minor == prop.minor);

    old_names();
    samples(device);
    nvmlMemory_t before, after;
    void *memory;
    OK(nvmlDeviceGetMemoryInfo(device, &before));
    CHECK_EQ(before.free + before.used, before.total);
    CHECK_EQ(before.total, (unsigned long long)prop.totalGlobalMem);
    CUDA_OK(cudaMalloc(&memory, 4 << 20));
    OK(nvmlDeviceGetMemoryInfo(device, &after));
    CHECK(after.used >= before.used + (4 << 20));
    CUDA_OK(cudaFree(memory));

    OK(nvmlDeviceGetClockInfo(device, NVML_CLOCK_SM, &number));
    CHECK_EQ((int)number, prop.clockRate / 1000);
    OK(nvmlDeviceGetClockInfo(device, NVML_CLOCK_MEM, &number)); /* 0: not known */
    CHECK_EQ((int)number, prop.memoryClockRate / 1000);
    IS(nvmlDeviceGetClockInfo(device, NVML_CLOCK_VIDEO, &number), NOT_SUPPORTED);
    IS(nvmlDeviceGetTemperature(device, NVML_TEMPERATURE_GPU, &number), NOT_SUPPORTED);
    IS(nvmlDeviceGetPowerUsage(device, &number), NOT_SUPPORTED);
    IS(nvmlDeviceGetPowerUsage(NULL, &number), INVALID_ARGUMENT);
    IS(nvmlDeviceGetPowerUsage(device, NULL), INVALID_ARGUMENT);
    nvmlUtilization_t utilization;
    IS(nvmlDeviceGetUtilizationRates(device, &utilization), NOT_SUPPORTED);
    IS(nvmlDeviceGetBoardId(device, &number), NOT_SUPPORTED); /* no implementation */
    OK(nvmlSystemGetDriverVersion(text, sizeof text));
    CHECK(text[0] != '\0');
    CHECK(strcmp(nvmlErrorString(NVML_ERROR_NOT_FOUND), "A query to find an object was unsuccessful") == 0);
    OK(nvmlShutdown());
    IS(nvmlDeviceGetCount(&count), UNINITIALIZED);
    return check_done();
}
