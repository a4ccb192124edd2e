/* SPDX-License-Identifier: Apache-2.0 */
/** Of a template, nvcc leaves it to the host's compiler, which knows no sides, whether a function
 * of the host may call a constructor that is only for the device. */
#ifndef WP_COMPILER_MISSING_SIDE_H
#define WP_COMPILER_MISSING_SIDE_H

/** The text with `__host__` in front of the name at `at`, in its declaration. NULL: there is no
 * name, or no template before. The caller frees it. */
char *wpi_missing_side_insert(const char *text, const char *at);

#endif
