/* SPDX-License-Identifier: Apache-2.0 */
/* Long options by table. */
#include <stdbool.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

static wp_status fail_unknown(const wpi_cli_option *options, const char *name, int length,
                              wp_error *err) {
    char wanted[64] = "";
    strncat(wanted, name, (size_t)length < sizeof wanted ? (size_t)length : sizeof wanted - 1);
    wpi_nearest nearest = {.wanted = wanted};
    for (const wpi_cli_option *o = options; o->name != NULL; o++)
        wpi_nearest_offer(&nearest, o->name);
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, INVALID, "unknown option '--%.*s'; did you mean '--%s'?", length, name,
                       meant);
    return WP_FAIL(err, INVALID, "unknown option '--%.*s'", length, name);
}

/* Reads the option at `*at` and steps behind it. */
static wp_status take(const wpi_cli_option *options, int argc, char **argv, int *at, size_t *number,
                      const char **value, wp_error *err) {
    const char *const text = argv[(*at)++];
    if (text[1] != '-') return WP_FAIL(err, INVALID, "unknown option '%s'", text);
    const char *name = text + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
    size_t i = 0;
    while (options[i].name != NULL &&
           (strlen(options[i].name) != length || strncmp(options[i].name, name, length) != 0))
        i++;
    const wpi_cli_option *option = &options[i];
    if (option->name == NULL) return fail_unknown(options, name, (int)length, err);
    if (option->value_name == NULL && equals != NULL)
        return WP_FAIL(err, INVALID, "option '--%s' takes no value", option->name);
    if (option->value_name != NULL && equals == NULL && *at == argc)
        return WP_FAIL(err, INVALID, "option '--%s' needs a value: --%s %s", option->name,
                       option->name, option->value_name);
    *number = i;
    *value = "";
    if (option->value_name != NULL) *value = equals != NULL ? equals + 1 : argv[(*at)++];
    return WP_STATUS_OK;
}

static bool is_option(const char *text) {
    return text[0] == '-' && text[1] != '\0' && strcmp(text, "--") != 0;
}

wp_status wpi_arguments_parse(const wpi_cli_option *options, int argc, char **argv,
                              wpi_arguments *out, wp_error *err) {
    *out = (wpi_arguments){.options = options, .argv = argv};
    int at = 1;
    while (at < argc && is_option(argv[at])) {
        size_t number;
        const char *value;
        WP_TRY(take(options, argc, argv, &at, &number, &value, err));
        WP_CHECK(number < sizeof out->values / sizeof out->values[0]);
        out->values[number] = value;
    }
    out->options_end = at;
    if (at < argc && strcmp(argv[at], "--") == 0) at++;
    out->operands = argv + at;
    out->operand_count = argc - at;
    return WP_STATUS_OK;
}

wp_status wpi_arguments_parse_mixed(const wpi_cli_option *options, int argc, char **argv,
                                    wpi_arguments *out, wp_error *err) {
    int front = 1; /* where the next option goes */
    for (int at = 1; at < argc && strcmp(argv[at], "--") != 0;) {
        const int from = at++;
        size_t number;
        const char *value;
        if (!is_option(argv[from])) continue;
        at = from;
        WP_TRY(take(options, argc, argv, &at, &number, &value, err));
        for (int i = from; i < at; i++, front++) {
            char *moved = argv[i];
            memmove(&argv[front + 1], &argv[front], (size_t)(i - front) * sizeof *argv);
            argv[front] = moved;
        }
    }
    return wpi_arguments_parse(options, argc, argv, out, err);
}

char *wpi_arguments_list(wpi_arguments *arguments, size_t option) {
    if (arguments->values[option] == NULL) return NULL;
    wpi_text list = {0};
    int cursor = 0;
    for (const char *value; (value = wpi_arguments_next(arguments, option, &cursor)) != NULL;)
        wpi_text_appendf(&list, "%s%s", list.length != 0 ? "," : "", value);
    char *joined = wpi_text_take(&list);
    arguments->values[option] = joined;
    return joined;
}

const char *wpi_arguments_next(const wpi_arguments *arguments, size_t option, int *cursor) {
    if (*cursor == 0) *cursor = 1;
    while (*cursor < arguments->options_end) {
        size_t number;
        const char *value;
        if (take(arguments->options, arguments->options_end, arguments->argv, cursor, &number,
                 &value, NULL) == WP_STATUS_OK &&
            number == option)
            return value;
    }
    return NULL;
}
