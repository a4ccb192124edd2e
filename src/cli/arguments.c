/* SPDX-License-Identifier: Apache-2.0 */
/* Long options by table. */
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

static wp_status fail_unknown(const wp_option *options, const char *name, int length,
                              wp_error *err) {
    char wanted[64] = "";
    strncat(wanted, name, (size_t)length < sizeof wanted ? (size_t)length : sizeof wanted - 1);
    wp_nearest nearest = {.wanted = wanted};
    for (const wp_option *o = options; o->name != NULL; o++)
        wp_nearest_offer(&nearest, o->name);
    const char *meant = wp_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, INVALID, "unknown option '--%.*s'; did you mean '--%s'?", length, name,
                       meant);
    return WP_FAIL(err, INVALID, "unknown option '--%.*s'", length, name);
}

wp_status wpi_arguments_parse(const wp_option *options, int argc, char **argv, wp_arguments *out,
                              wp_error *err) {
    *out = (wp_arguments){0};
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (argv[at][1] != '-') return WP_FAIL(err, INVALID, "unknown option '%s'", argv[at]);
        const char *name = argv[at] + 2;
        const char *equals = strchr(name, '=');
        const size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
        size_t i = 0;
        while (options[i].name != NULL &&
               (strlen(options[i].name) != length || strncmp(options[i].name, name, length) != 0))
            i++;
        WP_CHECK(i < sizeof out->values / sizeof out->values[0]);
        if (options[i].name == NULL) return fail_unknown(options, name, (int)length, err);
        if (options[i].value_name == NULL) {
            if (equals != NULL)
                return WP_FAIL(err, INVALID, "option '--%s' takes no value", options[i].name);
            out->values[i] = "";
        } else if (equals != NULL) {
            out->values[i] = equals + 1;
        } else if (at + 1 < argc) {
            out->values[i] = argv[++at];
        } else {
            return WP_FAIL(err, INVALID, "option '--%s' needs a value: --%s %s", options[i].name,
                           options[i].name, options[i].value_name);
        }
    }
    out->operands = argv + at;
    out->operand_count = argc - at;
    return WP_STATUS_OK;
}
