/* SPDX-License-Identifier: Apache-2.0 */
/* Threads draw positions and add up values; this file combines their results.
 */
#include "ops/sample/sample_kernels.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "gpu/kernel_set.h"
#include "ops/planner.h"
#include "ops/word_bits.h"

#define READS_PER_THREAD 1024u
#define CONFIDENCE 0.95
#define NOTE_WORDS 6u
#define NOTES_BYTES_MAX (UINT64_C(1) << 40) /* more than machines have */

typedef struct sampling {
    wpi_gpu gpu;
    wp_device *own_device; /* opened here */
    wpi_sample_task task;
    uint32_t blocks;
    bool is_in_place;                          /* kernels access host memory */
    void *values, *valid;                      /* copies on the device, owned */
    const void *registered, *registered_valid; /* the caller's memory, registered meanwhile */
    wpi_sample_notes device_notes, notes;      /* NOTE_WORDS arrays each, one behind the other */
    wp_event *begin, *end;
    uint64_t scope_rows, passes;
} sampling;

/* ---- access to the values ---- */

static bool is_of_device(wp_device *device, const void *memory) {
    wp_allocation allocation;
    return wp_memory_find(device, memory, &allocation);
}

/* Kernels of the CPU device can access all memory, unless accesses are checked. */
static bool sees_all(wp_device *device) {
    const wp_device_info *info = wp_device_get_info(device);
    return strcmp(info->spec, "cpu") == 0 && info->host_pointers_are_device_pointers;
}

/* Copies the memory, unless kernels can read it in place, or zero-copy is requested. */
static wp_status reach(sampling *s, const void *memory, uint64_t bytes, bool is_zero_copy,
                       void **copy, const void **registered, const void **out, wp_error *err) {
    wp_device *device = s->gpu.device;
    *out = memory;
    if (s->is_in_place || is_of_device(device, memory)) return WP_STATUS_OK;
    if (is_zero_copy) {
        WP_TRY(wp_memory_register(device, (void *)(uintptr_t)memory, bytes, 0, err));
        *registered = memory;
        return WP_STATUS_OK;
    }
    WP_TRY(wpi_gpu_alloc(&s->gpu, WP_MEMORY_DEVICE, bytes, copy, err));
    *out = *copy;
    return wp_queue_copy(s->gpu.work, *copy, memory, bytes, err);
}

static wp_status reach_column(sampling *s, const wp_column *column, uint64_t row_count,
                              bool is_zero_copy, wp_error *err) {
    const void *values = NULL, *valid = NULL;
    const uint64_t bytes = row_count * wp_type_bytes(column->type);
    WP_TRY(reach(s, column->values, bytes, is_zero_copy, &s->values, &s->registered, &values, err));
    if (column->valid != NULL)
        WP_TRY(reach(s, column->valid, (column->valid_offset + row_count + 7) / 8, is_zero_copy,
                     &s->valid, &s->registered_valid, &valid, err));
    s->task.values = values;
    s->task.valid = valid;
    s->task.valid_offset = column->valid_offset;
    s->task.row_count = row_count;
    s->task.type = column->type;
    return WP_STATUS_OK;
}

/* ---- the plan ---- */

static wp_status check(const wp_column *column, uint64_t row_count,
                       const wp_sample_options *options, wp_error *err) {
    if (row_count == 0) return WP_FAIL(err, INVALID, "the column has no rows to sample");
    if ((unsigned)column->type >= WP_TYPE_COUNT)
        return WP_FAIL(err, INVALID, "the type of the column is unknown");
    if (options->strategy > WP_STRATEGY_SCOPED)
        return WP_FAIL(err, INVALID, "sampling supports the strategies direct and scoped, not %s",
                       wp_strategy_name(options->strategy));
    if (options->strategy == WP_STRATEGY_DIRECT && options->scope_bytes != 0)
        return WP_FAIL(err, INVALID,
                       "scope_bytes has no meaning with the strategy direct; set it to 0");
    if (options->confidence < 0 || options->confidence >= 1)
        return WP_FAIL(err, INVALID, "confidence must be between 0 and 1");
    return WP_STATUS_OK;
}

