/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/pci_link.h"

#include <stdio.h>
#include <stdlib.h>

/* Reads a file of one line; false: there is none. */
static bool read_line(const char *folder, const char *name, char *line, size_t line_bytes) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    const bool is_read = fgets(line, (int)line_bytes, file) != NULL;
    (void)fclose(file);
    return is_read;
}

static uint32_t read_width(const char *folder, const char *name) {
    char line[64];
    if (!read_line(folder, name, line, sizeof line)) return 0;
    return (uint32_t)strtoul(line, NULL, 10);
}

/* The generation, from a lane's rate: "16.0 GT/s PCIe". */
static uint32_t read_generation(const char *folder, const char *name) {
    static const double rates[] = {2.5, 5, 8, 16, 32, 64};
    char line[64];
    if (!read_line(folder, name, line, sizeof line)) return 0;
    const double rate = strtod(line, NULL);
    uint32_t generation = 0;
    for (uint32_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rate >= rates[i]) generation = i + 1;
    return generation;
}

void wpi_pci_link_read(const char *folder, wp_device_info *info) {
    info->link_width = read_width(folder, "current_link_width");
    info->link_width_max = read_width(folder, "max_link_width");
    info->link_generation = read_generation(folder, "current_link_speed");
    info->link_generation_max = read_generation(folder, "max_link_speed");
}
