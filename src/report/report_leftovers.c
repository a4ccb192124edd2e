/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_leftovers.h"

#include "base/leftovers.h"

void wpi_report_leftovers_remove(void) {
    wpi_leftovers_remove();
}
