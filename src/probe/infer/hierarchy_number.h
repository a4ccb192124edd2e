/* SPDX-License-Identifier: Apache-2.0 */
/** Setting numbers of a hierarchy. */
#ifndef WP_PROBE_NUMBER_H
#define WP_PROBE_NUMBER_H

#include "probe/infer/hierarchy.h"

/** Known. */
void wpi_number_set(wpi_number *number, double value, double confidence);
/** Sets the reason for doubt, or a remark. */
void wpi_number_explain(wpi_number *number, const char *format, ...) WP_PRINTF(2, 3);
/** Unknown, with the reason. */
void wpi_number_unknown(wpi_number *number, const char *format, ...) WP_PRINTF(2, 3);
/** The probability that a value measured `z` standard deviations from a border is on that side of
 * it. */
double wpi_confidence(double z);

#endif
