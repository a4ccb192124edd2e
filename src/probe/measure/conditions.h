/* SPDX-License-Identifier: Apache-2.0 */
/** Under what conditions a probe measured: what a reader must know to compare two of them. */
#ifndef WP_PROBE_CONDITIONS_H
#define WP_PROBE_CONDITIONS_H

#include "base/strings.h"
#include "warpage/device.h"

/** Appends pairs, name and value: "clock", "875 MHz, simulated". What a device does not tell is
 * left out. */
void wpi_conditions_of_device(const wp_device *device, wpi_strings *out);
void wpi_conditions_of_cpu(wpi_strings *out);

#endif
