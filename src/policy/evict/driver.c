/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/evict.h"

static uint64_t age_of(const wpi_chunk *chunk) {
    return chunk->frames_age;
}

static bool choose(const wpi_evict_question *question, uint32_t *chunk, wpi_pages *pages) {
    wpi_evict_question any = *question;
    any.is_pressed = true; /* the driver also evicts chunks that are not full */
    return wpi_evict_oldest_chunk(&any, age_of, chunk, pages);
}

static const wpi_evict_ops ops = {.choose = choose};

const wpi_policy wpi_policy_evict_driver = {
    .kind = "evict",
    .name = "driver",
    .keys = "",
    .doc = "the 2 MiB chunk whose device memory was allocated longest ago, regardless of its "
           "use",
    .source = "NVIDIA's open driver 595: uvm_pmm_gpu",
    .ops = &ops};
