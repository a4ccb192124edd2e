/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record for the process, one mutex. Programs have few kernels, so a kernel is found by walking
 * the list, the last one first. Recording must never break the program: without memory, an entry is
 * dropped.
 */
#include "report/recorder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/log.h"
#include "base/param.h"
#include "base/record_note.h"
#include "report/cached.h"
#include "report/run_record.h"
#include "report/selection.h"
#include "report/shapes.h"
#include "report/simulation.h"
#include "report/streamed.h"
#include "report/timeline.h"
#include "warpage/version.h"

enum { RUN_RECORD, TIMELINE, PAGES, LINES };

const wpi_param wpi_report_params[] = {
    [RUN_RECORD] = {"run-record", WP_UNIT_TEXT, "", 0, 0,
                    "write the run record (JSON) to this file at exit"},
    [TIMELINE] = {"timeline", WP_UNIT_TEXT, "", 0, 0,
                  "also write a timeline in Chrome's trace format to this file at exit"},
    [PAGES] = {"pages", WP_UNIT_FLAG, "off", 0, 1,
               "record when each page of managed memory is accessed, migrated and evicted"},
    [LINES] = {"lines", WP_UNIT_FLAG, "off", 0, 1,
               "record what each line of the kernels' source costs on a simulated GPU"},
    {0}};

bool wpi_report_enabled;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static wp_run_record record;
static size_t kernel_capacity;
static size_t last_kernel;
static char *record_path;
static pid_t owner;
static uint64_t start_time_ns;
static void (*collector)(void *object);
static void *collected;

#define DEVICE_SIGN '@' /* in no mangled name */

static char *(*namer)(const char *name);

void wpi_report_set_namer(char *(*who)(const char *name)) {
    namer = who;
}

const char *wpi_report_name_on(const char *name, uint32_t device, wpi_text *out) {
    wpi_text_appendf(out, "%s%c%u", name, DEVICE_SIGN, (unsigned)device);
    return wpi_text_string(out);
}

/* "_Z4spinPf@1" -> "device1::spin(float*)" */
static char *display_name_on(const char *name, const char *sign) {
    char *base = wpi_strndup(name, (size_t)(sign - name));
    char *display = base != NULL ? wpi_report_display_name(base) : NULL;
    char *full = display != NULL ? wpi_format("device%s::%s", sign + 1, display) : NULL;
    wpi_free(display);
    wpi_free(base);
    return full;
}

char *wpi_report_display_name(const char *name) {
    const char *sign = strchr(name, DEVICE_SIGN);
    if (sign != NULL) return display_name_on(name, sign);
    char *known = namer != NULL ? namer(name) : NULL;
    if (known != NULL) return known;
    char *full = wpi_cxx_demangle(name);
    if (full != NULL) return full;
    return wpi_strdup(name);
}

/* The entry of `name`, created if new; NULL: out of memory. */
static wp_run_kernel *find_kernel(const char *name) {
    if (last_kernel < record.kernel_count && strcmp(record.kernels[last_kernel].name, name) == 0)
        return &record.kernels[last_kernel];
    for (size_t i = 0; i < record.kernel_count; i++) {
        if (strcmp(record.kernels[i].name, name) == 0) {
            last_kernel = i;
            return &record.kernels[i];
        }
    }
    if (record.kernel_count == kernel_capacity) {
        const size_t capacity = kernel_capacity != 0 ? kernel_capacity * 2 : 16;
        wp_run_kernel *larger = wpi_realloc(record.kernels, capacity * sizeof *larger);
        if (larger == NULL) return NULL;
        record.kernels = larger;
        kernel_capacity = capacity;
    }
    wp_run_kernel kernel = {.name = wpi_strdup(name), .time_min_ns = UINT64_MAX};
    kernel.display_name = wpi_report_display_name(name);
    if (kernel.name == NULL || kernel.display_name == NULL) {
        wpi_free(kernel.name);
        wpi_free(kernel.display_name);
        return NULL;
    }
    last_kernel = record.kernel_count++;
    record.kernels[last_kernel] = kernel;
    return &record.kernels[last_kernel];
}

static uint64_t volume(const uint32_t dim[3]) {
    return (uint64_t)dim[0] * dim[1] * dim[2];
}

