/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies: a policy answers a question, the simulator acts on the answer. Each is one file that
 * defines
 *
 *     const wpi_policy wpi_policy_<kind>_<name> = {...};
 *
 * ('-' in a name is '_' in the variable's). `wpcc --policy` compiles such a file for --policy-file;
 * the library's own are src/policy/<kind>/<name>.c. A policy is selected by name with the profile
 * key of its kind (`sm.scheduler = gto`), with `--set` and with `warpage compare --vary`, and
 * `warpage policies` lists it. policy/<kind>.h has the questions and operations of a kind.
 */
#ifndef WP_POLICY_POLICY_H
#define WP_POLICY_POLICY_H

#include <stdbool.h>

#include "warpage/error.h"

typedef struct wpi_policy {
    const char *kind, *name;
    const char *keys;   /* profile keys that change its behaviour: "gpu.seed"; "": none */
    const char *doc;    /* what it does, in a phrase */
    const char *source; /* publication that describes it, or "" */
    const void *ops;    /* wpi_<kind>_ops */
} wpi_policy;

/** The name of a kind's policy that does nothing, if it has one. */
#define WPI_POLICY_NONE "none"

/** The library's own policies, by kind and name; the last is NULL. */
extern const wpi_policy *const wpi_policies[];

/** Searches the library's own policies and those of loaded policy files. NOT_FOUND: the message
 * names the nearest of the kind, or all. */
WP_NODISCARD wp_status wpi_policy_find(const char *kind, const char *name, const wpi_policy **out,
                                       wp_error *err);

/** Whether the policy looks ahead: it uses page uses that an earlier run of the program recorded
 * (future.h). */
bool wpi_policy_needs_future(const wpi_policy *policy);

#endif
