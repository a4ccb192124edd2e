/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The groups of a device: a table in its memory, which grows as long as there is memory, and then
 * is spilled to host memory.
 *
 *     table ─► full ─► a larger one, rehashed on the device ─► … ─► no memory: spilled, begun again
 */
#ifndef WP_OPS_GPU_GROUPS_H
#define WP_OPS_GPU_GROUPS_H

#include "ops/groupby_gpu/gpu_merge.h"

/** Called whenever a table is made: returns the size limit of its scopes; 0: one scope. */
typedef struct wpi_gpu_scopes {
    uint64_t (*bytes_of)(void *object, uint64_t table_bytes);
    void *object;
} wpi_gpu_scopes;

typedef struct wpi_gpu_groups {
    wpi_gpu *gpu;
    const wpi_gpu_format *format;
    wpi_gpu_table table;
    wpi_gpu_state *device_state, state; /* as last read */
    uint64_t bytes_max;                 /* of tables, old and new together */
    wpi_gpu_scopes scopes;
    uint64_t rows; /* since the table was empty, at most */
    wpi_gpu_merge merge;
    char *slice; /* of the table, being copied to the host */
    uint32_t grown, spilled;
} wpi_gpu_groups;

/** A table for so many groups, or as many as fit. DEVICE_NOMEM: not even the smallest one does. */
WP_NODISCARD wp_status wpi_gpu_groups_init(wpi_gpu_groups *groups, wpi_gpu *gpu,
                                           const wpi_gpu_format *format, uint64_t group_count,
                                           wpi_gpu_scopes scopes, uint64_t bytes_max,
                                           wp_error *err);
void wpi_gpu_groups_deinit(wpi_gpu_groups *groups); /* `{0}` is fine */

uint32_t wpi_gpu_bucket_bytes(const wpi_gpu_format *format);

/** Before and after launches that add rows: begin clears notes, look reads `state`. begin
 * spills the table first if `rows` more could overflow a bucket's count. */
WP_NODISCARD wp_status wpi_gpu_groups_begin(wpi_gpu_groups *groups, uint32_t rows, wp_error *err);
WP_NODISCARD wp_status wpi_gpu_groups_look(wpi_gpu_groups *groups, wp_error *err);

/** Rows found no place: makes a larger table, if need be by spilling this one; `*is_done` is false
 * if there is no memory for one. */
WP_NODISCARD wp_status wpi_gpu_groups_make_room(wpi_gpu_groups *groups, bool *is_done,
                                                wp_error *err);
/** Groups go to host memory, where equal ones are merged; the table is empty again. */
WP_NODISCARD wp_status wpi_gpu_groups_spill(wpi_gpu_groups *groups, wp_error *err);
/** Limits searches to fewer probes from now on. Groups further on are not found: they are made
 * again, and merged later. */
void wpi_gpu_groups_limit_probes(wpi_gpu_groups *groups);
/** If the table is nearly full, makes a larger one, if there is memory for it. */
WP_NODISCARD wp_status wpi_gpu_groups_grow_if_full(wpi_gpu_groups *groups, wp_error *err);
uint64_t wpi_gpu_bucket_count(const wpi_gpu_groups *groups);

typedef wp_status (*wpi_gpu_visit)(void *object, const uint64_t *bucket, bool is_null,
                                   wp_error *err);
/** After the last row: the number of groups, then each of them. */
WP_NODISCARD wp_status wpi_gpu_groups_count(wpi_gpu_groups *groups, uint64_t *out, wp_error *err);
WP_NODISCARD wp_status wpi_gpu_groups_visit(wpi_gpu_groups *groups, wpi_gpu_visit visit,
                                            void *object, wp_error *err);

#endif
