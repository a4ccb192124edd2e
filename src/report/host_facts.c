/* SPDX-License-Identifier: Apache-2.0 */
#include "report/host_facts.h"

#include <string.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/units.h"

#define TEXT_WIDTH 96u

/* Words in JSON, and sentences; in the order of wp_run_host_threads. */
static const struct {
    const char *name, *sentence;
} threads_words[] = {
    [WP_RUN_HOST_THREADS_REPEAT] = {NULL, NULL},
    [WP_RUN_HOST_THREADS_RAN_UNASKED] =
        {"ran unasked",
         "Host threads ran without calling the runtime while kernels ran: if the kernels waited "
         "for "
         "them, the speed of this machine decided simulated times, which may differ between runs."},
    [WP_RUN_HOST_THREADS_DECIDED] =
        {"decided",
         "Host threads decided simulated times, which may differ between runs: a thread stayed "
         "away "
         "from the runtime for long, slept, or waited for something outside the program."},
};
enum { THREADS_COUNT = sizeof threads_words / sizeof *threads_words };

void wpi_host_facts_to_json(const wp_run_record *record, json_t *root) {
    if (record->host.is_on) {
        json_t *host = json_object();
        wpi_json_set(host, "copied_bytes", wpi_json_number(record->host.copied_bytes));
        wpi_json_set(host, "undeclared_copy_bytes",
                     wpi_json_number(record->host.undeclared_copy_bytes));
        wpi_json_set(root, "host", host);
    }
    if (record->host.threads != WP_RUN_HOST_THREADS_REPEAT)
        wpi_json_set(root, "host_threads",
                     wpi_json_string(threads_words[record->host.threads].name));
}

void wpi_host_facts_from_json(wpi_json_reader *r, const json_t *root, wp_run_record *out) {
    const json_t *host = json_object_get(root, "host");
    if (host != NULL) {
        out->host.is_on = true;
        out->host.copied_bytes = wpi_json_read_number(r, host, "copied_bytes");
        out->host.undeclared_copy_bytes = wpi_json_read_number(r, host, "undeclared_copy_bytes");
    }
    if (json_object_get(root, "host_threads") == NULL) return;
    char *name = wpi_json_read_string(r, root, "host_threads");
    for (int i = 1; i < THREADS_COUNT; i++)
        if (strcmp(name, threads_words[i].name) == 0) out->host.threads = (wp_run_host_threads)i;
    wpi_free(name);
}

/* ---- for people ---- */

/* The sentence on undeclared copies; NULL: none. For wpi_free. */
static char *undeclared_sentence(const wp_run_record *record) {
    char undeclared[32], all[32];
    const uint64_t bytes = record->host.undeclared_copy_bytes;
    if (bytes == 0) return NULL;
    return wpi_format("%s of %s copied to the device came from host memory that no declared host "
                      "work, no memcpy and no copy had filled: filling it took no simulated time.",
                      wpi_format_bytes(bytes, undeclared),
                      wpi_format_bytes(record->copies[WP_COPY_H2D].bytes, all));
}

static void append_wrapped(const char *sentence, wpi_text *out) {
    const char *at = sentence;
    wpi_text_append(out, "\n");
    while (*at != '\0') {
        size_t length = strlen(at);
        if (length > TEXT_WIDTH)
            for (length = TEXT_WIDTH; at[length] != ' '; length--)
                ;
        wpi_text_appendf(out, "  %.*s\n", (int)length, at);
        at += length;
        at += *at == ' ';
    }
}

void wpi_host_facts_text(const wp_run_record *record, wpi_text *out) {
    char text[32];
    if (record->host.copied_bytes != 0)
        wpi_text_appendf(out, "\n  %-34s %s\n", "memcpy to page-locked memory",
                         wpi_format_bytes(record->host.copied_bytes, text));
    char *undeclared = undeclared_sentence(record);
    if (undeclared != NULL) append_wrapped(undeclared, out);
    wpi_free(undeclared);
    const char *threads = threads_words[record->host.threads].sentence;
    if (threads != NULL) append_wrapped(threads, out);
}

void wpi_host_facts_html(const wp_run_record *record, wpi_text *out) {
    char *undeclared = undeclared_sentence(record);
    if (undeclared != NULL) wpi_page_element(out, "p", undeclared);
    wpi_free(undeclared);
    const char *threads = threads_words[record->host.threads].sentence;
    if (threads != NULL) wpi_page_element(out, "p", threads);
}
