/* SPDX-License-Identifier: Apache-2.0 */
/** All parameter tables of the library, collected at build time (cmake/params.cmake). */
#ifndef WP_REPORT_PARAM_TABLE_H
#define WP_REPORT_PARAM_TABLE_H

#include "base/param.h"

typedef struct wpi_param_table {
    const char *room; /* from the array's name; NULL ends the list */
    const wpi_param *rows;
} wpi_param_table;

extern const wpi_param_table wpi_param_tables[];

/** The same list for the command, from inside the shared library. */
WP_API const wpi_param_table *wpi_param_table_list(void);

#endif
