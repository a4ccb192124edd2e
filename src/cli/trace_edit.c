/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace cut, warpage trace import: traces made of others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/trace_commands.h"
#include "warpage/trace.h"

/* "3", "3-7", "3-", "-7": launches from 1, both ends included. */
static wp_status parse_launches(const char *text, wp_trace_selection *out, wp_error *err) {
    const char *dash = strchr(text, '-');
    const size_t length = dash != NULL ? (size_t)(dash - text) : strlen(text);
    const char *last = dash != NULL ? dash + 1 : text;
    char first[32] = "";
    uint64_t from = 1, to = UINT64_MAX;
    if (length >= sizeof first)
        return WP_FAIL(err, INVALID, "--launches %s: a range such as 3-7", text);
    memcpy(first, text, length);
    if (length != 0) WP_TRY(wpi_parse_count(first, &from, err));
    if (last[0] != '\0') WP_TRY(wpi_parse_count(last, &to, err));
    if (from == 0 || to < from || (length == 0 && last[0] == '\0'))
        return WP_FAIL(err, INVALID, "--launches %s: launches count from 1, as in 3-7", text);
    out->first_launch = from - 1;
    out->outer_launch = to;
    return WP_STATUS_OK;
}

enum cut_option { OUTPUT, KERNELS, LAUNCHES };

const wpi_cli_option wpi_trace_cut_options[] = {[OUTPUT] = {"output", "FILE.wpt", ""},
                                                [KERNELS] = {"kernels", "REGEX", ""},
                                                [LAUNCHES] = {"launches", "A-B", ""},
                                                {0}};

int wpi_trace_cut_main(int argc, char **argv) {
    wp_trace_selection selection = {.outer_launch = UINT64_MAX};
    wpi_arguments arguments;
    wp_error err = {0};
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse_mixed(wpi_trace_cut_options, argc, argv, &arguments, &err) !=
        WP_STATUS_OK)
        return wpi_usage_error("trace", "cut: %s", err.message);
    const char *const *values = arguments.values;
    if (values[OUTPUT] == NULL) return wpi_usage_error("trace", "cut: where to? -o FILE.wpt");
    if (arguments.operand_count != 1) return wpi_usage_error("trace", "cut: which trace? One file");
    if (values[KERNELS] == NULL && values[LAUNCHES] == NULL)
        return wpi_usage_error("trace", "cut: which launches? --kernels REGEX or --launches A-B");
    selection.kernels = values[KERNELS];
    if (values[LAUNCHES] != NULL &&
        parse_launches(values[LAUNCHES], &selection, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "cut: %s", err.message);
    if (wp_trace_cut(arguments.operands[0], &selection, values[OUTPUT], &err) != WP_STATUS_OK)
        return wpi_failure("trace cut", "%s", err.message);
    return WP_EXIT_DONE;
}

const wpi_cli_option wpi_trace_import_options[] = {[OUTPUT] = {"output", "FILE.wpt", ""}, {0}};

int wpi_trace_import_main(int argc, char **argv) {
    wpi_arguments arguments;
    wp_error err = {0};
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse_mixed(wpi_trace_import_options, argc, argv, &arguments, &err) !=
        WP_STATUS_OK)
        return wpi_usage_error("trace", "import: %s", err.message);
    if (arguments.values[OUTPUT] == NULL)
        return wpi_usage_error("trace", "import: where to? -o FILE.wpt");
    if (arguments.operand_count != 1)
        return wpi_usage_error("trace", "import: which list? kernelslist.g of Accel-Sim's tracer");
    if (wp_trace_import(arguments.operands[0], arguments.values[OUTPUT], &err) != WP_STATUS_OK)
        return wpi_failure("trace import", "%s", err.message);
    return WP_EXIT_DONE;
}
