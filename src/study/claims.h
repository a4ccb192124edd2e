/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Claims of papers, and the results here. A figure is a folder, repro/<paper>/<figure>: claims.json
 * has the claims and how their values are measured, results.json the values of the committed run.
 * docs/rooms/repro.md has the forms.
 *
 * One thread at a time.
 */
#ifndef WP_STUDY_CLAIMS_H
#define WP_STUDY_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"

typedef enum wpi_verdict {
    WPI_VERDICT_OPEN = 0,   /* no run has been recorded */
    WPI_VERDICT_REPRODUCED, /* within the tolerance, 10% unless the claim says otherwise */
    WPI_VERDICT_ORDER,      /* "same shape": the stated order holds */
    WPI_VERDICT_CALIBRATED, /* as published, by construction: the profile was set to match it */
    WPI_VERDICT_DIFFERS,
    WPI_VERDICT_UNPUBLISHED, /* the paper has no number for it */
    WPI_VERDICT_COUNT        /* must be last */
} wpi_verdict;

typedef struct wpi_claim {
    const char *text;             /* "K80: delay on an L1 miss" */
    const char *unit;             /* "cycles" */
    const char *calibrated;       /* the key of the profile that was set; NULL: none */
    const char *reason;           /* why it differs; NULL: unknown */
    struct json_t *also_true_for; /* a list of texts, never NULL: what the claim does not exclude */
    bool has_published, has_ours;
    double published, ours;
    wpi_verdict verdict;
} wpi_claim;

typedef struct wpi_figure wpi_figure;

struct wpi_figure {
    char *paper, *name; /* "tlb-damon17", "table2" */
    const char *title, *source;
    wpi_claim *claims;
    size_t claim_count;
    char *folder;
    char *program_folder; /* of the runs: `folder`, or that of the figure in "runs_of" */
    struct json_t *json;  /* owns the texts */
    wpi_figure *study;    /* of the same runs, in `studies`; NULL: none */
};

/** Reads a figure's claims and recorded results, and those of the study of its runs, the folder of
 * the same name in `studies` beside `root`. NOT_FOUND, PARSE. */
WP_NODISCARD wp_status wpi_figure_load(const char *root, const char *paper, const char *name,
                                       wpi_figure *out, wp_error *err);
void wpi_figure_deinit(wpi_figure *figure); /* `{0}` is fine */

/** Compiles the figure's program with `wpcc` (or takes the `warpage` or the apps beside it), runs
 * it, and puts values and verdicts into the claims; `say` (may be NULL) is called before each run.
 * TOOLCHAIN; NOT_FOUND: no such app; IO: the program failed; PARSE: it printed something else than
 * "name value". */
WP_NODISCARD wp_status wpi_figure_run(wpi_figure *figure, const char *wpcc,
                                      void (*say)(const char *text), wp_error *err);
/** Whether its programs are neither Warpage's nor in the folder that $WARPAGE_PROGRAMS names. */
bool wpi_figure_lacks_programs(const wpi_figure *figure);
/** Writes results.json. */
WP_NODISCARD wp_status wpi_figure_record(const wpi_figure *figure, wp_error *err);

/** One page with all of them, of `warpage <command>` (reproduction_page.c). */
WP_NODISCARD wp_status wpi_reproduction_write(const char *command, const wpi_figure *figures,
                                              size_t count, const char *path, wp_error *err);

/** What the claim does not exclude, "; " between them: the wrong models that it names, and those
 * that are tried (claims_power.c). "" if none is known. Caller frees. */
char *wpi_claim_also_true_for(const wpi_claim *claim);

/** Whether its verdict may, and no wrong model is known that would meet it. */
bool wpi_claim_discriminates(const wpi_claim *claim);

const char *wpi_verdict_name(wpi_verdict verdict);

/** Whether the claim has a published value or order that the profile was not set to. */
static inline bool wpi_verdict_may_discriminate(wpi_verdict verdict) {
    return verdict == WPI_VERDICT_REPRODUCED || verdict == WPI_VERDICT_ORDER ||
           verdict == WPI_VERDICT_DIFFERS;
}

/** Claims by verdict, and those of them that discriminate. */
typedef struct wpi_verdict_sums {
    size_t claims[WPI_VERDICT_COUNT], discriminating[WPI_VERDICT_COUNT];
} wpi_verdict_sums;

wpi_verdict_sums wpi_figures_sum(const wpi_figure *figures, size_t count);

#endif
