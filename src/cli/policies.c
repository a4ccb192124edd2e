/* SPDX-License-Identifier: Apache-2.0 */
/* warpage policies: lists the policies of simulated GPUs. */
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/print/listing.h"
#include "warpage/device.h"

#define COLUMNS 6u

enum option_index { FORMAT, POLICY_FILE };

const wpi_cli_option wpi_policies_options[] = {
    [FORMAT] = {"format", "text|json|csv", "print a table (default), JSON or CSV"},
    [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
    {0}};

typedef struct policy_list {
    wpi_listing table;
    wpi_listing_format format;
    const char *kind; /* wanted; NULL: all */
    wpi_nearest nearest;
} policy_list;

/* As text, policies of one kind share a heading where lines are short: kind and key come first. */
static size_t column_at(wpi_listing_format format, size_t place) {
    static const size_t places[COLUMNS] = {0, 2, 1, 4, 3, 5};
    return format == WPI_LISTING_TEXT ? places[place] : place;
}

static void add(void *object, const wp_policy_info *policy) {
    policy_list *list = object;
    if (list->kind != NULL) wpi_nearest_offer(&list->nearest, policy->kind);
    if (list->kind != NULL && strcmp(list->kind, policy->kind) != 0) return;
    const char *const cells[COLUMNS] = {policy->kind, policy->name, policy->key,
                                        policy->keys, policy->doc,  policy->source};
    for (size_t i = 0; i < COLUMNS; i++)
        wpi_strings_add(&list->table.cells, cells[column_at(list->format, i)]);
}

static int fail_unknown(const policy_list *list) {
    const char *meant = wpi_nearest_result(&list->nearest);
    if (meant != NULL)
        return wpi_usage_error("policies", "unknown kind of policies '%s'; did you mean '%s'?",
                               list->kind, meant);
    return wpi_usage_error(
        "policies", "unknown kind of policies '%s'; `warpage policies` lists all", list->kind);
}

int wpi_policies_main(int argc, char **argv) {
    static const char *const names[COLUMNS] = {"kind",       "policy",  "key",
                                               "parameters", "meaning", "source"};
    const char *columns[COLUMNS + 1] = {NULL};
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    if (wpi_arguments_parse_mixed(wpi_policies_options, argc, argv, &arguments, &err) !=
            WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK ||
        wpi_policy_files_use(&arguments, NULL, &err) != WP_STATUS_OK)
        return wpi_usage_error("policies", "%s", err.message);
    if (arguments.operand_count > 1) return wpi_usage_error("policies", "takes at most one kind");
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = names[column_at(format, i)];
    policy_list list = {.table = {.columns = columns,
                                  .heading_columns = 2,
                                  .heading_joint = ": ",
                                  .detail_columns = 2},
                        .format = format,
                        .kind = arguments.operands[0]};
    list.nearest.wanted = list.kind;
    wp_device_visit_policies(add, &list);
    const bool is_unknown = list.table.cells.count == 0;
    if (!is_unknown) wpi_listing_print(&list.table, format);
    wpi_listing_deinit(&list.table);
    return is_unknown ? fail_unknown(&list) : wpi_finish("policies");
}
