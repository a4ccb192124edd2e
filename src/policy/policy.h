/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies: a policy answers a question, the mechanism in src/sim acts on it. Each is one file,
 * src/policy/<kind>/<name>.c, found at build time: the file defines
 *
 *     const wpi_policy wpi_policy_<kind>_<name> = {...};
 *
 * and is then there for the profile key of its kind (`sm.scheduler = gto`), for `--set`, for
 * `warpage compare --vary` and in `warpage policies`. What a kind asks is in src/policy/<kind>.h.
 */
#ifndef WP_POLICY_POLICY_H
#define WP_POLICY_POLICY_H

#include "base/fail.h"

typedef struct wpi_policy {
    const char *kind, *name;
    const char *keys;   /* of the profile, that change what it does: "gpu.seed"; "": none */
    const char *doc;    /* what it does, half a sentence */
    const char *source; /* who described it, or "" */
    const void *ops;    /* of its kind */
} wpi_policy;

/** All of them, by kind and name; the last is NULL. */
extern const wpi_policy *const wpi_policies[];

/** NOT_FOUND names the nearest of the kind, or all. */
WP_NODISCARD wp_status wpi_policy_find(const char *kind, const char *name, const wpi_policy **out,
                                       wp_error *err);

#endif