void wpi_report_kernel(const void *queue, const char *name, const uint32_t grid[3],
                       const uint32_t block[3], uint64_t start_ns, uint64_t end_ns) {
    if (!wpi_report_enabled) return;
    const uint64_t time_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    (void)pthread_mutex_lock(&mutex);
    wp_run_kernel *k = find_kernel(name);
    if (k != NULL) {
        k->launches++;
        k->threads += volume(grid) * volume(block);
        k->time_ns += time_ns;
        if (time_ns < k->time_min_ns) k->time_min_ns = time_ns;
        if (time_ns > k->time_max_ns) k->time_max_ns = time_ns;
        memcpy(k->grid, grid, sizeof k->grid);
        memcpy(k->block, block, sizeof k->block);
        wpi_shapes_add(k, grid, block, time_ns);
    }
    wpi_timeline_add(queue, name, WP_COPY_KIND_COUNT, 0, start_ns, end_ns);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_launched_by(const char *name, const char *parent) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    wp_run_kernel *k = find_kernel(name);
    const bool is_better =
        k != NULL && (k->launched_by == NULL ||
                      (strcmp(k->launched_by, k->display_name) == 0 && strcmp(name, parent) != 0));
    char *display_name = is_better ? wpi_report_display_name(parent) : NULL;
    if (display_name != NULL) {
        wpi_free(k->launched_by);
        k->launched_by = display_name;
    }
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_swapped(const char *name, uint64_t blocks) {
    if (!wpi_report_enabled || blocks == 0) return;
    (void)pthread_mutex_lock(&mutex);
    wp_run_kernel *k = find_kernel(name);
    if (k != NULL) k->swapped_blocks += blocks;
    (void)pthread_mutex_unlock(&mutex);
}

bool wpi_report_has_timeline(void) {
    if (!wpi_report_enabled) return false;
    (void)pthread_mutex_lock(&mutex);
    const bool is_on = wpi_timeline_is_on();
    (void)pthread_mutex_unlock(&mutex);
    return is_on;
}

void wp_timeline_phase(const char *track, const char *name, uint64_t start_ns, uint64_t end_ns) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    wpi_timeline_add_phase(track, name, start_ns, end_ns);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_kernel_values(const char *name, const uint64_t *values, size_t value_count,
                              bool is_overlapped) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    wp_run_kernel *k = find_kernel(name);
    if (k != NULL && k->values == NULL) k->values = wpi_calloc(value_count, sizeof *values);
    if (k != NULL && k->values != NULL) {
        k->overlapped += is_overlapped;
        for (size_t i = 0; i < value_count; i++)
            k->values[i] += values[i];
    }
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_simulation(wp_run_simulation *simulation) {
    (void)pthread_mutex_lock(&mutex);
    wpi_simulation_destroy(record.simulation);
    record.simulation = simulation;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_set_collector(void (*collect)(void *object), void *object) {
    (void)pthread_mutex_lock(&mutex);
    collector = collect;
    collected = object;
    (void)pthread_mutex_unlock(&mutex);
}

static bool is_wanted(int param) {
    wpi_param_value wanted = {0};
    return wpi_report_enabled &&
           wpi_param_load(&wpi_report_params[param], &wanted, NULL) == WP_STATUS_OK &&
           wanted.number != 0;
}

bool wpi_report_wants_pages(void) {
    return is_wanted(PAGES);
}

bool wpi_report_wants_lines(void) {
    return is_wanted(LINES);
}

bool wpi_report_is_selective(void) {
    return wpi_selection_is_on();
}

bool wpi_report_selects(const char *name) {
    if (!wpi_report_enabled) return false;
    if (!wpi_selection_is_on()) return true;
    char *display_name = wpi_report_display_name(name);
    (void)pthread_mutex_lock(&mutex);
    const bool is_selected = wpi_selection_takes(display_name != NULL ? display_name : name);
    (void)pthread_mutex_unlock(&mutex);
    wpi_free(display_name);
    return is_selected;
}

void wpi_report_copy(const void *queue, wp_copy_kind kind, uint64_t bytes, uint64_t start_ns,
                     uint64_t end_ns) {
    if (!wpi_report_enabled || (unsigned)kind >= WP_COPY_KIND_COUNT) return;
    if (!wpi_selection_takes_others()) return;
    (void)pthread_mutex_lock(&mutex);
    wp_run_copies *c = &record.copies[kind];
    c->count++;
    c->bytes += bytes;
    c->time_ns += end_ns > start_ns ? end_ns - start_ns : 0;
    wpi_timeline_add(queue, NULL, kind, bytes, start_ns, end_ns);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_streamed(const wp_run_streamed *launch) {
    if (!wpi_report_enabled || !wpi_selection_takes_others()) return;
    (void)pthread_mutex_lock(&mutex);
    (void)wpi_streamed_add(&record, launch);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_host_model(void) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    record.host.is_on = true;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_host_copied(uint64_t bytes) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    record.host.copied_bytes += bytes;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_host_undeclared(uint64_t bytes) {
    if (!wpi_report_enabled || !wpi_selection_takes_others()) return;
    (void)pthread_mutex_lock(&mutex);
    record.host.undeclared_copy_bytes += bytes;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_host_threads(wp_run_host_threads what) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    if (what > record.host.threads) record.host.threads = what;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_cached(const wp_run_cached *launches) {
    if (!wpi_report_enabled || !wpi_selection_takes_others()) return;
    (void)pthread_mutex_lock(&mutex);
    (void)wpi_cached_add(&record, launches);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_memory(uint64_t in_use_bytes) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    if (in_use_bytes > record.memory_peak_bytes) record.memory_peak_bytes = in_use_bytes;
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_device(const char *spec, const char *name) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    wpi_free(record.device_spec);
    wpi_free(record.device_name);
    record.device_spec = wpi_strdup(spec);
    record.device_name = wpi_strdup(name);
    (void)pthread_mutex_unlock(&mutex);
}

/* Called under the mutex. */
static void add_policy_file(const char *path, uint64_t hash) {
    for (size_t i = 0; i < record.policy_file_count; i++)
        if (strcmp(record.policy_files[i].path, path) == 0) return;
    wp_run_policy_file *files =
        wpi_realloc(record.policy_files, (record.policy_file_count + 1) * sizeof *files);
    if (files == NULL) return;
    record.policy_files = files;
    char *copy = wpi_strdup(path);
    if (copy != NULL) files[record.policy_file_count++] = (wp_run_policy_file){copy, hash};
}

void wpi_report_policy_file(const char *path, uint64_t hash) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    add_policy_file(path, hash);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_program(char *const *arguments, size_t count) {
    if (!wpi_report_enabled) return;
    (void)pthread_mutex_lock(&mutex);
    record.program = wpi_calloc(count + 1, sizeof *record.program);
    for (size_t i = 0; record.program != NULL && i < count; i++) {
        record.program[i] = wpi_strdup(arguments[i]);
        if (record.program[i] == NULL) break;
        record.program_count = i + 1;
    }
    (void)pthread_mutex_unlock(&mutex);
}

/* Reads the command line from the system, as a library does not get argv. */
static void read_program(void) {
    char *data = NULL;
    size_t size_bytes = 0;
    if (wpi_file_read("/proc/self/cmdline", &data, &size_bytes, NULL) != WP_STATUS_OK) return;
    size_t count = 0;
    for (size_t i = 0; i < size_bytes; i++)
        count += data[i] == '\0';
    record.program = wpi_calloc(count + 1, sizeof *record.program);
    for (const char *at = data; record.program != NULL && record.program_count < count;) {
        char *argument = wpi_strdup(at);
        if (argument == NULL) break;
        record.program[record.program_count++] = argument;
        at += strlen(at) + 1;
    }
    wpi_free(data);
}

void wpi_report_write_at_exit(void) {
    if (!wpi_report_enabled || getpid() != owner) return;
    if (collector != NULL) collector(collected);
    (void)pthread_mutex_lock(&mutex);
    record.wall_time_ns = wpi_clock_ns() - start_time_ns;
    if (record.version == NULL) record.version = wpi_strdup(WP_VERSION_STRING);
    if (record.program == NULL) read_program();
    wpi_run_record_sort(&record);
    last_kernel = 0;
    wpi_text json = {0};
    wpi_run_record_json(&record, &json);
    wp_error err = {0};
    if (wpi_file_write(record_path, json.data, json.length, &err) != WP_STATUS_OK) {
        wpi_record_note_failed(record_path, err.message);
        wpi_log(WP_LOG_WARN, "report", "no run record was written: %s", err.message);
    }
    wpi_text_deinit(&json);
    if (wpi_timeline_is_on() && wpi_timeline_write(&record, &err) != WP_STATUS_OK)
        wpi_log(WP_LOG_WARN, "report", "no timeline was written: %s", err.message);
    (void)pthread_mutex_unlock(&mutex);
}

void wpi_report_restart(const char *path) {
    (void)pthread_mutex_lock(&mutex);
    wp_run_record_deinit(&record);
    kernel_capacity = 0;
    last_kernel = 0;
    wpi_free(record_path);
    record_path = path != NULL ? wpi_strdup(path) : NULL;
    owner = getpid();
    wp_error err = {0};
    const char *timeline = getenv("WARPAGE_TIMELINE");
    const bool has_timeline = path != NULL && timeline != NULL && timeline[0] != '\0';
    wpi_timeline_start(has_timeline ? timeline : NULL);
    if (wpi_selection_start(&err) != WP_STATUS_OK)
        wpi_log(WP_LOG_WARN, "report", "%s", err.message);
    start_time_ns = wpi_clock_ns();
    wpi_report_enabled = record_path != NULL;
    (void)pthread_mutex_unlock(&mutex);
}

/* Runs before main, and so before any launch. Removes the variable, so that child processes do not
 * overwrite the record. */
__attribute__((constructor)) static void start_recording(void) {
    const char *path = getenv("WARPAGE_RUN_RECORD");
    if (path == NULL || path[0] == '\0') return;
    wpi_report_restart(path);
    wpi_record_note_started(path);
    (void)unsetenv("WARPAGE_RUN_RECORD");
    (void)unsetenv("WARPAGE_TIMELINE");
    if (atexit(wpi_report_write_at_exit) != 0) wpi_report_enabled = false;
}