static wp_status plan(sampling *s, const wp_sample_options *options, bool is_zero_copy,
                      wp_error *err) {
    const uint64_t value_bytes = wp_type_bytes((wp_type)s->task.type);
    wpi_planner planner;
    WP_TRY(wpi_planner_init(&planner, s->gpu.device, options->profile, options->thread_count, err));
    const wpi_plan_task task = {.table_bytes = s->task.row_count * value_bytes,
                                .placement = WP_PLACEMENT_RESIDENT,
                                .strategy = options->strategy,
                                .scope_bytes = options->scope_bytes,
                                .is_read_only = true};
    const wpi_plan chosen = wpi_planner_choose(&planner, &task, NULL);
    /* Through the link scopes gain nothing: it is slower than any TLB miss. */
    s->scope_rows =
        is_zero_copy && options->scope_bytes == 0 ? 0 : chosen.scope_bytes / value_bytes;
    if (s->scope_rows == 0 || s->scope_rows > s->task.row_count) s->scope_rows = s->task.row_count;
    return WP_STATUS_OK;
}

static uint64_t notes_bytes(const sampling *s) {
    return s->task.thread_count * NOTE_WORDS * sizeof(uint64_t);
}

static wp_status fail_memory(uint64_t read_count, wp_error *err) {
    return WP_FAIL(err, NOMEM,
                   "no host memory for the sums of the threads that read %" PRIu64
                   " values; read fewer",
                   read_count);
}

static wpi_sample_notes notes_in(void *memory, uint64_t count) {
    uint64_t *words = memory;
    return (wpi_sample_notes){.sums = memory,
                              .squares = (double *)(void *)(words + count),
                              .value_counts = words + 2 * count,
                              .hit_counts = words + 3 * count,
                              .least = words + 4 * count,
                              .most = words + 5 * count};
}

static wp_status prepare(sampling *s, const wp_sample_options *options, wp_error *err) {
    wpi_sample_task *task = &s->task;
    task->reads_per_thread =
        options->reads_per_thread != 0 ? options->reads_per_thread : READS_PER_THREAD;
    task->seed = options->seed;
    task->low = options->low;
    task->high = options->high;
    task->is_sum_only = options->is_sum_only && task->valid == NULL;
    const uint64_t wanted = options->read_count / task->reads_per_thread +
                            (options->read_count % task->reads_per_thread != 0);
    if (wanted > NOTES_BYTES_MAX / (NOTE_WORDS * sizeof(uint64_t)))
        return fail_memory(options->read_count, err);
    s->blocks = wpi_gpu_blocks(&s->gpu, 0, wanted == 0 ? UINT64_MAX / 2 : wanted, 0);
    task->thread_count = wanted != 0 ? wanted : (uint64_t)s->blocks * WPI_GPU_BLOCK_THREADS;
    const uint64_t bytes = notes_bytes(s);
    void *memory = wpi_malloc(bytes);
    if (memory == NULL) return fail_memory(options->read_count, err);
    s->notes = notes_in(memory, task->thread_count);
    WP_TRY(wpi_gpu_alloc(&s->gpu, WP_MEMORY_DEVICE, bytes, &memory, err));
    s->device_notes = notes_in(memory, task->thread_count);
    WP_TRY(wp_queue_fill(s->gpu.work, memory, 0, 4, bytes / 4, err));
    WP_TRY(wp_event_create(s->gpu.device, &s->begin, err));
    return wp_event_create(s->gpu.device, &s->end, err);
}

/* Runs a pass for each scope. */
static wp_status run(sampling *s, wp_error *err) {
    wpi_sample_task *task = &s->task;
    WP_TRY(wp_queue_wait(s->gpu.work, err));
    WP_TRY(wp_event_record(s->begin, s->gpu.work, err));
    for (uint64_t first = 0; first < task->row_count; first += s->scope_rows) {
        const uint64_t left = task->row_count - first;
        task->first = first;
        task->outer = first + (left < s->scope_rows ? left : s->scope_rows);
        void *args[] = {task, &s->device_notes};
        WP_TRY(wpi_gpu_launch(&s->gpu, 0, s->blocks, 0, args, err));
        s->passes++;
    }
    WP_TRY(wp_event_record(s->end, s->gpu.work, err));
    return wpi_gpu_fetch(&s->gpu, s->notes.sums, s->device_notes.sums, notes_bytes(s), err);
}

/* ---- estimates ---- */

/* The number of standard deviations to each side that contain this share of a normal
 * distribution. */
