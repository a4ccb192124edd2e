/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `warpage reproduce`: every figure beside the paper's numbers, in one file. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"
#include "base/text.h"
#include "study/claims.h"

static const char legend[] =
    "<p><b>reproduced</b>: within 10% of the published number. <b>same shape</b>: the order holds. "
    "<b>calibrated</b>: the profile was fitted to it, so it does not count.</p>\n";

static void add_number(wp_text *out, bool is_known, double value) {
    wp_text_append(out, "<td>");
    if (is_known) wp_text_appendf(out, "%.6g", value);
    wp_text_append(out, "</td>");
}

/* The verdict's first word is its class in the style. */
static void add_claim(wp_text *out, const wpi_claim *claim) {
    const char *verdict = wpi_verdict_name(claim->verdict);
    wp_text_append(out, "<tr><td class=long>");
    wp_text_append_html(out, claim->text);
    wp_text_append(out, "</td>");
    add_number(out, claim->has_published, claim->published);
    add_number(out, claim->has_ours, claim->ours);
    wp_text_append(out, "<td class=text>");
    wp_text_append_html(out, claim->unit);
    wp_text_appendf(out, "</td><td class=long><b class=%.*s>%s</b>", (int)strcspn(verdict, " "),
                    verdict, verdict);
    const char *more = claim->reason != NULL ? claim->reason : claim->calibrated;
    if (more != NULL) {
        wp_text_append(out, ": ");
        wp_text_append_html(out, more);
    }
    char *others = wpi_claim_also_true_for(claim);
    if (others[0] != '\0') {
        wp_text_append(out, more != NULL ? "; " : " (");
        wp_text_append(out, "a wrong model would meet it, too: ");
        wp_text_append_html(out, others);
        if (more == NULL) wp_text_append(out, ")");
    }
    wp_free(others);
    wp_text_append(out, "</td></tr>\n");
}

static void add_figure(wp_text *out, const wpi_figure *figure) {
    wp_page_element(out, "h2", figure->title);
    wp_text_append(out, "\n<p class=note>");
    wp_text_append_html(out, figure->source);
    wp_text_appendf(out, " &middot; <code>warpage reproduce %s/%s</code></p>\n", figure->paper,
                    figure->name);
    wp_page_begin_table(out, NULL);
    wp_text_append(out, "<tr><th>claim</th><th>published</th><th>ours</th><th class=text>unit</th>"
                        "<th class=text>verdict</th></tr>\n");
    for (size_t i = 0; i < figure->claim_count; i++)
        add_claim(out, &figure->claims[i]);
    wp_page_end_table(out);
}

static void add_sums(wp_text *out, const wpi_figure *figures, size_t count) {
    size_t sums[WPI_VERDICT_COUNT] = {0};
    for (size_t f = 0; f < count; f++) {
        for (size_t i = 0; i < figures[f].claim_count; i++)
            sums[figures[f].claims[i].verdict]++;
    }
    wp_page_begin_facts(out);
    for (int v = 0; v < WPI_VERDICT_COUNT; v++) {
        char number[32];
        if (sums[v] == 0) continue;
        (void)snprintf(number, sizeof number, "%zu", sums[v]);
        wp_page_fact(out, wpi_verdict_name((wpi_verdict)v), number);
    }
    wp_page_end_facts(out);
}

wp_status wpi_reproduction_write(const wpi_figure *figures, size_t count, const char *path,
                                 wp_error *err) {
    wp_text page = {0};
    wp_page_begin(&page, "Warpage: reproductions");
    wp_page_element(&page, "h1", "Reproductions");
    wp_text_append(&page, "\n");
    add_sums(&page, figures, count);
    wp_text_append(&page, legend);
    for (size_t f = 0; f < count; f++)
        add_figure(&page, &figures[f]);
    wp_page_end(&page);
    const wp_status status = wp_file_write(path, page.data, page.length, err);
    wp_text_deinit(&page);
    return status;
}
