/* SPDX-License-Identifier: Apache-2.0 */
/** The conditions of a measurement, for comparing two probes. */
#ifndef WP_PROBE_CONDITIONS_H
#define WP_PROBE_CONDITIONS_H

#include "base/strings.h"
#include "warpage/device.h"

/** Appends pairs, name and value: "clock", "875 MHz, simulated". Unknown conditions are left
 * out. */
void wpi_conditions_of_device(const wp_device *device, wpi_strings *out);
void wpi_conditions_of_cpu(wpi_strings *out);

#endif
