/* SPDX-License-Identifier: Apache-2.0 */
/* --set KEY=VALUE, and the keys that are options of their own: they become WARPAGE_SET, here and in
 * the program that is run. --as NAME: another simulated GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/cli.h"

static bool is_simulated(const char *device) {
    return device != NULL && strncmp(device, "sim:", 4) == 0;
}

static wp_status fail_not_simulated(const char *option, wp_error *err) {
    return WP_FAIL(err, INVALID, "--%s changes a simulated GPU: name one, as in --device sim:p100",
                   option);
}

/* The option's number, which the command has. */
static size_t number_of(const wpi_cli_option *options, const char *name) {
    size_t i = 0;
    while (strcmp(options[i].name, name) != 0)
        i++;
    return i;
}

wp_status wpi_device_as(wpi_arguments *arguments, const char *otherwise, wp_error *err) {
    const char *overlay = arguments->values[number_of(arguments->options, "as")];
    const char **device = &arguments->values[number_of(arguments->options, "device")];
    if (overlay == NULL) return WP_STATUS_OK;
    if (otherwise == NULL) otherwise = getenv("WARPAGE_DEVICE");
    if (*device == NULL) *device = otherwise;
    if (!is_simulated(*device)) return fail_not_simulated("as", err);
    const int length =
        snprintf(arguments->device, sizeof arguments->device, "%s+%s", *device, overlay);
    if (length < 0 || (size_t)length >= sizeof arguments->device)
        return WP_FAIL(err, INVALID, "--device: its name is too long");
    *device = arguments->device;
    return WP_STATUS_OK;
}

static bool is_key(const char *option) {
    static const char *const keys[] = {WPI_PAGING_KEYS};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(option, keys[i]) == 0) return true;
    return false;
}

static void append(wpi_text *settings, const wpi_arguments *arguments, size_t option,
                   const char *key) {
    int cursor = 0;
    const char *value;
    while ((value = wpi_arguments_next(arguments, option, &cursor)) != NULL)
        wpi_text_appendf(settings, "%s%s%s%s", settings->length != 0 ? ";" : "",
                         key != NULL ? key : "", key != NULL ? "=" : "", value);
}

/* Returns the last given option; NULL: none. */
static const char *append_all(wpi_text *settings, const wpi_arguments *arguments) {
    const wpi_cli_option *options = arguments->options;
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

static bool has_option(const wpi_arguments *arguments, const char *name) {
    for (size_t i = 0; arguments->options[i].name != NULL; i++)
        if (strcmp(arguments->options[i].name, name) == 0) return arguments->values[i] != NULL;
    return false;
}

wp_status wpi_set_keys(const wpi_arguments *arguments, const char *device, wpi_strings *environment,
                       wp_error *err) {
    wpi_text settings = {0};
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (has_option(arguments, WPI_POLICY_FILE) && !is_simulated(device))
        return fail_not_simulated(WPI_POLICY_FILE, err);
    WP_TRY(wpi_policy_files_use(arguments, environment, err));
    const char *given = append_all(&settings, arguments);
    if (given == NULL) return WP_STATUS_OK;
    const char *before = getenv("WARPAGE_SET"); /* the later ones win */
    char *joined = before != NULL && before[0] != '\0'
                       ? wpi_format("%s;%s", before, wpi_text_string(&settings))
                       : wpi_format("%s", wpi_text_string(&settings));
    wpi_text_deinit(&settings);
    wp_status status = WP_STATUS_OK;
    if (!is_simulated(device)) {
        status = fail_not_simulated(given, err);
    } else {
        (void)setenv("WARPAGE_SET", joined, 1);
        if (environment != NULL) wpi_strings_addf(environment, "WARPAGE_SET=%s", joined);
    }
    wpi_free(joined);
    return status;
}
