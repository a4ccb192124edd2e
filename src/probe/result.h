/* SPDX-License-Identifier: Apache-2.0 */
/** The result of a probe, and its forms. */
#ifndef WP_PROBE_RESULT_H
#define WP_PROBE_RESULT_H

#include "base/strings.h"
#include "base/text.h"
#include "probe/infer/hierarchy.h"

#define WPI_PROBE_SCHEMA "warpage.probe/1"

typedef struct wpi_probe_result {
    char spec[64], name[128];
    uint32_t sm_count;
    uint64_t memory_bytes;    /* available to the probe */
    wpi_strings conditions;   /* name, value, name, … */
    wpi_strings notes;        /* sentences */
    wpi_hierarchy *tlbs;      /* owned; NULL: nothing was measured */
    wpi_hierarchy *huge_tlbs; /* the CPU's, with huge pages; NULL: not measured */
} wpi_probe_result;

void wpi_probe_result_deinit(wpi_probe_result *result); /* `{0}` is fine */

/** A table like the paper's Table 2, the sharing groups, unknown numbers with their reasons, the
 * conditions. */
void wpi_probe_result_text(const wpi_probe_result *result, wpi_text *out);
/** Schema warpage.probe/1; unknown numbers are null, with a reason. */
void wpi_probe_result_json(const wpi_probe_result *result, wpi_text *out);
/** "NAME VALUE" lines of known numbers: "l1.entries 16". */
void wpi_probe_result_values(const wpi_probe_result *result, wpi_text *out);

/** A number of a level, by name. */
typedef struct wpi_level_field {
    const char *name;  /* "page_bytes" */
    const char *title; /* of the table's row; NULL: in none */
    const wpi_number *(*number)(const wpi_level *level);
} wpi_level_field;

/** {0}-terminated, in the order of output. */
extern const wpi_level_field wpi_level_fields[];

/** Whether the field's value is a name: that of wpi_replacement_name. */
bool wpi_level_field_is_name(const wpi_level_field *field);
const char *wpi_replacement_name(const wpi_number *replacement); /* known */

/** The least confidence of entries, page size and delay, without which a level is uncertain. */
double wpi_level_confidence(const wpi_level *level);

/** Bytes in the largest unit that divides them: "2064 MiB". Returns `out`. */
const char *wpi_whole_bytes(double bytes, char out[32]);

/** Compares two results in JSON: a line for each difference, or one that there is none. PARSE,
 * IO. */
WP_NODISCARD wp_status wpi_probe_diff(const char *a_path, const char *b_path, wpi_text *out,
                                      bool *is_same, wp_error *err);

#endif
