/* SPDX-License-Identifier: Apache-2.0 */
#include "base/in_step_choice.h"

#include <string.h>

#include "base/fail.h"

const char *const wpi_in_step_words[WP_IN_STEP_COUNT + 1] = {"auto", "always", "never", NULL};

wp_status wpi_in_step_parse(const char *text, wpi_in_step *out, wp_error *err) {
    *out = WP_IN_STEP_AUTO;
    for (int i = 0; i < WP_IN_STEP_COUNT; i++) {
        if (strcmp(text, wpi_in_step_words[i]) != 0) continue;
        *out = (wpi_in_step)i;
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, INVALID, "in-step: '%s' is not auto, always or never", text);
}
