/* SPDX-License-Identifier: Apache-2.0 */
/** PTX text of many kernels in parts, each a text of its own, so that a program that uses one of
 * hundreds of kernels waits for the code of that one. Kernels that share a variable are in one
 * part: a variable is in one part only. */
#ifndef WP_DEVICE_PTX_PARTS_H
#define WP_DEVICE_PTX_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "warpage/error.h"

/** Whether a line of PTX is part of a text's header: version, target or size of addresses. */
bool wpi_ptx_is_header(const char *line);

typedef struct wpi_ptx_parts wpi_ptx_parts;

/** Reads the text, which the result owns then (wpi_free). UNSUPPORTED: the text must stay whole, as
 * with managed variables or line tables, and is still the caller's; NOMEM likewise. */
WP_NODISCARD wp_status wpi_ptx_parts_create(char *text, wpi_ptx_parts **out, wp_error *err);
void wpi_ptx_parts_destroy(wpi_ptx_parts *parts);
/** Parts have numbers below this one; some numbers have no part. */
size_t wpi_ptx_parts_outer(const wpi_ptx_parts *parts);
/** The number of the part with the kernel or variable of that name. */
bool wpi_ptx_parts_find(const wpi_ptx_parts *parts, const char *name, size_t *part);
/** The text of that part (wpi_free); NULL: there is no memory. */
char *wpi_ptx_parts_text(const wpi_ptx_parts *parts, size_t part);

#endif
