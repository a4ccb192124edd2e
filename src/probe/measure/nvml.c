/* SPDX-License-Identifier: Apache-2.0 */
/* The library comes with the driver; its functions are looked up at run time. */
#include "probe/measure/nvml.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 64u

typedef struct gpu *handle;
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

/* As nvmlDeviceGetComputeRunningProcesses_v3 fills it. */
typedef struct process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
} process;

typedef struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*find)(const char *pci_id, handle *out);
    int (*clock)(handle gpu, int clock, unsigned *mhz);
    int (*clock_max)(handle gpu, int clock, unsigned *mhz);
    int (*power_state)(handle gpu, int *state);
    int (*temperature)(handle gpu, int sensor, unsigned *degrees);
    int (*processes)(handle gpu, unsigned *count, process *out);
} nvml;

/* ISO C has no conversion from object to function pointers; POSIX guarantees equal representations.
 */
static bool get(void *library, const char *name, void *function) {
    void *const found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static bool load(void *library, nvml *n) {
    return get(library, "nvmlInit_v2", &n->init) && get(library, "nvmlShutdown", &n->shutdown) &&
           get(library, "nvmlDeviceGetHandleByPciBusId_v2", &n->find) &&
           get(library, "nvmlDeviceGetClockInfo", &n->clock) &&
           get(library, "nvmlDeviceGetMaxClockInfo", &n->clock_max) &&
           get(library, "nvmlDeviceGetPerformanceState", &n->power_state) &&
           get(library, "nvmlDeviceGetTemperature", &n->temperature) &&
           get(library, "nvmlDeviceGetComputeRunningProcesses_v3", &n->processes);
}

static void add_clock(const nvml *n, handle gpu, int clock, const char *name, wpi_strings *out) {
    unsigned now_mhz = 0, max_mhz = 0;
    if (n->clock(gpu, clock, &now_mhz) != 0) return;
    wpi_strings_add(out, name);
    if (n->clock_max(gpu, clock, &max_mhz) == 0)
        wpi_strings_addf(out, "%u MHz, at most %u MHz", now_mhz, max_mhz);
    else
        wpi_strings_addf(out, "%u MHz", now_mhz);
}

static void add_processes(const nvml *n, handle gpu, wpi_strings *out) {
    process processes[PROCESSES_MAX];
    unsigned count = PROCESSES_MAX, others = 0;
    if (n->processes(gpu, &count, processes) != 0) return;
    for (unsigned i = 0; i < count; i++)
        others += processes[i].pid != (unsigned)getpid();
    wpi_strings_add(out, "other processes");
    wpi_strings_addf(out, "%u", others);
}

static void add_all(const nvml *n, handle gpu, wpi_strings *out) {
    int state = 0;
    unsigned degrees = 0;
    add_clock(n, gpu, CLOCK_SM, "SM clock", out);
    add_clock(n, gpu, CLOCK_MEMORY, "memory clock", out);
    if (n->power_state(gpu, &state) == 0) {
        wpi_strings_add(out, "power state");
        wpi_strings_addf(out, "P%d", state);
    }
    if (n->temperature(gpu, TEMPERATURE_GPU, &degrees) == 0) {
        wpi_strings_add(out, "temperature");
        wpi_strings_addf(out, "%u °C", degrees);
    }
    add_processes(n, gpu, out);
}

void wpi_nvml_conditions(const char *pci_id, wpi_strings *out) {
    nvml n = {0};
    handle gpu = NULL;
    void *const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    if (load(library, &n) && n.init() == 0) {
        if (n.find(pci_id, &gpu) == 0) add_all(&n, gpu, out);
        (void)n.shutdown();
    }
    (void)dlclose(library);
}
