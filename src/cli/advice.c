/* SPDX-License-Identifier: Apache-2.0 */
/* The output of `warpage advise`: text, JSON, table, plot. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json_string.h"
#include "base/units.h"
#include "cli/advise.h"
#include "cli/print/trials_page.h"
#include "study/bars.h"
#include "study/cells_page.h"
#include "warpage/report.h"

#define SAME 0.01 /* of the time: no difference */
#define LINES_MAX 12u
#define CELLS_MAX 8u /* runs side by side */
#define SCHEMA "warpage.advise/1"

static const wpi_remedy *find_now(const wpi_remedies *remedies) {
    size_t i = 0;
    while (remedies->items[i].kind != WP_REMEDY_NOW)
        i++;
    return &remedies->items[i];
}

static double times_faster(const wpi_remedies *remedies, const wpi_remedy *tried) {
    const double time_ns = (double)tried->facts.time_ns;
    return time_ns > 0 ? (double)find_now(remedies)->facts.time_ns / time_ns : 1;
}

/* ---- text ---- */

static void print_count(const char *label, uint64_t count) {
    (void)printf("  %-28s %" PRIu64 "\n", label, count);
}

static void print_now(const wpi_paging_facts *now, const wpi_advice_shown *shown) {
    char text[32];
    (void)printf("Now: ");
    for (int i = 0; i < shown->program_count; i++)
        (void)printf("%s%s", i != 0 ? " " : "", shown->program[i]);
    (void)printf(" on %s%s%s\n", shown->device, shown->settings[0] != '\0' ? ", " : "",
                 shown->settings);
    (void)printf("  %-28s %s\n", "simulated time", wpi_format_duration(now->time_ns, text));
    (void)printf("  %-28s %s\n", "kernels", wpi_format_duration(now->kernel_ns, text));
    (void)printf("  %-28s %.1f %%\n", "access time in far faults", now->wait_pct);
    (void)printf("  %-28s %s\n", "managed memory", wpi_format_bytes(now->managed_bytes, text));
    print_count("far faults", now->far_faults);
    print_count("pages migrated in", now->fetched_pages);
    print_count("pages migrated again", now->again_pages);
    print_count("pages evicted", now->evicted_pages);
    print_count("host page faults", now->host_faults);
    print_count("pages migrated to the host", now->host_pages);
    (void)printf("  %-28s %s\n\n", "link traffic", wpi_format_bytes(now->link_bytes, text));
}

/* Whether its time differs from the present one by more than a hundredth. */
static bool is_different(const wpi_remedies *remedies, const wpi_remedy *tried) {
    const double faster = times_faster(remedies, tried);
    return faster < 1 - SAME || faster > 1 + SAME;
}

static const char *const ranked_columns[] = {"tried", "time", "kernels", "faster",
                                             "where", "how",  NULL};

static void rank(const wpi_remedies *remedies, wpi_listing *table) {
    *table = (wpi_listing){.columns = ranked_columns};
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        char time[32], kernels[32];
        if (!t->has_result || (t->kind != WP_REMEDY_NOW && !is_different(remedies, t))) continue;
        wpi_strings_add(&table->cells, t->name);
        wpi_strings_add(&table->cells, wpi_format_duration(t->facts.time_ns, time));
        wpi_strings_add(&table->cells, wpi_format_duration(t->facts.kernel_ns, kernels));
        wpi_strings_addf(&table->cells, "%.2f", times_faster(remedies, t));
        wpi_strings_add(&table->cells, wpi_remedy_kind_name(t->kind));
        wpi_strings_add(&table->cells, t->how);
    }
}

static void print_ranked(const wpi_remedies *remedies) {
    wpi_listing table;
    rank(remedies, &table);
    wpi_listing_print(&table, WPI_LISTING_TEXT);
    wpi_listing_deinit(&table);
}

static void print_same(const wpi_remedies *remedies) {
    const char *before = "\nNo difference: ";
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        if (!t->has_result || t->kind == WP_REMEDY_NOW || is_different(remedies, t)) continue;
        (void)printf("%s%s", before, t->name);
        before = "; ";
    }
    (void)printf("%s", before[0] == ';' ? ".\n" : "");
}

/* Of the changes of the program within a hundredth of the fastest, the one with the fewest lines;
 * NULL: none helps. The remedies are ranked. */
static const wpi_remedy *best_to_say(const wpi_remedies *remedies) {
    const wpi_remedy *fastest = NULL, *best = NULL;
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        if (!t->has_result || t->code.count == 0 || times_faster(remedies, t) <= 1 + SAME) continue;
        if (fastest == NULL) fastest = t;
        const bool is_as_fast =
            (double)t->facts.time_ns <= (1 + SAME) * (double)fastest->facts.time_ns;
        if (best == NULL || (is_as_fast && t->code.count < best->code.count)) best = t;
    }
    return best;
}

