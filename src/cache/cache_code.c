/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/cache_code.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/param.h"
#include "base/text.h"
#include "report/recorder.h"

enum { IS_ON, COUNTS, HITS, THRESHOLD, RUNS, DATA_EXITS, L1 };

const wpi_param wpi_cache_params[] = {
    [IS_ON] = {"software-cache", WP_UNIT_FLAG, "on", 0, 1,
               "run the cached forms of kernels in programs compiled with wpcc --cache"},
    [COUNTS] = {"software-cache-counts", WP_UNIT_FLAG, "on", 0, 1,
                "count for the report which data cached kernels cache; the counting takes a few "
                "atomic operations of each thread"},
    [HITS] = {"software-cache-hits-pct", WP_UNIT_NUMBER, "50", 0, 100,
              "a cached kernel caches the data of a parameter where more than this percentage of "
              "monitored accesses hit"},
    [THRESHOLD] = {"software-cache-threshold", WP_UNIT_NUMBER, "64", 1, 4000,
                   "accesses of a loop that a thread of a cached kernel monitors, uncached, before "
                   "it chooses what to cache"},
    [RUNS] =
        {"software-cache-runs", WP_UNIT_FLAG, "on", 0, 1,
         "loops of cached kernels over consecutive elements load and store 16 bytes at a time"},
    [DATA_EXITS] = {"software-cache-data-exits", WP_UNIT_FLAG, "off", 0, 1,
                    "cached kernels cache also what loops access that end where data say; the "
                    "lanes of a warp come apart in them, and each waits for the others' misses"},
    [L1] = {"software-cache-l1", WP_UNIT_FLAG, "on", 0, 1,
            "where the launch of a cached kernel runs it as written, and L1 has a line for each of "
            "an SM's threads, loads use the hardware's L1 on GPUs that leave the choice to the "
            "program"},
    {0}};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wpi_cache_code *codes;

static wp_status load_flag(int param, bool *out, wp_error *err) {
    wpi_param_value value = {0};
    WP_TRY(wpi_param_load(&wpi_cache_params[param], &value, err));
    *out = value.number != 0;
    return WP_STATUS_OK;
}

static wp_status load_number(int param, uint32_t *out, wp_error *err) {
    wpi_param_value value = {0};
    WP_TRY(wpi_param_load(&wpi_cache_params[param], &value, err));
    *out = (uint32_t)value.number;
    return WP_STATUS_OK;
}

static wp_status load_settings(wpi_cache_code *code, wp_error *err) {
    bool runs, counts;
    WP_TRY(load_flag(COUNTS, &counts, err));
    WP_TRY(load_flag(RUNS, &runs, err));
    WP_TRY(load_flag(DATA_EXITS, &code->caches_together, err));
    WP_TRY(load_flag(L1, &code->may_use_l1, err));
    WP_TRY(load_number(HITS, &code->hits_pct, err));
    WP_TRY(load_number(THRESHOLD, &code->threshold, err));
    code->has_runs = code->facts.runs != 0 && runs;
    code->counts_are_on =
        code->facts.structures != 0 && wpi_report_is_on() && counts && !code->is_checked;
    return WP_STATUS_OK;
}

/* ---- device memory ---- */

/* By a queue of its own: it does not wait for the program's work. */
static wp_status copy_by_queue(wp_device *device, void *variable, void *host, size_t size_bytes,
                               wp_error *err) {
    void *pinned = NULL;
    wp_queue *queue = NULL;
    wp_status status;
    WP_TRY_GOTO(wp_memory_alloc(device, WP_MEMORY_PINNED, size_bytes, 0, &pinned, err), done);
    WP_TRY_GOTO(wp_queue_create(device, false, &queue, err), done);
    WP_TRY_GOTO(wp_queue_copy(queue, pinned, variable, size_bytes, err), done);
    WP_TRY_GOTO(wp_queue_wait(queue, err), done);
    memcpy(host, pinned, size_bytes);
done:
    wp_queue_destroy(queue);
    if (pinned != NULL) {
        const wp_status freed = wp_memory_free(device, pinned, NULL);
        (void)freed;
    }
    return status;
}

