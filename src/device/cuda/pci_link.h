/* SPDX-License-Identifier: Apache-2.0 */
/** The PCI Express link of a device, as the operating system's kernel tells it. */
#ifndef WP_DEVICE_CUDA_PCI_LINK_H
#define WP_DEVICE_CUDA_PCI_LINK_H

#include "warpage/device.h"

/** Fills the four link_ fields from the files of a device's folder in sysfs; 0 for what it does not
 *  say. Links of idle GPUs are slow: what is reached under load is the greatest. */
void wpi_pci_link_read(const char *folder, wp_device_info *info);

#endif
