/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Forms of an image's kernels: the program's own code, or a variant of it (base/abi.h). A variant's
 * name has two parts, the kind and the rewrites (compiler/rewrite/rewrite.h) that the kernels go
 * through first:
 *
 *     check                  accesses are tested
 *     trace                  what the threads do is recorded
 *     instep                 … and each access waits for simulated time
 *     trace+stream:_Z1kPi:1  recorded, with the streamed form of a kernel
 *
 * `{0}` is the program's own code and needs no deinit.
 */
#ifndef WP_BASE_VARIANT_H
#define WP_BASE_VARIANT_H

#include <stdbool.h>

#include "base/strings.h"

typedef enum wp_variant_kind {
    WP_VARIANT_OWN = 0, /* the program's own code, which is no variant */
    WP_VARIANT_CHECK,
    WP_VARIANT_TRACE,
    WP_VARIANT_KIND_COUNT /* must be last */
} wp_variant_kind;

typedef struct wp_variant {
    wp_variant_kind kind;
    bool is_in_step;     /* of TRACE only */
    wp_strings rewrites; /* NAME or NAME:ARGUMENT each, in the order in which they run */
} wp_variant;

/** Reads the name of a variant. INVALID: the kind is unknown (the message lists the known ones), or
 * a rewrite has no name; rewrites are not looked up. */
WP_NODISCARD wp_status wp_variant_parse(const char *text, wp_variant *out, wp_error *err);
/** The name that wp_variant_parse reads (wp_free); "" for the program's own code. */
WP_NODISCARD char *wp_variant_text(const wp_variant *variant);
/** The name without rewrites: "trace". */
const char *wp_variant_word(const wp_variant *variant);
bool wp_variant_equals(const wp_variant *a, const wp_variant *b);
void wp_variant_deinit(wp_variant *variant);

#endif
