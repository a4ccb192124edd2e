/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Loads policy files (policy_file.h). wpi_policy_find then finds their policies, like the library's
 * own. A loaded file stays loaded until the process ends. Callable from any thread.
 */
#ifndef WP_POLICY_LOAD_H
#define WP_POLICY_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/** Loads one file; does nothing if it has been loaded before. On failure none of its policies is
 * added, and the message names the file. NOT_FOUND, IO, NOMEM; INVALID: not a policy file, made for
 * another interface, or a policy that cannot be used. */
WP_NODISCARD wp_status wpi_policy_file_load(const char *path, wp_error *err);
/** Loads several, separated by ':' as in WARPAGE_POLICY_FILES. */
WP_NODISCARD wp_status wpi_policy_files_load(const char *paths, wp_error *err);

/** The i-th loaded file, in order; false after the last. `*hash` is wpi_hash64 of its bytes, with
 * seed 1. */
bool wpi_policy_file_at(size_t i, const char **path, uint64_t *hash);

/** The i-th policy from files, in order; NULL after the last. */
const wpi_policy *wpi_policy_loaded_at(size_t i);

#endif
