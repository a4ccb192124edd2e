/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/host/host_result.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_string.h"
#include "base/units.h"
#include "warpage/version.h"

#define LABEL_WIDTH 44

typedef enum unit_kind { BYTES_PER_S, NS, READS, READS_PER_S } unit_kind;

/* `key`: of the profile, or NULL. */
static const struct {
    const char *name, *label, *key;
    unit_kind unit;
} rows[WPI_HOST_VALUE_COUNT] = {
    [WPI_HOST_BANDWIDTH] = {"bandwidth_bytes_per_s", "Sequential reads, all threads", "bandwidth",
                            BYTES_PER_S},
    [WPI_HOST_CORE_BANDWIDTH] = {"core_bandwidth_bytes_per_s", "Sequential reads, one thread",
                                 "core_bandwidth", BYTES_PER_S},
    [WPI_HOST_RANDOM_LATENCY] = {"random_latency_ns", "Random read, each depends on the last",
                                 "random_latency", NS},
    [WPI_HOST_RANDOM_IN_FLIGHT] = {"random_in_flight", "Random reads under way, one thread",
                                   "random_in_flight", READS},
    [WPI_HOST_CALL] = {"call_ns", "Queuing an asynchronous copy", "call", NS},
    [WPI_HOST_POLL] = {"poll_ns", "Seeing a word that another core stored", "poll", NS},
    [WPI_HOST_RANDOM_ONE] = {"random_reads_per_s", "Independent random reads, one thread", NULL,
                             READS_PER_S},
    [WPI_HOST_RANDOM_ALL] = {"random_all_reads_per_s", "Independent random reads, all threads",
                             NULL, READS_PER_S},
    [WPI_HOST_COPY_64] = {"copy_64_ns", "memcpy of 64 B", NULL, NS},
    [WPI_HOST_COPY_4K] = {"copy_4096_ns", "memcpy of 4 KiB", NULL, NS},
    [WPI_HOST_COPY_256K] = {"copy_262144_ns", "memcpy of 256 KiB", NULL, NS},
    [WPI_HOST_COPY_16M] = {"copy_16777216_ns", "memcpy of 16 MiB", NULL, NS},
};

