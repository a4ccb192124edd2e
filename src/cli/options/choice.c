/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/choice.h"

#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "base/text.h"

wp_status wpi_choice_parse(const char *option, const char *value, const char *const *names,
                           int *out, wp_error *err) {
    wpi_nearest nearest = {.wanted = value};
    wpi_text known = {0};
    *out = 0;
    if (value == NULL) return WP_STATUS_OK;
    for (int i = 0; names[i] != NULL; i++) {
        *out = i;
        if (strcmp(names[i], value) == 0) return WP_STATUS_OK;
        wpi_nearest_offer(&nearest, names[i]);
    }
    const char *meant = wpi_nearest_result(&nearest);
    for (int i = 0; names[i] != NULL; i++)
        wpi_text_appendf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
    const wp_status status =
        WP_FAIL(err, INVALID, "--%s %s is not one of %s%s%s%s", option, value,
                wpi_text_string(&known), meant != NULL ? "; did you mean '" : "",
                meant != NULL ? meant : "", meant != NULL ? "'?" : "");
    wpi_text_deinit(&known);
    return status;
}
