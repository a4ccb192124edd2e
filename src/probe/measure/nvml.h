/* SPDX-License-Identifier: Apache-2.0 */
/** Conditions of a GPU from NVIDIA's management library, if it is installed. */
#ifndef WP_PROBE_NVML_H
#define WP_PROBE_NVML_H

#include "base/strings.h"

/** Appends name and value of clocks, power state, temperature and other processes on the GPU at
 * this PCI address ("0000:65:00.0"); nothing where the library or the GPU is not there. */
void wpi_nvml_conditions(const char *pci_id, wpi_strings *out);

#endif
