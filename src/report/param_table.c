/* SPDX-License-Identifier: Apache-2.0 */
/* Hands the generated list out of the shared library. */
#include "report/param_table.h"

const wpi_param_table *wpi_param_table_list(void) {
    return wpi_param_tables;
}
