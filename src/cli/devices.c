/* SPDX-License-Identifier: Apache-2.0 */
/* warpage devices: opens each kind of device and says what it found, or why not. */
#include <inttypes.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "warpage/device.h"

const wp_option wpi_devices_options[] = {{"format", "text|json|csv", "form of the list"}, {0}};

static const struct {
    const char *spec;
    const char *what;
} kinds[] = {{"cpu", "this machine's processor"},
             {"sim", "simulated GPUs"},
             {"cuda:0", "a real GPU, through the CUDA driver"}};

static void add_device(wp_table *table, size_t kind) {
    wp_device *device = NULL;
    wp_error err = {0};
    char bytes[32];
    const wp_status status = wp_device_open(kinds[kind].spec, &device, &err);
    if (status != WP_STATUS_OK) {
        wp_strings_add(&table->cells, kinds[kind].spec);
        wp_strings_add(&table->cells, "no");
        wp_strings_add(&table->cells, kinds[kind].what);
        wp_strings_add(&table->cells, "");
        wp_strings_add(&table->cells, "");
        wp_strings_add(&table->cells, status == WP_STATUS_NOT_FOUND
                                          ? "not part of this version of Warpage"
                                          : err.message);
        return;
    }
    const wp_device_info *info = wp_device_get_info(device);
    wp_strings_add(&table->cells, info->spec);
    wp_strings_add(&table->cells, "yes");
    wp_strings_add(&table->cells, info->name);
    wp_strings_addf(&table->cells, "%" PRIu32, info->sm_count);
    wp_strings_add(&table->cells, wp_format_bytes(info->memory_bytes, bytes));
    wp_strings_addf(&table->cells, "compute capability %" PRIu32 ".%" PRIu32, info->compute_major,
                    info->compute_minor);
    wp_device_close(device);
}

int wpi_devices_main(int argc, char **argv) {
    static const char *const columns[] = {"device", "available", "name", "sms",
                                          "memory", "note",      NULL};
    wp_arguments arguments;
    wp_table_format format;
    wp_error err = {0};
    if (wpi_arguments_parse(wpi_devices_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_table_format_parse(arguments.values[0], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("devices", "%s", err.message);
    if (arguments.operand_count != 0)
        return wpi_usage_error("devices", "takes no operand, got '%s'", arguments.operands[0]);
    wp_table table = {.columns = columns};
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        add_device(&table, kind);
    wpi_table_print(&table, format);
    wpi_table_deinit(&table);
    return wpi_finish("devices");
}
