/* SPDX-License-Identifier: Apache-2.0 */
/* warpage reproduce and study: rerun measurements, those of papers and our own. Both have claims
 * and recorded results. */
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/print/listing.h"
#include "study/agreement.h"

enum option_index { LIST, FORMAT, HTML, RECORD };

#define OPTIONS(page)                                                                              \
    {[LIST] = {"list", NULL,                                                                       \
               "list the claims with the recorded results, without running anything"},             \
     [FORMAT] = {"format", "text|json|csv", "print a table (default), JSON or CSV"},               \
     [HTML] = {"html", "FILE", "write a web page to FILE (default for `all`: " page ")"},          \
     [RECORD] = {"record", NULL, "store the results beside the claims as the recorded ones"},      \
     {0}}

const wpi_cli_option wpi_reproduce_options[] = OPTIONS("reproduction.html");
const wpi_cli_option wpi_study_options[] = OPTIONS("studies.html");

typedef struct command {
    const char *name, *folder; /* of the claims, in lib/warpage */
    const char *group, *one;   /* "paper", "figure" */
    const char *page;          /* of all of them */
    void (*say)(const char *text);
} command;

static void say_reproduce(const char *text) {
    (void)fprintf(stderr, "warpage reproduce: %s …\n", text);
}

static void say_study(const char *text) {
    (void)fprintf(stderr, "warpage study: %s …\n", text);
}

static const command reproduce = {"reproduce",         "repro",      "paper", "figure",
                                  "reproduction.html", say_reproduce};
static const command study = {"study", "studies", "subject", "study", "studies.html", say_study};

typedef struct figure_list {
    wpi_figure *items;
    size_t count;
} figure_list;

/* ---- selection ---- */

