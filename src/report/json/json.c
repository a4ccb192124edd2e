/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record as JSON, both ways, by jansson. Counts are written as JSON integers (63 bits there are
 * plenty); reading checks the type of every member it uses and ignores those it does not know.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "report/cached.h"
#include "report/host_facts.h"
#include "report/json/json_parts.h"
#include "report/rules/verdict.h"
#include "report/run_record.h"
#include "report/shapes.h"
#include "report/simulation.h"
#include "report/streamed.h"

static json_t *triple(const uint32_t values[3]) {
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        wpi_json_append(array, wpi_json_number(values[i]));
    return array;
}

static json_t *kernel_to_json(const wp_run_kernel *kernel, const wp_run_simulation *simulation) {
    json_t *object = json_object();
    wpi_json_set(object, "name", wpi_json_string(kernel->name));
    wpi_json_set(object, "display_name", wpi_json_string(kernel->display_name));
    wpi_json_set(object, "launches", wpi_json_number(kernel->launches));
    wpi_json_set(object, "threads", wpi_json_number(kernel->threads));
    wpi_json_set(object, "time_ns", wpi_json_number(kernel->time_ns));
    wpi_json_set(object, "time_min_ns", wpi_json_number(kernel->time_min_ns));
    wpi_json_set(object, "time_max_ns", wpi_json_number(kernel->time_max_ns));
    wpi_json_set(object, "grid", triple(kernel->grid));
    wpi_json_set(object, "block", triple(kernel->block));
    if (kernel->shape_count != 0) wpi_json_set(object, "shapes", wpi_shapes_to_json(kernel));
    if (kernel->launched_by != NULL)
        wpi_json_set(object, "launched_by", wpi_json_string(kernel->launched_by));
    if (kernel->swapped_blocks != 0)
        wpi_json_set(object, "swapped_blocks", wpi_json_number(kernel->swapped_blocks));
    if (simulation == NULL || kernel->values == NULL) return object;
    const wp_run_column *time = wpi_simulation_column(simulation, "kernel_time_ps");
    const wp_run_column *work = wpi_simulation_column(simulation, "kernel_thread_instructions");
    if (work != NULL)
        wpi_json_set(object, "thread_instructions", wpi_json_number(kernel->values[work->first]));
    wpi_json_set(object, "overlapped_launches", wpi_json_number(kernel->overlapped));
    wpi_simulation_values_to_json(simulation, kernel->values,
                                  time != NULL ? kernel->values[time->first] : 0, object);
    return object;
}

/* The hash as text: JSON's integers have 63 bits here. */
static json_t *policy_files_to_json(const wp_run_record *record) {
    json_t *array = json_array();
    for (size_t i = 0; i < record->policy_file_count; i++) {
        char hash[17];
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, record->policy_files[i].hash);
        json_t *object = json_object();
        wpi_json_set(object, "path", wpi_json_string(record->policy_files[i].path));
        wpi_json_set(object, "hash", wpi_json_string(hash));
        wpi_json_append(array, object);
    }
    return array;
}

