/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texts as keys of a group-by: a set of texts, each of which has a code. A column of texts becomes
 * a column of codes, which wp_groupby_add takes as a key of type WP_TYPE_UINT32.
 *
 *     wp_texts_create ─► wp_texts_encode ─► wp_groupby_add … ─► wp_groupby_finish ─► wp_texts_end
 * ─► (for each chunk)                                            wp_texts_copy
 *
 * A text is any number of bytes, zeros included. Texts are ordered by bytes, a prefix first.
 *
 * Thread rule: one call at a time on one object; wp_texts_encode uses threads of its own.
 * Ownership: the caller owns the object, which must outlive the group-bys that refer to it. Columns
 * passed in remain the caller's; texts are copied.
 */
#ifndef WARPAGE_TEXTS_H
#define WARPAGE_TEXTS_H

#include "warpage/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a column has its texts, as in Arrow. */
typedef enum wp_text_layout {
    WP_TEXT_OFFSETS_32 = 0, /* Utf8, Binary: offsets of 32 bits */
    WP_TEXT_OFFSETS_64,     /* LargeUtf8, LargeBinary */
    WP_TEXT_VIEWS,          /* Utf8View, BinaryView */
    WP_TEXT_LAYOUT_COUNT    /* must be last */
} wp_text_layout;

typedef struct wp_text_column {
    wp_text_layout layout;
    const void *items; /* offsets [rows + 1], or views [rows] */
    const void *const
        *buffers;         /* OFFSETS: the one that they refer to; VIEWS: as views number them */
    const uint8_t *valid; /* as in wp_column */
    uint64_t valid_offset;
} wp_text_column;

/** `thread_count`: of wp_texts_encode; 0: one for each processor. NOMEM. */
WP_NODISCARD WP_API wp_status wp_texts_create(uint32_t thread_count, wp_texts **out, wp_error *err);
WP_API void wp_texts_destroy(wp_texts *texts); /* NULL allowed */

/** Writes the code of each row's text to `codes`: 0 for NULL, else from 1 on, equal for equal
 * texts. The order of codes depends on that of threads. NOMEM. INVALID: offsets that decrease, a
 * column of another layout, 2^31 texts. */
WP_NODISCARD WP_API wp_status wp_texts_encode(wp_texts *texts, const wp_text_column *column,
                                              uint64_t row_count, uint32_t *codes, wp_error *err);

/** For a column that refers to a dictionary: codes of rows, from the codes of the dictionary's
 * texts. Indices outside of the dictionary, which NULL may have, are NULL. INVALID: `indices` are
 * not integers. */
WP_NODISCARD WP_API wp_status wp_texts_translate(const wp_column *indices, uint64_t row_count,
                                                 const uint32_t *dictionary, uint64_t text_count,
                                                 uint32_t *codes, wp_error *err);

/** Releases the memory that only wp_texts_encode takes, 16 to 32 bytes a text; it fails with
 * INVALID from then on. */
WP_API void wp_texts_end(wp_texts *texts);

/** Texts so far, without NULL, and their bytes. */
WP_API uint64_t wp_texts_count(const wp_texts *texts);
WP_API uint64_t wp_texts_bytes(const wp_texts *texts);

/** All texts, in the order in which the groups' key refers to them: as Arrow's LargeUtf8. That is
 * the order of the texts' last sorted group-by: copy or gather the keys of a result before another
 * group-by sorts more texts. `offsets`: [count + 1]; `bytes`: [wp_texts_bytes]. */
WP_API void wp_texts_copy(const wp_texts *texts, uint64_t *offsets, char *bytes);

/** The bytes that wp_texts_gather writes. `column`: a key of a result. */
WP_API uint64_t wp_texts_gather_bytes(const wp_texts *texts, const wp_column *column,
                                      uint64_t row_count);
/** The texts of a key of a result, row by row; NULL is empty. `offsets`: [row_count + 1], of
 * `offset_bytes` each: 8, or 4 where there are less than 2^31 bytes. */
WP_API void wp_texts_gather(const wp_texts *texts, const wp_column *column, uint64_t row_count,
                            void *offsets, uint32_t offset_bytes, char *bytes);

/** Decimals as texts of 16 bytes, whose order is that of the numbers. `decimals`: of 16 bytes each,
 * as Arrow's Decimal128; `valid` as in wp_column. Otherwise as wp_texts_encode. */
WP_NODISCARD WP_API wp_status wp_texts_encode_decimals(wp_texts *texts, const void *decimals,
                                                       const uint8_t *valid, uint64_t valid_offset,
                                                       uint64_t row_count, uint32_t *codes,
                                                       wp_error *err);
/** The decimals of a key of a result whose texts are decimals; NULL is 0. `out`: 16 bytes each. */
WP_API void wp_texts_gather_decimals(const wp_texts *texts, const wp_column *column,
                                     uint64_t row_count, void *out);

/** Bits, such as Arrow's booleans, as a byte each, and back. */
WP_API void wp_bits_expand(const uint8_t *bits, uint64_t first, uint64_t count, uint8_t *out);
WP_API void wp_bits_pack(const uint8_t *bytes, uint64_t count, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif
