/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    wpi_prefetch_blocks(&question->faulting, out);
}

static const wpi_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_prefetch_sequential_local = {
    .kind = "prefetch",
    .name = "sequential-local",
    .keys = "",
    .doc = "the rest of the faulting 64 KiB blocks",
    .source = "Ganguly et al., ISCA'19: sequential-local prefetcher",
    .ops = &ops};
