/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A neighbouring directory table: what the neighbours of a private TLB hold, beside it.
 *
 *     tag (the page's number, hashed) │ neighbours, a bit each │ held here too │ hits
 *
 * It is told of what neighbours learn and forget. An entry lives as long as a neighbour has its
 * page. When it is full what is held here, too, leaves first, else who came first. Two pages of one
 * tag are one entry: a hint may be wrong, and whoever follows it must be able to go on.
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

/** What directories know a page by: all bits of its number, folded by XOR. */
uint64_t wpi_directory_tag(uint64_t page, uint32_t tag_bits);

/** The neighbours that should have a page of the tag. */
uint64_t wpi_directory_find(const wpi_directory *directory, uint64_t tag);
/** A neighbour was asked and had it: how often that was so, of this entry. 0: it is not there any
 * more. */
uint32_t wpi_directory_count_hit(wpi_directory *directory, uint64_t tag);

/** A neighbour has the page. `is_local`: so has the TLB beside the directory. */
void wpi_directory_add(wpi_directory *directory, uint64_t tag, uint32_t neighbour, bool is_local);
/** The same, where it is known to have no entry of the tag. */
void wpi_directory_add_new(wpi_directory *directory, uint64_t tag, uint32_t neighbour,
                           bool is_local);
/** It has it no longer. */
void wpi_directory_remove(wpi_directory *directory, uint64_t tag, uint32_t neighbour);
void wpi_directory_set_local(wpi_directory *directory, uint64_t tag, bool is_local);

#endif