static double deviations(double confidence) {
    double low = 0, high = 10;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (erf(middle / sqrt(2)) < confidence)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static double number_of(wp_type type, uint64_t ordered) {
    if (wpi_type_is_float(type)) return wpi_double_of(wpi_unordered_float(ordered));
    const uint64_t word = wpi_unordered_integer(type, ordered);
    return wpi_type_is_signed(type) ? (double)(int64_t)word : (double)word;
}

/* The column's sum is its rows times the mean over positions of the value, or 0 for NULL. */
static void estimate_column_sum(const sampling *s, double deviation_count, double squares,
                                wp_sample_result *out) {
    const double rows = (double)s->task.row_count, reads = (double)out->read_count;
    const double mean = out->sum / reads, variance = squares / reads - mean * mean;
    out->column_sum = rows * mean;
    out->column_sum_error = rows * deviation_count * sqrt(fmax(variance, 0) / reads);
}

static void sum_up(const sampling *s, double confidence, wp_sample_result *out) {
    const wp_type type = (wp_type)s->task.type;
    const wpi_sample_notes *n = &s->notes;
    const uint64_t reads = s->task.thread_count * s->task.reads_per_thread;
    double sum = 0, squares = 0;
    uint64_t values = 0, hits = 0, least = 0, most = 0;
    for (uint64_t t = 0; t < s->task.thread_count; t++) {
        sum += n->sums[t];
        squares += n->squares[t];
        values += n->value_counts[t];
        hits += n->hit_counts[t];
        if (n->least[t] > least) least = n->least[t];
        if (n->most[t] > most) most = n->most[t];
    }
    if (s->task.is_sum_only) values = reads;
    *out = (wp_sample_result){.read_count = reads,
                              .value_count = values,
                              .sum = sum,
                              .pass_count = s->passes,
                              .device_ns = wp_event_time_ns(s->end) - wp_event_time_ns(s->begin)};
    if (values == 0) return;
    const double count = (double)values, z = deviations(confidence), width = z / sqrt(count);
    out->mean = sum / count;
    if (s->task.is_sum_only) return;
    estimate_column_sum(s, z, squares, out);
    const double variance = squares / count - out->mean * out->mean;
    out->mean_error = width * sqrt(variance > 0 ? variance : 0);
    out->selectivity = (double)hits / count;
    out->selectivity_error = width * sqrt(out->selectivity * (1 - out->selectivity));
    out->min = number_of(type, ~least);
    out->max = number_of(type, most);
}

/* ---- the call ---- */

static void unregister(sampling *s, const void *memory) {
    if (memory == NULL) return;
    const wp_status ignored = wp_memory_unregister(s->gpu.device, (void *)(uintptr_t)memory, NULL);
    (void)ignored;
}

static void end(sampling *s) {
    wp_event_destroy(s->begin);
    wp_event_destroy(s->end);
    if (s->gpu.device != NULL) {
        unregister(s, s->registered);
        unregister(s, s->registered_valid);
        wpi_gpu_free(&s->gpu, s->values);
        wpi_gpu_free(&s->gpu, s->valid);
        wpi_gpu_free(&s->gpu, s->device_notes.sums);
    }
    wpi_gpu_deinit(&s->gpu);
    wp_device_close(s->own_device);
    wpi_free(s->notes.sums);
}

wp_status wp_sample(wp_device *device, const wp_column *column, uint64_t row_count,
                    const wp_sample_options *options, wp_sample_result *out, wp_error *err) {
    const bool is_zero_copy = options->placement == WP_PLACEMENT_ZERO_COPY;
    wp_status status;
    sampling s = {0};
    *out = (wp_sample_result){0};
    WP_TRY(check(column, row_count, options, err));
    if (device == NULL) {
        WP_TRY_GOTO(wp_device_open("cpu", &s.own_device, err), done);
        device = s.own_device;
    }
    WP_TRY_GOTO(wpi_gpu_init(&s.gpu, device, wpi_sample_kernel_of, 1, options->thread_count, err),
                done);
    s.is_in_place = options->placement == WP_PLACEMENT_AUTO && sees_all(device);
    WP_TRY_GOTO(reach_column(&s, column, row_count, is_zero_copy, err), done);
    WP_TRY_GOTO(plan(&s, options, is_zero_copy, err), done);
    WP_TRY_GOTO(prepare(&s, options, err), done);
    WP_TRY_GOTO(run(&s, err), done);
    sum_up(&s, options->confidence == 0 ? CONFIDENCE : options->confidence, out);
done:
    end(&s);
    return status;
}
