/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `warpage reproduce` and `study`: every figure beside the paper's numbers, in one
 * file. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/page.h"
#include "base/text.h"
#include "study/agreement.h"

static const char legend[] =
    "<p><b>reproduced</b>: within 10 % of the published number, or within the claim's own "
    "tolerance. "
    "<b>same shape</b>: the order holds. "
    "<b>calibrated</b>: the profile was fitted to it, so it does not count. "
    "A claim <b>discriminates</b> if no wrong model is known that would meet it: neither runs that "
    "are all alike, nor the constants 0 and 1, nor another recorded run of the same program and "
    "input. One that differs and does not discriminate is met by such a model, and not by "
    "ours.</p>\n";

static void add_number(wpi_text *out, bool is_known, double value) {
    wpi_text_append(out, "<td>");
    if (is_known) wpi_text_appendf(out, "%.6g", value);
    wpi_text_append(out, "</td>");
}

/* The verdict's first word is its class in the style. */
static void add_claim(wpi_text *out, const wpi_claim *claim) {
    const char *verdict = wpi_verdict_name(claim->verdict);
    wpi_text_append(out, "<tr><td class=long>");
    wpi_page_words(out, claim->text);
    wpi_text_append(out, "</td>");
    add_number(out, claim->has_published, claim->published);
    add_number(out, claim->has_ours, claim->ours);
    wpi_text_append(out, "<td class=text>");
    wpi_text_append_html(out, claim->unit);
    wpi_text_appendf(out, "</td><td class=long><b class=%.*s>%s</b>", (int)strcspn(verdict, " "),
                     verdict, verdict);
    const char *more = claim->reason != NULL ? claim->reason : claim->calibrated;
    if (more != NULL) {
        wpi_text_append(out, ": ");
        wpi_page_words(out, more);
    }
    char *others = wpi_claim_also_true_for(claim);
    if (others[0] != '\0') {
        wpi_text_append(out, more != NULL ? "; " : " (");
        wpi_text_append(out, "met by a wrong model: ");
        wpi_page_words(out, others);
        if (more == NULL) wpi_text_append(out, ")");
    }
    wpi_free(others);
    wpi_text_append(out, "</td></tr>\n");
}

static void add_agreement(wpi_text *out, const wpi_figure *figure) {
    wpi_agreement agreement;
    for (size_t n = 0; wpi_agreement_find(figure, n, &agreement); n++) {
        wpi_text words = {0};
        wpi_agreement_describe(&agreement, " ", &words);
        wpi_page_element(out, "p", wpi_text_string(&words));
        wpi_text_deinit(&words);
        wpi_agreement_draw(figure, &agreement, out);
    }
}

static void add_figure(wpi_text *out, const char *command, const wpi_figure *figure) {
    wpi_page_element(out, "h2", figure->title);
    wpi_text_append(out, "\n<p class=note>");
    wpi_page_words(out, figure->source);
    wpi_text_appendf(out, " &middot; <code>warpage %s %s/%s</code></p>\n", command, figure->paper,
                     figure->name);
    add_agreement(out, figure);
    wpi_page_begin_table(out, NULL);
    wpi_text_append(out, "<tr><th>claim</th><th>published</th><th>ours</th><th class=text>unit</th>"
                         "<th class=text>verdict</th></tr>\n");
    for (size_t i = 0; i < figure->claim_count; i++)
        add_claim(out, &figure->claims[i]);
    wpi_page_end_table(out);
}

static void add_sums(wpi_text *out, const wpi_figure *figures, size_t count) {
    const wpi_verdict_sums sums = wpi_figures_sum(figures, count);
    wpi_page_begin_facts(out);
    for (int v = 0; v < WPI_VERDICT_COUNT; v++) {
        char number[64];
        if (sums.claims[v] == 0) continue;
        (void)snprintf(number, sizeof number, "%zu", sums.claims[v]);
        if (wpi_verdict_may_discriminate((wpi_verdict)v))
            (void)snprintf(number, sizeof number, "%zu, %zu discriminate", sums.claims[v],
                           sums.discriminating[v]);
        wpi_page_fact(out, wpi_verdict_name((wpi_verdict)v), number);
    }
    wpi_page_end_facts(out);
}

wp_status wpi_reproduction_write(const char *command, const wpi_figure *figures, size_t count,
                                 const char *path, wp_error *err) {
    const bool is_study = strcmp(command, "study") == 0;
    wpi_text page = {0};
    wpi_page_begin(&page, is_study ? "Warpage: studies" : "Warpage: reproductions");
    wpi_page_element(&page, "h1", is_study ? "Studies" : "Reproductions");
    wpi_text_append(&page, "\n");
    add_sums(&page, figures, count);
    wpi_text_append(&page, legend);
    for (size_t f = 0; f < count; f++)
        add_figure(&page, command, &figures[f]);
    wpi_page_end(&page);
    const wp_status status = wpi_file_write(path, page.data, page.length, err);
    wpi_text_deinit(&page);
    return status;
}
