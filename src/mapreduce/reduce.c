/* SPDX-License-Identifier: Apache-2.0 */
/* Finished groups become values, by a function of the host or by a kernel. For the kernel, groups
 * are gathered into a chunk and copied to the device; its values come back, and groups whose value
 * found no room there go again with the next chunk:
 *
 *     chunk   head, a piece for each group │ key, values of group 0 │ key, values of group 1 … │
 * room for values
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "mapreduce/mapreduce_job.h"

#define BLOCK_BYTES ((uint64_t)1 << 20)
#define HEAD_BYTES 8u /* bytes of values that kernels asked for */
#define THREADS 64u

bool wpi_reduces(const wp_mapreduce *job) {
    return job->spec.reduce != NULL || job->spec.program->reduce != NULL;
}

/* ---- on the host --------------------------------------------------------------------------------
 */

wp_status wp_reduce_set(wp_mapreduce *job, const void *value, uint64_t bytes, wp_error *err) {
    if (job->is_reduced)
        return WP_FAIL(err, INVALID, "mapreduce: the reduce function set two values for a group");
    if (job->block_bytes - job->block_used < bytes) {
        WP_TRY(wpi_grow(&job->blocks, job->block_count, &job->block_capacity, sizeof *job->blocks,
                        err));
        job->block_bytes = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        job->block_used = 0;
        char *block = wpi_malloc(job->block_bytes);
        if (block == NULL) {
            job->block_bytes = 0;
            return WP_FAIL(err, NOMEM, "mapreduce: no host memory for a value of %" PRIu64 " bytes",
                           bytes);
        }
        job->blocks[job->block_count++] = block;
    }
    if (job->block_count == 0) {
        job->reduced = (wp_span){"", 0};
    } else {
        char *to = job->blocks[job->block_count - 1] + job->block_used;
        if (bytes != 0) memcpy(to, value, bytes);
        job->block_used += wp_table_align(bytes) < job->block_bytes - job->block_used
                               ? wp_table_align(bytes)
                               : job->block_bytes - job->block_used;
        job->reduced = (wp_span){to, bytes};
    }
    job->is_reduced = true;
    return WP_STATUS_OK;
}

/* Pairs of a key follow one another; the list shrinks to one pair a group, in place. */
wp_status wpi_reduce_on_host(wp_mapreduce *job, wp_error *err) {
    uint64_t kept = 0, capacity = 0;
    wp_span *values = NULL;
    wp_status status = WP_STATUS_OK;
    for (uint64_t first = 0, outer; first < job->result_count; first = outer) {
        const wp_span key = job->results[first].key;
        for (outer = first; outer < job->result_count && job->results[outer].key.data == key.data;
             outer++) {
            WP_TRY_GOTO(wpi_grow(&values, outer - first, &capacity, sizeof *values, err), done);
            values[outer - first] = job->results[outer].value;
        }
        const wp_group group = {key, values, outer - first};
        job->is_reduced = false;
        WP_TRY_GOTO(job->spec.reduce(job->spec.reduce_object, &group, job, err), done);
        if (job->is_reduced) job->results[kept++] = (wpi_result){key, job->reduced};
    }
    job->result_count = kept;
done:
    wpi_free(values);
    return status;
}

/* ---- on the device ------------------------------------------------------------------------------
 */

typedef struct group {
    uint64_t first, outer; /* its pairs in job->results */
    uint64_t bytes;        /* of it in a chunk, without its piece */
    wp_span value;
    bool has_value;
} group;

typedef struct reducer {
    wp_mapreduce *job;
    wpi_buffer *buffer;
    group *groups;
    uint64_t count, capacity;
    uint64_t *left; /* numbers of groups that are not reduced; the first `left_count` */
    uint64_t left_count;
    uint64_t batch, batch_bytes; /* groups at the head of `left` that are in the chunk */
} reducer;

