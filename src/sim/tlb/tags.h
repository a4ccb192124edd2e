/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The entries of a TLB or a walk cache: tags in sets, with replacement. Any associativity costs the
 * same: tags are found by hashing, each set is a list in order of replacement.
 *
 *     set   first ─► e ─► e ─► … ─► last     first to stay … first to leave
 *
 * Equal sets are chosen by the tag's low bits (modulo) or by XOR of all its bits. Unequal sets get
 * tags in proportion to their ways: tag mod entries is a seat, seats are dealt to the sets in turn,
 * the largest first, until each set has as many as ways. So cyclic accesses overflow no set before
 * all entries are used.
 */
#ifndef WP_SIM_TAGS_H
#define WP_SIM_TAGS_H

#include "policy/replacement.h"
#include "sim/engine/key_index.h"
#include "sim/profile/profile.h"

typedef struct wpi_tag_entry {
    uint64_t tag;
    uint64_t parts; /* valid parts, a bit each; 0: the entry is free. Set by the owner */
    uint32_t next, previous;
    uint32_t set;
    uint32_t note; /* the owner's */
} wpi_tag_entry;

typedef struct wpi_tag_set {
    uint32_t first, last;
    uint32_t base, ways; /* its entries */
} wpi_tag_set;

typedef struct wpi_tags {
    wpi_tag_entry *entries;
    wpi_tag_set *sets;
    uint32_t *seats; /* [entry_count] -> set; NULL: sets are equal */
    uint32_t entry_count, set_count;
    uint32_t set_bits; /* of XOR; 0: modulo */
    const wpi_replacement_ops *replacement;
    uint64_t random;
    wpi_index index;
} wpi_tags;

/** `seed` is not 0. NOMEM. */
WP_NODISCARD wp_status wpi_tags_init(wpi_tags *tags, const uint32_t *set_ways, uint32_t set_count,
                                     wpi_hash hash, const wpi_policy *replacement, uint64_t seed,
                                     wp_error *err);
void wpi_tags_deinit(wpi_tags *tags); /* `{0}` is fine */
void wpi_tags_clear(wpi_tags *tags);

/** The tag's entry or WPI_INDEX_NONE. Changes nothing. */
static inline uint32_t wpi_tags_find(const wpi_tags *tags, uint64_t tag) {
    return wpi_index_find(&tags->index, tag);
}
/** Marks the entry as used, for replacement. */
void wpi_tags_touch(wpi_tags *tags, uint32_t entry);
/** Allocates an entry, with parts 0, to a tag that has none. *evicted is the entry's former
 * contents (parts 0: it was free). `evicted` may be NULL. */
uint32_t wpi_tags_insert(wpi_tags *tags, uint64_t tag, wpi_tag_entry *evicted);
/** The entry is free again. */
void wpi_tags_remove(wpi_tags *tags, uint32_t entry);
uint32_t wpi_tags_set_of(const wpi_tags *tags, uint64_t tag);

#endif
