/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_groups.h"

#include <string.h>

#include "base/alloc.h"

#define BUCKETS_MIN 1024u
#define GROUPS_UNKNOWN ((uint64_t)1 << 18) /* a first table's, if the caller gives none */
#define PROBES_MAX 128u /* enough for a table that is half full (log of its size) */
#define PROBES_FULL 16u /* in a table that is full: most searches find nothing */
#define SLICE_BYTES ((uint64_t)4 << 20)
#define GROWTH 4u

static uint32_t words_of(const wpi_gpu_format *format) {
    return format->bucket_words == 0 ? 2 : format->bucket_words;
}

uint32_t wpi_gpu_bucket_bytes(const wpi_gpu_format *format) {
    return format->bucket_words == 0 ? (uint32_t)sizeof(wpi_gpu_narrow)
                                     : format->bucket_words * (uint32_t)sizeof(uint64_t);
}

static uint64_t buckets_of(uint64_t group_count) {
    if (group_count == 0) group_count = GROUPS_UNKNOWN;
    if (group_count > UINT64_MAX / 64) group_count = UINT64_MAX / 64;
    return 2 * group_count < BUCKETS_MIN ? BUCKETS_MIN : 2 * group_count;
}

/* ---- tables ---- */

static uint64_t bucket_count(const wpi_gpu_table *table) {
    return table->scope_count * table->scope_buckets;
}

static uint64_t bytes_of(const wpi_gpu_groups *groups, const wpi_gpu_table *table) {
    return bucket_count(table) * wpi_gpu_bucket_bytes(groups->format);
}

static wp_status clear(const wpi_gpu_groups *groups, const wpi_gpu_table *table, wp_error *err) {
    return wp_queue_fill(groups->gpu->work, table->buckets, 0, 4, bytes_of(groups, table) / 4, err);
}

static uint32_t probe_max(const wpi_gpu_table *table) {
    return table->scope_buckets < PROBES_MAX ? (uint32_t)table->scope_buckets : PROBES_MAX;
}

/* Scopes of one size, at most the requested one. */
static wp_status make_table(const wpi_gpu_groups *groups, uint64_t buckets, wpi_gpu_table *out,
                            wp_error *err) {
    const uint64_t bucket_bytes = wpi_gpu_bucket_bytes(groups->format);
    const uint64_t bytes = buckets * bucket_bytes;
    const uint64_t scope_bytes = groups->scopes.bytes_of(groups->scopes.object, bytes);
    uint64_t scopes = scope_bytes != 0 ? (bytes + scope_bytes - 1) / scope_bytes : 1;
    if (scopes > buckets / BUCKETS_MIN) scopes = buckets / BUCKETS_MIN;
    if (scopes > WPI_GPU_SCOPES_MAX) scopes = WPI_GPU_SCOPES_MAX;
    if (scopes == 0) scopes = 1;
    *out = groups->table;
    out->buckets = NULL;
    out->scope_count = scopes;
    out->scope_buckets = (buckets + scopes - 1) / scopes;
    out->probe_max = probe_max(out);
    WP_TRY(wpi_gpu_alloc(groups->gpu, WP_MEMORY_DEVICE, bytes_of(groups, out), &out->buckets, err));
    return clear(groups, out, err);
}

/* As many buckets as fit, at most `buckets`. */
static wp_status make_largest(wpi_gpu_groups *groups, uint64_t buckets, wp_error *err) {
    const uint64_t fit = groups->bytes_max / wpi_gpu_bucket_bytes(groups->format);
    wpi_gpu_table table;
    wp_status status = WP_STATUS_DEVICE_NOMEM;
    if (buckets > fit) buckets = fit;
    for (; buckets >= BUCKETS_MIN && status == WP_STATUS_DEVICE_NOMEM; buckets -= buckets / 4)
        status = make_table(groups, buckets, &table, err);
    if (status == WP_STATUS_DEVICE_NOMEM)
        return WP_FAIL(err, DEVICE_NOMEM,
                       "%s has too little free memory for the smallest hash table of groups",
                       wp_device_get_info(groups->gpu->device)->spec);
    if (status == WP_STATUS_OK) groups->table = table;
    return status;
}