static wp_status list_groups(reducer *r, wp_error *err) {
    const wp_mapreduce *job = r->job;
    for (uint64_t first = 0, outer; first < job->result_count; first = outer) {
        const wp_span key = job->results[first].key;
        group g = {.first = first, .bytes = wp_table_align(key.bytes)};
        for (outer = first; outer < job->result_count && job->results[outer].key.data == key.data;
             outer++)
            g.bytes += 8 + wp_table_align(job->results[outer].value.bytes);
        g.outer = outer;
        WP_TRY(wpi_grow(&r->groups, r->count, &r->capacity, sizeof *r->groups, err));
        r->groups[r->count++] = g;
    }
    r->left_count = r->count;
    r->left = wpi_calloc(r->count + 1, sizeof *r->left);
    if (r->left == NULL)
        return WP_FAIL(err, NOMEM, "mapreduce: no host memory for %" PRIu64 " groups", r->count);
    for (uint64_t i = 0; i < r->count; i++)
        r->left[i] = i;
    return WP_STATUS_OK;
}

/* Groups for the next chunk: half of it for them, unless the first takes more. */
static wp_status choose(reducer *r, bool is_alone, wp_error *err) {
    const uint64_t room = r->job->buffer_bytes;
    r->batch = 0;
    r->batch_bytes = HEAD_BYTES;
    while (r->batch < r->left_count && !(is_alone && r->batch == 1)) {
        const uint64_t bytes =
            r->batch_bytes + sizeof(wp_reduce_piece) + r->groups[r->left[r->batch]].bytes;
        if (bytes > (r->batch == 0 ? room : room / 2)) break;
        r->batch_bytes = bytes;
        r->batch++;
    }
    if (r->batch != 0) return WP_STATUS_OK;
    const group *g = &r->groups[r->left[0]];
    return WP_FAIL(err, INVALID,
                   "mapreduce: a group of %" PRIu64 " values takes %" PRIu64
                   " bytes, more than the %" PRIu64
                   " of a chunk; raise chunk_bytes, or reduce by a function of the host",
                   g->outer - g->first, g->bytes, room);
}

static void put(char **to, const void *data, uint64_t bytes) {
    if (bytes != 0) memcpy(*to, data, bytes);
    *to += wp_table_align(bytes);
}

static void gather(reducer *r) {
    const wp_mapreduce *job = r->job;
    char *base = r->buffer->host;
    wp_reduce_piece *pieces = (wp_reduce_piece *)(void *)(base + HEAD_BYTES);
    char *to = (char *)(pieces + r->batch);
    memset(base, 0, HEAD_BYTES);
    for (uint64_t i = 0; i < r->batch; i++) {
        const group *g = &r->groups[r->left[i]];
        const wp_span key = job->results[g->first].key;
        pieces[i] = (wp_reduce_piece){.first = (uint64_t)(to - base),
                                      .count = g->outer - g->first,
                                      .key_bytes = (uint32_t)key.bytes};
        put(&to, key.data, key.bytes);
        for (uint64_t v = g->first; v < g->outer; v++) {
            const wp_span value = job->results[v].value;
            put(&to, &value.bytes, 8);
            put(&to, value.data, value.bytes);
        }
    }
}

static wp_status copy(const reducer *r, bool is_back, uint64_t first, uint64_t bytes,
                      wp_error *err) {
    wpi_buffer *b = r->buffer;
    if (b->device == b->host || bytes == 0) return WP_STATUS_OK;
    return wp_queue_copy(r->job->queue, (is_back ? b->host : b->device) + first,
                         (is_back ? b->device : b->host) + first, bytes, err);
}

