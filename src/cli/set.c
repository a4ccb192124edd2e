/* SPDX-License-Identifier: Apache-2.0 */
/* --set KEY=VALUE, and the keys that are options of their own: what becomes WARPAGE_SET, here and
 * in the program that is run. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/cli.h"

static bool is_key(const char *option) {
    static const char *const keys[] = {WPI_PAGING_KEYS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(option, keys[i]) == 0) return true;
    return false;
}

static void append(wp_text *settings, const wp_arguments *arguments, size_t option,
                   const char *key) {
    int cursor = 0;
    const char *value;
    while ((value = wpi_arguments_next(arguments, option, &cursor)) != NULL)
        wp_text_appendf(settings, "%s%s%s%s", settings->length != 0 ? ";" : "",
                        key != NULL ? key : "", key != NULL ? "=" : "", value);
}

/* The last option that there is; NULL: none. */
static const char *append_all(wp_text *settings, const wp_arguments *arguments) {
    const wp_option *options = arguments->options;
    const char *given = NULL;
    for (size_t i = 0; options[i].name != NULL; i++) {
        const char *name = options[i].name;
        const bool is_set = strcmp(name, "set") == 0;
        if (arguments->values[i] == NULL || (!is_set && !is_key(name))) continue;
        append(settings, arguments, i, is_set ? NULL : name);
        given = name;
    }
    return given;
}

wp_status wpi_set_keys(const wp_arguments *arguments, const char *device, wp_strings *environment,
                       wp_error *err) {
    wp_text settings = {0};
    const char *given = append_all(&settings, arguments);
    if (given == NULL) return WP_STATUS_OK;
    const char *before = getenv("WARPAGE_SET"); /* the later ones win */
    char *joined = before != NULL && before[0] != '\0'
                       ? wp_format("%s;%s", before, wp_text_string(&settings))
                       : wp_format("%s", wp_text_string(&settings));
    wp_text_deinit(&settings);
    wp_status status = WP_STATUS_OK;
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device == NULL || strncmp(device, "sim:", 4) != 0) {
        status = WP_FAIL(err, INVALID,
                         "--%s changes a simulated GPU: name one, as in --device sim:p100", given);
    } else {
        (void)setenv("WARPAGE_SET", joined, 1);
        if (environment != NULL) wp_strings_addf(environment, "WARPAGE_SET=%s", joined);
    }
    wp_free(joined);
    return status;
}
