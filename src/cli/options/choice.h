/* SPDX-License-Identifier: Apache-2.0 */
/** Options whose value is one of several words. */
#ifndef WP_CLI_OPTIONS_CHOICE_H
#define WP_CLI_OPTIONS_CHOICE_H

#include "warpage/error.h"

/** Finds the value of --OPTION among `names`, which end with NULL; a value that is NULL is 0.
 * INVALID: the message lists the names. */
WP_NODISCARD wp_status wpi_choice_parse(const char *option, const char *value,
                                        const char *const *names, int *out, wp_error *err);

#endif
