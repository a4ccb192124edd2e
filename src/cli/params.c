/* SPDX-License-Identifier: Apache-2.0 */
/* warpage params: every parameter row of the library with its value in force. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/param.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "report/param_table.h"

const wp_option wpi_params_options[] = {{"format", "text|json|csv", "form of the list"}, {0}};

static void add_row(wp_table *table, const wp_param *row) {
    static const char *const sources[WP_PARAM_SOURCE_COUNT] = {"default", "environment"};
    wp_param_value value = {0};
    wp_error err = {0};
    const wp_status status = wp_param_load(row, &value, &err);
    char *variable = wp_param_variable(row);
    wp_strings_add(&table->cells, row->name);
    wp_strings_add(&table->cells, wp_unit_name(row->unit));
    wp_strings_add(&table->cells, row->default_text);
    wp_strings_add(&table->cells, value.text);
    wp_strings_add(&table->cells, status == WP_STATUS_OK ? sources[value.source] : "invalid");
    wp_strings_add(&table->cells, variable);
    wp_strings_add(&table->cells, status == WP_STATUS_OK ? row->doc : err.message);
    wp_free(variable);
}

int wpi_params_main(int argc, char **argv) {
    static const char *const columns[] = {"name",   "unit",     "default", "value",
                                          "source", "variable", "meaning", NULL};
    wp_arguments arguments;
    wp_table_format format;
    wp_error err = {0};
    if (wpi_arguments_parse(wpi_params_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_table_format_parse(arguments.values[0], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("params", "%s", err.message);
    if (arguments.operand_count > 1) return wpi_usage_error("params", "one name at most");

    const char *wanted = arguments.operands[0];
    wp_nearest nearest = {.wanted = wanted};
    wp_table table = {.columns = columns};
    for (const wpi_param_table *t = wpi_param_table_list(); t->room != NULL; t++) {
        for (const wp_param *row = t->rows; row->name != NULL; row++) {
            if (wanted == NULL || strcmp(wanted, row->name) == 0) add_row(&table, row);
            if (wanted != NULL) wp_nearest_offer(&nearest, row->name);
        }
    }
    if (wanted != NULL && table.cells.count == 0) {
        const char *meant = wp_nearest_result(&nearest);
        return meant != NULL
                   ? wpi_failure("params", "no parameter '%s'; did you mean '%s'?", wanted, meant)
                   : wpi_failure("params", "no parameter '%s'", wanted);
    }
    wpi_table_print(&table, format);
    wpi_table_deinit(&table);
    return wpi_finish("params");
}
