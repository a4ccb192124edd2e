/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Measures a device: one CTA on the requested SM follows chains of loads in its memory.
 *
 *     chase     link the chain ► one untimed round ► timed rounds
 *     contest   link both ► a round of `timed` ► a round of `other` ► a timed round of `timed`
 *
 * Only the chain is accessed between an untimed round and a timed one, so each stage of a contest
 * is a launch of its own. One thread at a time.
 */
#ifndef WP_PROBE_GPU_H
#define WP_PROBE_GPU_H

#include "probe/measure/sampler.h"
#include "warpage/device.h"

/** Called for each timed round of a chase or contest; `cycles` are the round's. */
typedef struct wpi_round_listener {
    void *object;
    void (*chased)(void *object, const wpi_chase *chase, uint32_t round, double cycles);
    void (*contested)(void *object, const wpi_contest *contest, uint32_t round, double cycles);
} wpi_round_listener;

typedef struct wpi_gpu_sampler wpi_gpu_sampler;

/** Takes memory on `device`, which must outlive it: all free memory, at most `max_memory_bytes` (0:
 * no limit). `listener` may be NULL. DEVICE_NOMEM: there is too little for one level. */
WP_NODISCARD wp_status wpi_gpu_sampler_create(wp_device *device, uint64_t max_memory_bytes,
                                              const wpi_round_listener *listener,
                                              wpi_gpu_sampler **out, wp_error *err);
void wpi_gpu_sampler_destroy(wpi_gpu_sampler *sampler); /* NULL allowed */

/** Borrowed: as long as the object lives. */
const wpi_sampler *wpi_gpu_sampler_get(wpi_gpu_sampler *sampler);

#endif