static wp_status copy(wp_device *device, void *variable, void *host, size_t size_bytes,
                      wp_error *err) {
    if (!wp_device_get_info(device)->host_pointers_are_device_pointers)
        return copy_by_queue(device, variable, host, size_bytes, err);
    memcpy(host, variable, size_bytes);
    return WP_STATUS_OK;
}

/* ---- creating ---- */

static wp_status find_variable(wp_module *module, const char *kernel, const char *suffix,
                               size_t expected_bytes, void **address, wp_error *err) {
    size_t size_bytes;
    char *name = wpi_format("%s%s", kernel, suffix);
    if (name == NULL) return WP_FAIL(err, NOMEM, "the name of a variable");
    wp_status status = wp_module_find_variable(module, name, address, &size_bytes, err);
    if (status == WP_STATUS_OK && size_bytes != expected_bytes)
        status = WP_FAIL(err, PARSE,
                         "%s was compiled with --cache by another version of wpcc; compile the "
                         "program again",
                         kernel);
    wpi_free(name);
    return status;
}

static wp_status fill(wpi_cache_code *code, wp_module *module, const char *name, void *facts,
                      wp_error *err) {
    WP_TRY(copy(code->device, facts, &code->facts, sizeof code->facts, err));
    code->facts.reason[WPI_CACHE_REASON - 1] = '\0';
    WP_TRY(load_settings(code, err));
    if (code->facts.structures != 0 && (code->facts.line_bytes == 0 || code->facts.ways == 0))
        return WP_FAIL(err, PARSE,
                       "%s was compiled with --cache by another version of wpcc; compile the "
                       "program again",
                       name);
    if (code->facts.structures == 0) return WP_STATUS_OK;
    char *cached = wpi_format("%s$" WPI_CACHE_SUFFIX, name);
    if (cached == NULL) return WP_FAIL(err, NOMEM, "the name of a kernel");
    const wp_status status = wp_module_find_kernel(module, cached, &code->cached, err);
    wpi_free(cached);
    if (status != WP_STATUS_OK) return status;
    void *counts;
    WP_TRY(find_variable(module, name, WPI_CACHE_COUNTS, sizeof *code->counts, &counts, err));
    code->counts = counts;
    code->may_be_cached =
        code->caches_together ? (1u << code->facts.structures) - 1 : code->facts.together;
    return WP_STATUS_OK;
}

wp_status wpi_cache_code_create(wp_device *device, wp_module *module, const char *name,
                                wp_kernel *plain, wpi_cache_code **out, wp_error *err) {
    void *facts;
    *out = NULL;
    wp_error error = {0};
    const wp_status found =
        find_variable(module, name, WPI_CACHE_FACTS, sizeof(wpi_cache_facts), &facts, &error);
    if (found == WP_STATUS_NOT_FOUND) return WP_STATUS_OK;
    bool is_on;
    WP_TRY(load_flag(IS_ON, &is_on, err));
    if (!is_on) return WP_STATUS_OK;
    if (found != WP_STATUS_OK) {
        if (err != NULL) *err = error;
        return found;
    }
    wpi_cache_code *code = wpi_calloc(1, sizeof *code);
    if (code == NULL) return WP_FAIL(err, NOMEM, "a cached kernel");
    const wp_device_info *info = wp_device_get_info(device);
    *code = (wpi_cache_code){.device = device,
                             .plain = plain,
                             .is_checked = strcmp(info->spec, "cpu") == 0 &&
                                           !info->host_pointers_are_device_pointers};
    const wp_status status = fill(code, module, name, facts, err);
    if (status != WP_STATUS_OK) {
        wpi_free(code);
        return status;
    }
    pthread_mutex_lock(&lock);
    code->next = codes;
    codes = code;
    pthread_mutex_unlock(&lock);
    *out = code;
    return WP_STATUS_OK;
}

/* ---- the report ---- */

