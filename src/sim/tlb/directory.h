/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A neighbouring directory table, beside each private TLB: the pages that its neighbours hold.
 *
 *     tag (the page's number, hashed) │ neighbours, a bit each │ held here too │ hits
 *
 * It is updated when a neighbour stores or drops a page. An entry is freed when no neighbour has
 * its page any more. A full directory evicts the oldest entry whose page is also held here, or else
 * the oldest entry. Pages with the same tag share an entry, so a hint may be wrong: the TLB that it
 * names may miss.
 *
 * Source: NeiDty, Section III-B. One thread.
 */
#ifndef WP_SIM_DIRECTORY_H
#define WP_SIM_DIRECTORY_H

#include "sim/tlb/tags.h"

typedef struct wpi_directory_note {
    bool is_local;
    uint32_t hits;
} wpi_directory_note;

typedef struct wpi_directory {
    wpi_tags tags;             /* one set; parts: neighbours */
    wpi_directory_note *notes; /* [entry] */
    uint32_t used, local;
    uint64_t eviction_count;
} wpi_directory;

/** NOMEM. */
WP_NODISCARD wp_status wpi_directory_init(wpi_directory *directory, uint32_t entries,
                                          wp_error *err);
void wpi_directory_deinit(wpi_directory *directory); /* `{0}` is fine */
void wpi_directory_clear(wpi_directory *directory);

/** A page's tag in directories: all bits of its number, folded by XOR. */
uint64_t wpi_directory_tag(uint64_t page, uint32_t tag_bits);

/** Returns the neighbours that should have a page of the tag, a bit each. */
uint64_t wpi_directory_find(const wpi_directory *directory, uint64_t tag);
/** A neighbour was asked and had the page. Returns how often that happened since the entry was
 * made; 0: the entry no longer exists. */
uint32_t wpi_directory_count_hit(wpi_directory *directory, uint64_t tag);

/** A neighbour has the page. `is_local`: so has the TLB beside the directory. */
void wpi_directory_add(wpi_directory *directory, uint64_t tag, uint32_t neighbour, bool is_local);
/** The same, if the directory is known to have no entry of the tag. */
void wpi_directory_add_new(wpi_directory *directory, uint64_t tag, uint32_t neighbour,
                           bool is_local);
/** A neighbour no longer has the page. */
void wpi_directory_remove(wpi_directory *directory, uint64_t tag, uint32_t neighbour);
void wpi_directory_set_local(wpi_directory *directory, uint64_t tag, bool is_local);

#endif