void wpi_run_record_json(const wp_run_record *record, wpi_text *out) {
    json_t *root = json_object();
    wpi_json_set(root, "schema", json_string(WP_RUN_SCHEMA));
    wpi_json_set(root, "version", wpi_json_string(record->version));
    json_t *program = json_array();
    for (size_t i = 0; i < record->program_count; i++)
        wpi_json_append(program, wpi_json_string(record->program[i]));
    wpi_json_set(root, "program", program);
    if (record->has_exit_status)
        wpi_json_set(root, "exit_status", json_integer(record->exit_status));
    json_t *device = json_object();
    wpi_json_set(device, "spec", wpi_json_string(record->device_spec));
    wpi_json_set(device, "name", wpi_json_string(record->device_name));
    wpi_json_set(root, "device", device);
    if (record->policy_file_count != 0)
        wpi_json_set(root, "policy_files", policy_files_to_json(record));
    if (record->wall_time_ns != 0)
        wpi_json_set(root, "wall_time_ns", wpi_json_number(record->wall_time_ns));
    if (record->simulation != NULL) {
        wpi_json_set(root, "simulated_time_ns",
                     wpi_json_number(record->simulation->time_ps / WP_PS_PER_NS));
        wpi_json_set(root, "thread_instructions",
                     wpi_json_number(wp_run_count(record, record->simulation->values,
                                                  "kernel_thread_instructions")));
    }
    wpi_json_set(root, "memory_peak_bytes", wpi_json_number(record->memory_peak_bytes));
    json_t *kernels = json_array();
    for (size_t i = 0; i < record->kernel_count; i++)
        wpi_json_append(kernels, kernel_to_json(&record->kernels[i], record->simulation));
    wpi_json_set(root, "kernels", kernels);
    json_t *copies = json_array();
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        json_t *object = json_object();
        wpi_json_set(object, "kind", wpi_json_string(wp_copy_kind_name((wp_copy_kind)kind)));
        wpi_json_set(object, "count", wpi_json_number(c->count));
        wpi_json_set(object, "bytes", wpi_json_number(c->bytes));
        wpi_json_set(object, "time_ns", wpi_json_number(c->time_ns));
        wpi_json_append(copies, object);
    }
    wpi_json_set(root, "copies", copies);
    if (record->streamed_count != 0) wpi_json_set(root, "streamed", wpi_streamed_to_json(record));
    wpi_host_facts_to_json(record, root);
    if (record->cached_count != 0) wpi_json_set(root, "cached", wpi_cached_to_json(record));
    if (record->simulation != NULL) wpi_json_set(root, "verdict", wpi_verdict_to_json(record));
    if (record->simulation != NULL)
        wpi_json_set(root, "simulation", wpi_simulation_to_json(record->simulation));

    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    WP_CHECK(text != NULL);
    wpi_text_append(out, text);
    wpi_text_append(out, "\n");
    free(text);
    json_decref(root);
}

static void read_triple(wpi_json_reader *r, const json_t *object, const char *key,
                        uint32_t out[3]) {
    const json_t *array = wpi_json_member(r, object, key, JSON_ARRAY);
    for (size_t i = 0; i < 3; i++)
        out[i] = (uint32_t)json_integer_value(json_array_get(array, i));
}

static void read_kernel(wpi_json_reader *r, const json_t *object,
                        const wp_run_simulation *simulation, wp_run_kernel *out) {
    out->name = wpi_json_read_string(r, object, "name");
    out->display_name = wpi_json_read_string(r, object, "display_name");
    out->launches = wpi_json_read_number(r, object, "launches");
    out->threads = wpi_json_read_number(r, object, "threads");
    out->time_ns = wpi_json_read_number(r, object, "time_ns");
    out->time_min_ns = wpi_json_read_number(r, object, "time_min_ns");
    out->time_max_ns = wpi_json_read_number(r, object, "time_max_ns");
    read_triple(r, object, "grid", out->grid);
    read_triple(r, object, "block", out->block);
    wpi_shapes_from_json(r, json_object_get(object, "shapes"), out);
    if (json_object_get(object, "launched_by") != NULL)
        out->launched_by = wpi_json_read_string(r, object, "launched_by");
    if (json_object_get(object, "swapped_blocks") != NULL)
        out->swapped_blocks = wpi_json_read_number(r, object, "swapped_blocks");
    if (simulation == NULL) return;
    out->overlapped = (uint64_t)json_integer_value(json_object_get(object, "overlapped_launches"));
    out->values = wpi_simulation_values_from_json(simulation, object);
}

static void read_copies(wpi_json_reader *r, const json_t *array, wp_run_record *out) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        char *name = wpi_json_read_string(r, object, "kind");
        for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
            if (strcmp(name, wp_copy_kind_name((wp_copy_kind)kind)) != 0) continue;
            out->copies[kind] =
                (wp_run_copies){.count = wpi_json_read_number(r, object, "count"),
                                .bytes = wpi_json_read_number(r, object, "bytes"),
                                .time_ns = wpi_json_read_number(r, object, "time_ns")};
        }
        wpi_free(name);
    }
}

