/* SPDX-License-Identifier: Apache-2.0 */
/* warpage devices: opens each device and lists its properties, or the reason why it cannot be used.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/print/listing.h"
#include "warpage/device.h"

enum option_index { FORMAT, MEASURE };

const wpi_cli_option wpi_devices_options[] = {
    [FORMAT] = {"format", "text|json|csv",
                "print a table (default), JSON or CSV; JSON and CSV have numbers in base units"},
    [MEASURE] = {"measure", NULL,
                 "measure the copy bandwidth between page-locked memory and each GPU"},
    {0}};

#define GPUS_MAX 64
#define MEASURE_BYTES ((size_t)64 << 20)
#define MEASURE_COPIES 8

/* In text, quantities have units; in JSON and CSV they are numbers, with the units in the column
 * names. */
typedef struct listing {
    wpi_listing table;
    bool is_text, is_measured;
} listing;

static const char *const text_columns[] = {"device", "available",    "name",   "sms",  "memory",
                                           "clock",  "memory clock", "copies", "note", NULL};
static const char *const columns[] = {"device",
                                      "available",
                                      "name",
                                      "sms",
                                      "memory_bytes",
                                      "clock_hz",
                                      "memory_clock_hz",
                                      "copy_in_bytes_per_s",
                                      "copy_out_bytes_per_s",
                                      "note",
                                      NULL};
static const wpi_column_kind kinds[] = {
    WP_COLUMN_TEXT,   WP_COLUMN_FLAG,   WP_COLUMN_TEXT,   WP_COLUMN_NUMBER, WP_COLUMN_NUMBER,
    WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_TEXT};

static void add_missing(listing *l, const char *spec, const char *what, const char *note) {
    wpi_strings *cells = &l->table.cells;
    wpi_strings_add(cells, spec);
    wpi_strings_add(cells, "no");
    wpi_strings_add(cells, what);
    for (int i = 0; i < (l->is_text ? 5 : 6); i++)
        wpi_strings_add(cells, "");
    wpi_strings_add(cells, note);
}

static void add_clock(listing *l, uint64_t hz) {
    if (hz == 0)
        wpi_strings_add(&l->table.cells, "");
    else if (l->is_text)
        wpi_strings_addf(&l->table.cells, "%" PRIu64 " MHz", hz / 1000000);
    else
        wpi_strings_addf(&l->table.cells, "%" PRIu64, hz);
}

static void add_memory(listing *l, uint64_t memory_bytes) {
    char text[32];
    if (l->is_text)
        wpi_strings_add(&l->table.cells, wpi_format_bytes(memory_bytes, text));
    else
        wpi_strings_addf(&l->table.cells, "%" PRIu64, memory_bytes);
}

/* Bytes a second of copies between page-locked and device memory, one way; 0: it failed. */
static double copy_rate(wp_device *device, void *dst, const void *src) {
    wp_queue *queue = wp_device_default_queue(device);
    if (wp_queue_copy(queue, dst, src, MEASURE_BYTES, NULL) != WP_STATUS_OK ||
        wp_queue_wait(queue, NULL) != WP_STATUS_OK)
        return 0; /* the first one is slower */
    const uint64_t start_ns = wpi_clock_ns();
    for (int i = 0; i < MEASURE_COPIES; i++)
        if (wp_queue_copy(queue, dst, src, MEASURE_BYTES, NULL) != WP_STATUS_OK) return 0;
    if (wp_queue_wait(queue, NULL) != WP_STATUS_OK) return 0;
    const double seconds = 1e-9 * (double)(wpi_clock_ns() - start_ns);
    return (double)MEASURE_BYTES * MEASURE_COPIES / seconds;
}

/* Both ways; false, with the reason in `err`, where there is no memory to copy. */
static bool measure(wp_device *device, double *in, double *out, wp_error *err) {
    void *pinned = NULL, *memory = NULL;
    const bool has_memory =
        wp_memory_alloc(device, WP_MEMORY_PINNED, MEASURE_BYTES, 0, &pinned, err) == WP_STATUS_OK &&
        wp_memory_alloc(device, WP_MEMORY_DEVICE, MEASURE_BYTES, 0, &memory, err) == WP_STATUS_OK;
    if (has_memory) {
        *in = copy_rate(device, memory, pinned);
        *out = copy_rate(device, pinned, memory);
    }
    /* Freeing fails only when the device has been lost. */
    if (wp_memory_free(device, pinned, NULL) != WP_STATUS_OK ||
        wp_memory_free(device, memory, NULL) != WP_STATUS_OK)
        (void)fputs("warpage devices: the memory of the measurement could not be freed\n", stderr);
    return has_memory;
}

