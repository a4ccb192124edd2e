/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Forms of an image's kernels: the program's own code, or a variant of it (base/abi.h). A variant's
 * name has two parts, the kind and the rewrites (compiler/rewrite/rewrite.h) that the kernels go
 * through first:
 *
 *     copy                   the program's own code, with variables elsewhere
 *     check                  accesses are tested
 *     races                  … and compared with those of other threads
 *     trace                  what the threads do is recorded
 *     instep                 … and each access waits for simulated time
 *     trace@60               … with the instructions that ptxas makes for sm_60
 *     trace+stream:_Z1kPi:1  recorded, with the streamed form of a kernel
 *
 * `{0}` is the program's own code and needs no deinit.
 */
#ifndef WP_BASE_VARIANT_H
#define WP_BASE_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strings.h"

typedef enum wpi_variant_kind {
    WP_VARIANT_OWN = 0, /* the program's own code, which is no variant */
    WP_VARIANT_COPY,    /* the same for a further device, which has variables of its own */
    WP_VARIANT_CHECK,
    WP_VARIANT_TRACE,
    WP_VARIANT_KIND_COUNT /* must be last */
} wpi_variant_kind;

typedef struct wpi_variant {
    wpi_variant_kind kind;
    bool is_in_step;       /* of TRACE only */
    bool finds_races;      /* of CHECK only */
    uint32_t machine_arch; /* of TRACE only: costs are those of machine code; 0: an estimate */
    wpi_strings rewrites;  /* NAME or NAME:ARGUMENT each, in the order in which they run */
} wpi_variant;

/** Reads the name of a variant. INVALID: the kind is unknown (the message lists the known ones), or
 * a rewrite has no name; rewrites are not looked up. */
WP_NODISCARD wp_status wpi_variant_parse(const char *text, wpi_variant *out, wp_error *err);
/** The name that wpi_variant_parse reads (wpi_free); "" for the program's own code. */
WP_NODISCARD char *wpi_variant_text(const wpi_variant *variant);
/** The name without rewrites: "trace". */
const char *wpi_variant_word(const wpi_variant *variant);
bool wpi_variant_equals(const wpi_variant *a, const wpi_variant *b);
void wpi_variant_deinit(wpi_variant *variant);

#endif
