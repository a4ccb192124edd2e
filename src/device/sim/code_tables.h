/* SPDX-License-Identifier: Apache-2.0 */
/** How a block of traced code ends (base/trace_abi.h). */
#ifndef WP_DEVICE_SIM_TABLES_H
#define WP_DEVICE_SIM_TABLES_H

#include <stdbool.h>

#include "base/trace_abi.h"

/** NULL: the block has no steps. */
const wp_trace_step *wpi_block_last_step(const wp_trace_tables *tables, uint32_t number);
/** Whether its threads are held at its end until the model reaches it. */
bool wpi_block_is_held(const wp_trace_tables *tables, uint32_t number);
bool wpi_block_reads_clock(const wp_trace_tables *tables, uint32_t number);
/** Whether it ends a round of a spin loop. */
bool wpi_block_ends_round(const wp_trace_tables *tables, uint32_t number);
/** … of one that only the host can end. */
bool wpi_block_waits_for_host(const wp_trace_tables *tables, uint32_t number);
/** The number of words after the block's own that are addresses. */
uint32_t wpi_block_address_count(const wp_trace_tables *tables, uint32_t number);

#endif
