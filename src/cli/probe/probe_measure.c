/* SPDX-License-Identifier: Apache-2.0 */
/* From a device's spec to its TLB hierarchy. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/gnuplot.h"
#include "base/units.h"
#include "cli/probe/probe.h"
#include "probe/cpu_claims.h"
#include "probe/infer/cpu_levels.h"
#include "probe/measure/budget.h"
#include "probe/measure/conditions.h"
#include "probe/measure/points.h"
#include "probe/measure/probe_cpu.h"
#include "probe/measure/sweep.h"
#include "warpage/device.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)
/* One line of each page is touched; this bounds the memory of the probe of small pages. */
#define CPU_SMALL_BYTES (512 * MIB)
#define CPU_HUGE_BYTES (UINT64_C(8192) * MIB)

/* ---- progress ---- */

static void show_progress(void *object, const char *stage, uint64_t samples) {
    const time_t *start = object;
    (void)fprintf(stderr, "\r\033[Kwarpage probe: %s, %" PRIu64 " samples, %.0f s", stage, samples,
                  difftime(time(NULL), *start));
    (void)fflush(stderr);
}

/* `page_bytes`: of a processor; 0: a GPU, whose pages are not known. */
static wp_status find_levels(const wpi_probe_request *request, const wpi_sampler *sampler,
                             uint64_t page_bytes, wpi_hierarchy **out, wp_error *err) {
    time_t start = time(NULL);
    const wpi_infer_options options = {.is_sharing_skipped = request->is_sharing_skipped,
                                       .progress = request->has_progress ? show_progress : NULL,
                                       .progress_object = &start};
    const wp_status status = page_bytes != 0
                                 ? wpi_cpu_levels_read(sampler, page_bytes, &options, out, err)
                                 : wpi_infer(sampler, &options, out, err);
    if (request->has_progress) (void)fputs("\r\033[K", stderr);
    return status;
}

/* ---- plots ---- */

static wp_status write_plot(const char *dir, const char *name, const wpi_text *script,
                            wp_error *err) {
    char *svg = NULL, *file = wpi_format("%s.svg", name), *path = wpi_path_join(dir, file);
    wp_status status = wpi_gnuplot_run(script, &svg, err);
    if (status == WP_STATUS_OK) status = wpi_file_write(path, svg, strlen(svg), err);
    wpi_free(svg);
    wpi_free(file);
    wpi_free(path);
    return status;
}

static wp_status plot_curves(const wpi_sampler *sampler, const wpi_hierarchy *h, uint32_t level,
                             const char *dir, wp_error *err) {
    wpi_sweep sweep;
    wpi_text script = {0};
    char name[32];
    WP_TRY(wpi_sweep_level(sampler, h, level, &sweep, err));
    (void)snprintf(name, sizeof name, "l%" PRIu32, level + 1);
    wpi_gnuplot_begin(&script, name, 860, 420);
    wpi_sweep_script(&sweep, level, &script);
    const wp_status status = write_plot(dir, name, &script, err);
    wpi_text_deinit(&script);
    return status;
}

static wp_status plot_pairs(const wpi_sampler *sampler, const wpi_hierarchy *h, uint32_t level,
                            const char *dir, wpi_strings *notes, wp_error *err) {
    const wpi_level *l = &h->levels[level];
    wpi_matrix matrix;
    wpi_text script = {0};
    char name[32];
    WP_TRY(wpi_sweep_pairs(sampler, h, level, &matrix, err));
    const uint32_t pairs = matrix.sm_count * matrix.sm_count;
    if (l->sharing.count.is_known)
        wpi_strings_addf(notes,
                         "%s%" PRIu32 " ordered pairs of SMs were measured for L%" PRIu32
                         "%s: %" PRIu32 " say something else than the groups.",
                         matrix.measured == pairs ? "All " : "", matrix.measured, level + 1,
                         matrix.measured == pairs ? "" : ", each SM with one of each group",
                         wpi_matrix_contradictions(&matrix, l));
    (void)snprintf(name, sizeof name, "sharing_l%" PRIu32, level + 1);
    wpi_gnuplot_begin(&script, name, 620, 560);
    wpi_matrix_script(&matrix, level, &script);
    const wp_status status = dir != NULL ? write_plot(dir, name, &script, err) : WP_STATUS_OK;
    wpi_matrix_deinit(&matrix);
    wpi_text_deinit(&script);
    return status;
}

