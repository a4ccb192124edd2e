/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* getloadavg */
#include "probe/measure/conditions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "probe/measure/cpuid.h"
#include "probe/measure/nvml.h"

static void add(wpi_strings *out, const char *name, const char *value) {
    wpi_strings_add(out, name);
    wpi_strings_add(out, value);
}

static void add_clock(wpi_strings *out, const char *name, uint64_t hz, const char *more) {
    if (hz == 0) return;
    wpi_strings_add(out, name);
    wpi_strings_addf(out, "%" PRIu64 " MHz%s", hz / 1000000, more);
}

void wpi_conditions_of_device(const wp_device *device, wpi_strings *out) {
    const wp_device_info *info = wp_device_get_info(device);
    const bool is_simulated = strncmp(info->spec, "sim:", 4) == 0;
    const char *changed = getenv("WARPAGE_SET");
    char bytes[32];
    add(out, "memory", wpi_format_bytes(info->memory_bytes, bytes));
    add_clock(out, "clock", info->clock_hz, is_simulated ? ", does not change" : ", as rated");
    if (is_simulated) {
        add(out, "other processes", "none: simulated");
        if (changed != NULL && changed[0] != '\0') add(out, "set", changed);
        return;
    }
    if (info->driver_version != 0) {
        wpi_strings_add(out, "driver");
        wpi_strings_addf(out, "for CUDA %" PRIu32 ".%" PRIu32, info->driver_version / 1000,
                         info->driver_version % 1000 / 10);
    }
    wpi_nvml_conditions(info->pci_id, out);
}

/* ---- the CPU ---- */

/* The rest of the line that begins with `name` in a file of lines "name : value"; NULL: none. */
static char *value_in(const char *path, const char *name) {
    char *text = NULL, *value = NULL;
    size_t bytes = 0;
    if (wpi_file_read(path, &text, &bytes, NULL) != WP_STATUS_OK) return NULL;
    const char *at = strstr(text, name);
    if (at != NULL) {
        at += strlen(name);
        at += strspn(at, " \t:");
        value = wpi_strndup(at, strcspn(at, "\n"));
    }
    wpi_free(text);
    return value;
}

static void add_value(wpi_strings *out, const char *name, const char *path, const char *key) {
    char *value = value_in(path, key);
    if (value != NULL && value[0] != '\0') add(out, name, value);
    wpi_free(value);
}

void wpi_conditions_of_cpu(wpi_strings *out) {
    double load = 0;
    add_value(out, "processor", "/proc/cpuinfo", "model name");
    add_value(out, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "");
    add_value(out, "huge pages", "/sys/kernel/mm/transparent_hugepage/enabled", "");
    add(out, "hypervisor",
        wpi_cpuid_has_hypervisor(wpi_cpuid_native)
            ? "yes: its pages lie behind the system's, and entries hold the smaller of the two"
            : "none seen");
    if (getloadavg(&load, 1) == 1) {
        wpi_strings_add(out, "load");
        wpi_strings_addf(out, "%.2f runnable threads in the last minute", load);
    }
    add(out, "cycles", "of the core: the time of additions that wait for each other");
}
