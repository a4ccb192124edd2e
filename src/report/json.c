/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record as JSON, both ways, by jansson. Counts are written as JSON integers (63 bits there are
 * plenty); reading checks the type of every member it uses and ignores those it does not know.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/run_record.h"

static json_t *number(uint64_t value) {
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Program arguments may be any bytes; JSON strings are UTF-8. */
static json_t *string(const char *text) {
    json_t *value = json_string(text != NULL ? text : "");
    if (value != NULL) return value;
    wp_text ascii = {0};
    for (const char *c = text; *c != '\0'; c++)
        wp_text_append_n(&ascii, (signed char)*c > 0 ? c : "?", 1);
    value = json_string(wp_text_string(&ascii));
    wp_text_deinit(&ascii);
    return value;
}

static void set(json_t *object, const char *key, json_t *value) {
    WP_CHECK(json_object_set_new(object, key, value) == 0);
}

static void append(json_t *array, json_t *value) {
    WP_CHECK(json_array_append_new(array, value) == 0);
}

static json_t *triple(const uint32_t values[3]) {
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        append(array, number(values[i]));
    return array;
}

static json_t *kernel_to_json(const wp_run_kernel *kernel) {
    json_t *object = json_object();
    set(object, "name", string(kernel->name));
    set(object, "display_name", string(kernel->display_name));
    set(object, "launches", number(kernel->launches));
    set(object, "threads", number(kernel->threads));
    set(object, "time_ns", number(kernel->time_ns));
    set(object, "time_min_ns", number(kernel->time_min_ns));
    set(object, "time_max_ns", number(kernel->time_max_ns));
    set(object, "grid", triple(kernel->grid));
    set(object, "block", triple(kernel->block));
    return object;
}

void wpi_run_record_json(const wp_run_record *record, wp_text *out) {
    json_t *root = json_object();
    set(root, "schema", json_string(WP_RUN_SCHEMA));
    set(root, "version", string(record->version));
    json_t *program = json_array();
    for (size_t i = 0; i < record->program_count; i++)
        append(program, string(record->program[i]));
    set(root, "program", program);
    if (record->has_exit_status) set(root, "exit_status", json_integer(record->exit_status));
    json_t *device = json_object();
    set(device, "spec", string(record->device_spec));
    set(device, "name", string(record->device_name));
    set(root, "device", device);
    set(root, "wall_time_ns", number(record->wall_time_ns));
    set(root, "memory_peak_bytes", number(record->memory_peak_bytes));
    json_t *kernels = json_array();
    for (size_t i = 0; i < record->kernel_count; i++)
        append(kernels, kernel_to_json(&record->kernels[i]));
    set(root, "kernels", kernels);
    json_t *copies = json_array();
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        const wp_run_copies *c = &record->copies[kind];
        if (c->count == 0) continue;
        json_t *object = json_object();
        set(object, "kind", string(wp_copy_kind_name((wp_copy_kind)kind)));
        set(object, "count", number(c->count));
        set(object, "bytes", number(c->bytes));
        set(object, "time_ns", number(c->time_ns));
        append(copies, object);
    }
    set(root, "copies", copies);

    char *text = json_dumps(root, JSON_INDENT(2));
    WP_CHECK(text != NULL);
    wp_text_append(out, text);
    wp_text_append(out, "\n");
    free(text);
    json_decref(root);
}

/* Where reading stands; the first wrong member ends it. */
typedef struct reader {
    const char *where;
    wp_error *err;
    wp_status status;
} reader;

static const json_t *member(reader *r, const json_t *object, const char *key, json_type type) {
    const json_t *value = json_object_get(object, key);
    if (r->status != WP_STATUS_OK) return NULL;
    if (value != NULL && json_typeof(value) == type) return value;
    r->status = WP_FAIL(r->err, PARSE, "%s: not a run record: '%s' is missing or of the wrong type",
                        r->where, key);
    return NULL;
}

static uint64_t read_number(reader *r, const json_t *object, const char *key) {
    const json_t *value = member(r, object, key, JSON_INTEGER);
    const json_int_t integer = json_integer_value(value);
    if (value != NULL && integer < 0)
        r->status = WP_FAIL(r->err, PARSE, "%s: not a run record: '%s' is negative", r->where, key);
    return integer < 0 ? 0 : (uint64_t)integer;
}