void wpi_cache_code_note(wpi_cache_code *code, const wpi_cache_plan *plan) {
    pthread_mutex_lock(&lock);
    code->launches++;
    if (plan->reason != NULL) {
        code->plain_launches++;
        code->l1_launches += plan->prefers_l1;
        code->plain_reason = plan->reason;
    } else {
        code->last = *plan;
    }
    pthread_mutex_unlock(&lock);
}

static void describe_structure(const wpi_cache_code *code, const wpi_cache_counts *counts,
                               uint32_t s, wp_run_cached_structure *out) {
    const bool is_out = (code->may_be_cached >> s & 1) == 0;
    *out = (wp_run_cached_structure){.parameter = code->facts.parameters[s],
                                     .is_written = (code->facts.written >> s & 1) != 0,
                                     .is_run = code->has_runs && (code->facts.runs >> s & 1) != 0,
                                     .is_alike = is_out && (code->facts.alike >> s & 1) != 0,
                                     .is_left_out = is_out && (code->facts.alike >> s & 1) == 0,
                                     .accesses = counts->accesses[s],
                                     .hits = counts->hits[s],
                                     .chosen = counts->chosen[s],
                                     .seldom = counts->seldom[s],
                                     .crowded = counts->crowded[s]};
    memcpy(out->name, code->facts.names[s], sizeof code->facts.names[s]);
    out->name[sizeof out->name - 1] = '\0';
}

/* Under the lock. The counts stay as they are: a reset of the device, or the end, is next. */
static void collect(wpi_cache_code *code) {
    wpi_cache_counts counts = {0};
    if (code->launches == 0) return;
    if (code->counts_are_on) {
        wp_error err = {0};
        if (copy(code->device, code->counts, &counts, sizeof counts, &err) != WP_STATUS_OK)
            wpi_log(WP_LOG_WARN, "cache", "what a kernel cached is not in the report: %s",
                    err.message);
    }
    const wp_kernel_info *plain = wp_kernel_get_info(code->plain);
    const wp_device_info *device = wp_device_get_info(code->device);
    wp_run_cached row = {.name = (char *)(uintptr_t)plain->name,
                         .launches = code->launches,
                         .plain_launches = code->plain_launches,
                         .l1_launches = code->l1_launches,
                         .has_counts = code->counts_are_on,
                         .registers_are_estimated = strncmp(device->spec, "cuda", 4) != 0,
                         .plain_registers = plain->register_count,
                         .registers_per_sm = device->registers_per_sm,
                         .instructions = code->facts.instructions,
                         .cached_instructions = code->facts.cached_instructions,
                         .hits_pct = code->hits_pct,
                         .lines = code->last.lines,
                         .threads_per_sm = code->last.threads_per_sm,
                         .shared_left_bytes = code->last.shared_left_bytes,
                         .left = counts.left,
                         .stayed = counts.stayed,
                         .runs = counts.runs,
                         .filled_lines = counts.filled_lines,
                         .flushed_lines = counts.flushed_lines,
                         .structure_count = code->facts.structures,
                         .reason = (char *)(uintptr_t)code->plain_reason};
    if (code->cached != NULL) row.registers = wp_kernel_get_info(code->cached)->register_count;
    for (uint32_t s = 0; s < code->facts.structures; s++)
        describe_structure(code, &counts, s, &row.structures[s]);
    wpi_report_cached(&row);
    code->launches = code->plain_launches = code->l1_launches = 0;
}

void wpi_cache_collect(void) {
    pthread_mutex_lock(&lock);
    for (wpi_cache_code *code = codes; code != NULL; code = code->next)
        collect(code);
    pthread_mutex_unlock(&lock);
}

void wpi_cache_code_destroy(wpi_cache_code *code) {
    if (code == NULL) return;
    pthread_mutex_lock(&lock);
    collect(code);
    for (wpi_cache_code **link = &codes; *link != NULL; link = &(*link)->next) {
        if (*link != code) continue;
        *link = code->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    wpi_free(code);
}