/* The folder of the claims, beside this program; NULL: it is not there. */
static char *find_root(const command *c) {
    char *self = NULL;
    if (wpi_self_path(&self, NULL) != WP_STATUS_OK) return NULL;
    char *bin = wpi_path_dir(self), *prefix = wpi_path_dir(bin);
    char *lib = wpi_path_join(prefix, "lib/warpage"), *root = wpi_path_join(lib, c->folder);
    wpi_free(lib);
    wpi_free(self);
    wpi_free(bin);
    wpi_free(prefix);
    if (wpi_dir_exists(root)) return root;
    wpi_free(root);
    return NULL;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static void add_folders(const char *dir, wpi_strings *names) {
    struct dirent **entries = NULL;
    const int count = scandir(dir, &entries, is_visible, alphasort);
    for (int i = 0; i < count; i++) {
        char *path = wpi_path_join(dir, entries[i]->d_name);
        if (wpi_dir_exists(path)) wpi_strings_add(names, entries[i]->d_name);
        wpi_free(path);
        free(entries[i]); /* scandir's own allocations */
    }
    free(entries);
}

static bool is_all(const char *wanted) {
    return wanted == NULL || strcmp(wanted, "all") == 0;
}

static bool is_wanted(const char *wanted, const char *paper, const char *name) {
    if (is_all(wanted)) return true;
    const size_t length = strlen(paper);
    if (strncmp(wanted, paper, length) != 0) return false;
    return wanted[length] == '\0' ||
           (wanted[length] == '/' && strcmp(wanted + length + 1, name) == 0);
}

static wp_status add_figures(const char *root, const char *paper, const char *wanted,
                             figure_list *list, wp_error *err) {
    wpi_strings names = {0};
    char *dir = wpi_path_join(root, paper);
    wp_status status = WP_STATUS_OK;
    add_folders(dir, &names);
    for (size_t i = 0; i < names.count && status == WP_STATUS_OK; i++) {
        if (!is_wanted(wanted, paper, names.items[i])) continue;
        list->items = wpi_realloc(list->items, (list->count + 1) * sizeof *list->items);
        WP_CHECK(list->items != NULL);
        status = wpi_figure_load(root, paper, names.items[i], &list->items[list->count], err);
        list->count += status == WP_STATUS_OK;
    }
    wpi_strings_deinit(&names);
    wpi_free(dir);
    return status;
}

static wp_status load_figures(const command *c, const char *wanted, figure_list *list,
                              wp_error *err) {
    char *root = find_root(c);
    if (root == NULL)
        return WP_FAIL(err, NOT_FOUND, "lib/warpage/%s is not beside this program", c->folder);
    wpi_strings papers = {0};
    wp_status status = WP_STATUS_OK;
    add_folders(root, &papers);
    for (size_t i = 0; i < papers.count && status == WP_STATUS_OK; i++)
        status = add_figures(root, papers.items[i], wanted, list, err);
    wpi_strings_deinit(&papers);
    wpi_free(root);
    if (status == WP_STATUS_OK && list->count == 0)
        return WP_FAIL(err, NOT_FOUND, "no %s '%s'; `warpage %s --list` has them all", c->one,
                       wanted, c->name);
    return status;
}

static void free_figures(figure_list *list) {
    for (size_t i = 0; i < list->count; i++)
        wpi_figure_deinit(&list->items[i]);
    wpi_free(list->items);
}

/* ---- output ---- */

static char *number_text(bool is_known, double value) {
    return is_known ? wpi_format("%.6g", value) : wpi_strdup("");
}

/* Wrong models have a column where a claim names one. */
static bool names_wrong_models(const figure_list *list) {
    for (size_t f = 0; f < list->count; f++)
        for (size_t i = 0; i < list->items[f].claim_count; i++)
            if (json_array_size(list->items[f].claims[i].also_true_for) != 0) return true;
    return false;
}

static void print_list(const command *c, const figure_list *list, wpi_listing_format format) {
    const bool has_models = names_wrong_models(list);
    const char *const columns[] = {c->group,    c->one,       "claim",
                                   "published", "ours",       "unit",
                                   "verdict",   "calibrated", has_models ? "also_true_for" : NULL,
                                   NULL};
    static const wpi_column_kind kinds[] = {WP_COLUMN_TEXT,   WP_COLUMN_TEXT,   WP_COLUMN_TEXT,
                                            WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_TEXT,
                                            WP_COLUMN_TEXT,   WP_COLUMN_TEXT,   WP_COLUMN_TEXT};
    wpi_listing table = {.columns = columns,
                         .kinds = kinds,
                         .heading_columns = 2,
                         .heading_joint = "/",
                         .detail_columns = 1};
    for (size_t f = 0; f < list->count; f++) {
        const wpi_figure *figure = &list->items[f];
        for (size_t i = 0; i < figure->claim_count; i++) {
            const wpi_claim *claim = &figure->claims[i];
            wpi_strings_add(&table.cells, figure->paper);
            wpi_strings_add(&table.cells, figure->name);
            wpi_strings_add(&table.cells, claim->text);
            wpi_strings_add_take(&table.cells, number_text(claim->has_published, claim->published));
            wpi_strings_add_take(&table.cells, number_text(claim->has_ours, claim->ours));
            wpi_strings_add(&table.cells, claim->unit);
            wpi_strings_add(&table.cells, wpi_verdict_name(claim->verdict));
            wpi_strings_add(&table.cells, claim->calibrated != NULL ? claim->calibrated : "");
            if (has_models) wpi_strings_add_take(&table.cells, wpi_claim_also_true_for(claim));
        }
    }
    wpi_listing_print(&table, format);
    wpi_listing_deinit(&table);
}

/* Below the table, where a model is compared with measurements. */
static void print_agreement(const figure_list *list) {
    for (size_t f = 0; f < list->count; f++) {
        const wpi_figure *figure = &list->items[f];
        wpi_agreement agreement;
        for (size_t n = 0; wpi_agreement_find(figure, n, &agreement); n++) {
            wpi_text words = {0};
            wpi_agreement_describe(&agreement, "\n  ", &words);
            printf("%s%s/%s, %s\n", n == 0 ? "\n" : "", figure->paper, figure->name,
                   wpi_text_string(&words));
            wpi_text_deinit(&words);
        }
    }
}

static void print_sums(const figure_list *list) {
    const wpi_verdict_sums sums = wpi_figures_sum(list->items, list->count);
    printf("\n");
    for (int v = 0; v < WPI_VERDICT_COUNT; v++) {
        if (sums.claims[v] == 0) continue;
        printf("%zu %s", sums.claims[v], wpi_verdict_name((wpi_verdict)v));
        if (wpi_verdict_may_discriminate((wpi_verdict)v))
            printf(", %zu discriminate", sums.discriminating[v]);
        printf("\n");
    }
}

/* Figures whose programs are not there are left out of `all`. */
static wp_status run_figures(const command *c, figure_list *list, bool leaves_out, bool is_recorded,
                             wp_error *err) {
    char *wpcc = NULL, *self = NULL;
    WP_TRY(wpi_self_path(&self, err));
    char *bin = wpi_path_dir(self);
    wpcc = wpi_path_join(bin, "wpcc");
    wp_status status = WP_STATUS_OK;
    for (size_t f = 0; f < list->count && status == WP_STATUS_OK; f++) {
        if (leaves_out && wpi_figure_lacks_programs(&list->items[f])) {
            (void)fprintf(stderr,
                          "warpage %s: %s/%s is left out: bench/hardware/programs.sh makes its "
                          "programs\n",
                          c->name, list->items[f].paper, list->items[f].name);
            continue;
        }
        status = wpi_figure_run(&list->items[f], wpcc, c->say, err);
        if (status == WP_STATUS_OK && is_recorded) status = wpi_figure_record(&list->items[f], err);
    }
    wpi_free(wpcc);
    wpi_free(bin);
    wpi_free(self);
    return status;
}

static int run_command(const command *c, const wpi_cli_option *options, int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    figure_list list = {0};
    wp_error err = {0};
    if (wpi_arguments_parse_mixed(options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error(c->name, "%s", err.message);
    const char *wanted = arguments.operands[0];
    if (arguments.operand_count > 1)
        return wpi_usage_error(c->name, "one %s, %s, or all", c->one, c->group);
    if (wanted == NULL && arguments.values[LIST] == NULL)
        return wpi_usage_error(c->name, "which %s? --list has them; `all` runs them all", c->one);
    wp_status status = load_figures(c, wanted, &list, &err);
    const char *page = arguments.values[HTML];
    if (page == NULL && is_all(wanted) && arguments.values[LIST] == NULL) page = c->page;
    if (status == WP_STATUS_OK && arguments.values[LIST] == NULL)
        status = run_figures(c, &list, is_all(wanted), arguments.values[RECORD] != NULL, &err);
    if (status == WP_STATUS_OK && page != NULL)
        status = wpi_reproduction_write(c->name, list.items, list.count, page, &err);
    if (status == WP_STATUS_OK) print_list(c, &list, format);
    if (status == WP_STATUS_OK && format == WPI_LISTING_TEXT) {
        print_sums(&list);
        print_agreement(&list);
    }
    free_figures(&list);
    return status == WP_STATUS_OK ? wpi_finish(c->name) : wpi_failure(c->name, "%s", err.message);
}

int wpi_reproduce_main(int argc, char **argv) {
    return run_command(&reproduce, wpi_reproduce_options, argc, argv);
}

int wpi_study_main(int argc, char **argv) {
    return run_command(&study, wpi_study_options, argc, argv);
}