static void add_rate(listing *l, bool has_rate, double bytes_per_s) {
    if (has_rate && bytes_per_s > 0)
        wpi_strings_addf(&l->table.cells, "%.0f", bytes_per_s);
    else
        wpi_strings_add(&l->table.cells, "");
}

/* Leaves the reason in `err` where the rates could not be measured. */
static void add_rates(listing *l, wp_device *device, bool is_measured, wp_error *err) {
    double in = 0, out = 0;
    const bool has_rates = is_measured && measure(device, &in, &out, err);
    if (!l->is_text) {
        add_rate(l, has_rates, in);
        add_rate(l, has_rates, out);
    } else if (has_rates) {
        wpi_strings_addf(&l->table.cells, "%.1f GB/s in, %.1f GB/s out", in * 1e-9, out * 1e-9);
    } else {
        wpi_strings_add(&l->table.cells, err->message);
    }
}

static void add_note(listing *l, const wp_device_info *info, const wp_error *err) {
    wpi_text text = {0};
    wpi_text_appendf(&text, "compute capability %" PRIu32 ".%" PRIu32, info->compute_major,
                     info->compute_minor);
    if (info->driver_version != 0)
        wpi_text_appendf(&text, ", driver for CUDA %" PRIu32 ".%" PRIu32,
                         info->driver_version / 1000, info->driver_version % 1000 / 10);
    if (info->link_width != 0)
        wpi_text_appendf(&text,
                         ", PCIe %" PRIu32 " x%" PRIu32 " (at most %" PRIu32 " x%" PRIu32 ")",
                         info->link_generation, info->link_width, info->link_generation_max,
                         info->link_width_max);
    if (!l->is_text && err->message[0] != '\0')
        wpi_text_appendf(&text, "; copies were not measured: %s", err->message);
    wpi_strings_add_take(&l->table.cells, wpi_text_take(&text));
}

static void add_open(listing *l, wp_device *device, bool is_gpu) {
    const wp_device_info *info = wp_device_get_info(device);
    wpi_strings *cells = &l->table.cells;
    wp_error err = {0};
    wpi_strings_add(cells, info->spec);
    wpi_strings_add(cells, "yes");
    wpi_strings_add(cells, info->name);
    wpi_strings_addf(cells, "%" PRIu32, info->sm_count);
    add_memory(l, info->memory_bytes);
    add_clock(l, info->clock_hz);
    add_clock(l, info->memory_clock_hz);
    add_rates(l, device, l->is_measured && is_gpu && !info->host_pointers_are_device_pointers,
              &err);
    add_note(l, info, &err);
}

/* False when it cannot be opened; `err` then has the reason. */
static bool add_device(listing *l, const char *spec, bool is_gpu, wp_error *err) {
    wp_device *device = NULL;
    if (wp_device_open(spec, &device, err) != WP_STATUS_OK) return false;
    add_open(l, device, is_gpu);
    wp_device_close(device);
    return true;
}

static void add_simulated(void *object, const char *spec) {
    wp_error err = {0};
    if (!add_device(object, spec, false, &err))
        add_missing(object, spec, "a simulated GPU", err.message);
}

static void add_all(listing *l) {
    wp_error err = {0};
    if (!add_device(l, "cpu", false, &err))
        add_missing(l, "cpu", "this machine's processor", err.message);
    wp_device_visit_simulated(add_simulated, l);
    for (int i = 0; i < GPUS_MAX; i++) {
        char spec[24];
        (void)snprintf(spec, sizeof spec, "cuda:%d", i);
        if (add_device(l, spec, true, &err)) continue;
        /* The number after the last GPU's is not worth a row. */
        if (i == 0 || strstr(err.message, "there is no cuda:") == NULL)
            add_missing(l, spec, "an NVIDIA GPU, through the CUDA driver", err.message);
        break;
    }
}

int wpi_devices_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    if (wpi_arguments_parse(wpi_devices_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("devices", "%s", err.message);
    if (arguments.operand_count != 0)
        return wpi_usage_error("devices", "takes no operand, got '%s'", arguments.operands[0]);
    listing l = {.is_text = format == WPI_LISTING_TEXT,
                 .is_measured = arguments.values[MEASURE] != NULL};
    l.table.columns = l.is_text ? text_columns : columns;
    l.table.kinds = l.is_text ? NULL : kinds;
    l.table.detail_columns = 3; /* memory clock, copies, note */
    add_all(&l);
    wpi_listing_print(&l.table, format);
    wpi_listing_deinit(&l.table);
    return wpi_finish("devices");
}
