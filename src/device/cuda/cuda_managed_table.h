/* SPDX-License-Identifier: Apache-2.0 */
/** Operations of device and queue on managed memory, except allocation. */
#ifndef WP_DEVICE_CUDA_MANAGED_H
#define WP_DEVICE_CUDA_MANAGED_H

#include "device/device.h"

wp_status wpi_cuda_prefetch(wp_queue *base, const void *address, size_t size_bytes, bool to_device,
                            wp_error *err);
wp_status wpi_cuda_attach(wp_queue *base, void *address, size_t size_bytes, uint32_t flags,
                          wp_error *err);
wp_status wpi_cuda_managed_advise(wp_device *base, const void *address, size_t size_bytes,
                                  int advice, int location, wp_error *err);
wp_status wpi_cuda_managed_attribute(wp_device *base, const void *address, size_t size_bytes,
                                     int attribute, void *data, size_t data_bytes, wp_error *err);

#endif