static void read_policy_files(wpi_json_reader *r, const json_t *array, wp_run_record *out) {
    const size_t count = json_array_size(array);
    if (count == 0) return;
    out->policy_files = wpi_calloc(count, sizeof *out->policy_files);
    WP_CHECK(out->policy_files != NULL);
    for (; out->policy_file_count < count; out->policy_file_count++) {
        const json_t *object = json_array_get(array, out->policy_file_count);
        wp_run_policy_file *file = &out->policy_files[out->policy_file_count];
        char *hash = wpi_json_read_string(r, object, "hash");
        file->path = wpi_json_read_string(r, object, "path");
        file->hash = strtoull(hash, NULL, 16);
        wpi_free(hash);
    }
}

static void read_root(wpi_json_reader *r, const json_t *root, wp_run_record *out) {
    char *schema = wpi_json_read_string(r, root, "schema");
    if (r->status == WP_STATUS_OK && strcmp(schema, WP_RUN_SCHEMA) != 0)
        r->status =
            WP_FAIL(r->err, PARSE, "%s: schema '%s' is not %s", r->where, schema, WP_RUN_SCHEMA);
    wpi_free(schema);
    if (r->status != WP_STATUS_OK) return;

    out->version = wpi_json_read_string(r, root, "version");
    const json_t *device = wpi_json_member(r, root, "device", JSON_OBJECT);
    out->device_spec = wpi_json_read_string(r, device, "spec");
    out->device_name = wpi_json_read_string(r, device, "name");
    const json_t *exit_status = json_object_get(root, "exit_status");
    out->has_exit_status = json_is_integer(exit_status);
    out->exit_status = (int)json_integer_value(exit_status);
    if (json_object_get(root, "wall_time_ns") != NULL)
        out->wall_time_ns = wpi_json_read_number(r, root, "wall_time_ns");
    out->memory_peak_bytes = wpi_json_read_number(r, root, "memory_peak_bytes");

    const json_t *program = wpi_json_member(r, root, "program", JSON_ARRAY);
    const size_t argument_count = json_array_size(program);
    out->program = wpi_calloc(argument_count + 1, sizeof *out->program);
    WP_CHECK(out->program != NULL);
    for (; out->program_count < argument_count; out->program_count++) {
        const char *text = json_string_value(json_array_get(program, out->program_count));
        out->program[out->program_count] = wpi_format("%s", text != NULL ? text : "");
    }
    const json_t *simulation = json_object_get(root, "simulation");
    if (simulation != NULL && r->status == WP_STATUS_OK)
        r->status = wpi_simulation_from_json(simulation, r->where, &out->simulation, r->err);
    const json_t *kernels = wpi_json_member(r, root, "kernels", JSON_ARRAY);
    const size_t kernel_count = json_array_size(kernels);
    out->kernels = wpi_calloc(kernel_count, sizeof *out->kernels);
    WP_CHECK(out->kernels != NULL);
    for (; out->kernel_count < kernel_count; out->kernel_count++)
        read_kernel(r, json_array_get(kernels, out->kernel_count), out->simulation,
                    &out->kernels[out->kernel_count]);
    read_copies(r, wpi_json_member(r, root, "copies", JSON_ARRAY), out);
    read_policy_files(r, json_object_get(root, "policy_files"), out);
    wpi_streamed_from_json(r, json_object_get(root, "streamed"), out);
    wpi_host_facts_from_json(r, root, out);
    wpi_cached_from_json(r, json_object_get(root, "cached"), out);
    wpi_verdict_from_json(r, json_object_get(root, "verdict"), out);
}

wp_status wpi_run_record_parse(const char *json, size_t length, const char *where,
                               wp_run_record *out, wp_error *err) {
    *out = (wp_run_record){0};
    json_error_t detail;
    json_t *root = json_loadb(json, length, 0, &detail);
    if (root == NULL)
        return WP_FAIL(err, PARSE, "%s:%d:%d: not JSON: %s", where, detail.line, detail.column,
                       detail.text);
    wpi_json_reader r = {.where = where, .err = err};
    read_root(&r, root, out);
    json_decref(root);
    if (r.status != WP_STATUS_OK) wp_run_record_deinit(out);
    return r.status;
}
