/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "policy/evict.h"
#include "policy/load.h"
#include "policy/prefetch.h"

/* The i-th policy, the library's own first; NULL after the last. */
static const wpi_policy *policy_at(size_t i) {
    size_t own = 0;
    while (wpi_policies[own] != NULL && own < i)
        own++;
    return wpi_policies[own] != NULL ? wpi_policies[own] : wpi_policy_loaded_at(i - own);
}

static wp_status fail_unknown(const char *kind, const char *name, wp_error *err) {
    wpi_nearest nearest = {.wanted = name};
    wpi_text all = {0};
    const wpi_policy *policy;
    for (size_t i = 0; (policy = policy_at(i)) != NULL; i++) {
        if (strcmp(policy->kind, kind) != 0) continue;
        wpi_nearest_offer(&nearest, policy->name);
        wpi_text_appendf(&all, "%s%s", all.length != 0 ? ", " : "", policy->name);
    }
    const char *meant = wpi_nearest_result(&nearest);
    const wp_status status =
        meant != NULL
            ? WP_FAIL(err, NOT_FOUND, "no %s policy '%s'; did you mean '%s'?", kind, name, meant)
            : WP_FAIL(err, NOT_FOUND, "no %s policy '%s'; there are: %s", kind, name,
                      all.data != NULL ? all.data : "none");
    wpi_text_deinit(&all);
    return status;
}

wp_status wpi_policy_find(const char *kind, const char *name, const wpi_policy **out,
                          wp_error *err) {
    const wpi_policy *policy;
    for (size_t i = 0; (policy = policy_at(i)) != NULL; i++) {
        if (strcmp(policy->kind, kind) != 0 || strcmp(policy->name, name) != 0) continue;
        *out = policy;
        return WP_STATUS_OK;
    }
    return fail_unknown(kind, name, err);
}

bool wpi_policy_needs_future(const wpi_policy *policy) {
    if (strcmp(policy->kind, "evict") == 0)
        return ((const wpi_evict_ops *)policy->ops)->needs_future;
    return strcmp(policy->kind, "prefetch") == 0 &&
           ((const wpi_prefetch_ops *)policy->ops)->needs_future;
}