/* A level has no plot if too little is known of it, or no time is left. */
static void add_plots(const wpi_probe_request *request, const wpi_sampler *sampler,
                      const wpi_hierarchy *h, wpi_strings *notes) {
    for (uint32_t l = 0; l < h->level_count; l++) {
        wp_error err = {0};
        wp_status status = WP_STATUS_OK;
        if (request->output != NULL) status = plot_curves(sampler, h, l, request->output, &err);
        if (status == WP_STATUS_OK && request->has_pairs)
            status = plot_pairs(sampler, h, l, request->output, notes, &err);
        if (status != WP_STATUS_OK)
            wpi_strings_addf(notes, "L%" PRIu32 " has no plot, or not all: %s.", l + 1,
                             err.message);
    }
}

/* ---- GPUs ---- */

static wp_status open_gpu(const wpi_probe_request *request, const wpi_round_listener *listener,
                          wp_device **device, wpi_gpu_sampler **gpu, wp_error *err) {
    WP_TRY(wp_device_open(request->spec, device, err));
    const wp_status status =
        wpi_gpu_sampler_create(*device, request->max_memory_bytes, listener, gpu, err);
    if (status != WP_STATUS_OK) wp_device_close(*device);
    return status;
}

static void describe(const wp_device *device, wpi_probe_result *out) {
    const wp_device_info *info = wp_device_get_info(device);
    (void)snprintf(out->spec, sizeof out->spec, "%s", info->spec);
    (void)snprintf(out->name, sizeof out->name, "%s", info->name);
    out->sm_count = info->sm_count;
    wpi_conditions_of_device(device, &out->conditions);
}

static void note_budget(const wpi_budget *budget, const char *what, wpi_strings *notes) {
    char allowed[32];
    if (budget->is_spent)
        wpi_strings_addf(notes, "%s ended when its %s were over: what is unknown may be there.",
                         what, wpi_format_duration(budget->allowed_ns, allowed));
}

static wp_status probe_gpu(const wpi_probe_request *request, wpi_probe_record *record,
                           wpi_probe_result *out, wp_error *err) {
    const wpi_round_listener listener = wpi_probe_record_listener(record);
    wpi_gpu_sampler *gpu = NULL;
    wp_device *device = NULL;
    wpi_budget budget;
    WP_TRY(open_gpu(request, &listener, &device, &gpu, err));
    const wpi_sampler sampler =
        wpi_budget_start(&budget, wpi_gpu_sampler_get(gpu), request->budget_ns);
    describe(device, out);
    out->memory_bytes = sampler.memory_bytes;
    const wp_status status = find_levels(request, &sampler, 0, &out->tlbs, err);
    if (status == WP_STATUS_OK) add_plots(request, &sampler, out->tlbs, &out->notes);
    note_budget(&budget, "The search", &out->notes);
    wpi_gpu_sampler_destroy(gpu);
    wp_device_close(device);
    return status;
}

/* ---- the CPU ---- */

static uint64_t cpu_bytes(const wpi_probe_request *request, wpi_cpu_pages pages) {
    struct sysinfo info;
    uint64_t bytes = pages == WPI_CPU_PAGES_HUGE ? CPU_HUGE_BYTES : CPU_SMALL_BYTES;
    if (sysinfo(&info) == 0) {
        const uint64_t half = ((uint64_t)info.freeram + info.bufferram) * info.mem_unit / 2;
        if (bytes > half) bytes = half;
    }
    if (request->max_memory_bytes != 0 && bytes > request->max_memory_bytes)
        bytes = request->max_memory_bytes;
    return bytes;
}

