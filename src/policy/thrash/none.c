/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/thrash.h"

static void moved(wpi_thrash *thrash, uint32_t chunk, const wpi_pages *pages, wpi_processor to,
                  wpi_time_ps now) {
    (void)thrash;
    (void)chunk;
    (void)pages;
    (void)to;
    (void)now;
}

static wpi_thrash_hint ask(wpi_thrash *thrash, const wpi_thrash_question *question) {
    (void)thrash;
    (void)question;
    return (wpi_thrash_hint){.answer = WPI_THRASH_MIGRATE};
}

static const wpi_thrash_ops ops = {moved, ask};

const wpi_policy wpi_policy_thrash_none = {.kind = "thrash",
                                           .name = WPI_POLICY_NONE,
                                           .keys = "",
                                           .doc = "no mitigation of thrashing",
                                           .source = "",
                                           .ops = &ops};