wp_status wpi_gpu_groups_init(wpi_gpu_groups *groups, wpi_gpu *gpu, const wpi_gpu_format *format,
                              uint64_t group_count, wpi_gpu_scopes scopes, uint64_t bytes_max,
                              wp_error *err) {
    const size_t special_words = 2 * (size_t)words_of(format);
    *groups = (wpi_gpu_groups){.gpu = gpu,
                               .format = format,
                               .table = {.bucket_words = format->bucket_words},
                               .bytes_max = bytes_max,
                               .scopes = scopes,
                               .merge = {.format = format, .words = words_of(format)},
                               .slice = wpi_malloc(SLICE_BYTES)};
    if (groups->slice == NULL) return WP_FAIL(err, NOMEM, "a slice of a table");
    WP_TRY(wpi_gpu_alloc(gpu, WP_MEMORY_DEVICE, special_words * 8, &groups->table.special, err));
    WP_TRY(wp_queue_fill(gpu->work, groups->table.special, 0, 4, 2 * special_words, err));
    WP_TRY(wpi_gpu_alloc(gpu, WP_MEMORY_DEVICE, sizeof *groups->device_state, &groups->device_state,
                         err));
    WP_TRY(wp_queue_fill(gpu->work, groups->device_state, 0, 4, sizeof *groups->device_state / 4,
                         err));
    return make_largest(groups, buckets_of(group_count), err);
}

void wpi_gpu_groups_deinit(wpi_gpu_groups *groups) {
    if (groups->gpu == NULL) return;
    wpi_gpu_free(groups->gpu, groups->table.buckets);
    wpi_gpu_free(groups->gpu, groups->table.special);
    wpi_gpu_free(groups->gpu, groups->device_state);
    wpi_gpu_merge_deinit(&groups->merge);
    wpi_free(groups->slice);
    *groups = (wpi_gpu_groups){0};
}

/* ---- contents ---- */

typedef struct visitor {
    wpi_gpu_visit visit;
    void *object;
} visitor;

static wp_status visit_slice(const wpi_gpu_groups *groups, uint64_t buckets, const visitor *to,
                             wp_error *err) {
    for (uint64_t i = 0; i < buckets; i++) {
        uint64_t widened[2];
        const uint64_t *bucket = widened;
        if (groups->table.bucket_words == 0) {
            const wpi_gpu_narrow *narrow =
                &((const wpi_gpu_narrow *)(const void *)groups->slice)[i];
            widened[0] = narrow->key;
            widened[1] = narrow->rows;
        } else {
            bucket = (const uint64_t *)(const void *)groups->slice + i * groups->table.bucket_words;
        }
        if (bucket[0] != 0) WP_TRY(to->visit(to->object, bucket, false, err));
    }
    return WP_STATUS_OK;
}

static wp_status visit_buckets(wpi_gpu_groups *groups, const char *buckets, uint64_t count,
                               const visitor *to, wp_error *err) {
    const uint64_t bytes = wpi_gpu_bucket_bytes(groups->format), of_slice = SLICE_BYTES / bytes;
    for (uint64_t first = 0; first < count; first += of_slice) {
        const uint64_t now = count - first < of_slice ? count - first : of_slice;
        WP_TRY(
            wpi_gpu_fetch(groups->gpu, groups->slice, buckets + first * bytes, now * bytes, err));
        WP_TRY(visit_slice(groups, now, to, err));
    }
    return WP_STATUS_OK;
}

/* Compacts the used buckets in device memory, after a word, because the link is slower than reading
 * the table; NULL: too many are used, or there is no memory. */
static wp_status compact(wpi_gpu_groups *groups, char **out, wp_error *err) {
    wpi_gpu *gpu = groups->gpu;
    wpi_gpu_table table = groups->table;
    const uint64_t used = groups->state.created, all = bucket_count(&table);
    const uint64_t bytes = sizeof(uint64_t) + used * wpi_gpu_bucket_bytes(groups->format);
    *out = NULL;
    if (used > all / 4 || bytes_of(groups, &table) + bytes > groups->bytes_max) return WP_STATUS_OK;
    const wp_status status = wpi_gpu_alloc(gpu, WP_MEMORY_DEVICE, bytes, out, err);
    if (status == WP_STATUS_DEVICE_NOMEM) return WP_STATUS_OK;
    WP_TRY(status);
    void *args[] = {&table, out};
    WP_TRY(wp_queue_fill(gpu->work, *out, 0, 4, sizeof(uint64_t) / 4, err));
    return wpi_gpu_launch_over(gpu, WPI_GPU_COMPACT, all, args, err);
}

