/* SPDX-License-Identifier: Apache-2.0 */
/** The PCI Express link of a device, as reported by the operating system. */
#ifndef WP_DEVICE_CUDA_PCI_LINK_H
#define WP_DEVICE_CUDA_PCI_LINK_H

#include "warpage/device.h"

/** Fills the four link_ fields from the files of a device's folder in sysfs; 0: unknown. Links of
 *  idle GPUs run slowly; under load they reach the maximum. */
void wpi_pci_link_read(const char *folder, wp_device_info *info);

#endif
