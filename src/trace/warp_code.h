/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compact encoding of a warp's execution: entries in the order in which a warp source
 * (sim/sm/warp_source.h) returned them.
 *
 *     block    head = difference to the last block's number << 2 | 0: same lanes, 1: lanes follow
 *              for each access: tag = 5 bits of the first lane's address, 3 of the pattern; …
 *     exit     head = 2; lanes that have returned
 *
 * Addresses are differences: to the last address of an access at the same place in the code (one of
 * 16 slots), and from lane to lane if there is no stride. A load of consecutive words in a loop
 * takes three bytes, for any stride of the loop.
 */
#ifndef WP_TRACE_WARP_CODE_H
#define WP_TRACE_WARP_CODE_H

#include "sim/sm/warp_source.h"
#include "trace/varint.h"

#define WPI_WARP_SLOTS 16u
/* The largest block: two numbers, and a tag, a stride and 32 addresses for each access. */
#define WPI_WARP_ENTRY_BYTES_MAX                                                                   \
    ((size_t)(2 + WP_TRACE_BLOCK_WORDS_MAX * (WPI_LANES + 2)) * WPI_VARINT_BYTES_MAX)

/** State of encoding or decoding a warp. `{0}` initially. */
typedef struct wpi_warp_code {
    uint32_t block, mask;
    uint64_t last[WPI_WARP_SLOTS]; /* address of an access's first lane */
} wpi_warp_code;

/** Writes at `to`; returns the end. */
uint8_t *wpi_warp_encode_block(wpi_warp_code *code, const wp_trace_tables *tables,
                               const wpi_warp_block *block, uint8_t *to);
uint8_t *wpi_warp_encode_exit(uint32_t lanes, uint8_t *to);

typedef enum wpi_warp_entry {
    WPI_WARP_BLOCK = 0, /* block, mask and the addresses of its lanes are set */
    WPI_WARP_EXIT,      /* `mask`: lanes that return */
    WPI_WARP_BAD        /* not written by the encoder */
} wpi_warp_entry;

/** Reads the next entry, which must exist. `addresses` has room for the accesses of any block. */
wpi_warp_entry wpi_warp_decode(wpi_warp_code *code, const wp_trace_tables *tables, wpi_cursor *from,
                               uint32_t *block, uint32_t *mask, uint64_t *addresses);

#endif
