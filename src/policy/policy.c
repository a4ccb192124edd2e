/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <string.h>

#include "base/nearest.h"
#include "base/text.h"

static wp_status fail_unknown(const char *kind, const char *name, wp_error *err) {
    wp_nearest nearest = {.wanted = name};
    wp_text all = {0};
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        if (strcmp((*p)->kind, kind) != 0) continue;
        wp_nearest_offer(&nearest, (*p)->name);
        wp_text_appendf(&all, "%s%s", all.length != 0 ? ", " : "", (*p)->name);
    }
    const char *meant = wp_nearest_result(&nearest);
    const wp_status status =
        meant != NULL
            ? WP_FAIL(err, NOT_FOUND, "no %s policy '%s'; did you mean '%s'?", kind, name, meant)
            : WP_FAIL(err, NOT_FOUND, "no %s policy '%s'; there are: %s", kind, name,
                      all.data != NULL ? all.data : "none");
    wp_text_deinit(&all);
    return status;
}

wp_status wpi_policy_find(const char *kind, const char *name, const wpi_policy **out,
                          wp_error *err) {
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        if (strcmp((*p)->kind, kind) != 0 || strcmp((*p)->name, name) != 0) continue;
        *out = *p;
        return WP_STATUS_OK;
    }
    return fail_unknown(kind, name, err);
}