static void print_code(const wpi_remedies *remedies) {
    const wpi_remedy *best = best_to_say(remedies);
    char kernels[32], now[32];
    if (best == NULL) return;
    (void)printf("\nChange of the program, %.2f times as fast (kernels: %s instead of %s):\n\n",
                 times_faster(remedies, best), wpi_format_duration(best->facts.kernel_ns, kernels),
                 wpi_format_duration(find_now(remedies)->facts.kernel_ns, now));
    for (size_t i = 0; i < best->code.count && i < LINES_MAX; i++)
        (void)printf("    %s\n", best->code.items[i]);
    if (best->code.count > LINES_MAX)
        (void)printf("    // … and %zu more lines: see --format json\n",
                     best->code.count - LINES_MAX);
}

static void print_people(const wpi_remedies *remedies, const wpi_advice_shown *shown) {
    wpi_text diagnosis = {0};
    const wpi_remedy *now = find_now(remedies);
    wpi_paging_diagnose(&now->facts, &diagnosis);
    print_now(&now->facts, shown);
    (void)printf("%s\n\n", wpi_text_string(&diagnosis));
    print_ranked(remedies);
    print_same(remedies);
    print_code(remedies);
    (void)printf(
        "\nprogram: calls in the program; driver: parameters of the kernel module "
        "nvidia-uvm;\nsimulated: a policy that no GPU has; reference: the possible gain.\n");
    wpi_text_deinit(&diagnosis);
}

/* ---- JSON and tables ---- */

static void print_csv(const wpi_remedies *remedies) {
    static const char *const columns[] = {"tried",          "simulated_time_ns",
                                          "times_faster",   "far_faults",
                                          "pages_fetched",  "pages_evicted",
                                          "host_faults",    "link_bytes",
                                          "where",          "how",
                                          "settings",       "hints",
                                          "kernel_time_ns", NULL};
    wpi_listing table = {.columns = columns};
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        const wpi_paging_facts *f = &t->facts;
        if (!t->has_result) continue;
        const uint64_t counts[] = {f->far_faults, f->fetched_pages, f->evicted_pages,
                                   f->host_faults, f->link_bytes};
        wpi_strings_add(&table.cells, t->name);
        wpi_strings_addf(&table.cells, "%" PRIu64, f->time_ns);
        wpi_strings_addf(&table.cells, "%.3f", times_faster(remedies, t));
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            wpi_strings_addf(&table.cells, "%" PRIu64, counts[k]);
        wpi_strings_add(&table.cells, wpi_remedy_kind_name(t->kind));
        wpi_strings_add(&table.cells, t->how);
        wpi_strings_add(&table.cells, t->settings);
        wpi_strings_add(&table.cells, t->hints != NULL ? t->hints : "");
        wpi_strings_addf(&table.cells, "%" PRIu64, f->kernel_ns);
    }
    wpi_listing_print(&table, WPI_LISTING_CSV);
    wpi_listing_deinit(&table);
}

static json_t *facts_json(const wpi_paging_facts *f) {
    return json_pack(
        "{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "simulated_time_ns",
        (json_int_t)f->time_ns, "kernel_time_ns", (json_int_t)f->kernel_ns, "wait_pct", f->wait_pct,
        "far_faults", (json_int_t)f->far_faults, "pages_fetched", (json_int_t)f->fetched_pages,
        "pages_prefetched", (json_int_t)f->prefetched_pages, "pages_fetched_again",
        (json_int_t)f->again_pages, "pages_evicted", (json_int_t)f->evicted_pages, "host_faults",
        (json_int_t)f->host_faults, "host_pages", (json_int_t)f->host_pages, "remote_accesses",
        (json_int_t)f->remote_accesses, "link_bytes", (json_int_t)f->link_bytes, "managed_bytes",
        (json_int_t)f->managed_bytes);
}

static json_t *try_json(const wpi_remedies *remedies, const wpi_remedy *t) {
    json_t *code = json_array();
    for (size_t i = 0; i < t->code.count; i++)
        (void)json_array_append_new(code, wpi_json_string(t->code.items[i]));
    return json_pack("{s:o, s:f, s:s, s:o, s:o, s:o, s:o, s:o}", "tried", wpi_json_string(t->name),
                     "times_faster", times_faster(remedies, t), "where",
                     wpi_remedy_kind_name(t->kind), "how", wpi_json_string(t->how), "settings",
                     wpi_json_string(t->settings), "hints",
                     wpi_json_string(t->hints != NULL ? t->hints : ""), "code", code, "counts",
                     facts_json(&t->facts));
}