static wp_status launch(reducer *r, wp_error *err) {
    wp_mapreduce *job = r->job;
    wpi_buffer *b = r->buffer;
    const uint64_t head = HEAD_BYTES + r->batch * sizeof(wp_reduce_piece);
    const wp_reduce_batch batch = {.used = (uint64_t *)(void *)b->device,
                                   .pieces = (wp_reduce_piece *)(void *)(b->device + HEAD_BYTES),
                                   .text = b->device,
                                   .room = b->device + r->batch_bytes,
                                   .room_bytes = job->buffer_bytes - r->batch_bytes,
                                   .argument = job->spec.argument,
                                   .count = (uint32_t)r->batch,
                                   .threads = job->spec.threads == 0 ? THREADS : job->spec.threads};
    WP_TRY(copy(r, false, 0, r->batch_bytes, err));
    WP_TRY(wp_event_record(b->map_start, job->queue, err));
    WP_TRY(job->spec.program->reduce(&batch, err));
    WP_TRY(wp_event_record(b->mapped, job->queue, err));
    WP_TRY(copy(r, true, 0, head, err));
    WP_TRY(wp_queue_wait(job->queue, err));
    WP_TRY(wp_event_wait(b->mapped, err));
    job->report.reduce_ns += wp_event_time_ns(b->mapped) - wp_event_time_ns(b->map_start);
    uint64_t used;
    memcpy(&used, b->host, 8);
    WP_TRY(copy(r, true, r->batch_bytes, used < batch.room_bytes ? used : batch.room_bytes, err));
    return wp_queue_wait(job->queue, err);
}

/* Takes the values of the chunk's groups; those without room stay in `left`. */
static wp_status take(reducer *r, bool is_alone, wp_error *err) {
    wp_mapreduce *job = r->job;
    const char *base = r->buffer->host;
    const wp_reduce_piece *pieces = (const wp_reduce_piece *)(const void *)(base + HEAD_BYTES);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < r->batch; i++) {
        group *g = &r->groups[r->left[i]];
        if (pieces[i].state == WP_REDUCE_TWICE)
            return WP_FAIL(err, INVALID,
                           "mapreduce: the reduce kernel took two values for a group");
        if (pieces[i].state == WP_REDUCE_FULL) {
            if (is_alone)
                return WP_FAIL(err, INVALID,
                               "mapreduce: the reduced value of a group of %" PRIu64
                               " values takes %" PRIu64 " bytes, and a chunk has %" PRIu64
                               " left for it; raise chunk_bytes, or reduce by a function of the "
                               "host",
                               g->outer - g->first, pieces[i].bytes,
                               job->buffer_bytes - r->batch_bytes);
            r->left[kept++] = r->left[i];
        } else if (pieces[i].state == WP_REDUCE_DONE) {
            job->is_reduced = false;
            WP_TRY(wp_reduce_set(job, base + r->batch_bytes + pieces[i].at, pieces[i].bytes, err));
            g->value = job->reduced;
            g->has_value = true;
        }
    }
    memmove(r->left + kept, r->left + r->batch, (r->left_count - r->batch) * sizeof *r->left);
    r->left_count -= r->batch - kept;
    return WP_STATUS_OK;
}

static wp_status reduce_all(reducer *r, wp_error *err) {
    wp_mapreduce *job = r->job;
    bool is_alone = false;
    WP_TRY(list_groups(r, err));
    while (r->left_count != 0) {
        const uint64_t before = r->left_count;
        WP_TRY(choose(r, is_alone, err));
        gather(r);
        WP_TRY(launch(r, err));
        WP_TRY(take(r, r->batch == 1, err));
        is_alone = r->left_count == before; /* none found room beside the others */
    }
    uint64_t kept = 0;
    for (uint64_t i = 0; i < r->count; i++)
        if (r->groups[i].has_value)
            job->results[kept++] =
                (wpi_result){job->results[r->groups[i].first].key, r->groups[i].value};
    job->result_count = kept;
    return WP_STATUS_OK;
}

wp_status wpi_reduce_on_device(wp_mapreduce *job, wp_error *err) {
    reducer r = {.job = job, .buffer = &job->buffers[0]};
    const wp_status status = reduce_all(&r, err);
    wpi_free(r.groups);
    wpi_free(r.left);
    return status;
}