void wpi_host_result_deinit(wpi_host_result *result) {
    wpi_strings_deinit(&result->conditions);
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

wpi_host_measure wpi_host_measure_of(double *samples, uint32_t count) {
    qsort(samples, count, sizeof *samples, compare);
    const double median =
        count % 2 != 0 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
    return (wpi_host_measure){
        .is_known = true, .median = median, .least = samples[0], .most = samples[count - 1]};
}

/* With three digits, and a unit of profiles if the key has one. */
static const char *format(unit_kind unit, double value, char text[32]) {
    switch (unit) {
    case BYTES_PER_S: (void)snprintf(text, 32, "%.2fGB/s", value / 1e9); break;
    case NS:
        if (value < 10000)
            (void)snprintf(text, 32, "%.1fns", value);
        else
            (void)snprintf(text, 32, "%.1fus", value / 1000);
        break;
    case READS: (void)snprintf(text, 32, "%.0f", value < 1 ? 1 : value); break;
    case READS_PER_S: (void)snprintf(text, 32, "%.1fM/s", value / 1e6); break;
    }
    return text;
}

/* ---- text ---- */

void wpi_host_result_text(const wpi_host_result *result, wpi_text *out) {
    char a[32], b[32], c[32];
    wpi_text_appendf(out, "%s\n%-*s %14" PRIu32 "\n%-*s %14" PRIu32 "\n", result->name, LABEL_WIDTH,
                     "Cores", result->cores, LABEL_WIDTH, "Threads", result->threads);
    wpi_text_appendf(out, "\n%-*s %14s %14s %14s\n", LABEL_WIDTH, "", "median", "least", "most");
    for (size_t i = 0; i < WPI_HOST_VALUE_COUNT; i++) {
        const wpi_host_measure *m = &result->values[i];
        if (m->is_known)
            wpi_text_appendf(out, "%-*s %14s %14s %14s\n", LABEL_WIDTH, rows[i].label,
                             format(rows[i].unit, m->median, a), format(rows[i].unit, m->least, b),
                             format(rows[i].unit, m->most, c));
        else
            wpi_text_appendf(out, "%-*s %14s   %s\n", LABEL_WIDTH, rows[i].label, "?", m->reason);
    }
    wpi_text_append(out, "\nMeasured under\n");
    for (size_t i = 0; i + 1 < result->conditions.count; i += 2)
        wpi_text_appendf(out, "  %-16s %s\n", result->conditions.items[i],
                         result->conditions.items[i + 1]);
}

/* ---- JSON ---- */

static void put(json_t *object, const char *key, json_t *value) {
    WP_CHECK(json_object_set_new(object, key, value) == 0);
}

void wpi_host_result_json(const wpi_host_result *result, wpi_text *out) {
    json_t *root = json_object(), *values = json_object(), *conditions = json_object();
    put(root, "schema", json_string("warpage.host/1"));
    put(root, "version", json_string(WP_VERSION_STRING));
    put(root, "name", wpi_json_string(result->name));
    put(root, "cores", json_integer(result->cores));
    put(root, "threads", json_integer(result->threads));
    put(root, "memory_bytes", json_integer((json_int_t)result->memory_bytes));
    put(root, "cache_bytes", json_integer((json_int_t)result->cache_bytes));
    put(root, "repeats", json_integer(result->repeats));
    put(root, "call_device", wpi_json_string(result->call_device));
    for (size_t i = 0; i < WPI_HOST_VALUE_COUNT; i++) {
        const wpi_host_measure *m = &result->values[i];
        json_t *value = json_object();
        put(value, "median", m->is_known ? json_real(m->median) : json_null());
        put(value, "least", m->is_known ? json_real(m->least) : json_null());
        put(value, "most", m->is_known ? json_real(m->most) : json_null());
        if (!m->is_known) put(value, "reason", wpi_json_string(m->reason));
        put(values, rows[i].name, value);
    }
    put(root, "values", values);
    for (size_t i = 0; i + 1 < result->conditions.count; i += 2)
        put(conditions, result->conditions.items[i],
            wpi_json_string(result->conditions.items[i + 1]));
    put(root, "conditions", conditions);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    WP_CHECK(text != NULL);
    wpi_text_append(out, text);
    wpi_text_append(out, "\n");
    free(text); /* jansson's */
    json_decref(root);
}

/* ---- profile ---- */

/* Values of a profile end at a ';'. */
static void append_plain(const char *text, wpi_text *out) {
    for (; *text != '\0'; text++)
        wpi_text_append_n(out, *text == ';' || *text == '\n' ? " " : text, 1);
}

void wpi_host_result_profile(const wpi_host_result *result, wpi_text *out) {
    char a[32], b[32], c[32];
    wpi_text_append(out, "; Measured by `warpage probe host`.\n[host]\nsource = measured on ");
    append_plain(result->name, out);
    wpi_text_append(out, "\non = on\ntitle = ");
    append_plain(result->name, out);
    wpi_text_appendf(out, "\ncores = %" PRIu32 "\n", result->cores);
    for (size_t i = 0; i < WPI_HOST_VALUE_COUNT; i++) {
        const wpi_host_measure *m = &result->values[i];
        if (rows[i].key == NULL) continue;
        if (!m->is_known) {
            wpi_text_appendf(out, "; %s is not known: %s\n", rows[i].key, m->reason);
            continue;
        }
        wpi_text_appendf(out, "%s = %s\n", rows[i].key, format(rows[i].unit, m->median, a));
        wpi_text_appendf(out, "%s.source = median of %" PRIu32 " measurements, %s to %s",
                         rows[i].key, result->repeats, format(rows[i].unit, m->least, b),
                         format(rows[i].unit, m->most, c));
        if (i == WPI_HOST_CALL) wpi_text_appendf(out, ", of device %s", result->call_device);
        wpi_text_append(out, "\n");
    }
    wpi_text_append(out, "; notice takes a GPU to measure: the default counts.\n");
}