static wp_status visit_table(wpi_gpu_groups *groups, const visitor *to, wp_error *err) {
    char *used = NULL;
    wp_status status = compact(groups, &used, err);
    if (status == WP_STATUS_OK && used != NULL)
        status = visit_buckets(groups, used + sizeof(uint64_t), groups->state.created, to, err);
    else if (status == WP_STATUS_OK)
        status =
            visit_buckets(groups, groups->table.buckets, bucket_count(&groups->table), to, err);
    wpi_gpu_free(groups->gpu, used);
    return status;
}

static wp_status set_state(wpi_gpu_groups *groups, uint64_t created, wp_error *err) {
    groups->state = (wpi_gpu_state){.created = created};
    WP_TRY(wp_queue_copy(groups->gpu->work, groups->device_state, &groups->state,
                         sizeof groups->state, err));
    return wp_queue_wait(groups->gpu->work, err);
}

static wp_status add_to_merge(void *object, const uint64_t *bucket, bool is_null, wp_error *err) {
    (void)is_null;
    return wpi_gpu_merge_add(object, bucket, err);
}

wp_status wpi_gpu_groups_spill(wpi_gpu_groups *groups, wp_error *err) {
    const visitor to = {add_to_merge, &groups->merge};
    if (groups->state.created == 0) return WP_STATUS_OK;
    WP_TRY(visit_table(groups, &to, err));
    WP_TRY(clear(groups, &groups->table, err));
    groups->spilled++;
    groups->table.probe_max = probe_max(&groups->table);
    groups->rows = 0;
    return set_state(groups, 0, err);
}

/* ---- growing ---- */

wp_status wpi_gpu_groups_look(wpi_gpu_groups *groups, wp_error *err) {
    return wpi_gpu_fetch(groups->gpu, &groups->state, groups->device_state, sizeof groups->state,
                         err);
}

wp_status wpi_gpu_groups_begin(wpi_gpu_groups *groups, uint32_t rows, wp_error *err) {
    const bool is_narrow = groups->table.bucket_words == 0;
    if (is_narrow && groups->rows + rows > UINT32_MAX) WP_TRY(wpi_gpu_groups_spill(groups, err));
    groups->rows += rows;
    return groups->state.overflowed == 0 ? WP_STATUS_OK
                                         : set_state(groups, groups->state.created, err);
}

uint64_t wpi_gpu_bucket_count(const wpi_gpu_groups *groups) {
    return bucket_count(&groups->table);
}

/* False: not all groups found a place, and the table is as it was. */
static wp_status rehash_into(wpi_gpu_groups *groups, const wpi_gpu_table *to, bool *is_done,
                             wp_error *err) {
    wpi_gpu *gpu = groups->gpu;
    wpi_gpu_table from = groups->table;
    const uint64_t created = groups->state.created;
    uint32_t key_bytes = groups->format->key_bytes;
    WP_TRY(set_state(groups, 0, err));
    void *args[] = {&from, (void *)(uintptr_t)to, &key_bytes, &groups->device_state};
    WP_TRY(wpi_gpu_launch_over(gpu, WPI_GPU_REHASH, bucket_count(&from), args, err));
    WP_TRY(wpi_gpu_groups_look(groups, err));
    *is_done = groups->state.overflowed == 0;
    return *is_done ? WP_STATUS_OK : set_state(groups, created, err);
}

/* False: there is no memory for a larger one beside it, or the groups did not fit it either. */
static wp_status grow(wpi_gpu_groups *groups, uint64_t buckets, bool *is_done, wp_error *err) {
    const uint64_t bucket_bytes = wpi_gpu_bucket_bytes(groups->format);
    wpi_gpu_table larger;
    *is_done = false;
    if (bytes_of(groups, &groups->table) + buckets * bucket_bytes > groups->bytes_max)
        return WP_STATUS_OK;
    wp_status status = make_table(groups, buckets, &larger, err);
    if (status == WP_STATUS_DEVICE_NOMEM) return WP_STATUS_OK;
    if (status == WP_STATUS_OK) status = rehash_into(groups, &larger, is_done, err);
    void *unused = larger.buckets;
    if (status == WP_STATUS_OK && *is_done) {
        unused = groups->table.buckets;
        groups->table = larger;
        groups->grown++;
    }
    wpi_gpu_free(groups->gpu, unused);
    return status;
}

