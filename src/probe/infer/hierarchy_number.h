/* SPDX-License-Identifier: Apache-2.0 */
/** Setting numbers of a hierarchy. */
#ifndef WP_PROBE_NUMBER_H
#define WP_PROBE_NUMBER_H

#include "probe/infer/hierarchy.h"

/** Known. */
void wpi_number_set(wpi_number *number, double value, double confidence);
/** Why it is not sure, or what else is to be said of it. */
void wpi_number_explain(wpi_number *number, const char *format, ...) WP_PRINTF(2, 3);
/** Unknown, and why. */
void wpi_number_unknown(wpi_number *number, const char *format, ...) WP_PRINTF(2, 3);
/** The chance that what lies `z` standard deviations from a border lies on that side of it. */
double wpi_confidence(double z);

#endif
