/* SPDX-License-Identifier: Apache-2.0 */
/* warpage devices: opens each device and says what it found, or why there is none. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "warpage/device.h"

enum option_index { FORMAT, MEASURE };

const wp_option wpi_devices_options[] = {
    [FORMAT] = {"format", "text|json|csv", "form of the list"},
    [MEASURE] = {"measure", NULL, "copy to and from each GPU, and say how fast that was"},
    {0}};

#define GPUS_MAX 64
#define MEASURE_BYTES ((size_t)64 << 20)
#define MEASURE_COPIES 8

static void add_missing(wp_table *table, const char *spec, const char *what, const char *note) {
    wp_strings_add(&table->cells, spec);
    wp_strings_add(&table->cells, "no");
    wp_strings_add(&table->cells, what);
    for (int i = 0; i < 5; i++)
        wp_strings_add(&table->cells, "");
    wp_strings_add(&table->cells, note);
}

static void add_clock(wp_table *table, uint64_t hz) {
    if (hz != 0)
        wp_strings_addf(&table->cells, "%" PRIu64 " MHz", hz / 1000000);
    else
        wp_strings_add(&table->cells, "");
}

/* Bytes a second of copies between page-locked and device memory, one way; 0: it failed. */
static double copy_rate(wp_device *device, void *dst, const void *src) {
    wp_queue *queue = wp_device_default_queue(device);
    struct timespec start, end;
    if (wp_queue_copy(queue, dst, src, MEASURE_BYTES, NULL) != WP_STATUS_OK ||
        wp_queue_wait(queue, NULL) != WP_STATUS_OK)
        return 0; /* the first one is slower */
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < MEASURE_COPIES; i++)
        if (wp_queue_copy(queue, dst, src, MEASURE_BYTES, NULL) != WP_STATUS_OK) return 0;
    if (wp_queue_wait(queue, NULL) != WP_STATUS_OK) return 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    return (double)MEASURE_BYTES * MEASURE_COPIES / seconds;
}

static void add_rates(wp_table *table, wp_device *device, bool is_measured) {
    void *pinned = NULL, *memory = NULL;
    wp_error err = {0};
    if (!is_measured) {
        wp_strings_add(&table->cells, "");
        return;
    }
    if (wp_memory_alloc(device, WP_MEMORY_PINNED, MEASURE_BYTES, 0, &pinned, &err) ==
            WP_STATUS_OK &&
        wp_memory_alloc(device, WP_MEMORY_DEVICE, MEASURE_BYTES, 0, &memory, &err) ==
            WP_STATUS_OK) {
        const double in = copy_rate(device, memory, pinned);
        const double out = copy_rate(device, pinned, memory);
        wp_strings_addf(&table->cells, "%.1f GB/s in, %.1f GB/s out", in * 1e-9, out * 1e-9);
    } else {
        wp_strings_add(&table->cells, err.message);
    }
    /* Not to be given back only when there is no device any more. */
    if (wp_memory_free(device, pinned, NULL) != WP_STATUS_OK ||
        wp_memory_free(device, memory, NULL) != WP_STATUS_OK)
        (void)fputs("warpage devices: the memory of the measurement could not be freed\n", stderr);
}

static void add_note(wp_table *table, const wp_device_info *info) {
    char text[160];
    size_t used = (size_t)snprintf(text, sizeof text, "compute capability %" PRIu32 ".%" PRIu32,
                                   info->compute_major, info->compute_minor);
    if (info->driver_version != 0)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 ", driver for CUDA %" PRIu32 ".%" PRIu32,
                                 info->driver_version / 1000, info->driver_version % 1000 / 10);
    if (info->link_width != 0)
        (void)snprintf(text + used, sizeof text - used,
                       ", PCIe %" PRIu32 " x%" PRIu32 " (at most %" PRIu32 " x%" PRIu32 ")",
                       info->link_generation, info->link_width, info->link_generation_max,
                       info->link_width_max);
    wp_strings_add(&table->cells, text);
}

static void add_open(wp_table *table, wp_device *device, bool is_measured) {
    const wp_device_info *info = wp_device_get_info(device);
    char bytes[32];
    wp_strings_add(&table->cells, info->spec);
    wp_strings_add(&table->cells, "yes");
    wp_strings_add(&table->cells, info->name);
    wp_strings_addf(&table->cells, "%" PRIu32, info->sm_count);
    wp_strings_add(&table->cells, wp_format_bytes(info->memory_bytes, bytes));
    add_clock(table, info->clock_hz);
    add_clock(table, info->memory_clock_hz);
    add_rates(table, device, is_measured && !info->host_pointers_are_device_pointers);
    add_note(table, info);
}

/* False when it cannot be opened; `note` is then its reason. */
static bool add_device(wp_table *table, const char *spec, bool is_measured, wp_error *err) {
    wp_device *device = NULL;
    if (wp_device_open(spec, &device, err) != WP_STATUS_OK) return false;
    add_open(table, device, is_measured);
    wp_device_close(device);
    return true;
}

static void add_simulated(void *table, const char *spec) {
    wp_error err = {0};
    if (!add_device(table, spec, false, &err))
        add_missing(table, spec, "a simulated GPU", err.message);
}

static void add_all(wp_table *table, bool is_measured) {
    wp_error err = {0};
    if (!add_device(table, "cpu", false, &err))
        add_missing(table, "cpu", "this machine's processor", err.message);
    wp_device_visit_simulated(add_simulated, table);
    for (int i = 0; i < GPUS_MAX; i++) {
        char spec[24];
        (void)snprintf(spec, sizeof spec, "cuda:%d", i);
        if (add_device(table, spec, is_measured, &err)) continue;
        /* Behind the last one there is nothing to say. */
        if (i == 0 || strstr(err.message, "there is no cuda:") == NULL)
            add_missing(table, spec, "a real GPU, through the CUDA driver", err.message);
        break;
    }
}

int wpi_devices_main(int argc, char **argv) {
    static const char *const columns[] = {"device", "available",    "name",   "sms",  "memory",
                                          "clock",  "memory clock", "copies", "note", NULL};
    wp_arguments arguments;
    wp_table_format format;
    wp_error err = {0};
    if (wpi_arguments_parse(wpi_devices_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_table_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("devices", "%s", err.message);
    if (arguments.operand_count != 0)
        return wpi_usage_error("devices", "takes no operand, got '%s'", arguments.operands[0]);
    wp_table table = {.columns = columns};
    add_all(&table, arguments.values[MEASURE] != NULL);
    wpi_table_print(&table, format);
    wpi_table_deinit(&table);
    return wpi_finish("devices");
}
