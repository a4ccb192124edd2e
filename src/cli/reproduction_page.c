/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `warpage reproduce`: every figure beside the paper's numbers, in one file. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/claims.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Warpage: reproductions</title>"
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse;width:100%}th,td{padding:.25em .6em;border-bottom:1px solid #ddd;"
    "text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".reproduced,.same{color:#157a2b}.differs{color:#b3261e;font-weight:600}.calibrated,.no,.not{color:#666}"
    "p.source{color:#666}</style></head><body>\n<h1>Reproductions</h1>\n"
    "<p>Within 10% is <b>reproduced</b>; an order that holds is <b>same shape</b>; what the profile was made to "
    "is <b>calibrated</b> and does not count.</p>\n";

static void add_number(wp_text *out, bool is_known, double value) {
    wp_text_append(out, "<td class=\"n\">");
    if (is_known) wp_text_appendf(out, "%.6g", value);
    wp_text_append(out, "</td>");
}

/* The verdict's first word is its class in the style. */
static void add_claim(wp_text *out, const wpi_claim *claim) {
    const char *verdict = wpi_verdict_name(claim->verdict);
    wp_text_append(out, "<tr><td>");
    wp_text_append_html(out, claim->text);
    wp_text_append(out, "</td>");
    add_number(out, claim->has_published, claim->published);
    add_number(out, claim->has_ours, claim->ours);
    wp_text_append(out, "<td>");
    wp_text_append_html(out, claim->unit);
    wp_text_appendf(out, "</td><td class=\"%.*s\">%s", (int)strcspn(verdict, " "), verdict, verdict);
    const char *more = claim->reason != NULL ? claim->reason : claim->calibrated;
    if (more != NULL) {
        wp_text_append(out, ": ");
        wp_text_append_html(out, more);
    }
    wp_text_append(out, "</td></tr>\n");
}

static void add_figure(wp_text *out, const wpi_figure *figure) {
    wp_text_append(out, "<h2>");
    wp_text_append_html(out, figure->title);
    wp_text_append(out, "</h2>\n<p class=\"source\">");
    wp_text_append_html(out, figure->source);
    wp_text_appendf(out, " &middot; <code>warpage reproduce %s/%s</code></p>\n", figure->paper,
                    figure->name);
    wp_text_append(out, "<table><tr><th>claim</th><th>published</th><th>ours</th><th>unit</th>"
                        "<th>verdict</th></tr>\n");
    for (size_t i = 0; i < figure->claim_count; i++)
        add_claim(out, &figure->claims[i]);
    wp_text_append(out, "</table>\n");
}

static void add_sums(wp_text *out, const wpi_figure *figures, size_t count) {
    size_t sums[WPI_VERDICT_COUNT] = {0};
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < figures[f].claim_count; i++)
            sums[figures[f].claims[i].verdict]++;
    }
    wp_text_append(out, "<p>");
    const char *between = "";
    for (int v = 0; v < WPI_VERDICT_COUNT; v++) {
        if (sums[v] == 0) continue;
        wp_text_appendf(out, "%s%zu %s", between, sums[v], wpi_verdict_name((wpi_verdict)v));
        between = ", ";
    }
    wp_text_append(out, ".</p>\n");
}

wp_status wpi_reproduction_write(const wpi_figure *figures, size_t count, const char *path,
                                 wp_error *err) {
    wp_text page = {0};
    wp_text_append(&page, head);
    add_sums(&page, figures, count);
    for (size_t f = 0; f < count; f++)
        add_figure(&page, &figures[f]);
    wp_text_append(&page, "</body></html>\n");
    const wp_status status = wp_file_write(path, page.data, page.length, err);
    wp_text_deinit(&page);
    return status;
}
