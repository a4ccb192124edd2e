/* SPDX-License-Identifier: Apache-2.0 */
/** The fault service of NVIDIA's driver: batches and replays. */
#ifndef WP_SIM_FAULT_BATCH_H
#define WP_SIM_FAULT_BATCH_H

#include "sim/paging/fault_service.h"

typedef struct wpi_fault_batch wpi_fault_batch;

extern const wpi_fault_service_ops wpi_fault_batches;

#endif