static wp_status grow_by_most(wpi_gpu_groups *groups, bool *is_done, wp_error *err) {
    const uint64_t buckets = bucket_count(&groups->table);
    *is_done = false;
    for (uint64_t factor = GROWTH; factor > 1 && !*is_done; factor /= 2)
        WP_TRY(grow(groups, buckets * factor, is_done, err));
    return WP_STATUS_OK;
}

wp_status wpi_gpu_groups_grow_if_full(wpi_gpu_groups *groups, wp_error *err) {
    bool is_done;
    if (groups->state.created <= bucket_count(&groups->table) / 4 * 3) return WP_STATUS_OK;
    return grow_by_most(groups, &is_done, err);
}

wp_status wpi_gpu_groups_make_room(wpi_gpu_groups *groups, bool *is_done, wp_error *err) {
    const uint64_t buckets = bucket_count(&groups->table);
    WP_TRY(grow_by_most(groups, is_done, err));
    if (*is_done) return WP_STATUS_OK;
    if (bytes_of(groups, &groups->table) >= groups->bytes_max / 4 * 3) return WP_STATUS_OK;
    WP_TRY(wpi_gpu_groups_spill(groups, err));
    wpi_gpu_free(groups->gpu, groups->table.buckets);
    groups->table.buckets = NULL;
    *is_done = true;
    return make_largest(groups, buckets * GROWTH, err);
}

void wpi_gpu_groups_limit_probes(wpi_gpu_groups *groups) {
    if (groups->table.probe_max > PROBES_FULL) groups->table.probe_max = PROBES_FULL;
}

/* ---- results ---- */

/* The buckets of key 0 and NULL. */
static wp_status fetch_special(wpi_gpu_groups *groups, uint64_t **out, wp_error *err) {
    const size_t bytes = 2 * (size_t)words_of(groups->format) * sizeof **out;
    uint64_t *special = wpi_malloc(bytes);
    *out = NULL;
    if (special == NULL) return WP_FAIL(err, NOMEM, "two groups");
    const wp_status status = wpi_gpu_fetch(groups->gpu, special, groups->table.special, bytes, err);
    if (status != WP_STATUS_OK) {
        wpi_free(special);
        return status;
    }
    if (groups->table.bucket_words == 0) { /* rows of the key 0 alone */
        special[1] = special[0];
        special[0] = special[2] = special[3] = 0;
    }
    *out = special;
    return WP_STATUS_OK;
}

wp_status wpi_gpu_groups_count(wpi_gpu_groups *groups, uint64_t *out, wp_error *err) {
    uint64_t *special = NULL;
    WP_TRY(wpi_gpu_groups_look(groups, err));
    if (groups->spilled != 0) WP_TRY(wpi_gpu_groups_spill(groups, err));
    WP_TRY(fetch_special(groups, &special, err));
    *out = groups->state.created + groups->merge.count;
    *out += special[1] != 0;
    *out += special[words_of(groups->format) + 1] != 0;
    wpi_free(special);
    return WP_STATUS_OK;
}

static wp_status visit_special(wpi_gpu_groups *groups, const visitor *to, wp_error *err) {
    uint64_t *special = NULL;
    WP_TRY(fetch_special(groups, &special, err));
    wp_status status = WP_STATUS_OK;
    for (uint32_t i = 0; i < 2 && status == WP_STATUS_OK; i++) {
        const uint64_t *bucket = &special[i * words_of(groups->format)];
        if (bucket[1] != 0) status = to->visit(to->object, bucket, i == 1, err);
    }
    wpi_free(special);
    return status;
}

wp_status wpi_gpu_groups_visit(wpi_gpu_groups *groups, wpi_gpu_visit visit, void *object,
                               wp_error *err) {
    const visitor to = {visit, object};
    const wpi_gpu_merge *merge = &groups->merge;
    WP_TRY(visit_special(groups, &to, err));
    if (groups->state.created != 0) return visit_table(groups, &to, err);
    for (uint64_t i = 0; merge->buckets != NULL && i <= merge->mask; i++) {
        const uint64_t *bucket = &merge->buckets[i * merge->words];
        if (bucket[0] != 0) WP_TRY(visit(object, bucket, false, err));
    }
    return WP_STATUS_OK;
}
