/* SPDX-License-Identifier: Apache-2.0 */
/** What a probe found, and the forms in which it is said. */
#ifndef WP_PROBE_RESULT_H
#define WP_PROBE_RESULT_H

#include "base/strings.h"
#include "base/text.h"
#include "probe/infer/hierarchy.h"

#define WPI_PROBE_SCHEMA "warpage.probe/1"

typedef struct wpi_probe_result {
    char spec[64], name[128];
    uint32_t sm_count;
    uint64_t memory_bytes;    /* that was there to be probed */
    wpi_strings conditions;   /* name, value, name, … */
    wpi_strings notes;        /* sentences */
    wpi_hierarchy *tlbs;      /* owned; NULL: nothing was measured */
    wpi_hierarchy *huge_tlbs; /* the CPU's, with huge pages; NULL: not measured */
} wpi_probe_result;

void wpi_probe_result_deinit(wpi_probe_result *result); /* `{0}` is fine */

/** A table like the paper's Table 2, who shares what, what is unknown and why, the conditions. */
void wpi_probe_result_text(const wpi_probe_result *result, wpi_text *out);
/** Schema warpage.probe/1; unknown numbers are null, with a reason. */
void wpi_probe_result_json(const wpi_probe_result *result, wpi_text *out);
/** "NAME VALUE" lines of what is known: "l1.entries 16". */
void wpi_probe_result_values(const wpi_probe_result *result, wpi_text *out);

/** A number of a level, by name. */
typedef struct wpi_level_field {
    const char *name;  /* "page_bytes" */
    const char *title; /* of the table's row; NULL: in none */
    const wpi_number *(*number)(const wpi_level *level);
} wpi_level_field;

/** {0}-terminated, in the order in which they are said. */
extern const wpi_level_field wpi_level_fields[];

/** Of the entries, the page size and the delay, which a level stands or falls with, the least. */
double wpi_level_confidence(const wpi_level *level);

/** Bytes in the largest unit that divides them: "2064 MiB". Returns `out`. */
const char *wpi_whole_bytes(double bytes, char out[32]);

/** Compares two results in JSON: what differs, a line each, or that nothing does. PARSE, IO. */
WP_NODISCARD wp_status wpi_probe_diff(const char *a_path, const char *b_path, wpi_text *out,
                                      bool *is_same, wp_error *err);

#endif
