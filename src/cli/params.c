/* SPDX-License-Identifier: Apache-2.0 */
/* warpage params: every parameter row of the library, or every number of a simulated GPU, with its
 * value in force. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/param.h"
#include "cli/cli.h"
#include "cli/print/listing.h"
#include "report/param_table.h"
#include "warpage/device.h"

enum option_index { DEVICE, AS, SET, FORMAT, POLICY_FILE };

const wpi_cli_option wpi_params_options[] = {
    [DEVICE] = {"device", "sim:PROFILE",
                "list the parameters of this simulated GPU and the sources of their values"},
    [AS] = WPI_AS_OPTION,
    [SET] = {"set", "KEY=VALUE", "set a parameter of the GPU first; may be repeated"},
    [FORMAT] = {"format", "text|json|csv", "print a table (default), JSON or CSV"},
    [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
    {0}};

static void add_row(wpi_listing *table, const wpi_param *row) {
    static const char *const sources[WP_PARAM_SOURCE_COUNT] = {"default", "environment"};
    wpi_param_value value = {0};
    wp_error err = {0};
    const wp_status status = wpi_param_load(row, &value, &err);
    char *variable = wpi_param_variable(row);
    wpi_strings_add(&table->cells, row->name);
    wpi_strings_add(&table->cells, wpi_unit_name(row->unit));
    wpi_strings_add(&table->cells, row->default_text);
    wpi_strings_add(&table->cells, value.text);
    wpi_strings_add(&table->cells, status == WP_STATUS_OK ? sources[value.source] : "invalid");
    wpi_strings_add(&table->cells, variable);
    wpi_strings_add(&table->cells, status == WP_STATUS_OK ? row->doc : err.message);
    wpi_free(variable);
}

static void list_params(wpi_listing *table, const char *wanted, wpi_nearest *nearest) {
    for (const wpi_param_table *t = wpi_param_table_list(); t->room != NULL; t++) {
        for (const wpi_param *row = t->rows; row->name != NULL; row++) {
            if (wanted == NULL || strcmp(wanted, row->name) == 0) add_row(table, row);
            if (wanted != NULL) wpi_nearest_offer(nearest, row->name);
        }
    }
}

typedef struct key_list {
    wpi_listing *table;
    const char *wanted; /* a key, or a section; NULL: all */
    wpi_nearest *nearest;
} key_list;

static bool is_wanted(const char *wanted, const char *name) {
    if (wanted == NULL) return true;
    const size_t length = strlen(wanted);
    return strncmp(wanted, name, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

static void add_key(void *object, const wp_device_key *key) {
    key_list *list = object;
    if (list->wanted != NULL) wpi_nearest_offer(list->nearest, key->name);
    if (!is_wanted(list->wanted, key->name)) return;
    const char *const cells[] = {key->name, key->unit, key->value, key->source, key->doc};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
        wpi_strings_add(&list->table->cells, cells[i]);
}

static int print(wpi_listing *table, wpi_listing_format format, const char *wanted,
                 wpi_nearest *nearest) {
    int code = WP_EXIT_DONE;
    if (wanted != NULL && table->cells.count == 0) {
        const char *meant = wpi_nearest_result(nearest);
        code = meant != NULL
                   ? wpi_failure("params", "no parameter '%s'; did you mean '%s'?", wanted, meant)
                   : wpi_failure("params", "no parameter '%s'", wanted);
    } else {
        wpi_listing_print(table, format);
    }
    wpi_listing_deinit(table);
    return code != WP_EXIT_DONE ? code : wpi_finish("params");
}

int wpi_params_main(int argc, char **argv) {
    static const char *const columns[] = {"name",   "unit",     "default", "value",
                                          "source", "variable", "meaning", NULL};
    static const char *const key_columns[] = {"name", "unit", "value", "source", "meaning", NULL};
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    if (wpi_arguments_parse_mixed(wpi_params_options, argc, argv, &arguments, &err) !=
            WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("params", "%s", err.message);
    if (arguments.operand_count > 1) return wpi_usage_error("params", "takes at most one name");

    if (wpi_device_as(&arguments, NULL, &err) != WP_STATUS_OK)
        return wpi_usage_error("params", "%s", err.message);
    const char *device = arguments.values[DEVICE];
    const char *wanted = arguments.operands[0];
    wpi_nearest nearest = {.wanted = wanted};
    /* Beneath a row: variable or source, and meaning. */
    wpi_listing table = {.columns = device != NULL ? key_columns : columns, .detail_columns = 2};
    if (wpi_set_keys(&arguments, device, NULL, &err) != WP_STATUS_OK)
        return wpi_usage_error("params", "%s", err.message);
    if (device == NULL) {
        list_params(&table, wanted, &nearest);
    } else {
        key_list list = {&table, wanted, &nearest};
        if (wp_device_visit_keys(device, add_key, &list, &err) != WP_STATUS_OK) {
            wpi_listing_deinit(&table);
            return wpi_usage_error("params", "%s", err.message);
        }
    }
    return print(&table, format, wanted, &nearest);
}
