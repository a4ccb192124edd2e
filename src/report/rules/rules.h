/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Rules that say what holds a run back. A rule is a file here that defines `wpi_rule_<name>`, and a
 * line in WPI_RULES. It looks at one kernel, or at the run, and either finds nothing or names its
 * evidence, with numbers, and a remedy:
 *
 *     record ─► each rule ─► findings by weight ─► the largest three: the verdict (verdict.h)
 *
 * docs/rooms/report.md says how to add one.
 */
#ifndef WP_REPORT_RULES_H
#define WP_REPORT_RULES_H

#include "base/fail.h"
#include "warpage/report.h"

#define WPI_RULES(X)                                                                               \
    X(far_faults)                                                                                  \
    X(oversubscription)                                                                            \
    X(translation)                                                                                 \
    X(coalescing)                                                                                  \
    X(dram_bandwidth)                                                                              \
    X(few_warps)                                                                                   \
    X(divergence)                                                                                  \
    X(contended_atomics)                                                                           \
    X(bank_conflicts)                                                                              \
    X(barriers)                                                                                    \
    X(issue_slots)                                                                                 \
    X(launches)                                                                                    \
    X(copies)

/** What a rule looks at. */
typedef struct wpi_rule_facts {
    const wp_run_record *record; /* of a simulated GPU */
    const wp_run_kernel *kernel; /* NULL: the run */
    const uint64_t *values;      /* its counters */
    uint64_t time_ps;            /* in which they were counted */
    double share;                /* of the run's simulated time that the kernel takes; 1: the run */
} wpi_rule_facts;

#define WPI_RULE_LANES_PCT 60.0 /* active lanes of a warp instruction, at most: divergence */
#define WPI_LINE_TIME(what) ((uint64_t)1 << WP_RUN_LINE_##what##_PS)

/** What a rule found. Texts are sentences without a final stop (wpi_free). */
typedef struct wpi_finding {
    double weight;  /* share of the run's time that this part holds, 0 to 1 */
    char *evidence; /* "87 % of warps' time waits for far faults: 6394 …" */
    char *remedy;   /* "Prefetch with cudaMemPrefetchAsync …" */
    char *bound;    /* what the remedy gives at most, from the counters; NULL: `ideal` tells */
    char *ideal;    /* settings under which the part costs nothing, as for --set, separated by ';';
                       NULL: no keys do that */
    const char *ideal_name; /* "free address translation" */
    uint64_t line_times; /* WPI_LINE_TIME(…): what the lines that wait have most of; 0: no line */
    /** In place of `line_times`: what the line has most of. NULL: see there. */
    uint64_t (*line_count)(const uint64_t *counts);
} wpi_finding;

typedef struct wpi_rule {
    const char *name; /* "far-faults" */
    bool is_of_run;   /* looks at the run, not at a kernel */
    /** Fills `out`, which is {0}, or returns false: nothing stands out. */
    bool (*find)(const wpi_rule_facts *facts, wpi_finding *out);
} wpi_rule;

#define WPI_DECLARE_RULE(name) extern const wpi_rule wpi_rule_##name;
WPI_RULES(WPI_DECLARE_RULE)
#undef WPI_DECLARE_RULE

void wpi_finding_deinit(wpi_finding *finding); /* `{0}` is fine */

/* ---- what rules look up (rule_facts.c) ---- */

/** A metric by name (metrics.c); 0 if it cannot be computed. */
double wpi_fact_metric(const wpi_rule_facts *facts, const char *name);
/** A counter by name; of a histogram, how many values. */
uint64_t wpi_fact_count(const wpi_rule_facts *facts, const char *name);
/** The sum of a histogram's values. */
double wpi_fact_sum(const wpi_rule_facts *facts, const char *name);

/** Percent of warps' time that waits for far faults; while the fault handler is busy, for TLBs and
 *  the load/store unit, too.
 */
double wpi_fact_fault_pct(const wpi_rule_facts *facts);

/** Percent of the kernel's time for which atomics of lanes that meet at one address keep an L2
 * slice busy, at a cycle each; 0 where lanes hardly meet. */
double wpi_fact_atomic_pct(const wpi_rule_facts *facts);

/** ", 97 % of them in `table` (128.00 MiB)" for the allocation that has most of them; "" if none
 * has half. wpi_free. */
char *wpi_fact_mostly(const wpi_rule_facts *facts, uint64_t (*count)(const wp_run_allocation *a));

#endif