static char *read_string(reader *r, const json_t *object, const char *key) {
    const json_t *value = member(r, object, key, JSON_STRING);
    return wp_format("%s", value != NULL ? json_string_value(value) : "");
}

static void read_triple(reader *r, const json_t *object, const char *key, uint32_t out[3]) {
    const json_t *array = member(r, object, key, JSON_ARRAY);
    for (size_t i = 0; i < 3; i++)
        out[i] = (uint32_t)json_integer_value(json_array_get(array, i));
}

static void read_kernel(reader *r, const json_t *object, wp_run_kernel *out) {
    out->name = read_string(r, object, "name");
    out->display_name = read_string(r, object, "display_name");
    out->launches = read_number(r, object, "launches");
    out->threads = read_number(r, object, "threads");
    out->time_ns = read_number(r, object, "time_ns");
    out->time_min_ns = read_number(r, object, "time_min_ns");
    out->time_max_ns = read_number(r, object, "time_max_ns");
    read_triple(r, object, "grid", out->grid);
    read_triple(r, object, "block", out->block);
}

static void read_copies(reader *r, const json_t *array, wp_run_record *out) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        char *name = read_string(r, object, "kind");
        for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
            if (strcmp(name, wp_copy_kind_name((wp_copy_kind)kind)) != 0) continue;
            out->copies[kind] = (wp_run_copies){.count = read_number(r, object, "count"),
                                                .bytes = read_number(r, object, "bytes"),
                                                .time_ns = read_number(r, object, "time_ns")};
        }
        wp_free(name);
    }
}

static void read_root(reader *r, const json_t *root, wp_run_record *out) {
    char *schema = read_string(r, root, "schema");
    if (r->status == WP_STATUS_OK && strcmp(schema, WP_RUN_SCHEMA) != 0)
        r->status =
            WP_FAIL(r->err, PARSE, "%s: schema '%s' is not %s", r->where, schema, WP_RUN_SCHEMA);
    wp_free(schema);
    if (r->status != WP_STATUS_OK) return;

    out->version = read_string(r, root, "version");
    const json_t *device = member(r, root, "device", JSON_OBJECT);
    out->device_spec = read_string(r, device, "spec");
    out->device_name = read_string(r, device, "name");
    const json_t *exit_status = json_object_get(root, "exit_status");
    out->has_exit_status = json_is_integer(exit_status);
    out->exit_status = (int)json_integer_value(exit_status);
    out->wall_time_ns = read_number(r, root, "wall_time_ns");
    out->memory_peak_bytes = read_number(r, root, "memory_peak_bytes");

    const json_t *program = member(r, root, "program", JSON_ARRAY);
    const size_t argument_count = json_array_size(program);
    out->program = wp_calloc(argument_count + 1, sizeof *out->program);
    WP_CHECK(out->program != NULL);
    for (; out->program_count < argument_count; out->program_count++) {
        const char *text = json_string_value(json_array_get(program, out->program_count));
        out->program[out->program_count] = wp_format("%s", text != NULL ? text : "");
    }
    const json_t *kernels = member(r, root, "kernels", JSON_ARRAY);
    const size_t kernel_count = json_array_size(kernels);
    out->kernels = wp_calloc(kernel_count, sizeof *out->kernels);
    WP_CHECK(out->kernels != NULL);
    for (; out->kernel_count < kernel_count; out->kernel_count++)
        read_kernel(r, json_array_get(kernels, out->kernel_count),
                    &out->kernels[out->kernel_count]);
    read_copies(r, member(r, root, "copies", JSON_ARRAY), out);
}

wp_status wpi_run_record_parse(const char *json, size_t length, const char *where,
                               wp_run_record *out, wp_error *err) {
    *out = (wp_run_record){0};
    json_error_t detail;
    json_t *root = json_loadb(json, length, 0, &detail);
    if (root == NULL)
        return WP_FAIL(err, PARSE, "%s:%d:%d: not JSON: %s", where, detail.line, detail.column,
                       detail.text);
    reader r = {.where = where, .err = err};
    read_root(&r, root, out);
    json_decref(root);
    if (r.status != WP_STATUS_OK) wp_run_record_deinit(out);
    return r.status;
}