static void print_json(const wpi_remedies *remedies, const wpi_advice_shown *shown) {
    wpi_text diagnosis = {0};
    const wpi_remedy *now = find_now(remedies);
    const wpi_remedy *best = best_to_say(remedies);
    json_t *tried = json_array(), *program = json_array();
    wpi_paging_diagnose(&now->facts, &diagnosis);
    for (int i = 0; i < shown->program_count; i++)
        (void)json_array_append_new(program, wpi_json_string(shown->program[i]));
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].has_result)
            (void)json_array_append_new(tried, try_json(remedies, &remedies->items[i]));
    json_t *all =
        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", SCHEMA, "device",
                  wpi_json_string(shown->device), "settings", wpi_json_string(shown->settings),
                  "program", program, "diagnosis", wpi_json_string(wpi_text_string(&diagnosis)),
                  "now", facts_json(&now->facts), "say",
                  wpi_json_string(best != NULL ? best->name : ""), "tried", tried);
    WP_CHECK(all != NULL);
    (void)json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    (void)printf("\n");
    json_decref(all);
    wpi_text_deinit(&diagnosis);
}

void wpi_advice_print(const wpi_remedies *remedies, const wpi_advice_shown *shown,
                      wpi_listing_format format) {
    switch (format) {
    case WPI_LISTING_JSON: print_json(remedies, shown); break;
    case WPI_LISTING_CSV: print_csv(remedies); break;
    case WPI_LISTING_TEXT:
    case WPI_LISTING_FORMAT_COUNT: print_people(remedies, shown); break;
    }
}

/* ---- the plot ------------------------------------------------------------------------------- */

wp_status wpi_advice_plot(const wpi_remedies *remedies, const char *folder, wp_error *err) {
    wpi_bar *bars = wpi_calloc(remedies->count, sizeof *bars);
    size_t count = 0;
    if (bars == NULL) return WP_FAIL(err, NOMEM, "a plot");
    const uint64_t now_ns = find_now(remedies)->facts.time_ns;
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        if (!t->has_result) continue;
        bars[count++] = (wpi_bar){.label = t->name,
                                  .time_ns = t->facts.time_ns,
                                  .mark = t->facts.time_ns < now_ns   ? WP_BAR_GOOD
                                          : t->facts.time_ns > now_ns ? WP_BAR_BAD
                                                                      : WP_BAR_PLAIN};
    }
    const wp_status status =
        wpi_bars_plot(bars, count, "simulated time (ms)", folder, "advise", err);
    wpi_free(bars);
    return status;
}

/* The present run and those that differ from it, fastest first. */
static void append_cells(const wpi_remedies *remedies, const wpi_trials *trials, wpi_text *out) {
    wpi_cell cells[CELLS_MAX] = {0};
    wp_run_record records[CELLS_MAX] = {0};
    size_t count = 0;
    for (size_t i = 0; i < remedies->count; i++) {
        const wpi_remedy *t = &remedies->items[i];
        const bool is_now = t->kind == WP_REMEDY_NOW;
        if (!t->has_result || (!is_now && !is_different(remedies, t))) continue;
        if (count == CELLS_MAX - 1 && !is_now) continue; /* the last place is for the present run */
        if (count == CELLS_MAX) break;
        if (wp_run_record_read(trials->items[t->trial].result_path, &records[count], NULL) !=
            WP_STATUS_OK)
            continue;
        cells[count] = (wpi_cell){t->name, &records[count]};
        count++;
    }
    wpi_cells_html(cells, count, out);
    while (count > 0)
        wp_run_record_deinit(&records[--count]);
}

wp_status wpi_advice_page(const wpi_remedies *remedies, const wpi_advice_shown *shown,
                          const wpi_trials *trials, wp_error *err) {
    wpi_text diagnosis = {0};
    wpi_text details = {0};
    wpi_listing table;
    rank(remedies, &table);
    append_cells(remedies, trials, &details);
    wpi_paging_diagnose(&find_now(remedies)->facts, &diagnosis);
    const wpi_trials_page page = {.device = shown->device,
                                  .settings = shown->settings,
                                  .verdict = wpi_text_string(&diagnosis),
                                  .details = details.length != 0 ? details.data : NULL,
                                  .plot = "advise",
                                  .plot_title = "Simulated time",
                                  .text_columns = 1u << 0 | 1u << 4 | 1u << 5};
    const wp_status status = wpi_trials_page_write(trials, &table, &page, err);
    wpi_listing_deinit(&table);
    wpi_text_deinit(&details);
    wpi_text_deinit(&diagnosis);
    return status;
}
