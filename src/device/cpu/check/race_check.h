/* SPDX-License-Identifier: Apache-2.0 */
/** Races between threads of a block: storage in the block, and barriers. The accesses come from
 * checked kernels (base/abi.h, wp_rt_race). A block's storage belongs to its worker. */
#ifndef WP_DEVICE_CPU_RACE_CHECK_H
#define WP_DEVICE_CPU_RACE_CHECK_H

#include "device/cpu/cpu.h"

typedef struct wpi_races wpi_races;

/** Room for the launch that the block now belongs to. False: out of memory. */
bool wpi_races_prepare(wpi_block *block);
/** The launch's block of this number begins. */
void wpi_races_begin(wpi_block *block, uint64_t number);
void wpi_races_release(wpi_block *block);
/** All threads of the block have met: what they did before is in order with what follows. */
void wpi_races_barrier(wpi_block *block);

#endif