static wp_status probe_pages(const wpi_probe_request *request, wpi_cpu_pages pages,
                             wpi_probe_record *record, wpi_probe_result *result,
                             wpi_hierarchy **out, wp_error *err) {
    const wpi_round_listener listener = wpi_probe_record_listener(record);
    wpi_cpu_sampler *cpu = NULL;
    wpi_budget budget;
    WP_TRY(wpi_cpu_sampler_create(pages, cpu_bytes(request, pages), &listener, &cpu, err));
    const wpi_sampler sampler = wpi_budget_start(&budget, wpi_cpu_sampler_get(cpu),
                                                 (request->budget_ns + 1) / 2); /* twice */
    const bool is_small = pages == WPI_CPU_PAGES_SMALL;
    result->sm_count = sampler.sm_count;
    if (is_small) result->memory_bytes = sampler.memory_bytes;
    const wp_status status = find_levels(request, &sampler, is_small ? 4 * KIB : 2 * MIB, out, err);
    if (status == WP_STATUS_OK && is_small) add_plots(request, &sampler, *out, &result->notes);
    note_budget(&budget,
                is_small ? "The search with pages of 4 KiB" : "The search with pages of 2 MiB",
                &result->notes);
    wpi_cpu_sampler_destroy(cpu);
    return status;
}

static wp_status probe_cpu(const wpi_probe_request *request, wpi_probe_record *record,
                           wpi_probe_result *out, wp_error *err) {
    wp_error why = {0};
    (void)snprintf(out->spec, sizeof out->spec, "cpu");
    (void)snprintf(out->name, sizeof out->name, "This machine's processor");
    wpi_conditions_of_cpu(&out->conditions);
    WP_TRY(probe_pages(request, WPI_CPU_PAGES_SMALL, record, out, &out->tlbs, err));
    if (probe_pages(request, WPI_CPU_PAGES_HUGE, record, out, &out->huge_tlbs, &why) !=
        WP_STATUS_OK)
        wpi_strings_addf(&out->notes, "Pages of 2 MiB were not probed: %s.", why.message);
    wpi_cpu_claims_note(out);
    return WP_STATUS_OK;
}

wp_status wpi_probe_device(const wpi_probe_request *request, wpi_probe_record *record,
                           wpi_probe_result *out, wp_error *err) {
    if (strcmp(request->spec, "cpu") == 0) return probe_cpu(request, record, out, err);
    return probe_gpu(request, record, out, err);
}

/* ---- single points ---- */

static wp_status measure_points(const wpi_sampler *inner, const wpi_probe_request *request,
                                char **points, wp_error *err) {
    wpi_budget budget;
    const wpi_sampler sampler = wpi_budget_start(&budget, inner, request->budget_ns);
    wpi_text values = {0};
    wp_status status = WP_STATUS_OK;
    for (; *points != NULL && status == WP_STATUS_OK; points++)
        status = wpi_point_measure(&sampler, *points, &values, err);
    (void)fputs(wpi_text_string(&values), stdout);
    wpi_text_deinit(&values);
    return status;
}

wp_status wpi_probe_points(const wpi_probe_request *request, char **points, wp_error *err) {
    wp_device *device = NULL;
    wpi_gpu_sampler *gpu = NULL;
    wpi_cpu_sampler *cpu = NULL;
    wp_status status;
    if (strcmp(request->spec, "cpu") == 0) {
        WP_TRY(wpi_cpu_sampler_create(WPI_CPU_PAGES_SMALL, cpu_bytes(request, WPI_CPU_PAGES_SMALL),
                                      NULL, &cpu, err));
        status = measure_points(wpi_cpu_sampler_get(cpu), request, points, err);
    } else {
        WP_TRY(open_gpu(request, NULL, &device, &gpu, err));
        status = measure_points(wpi_gpu_sampler_get(gpu), request, points, err);
    }
    wpi_cpu_sampler_destroy(cpu);
    wpi_gpu_sampler_destroy(gpu);
    wp_device_close(device);
    return status;
}
