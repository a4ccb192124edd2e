/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The changes that `warpage advise` tries on a program's managed memory, and the calls or
 * parameters that make them on a real GPU. Pure: from the facts of a run to a list of settings and
 * hints.
 */
#ifndef WP_STUDY_TRIES_H
#define WP_STUDY_TRIES_H

#include "base/strings.h"
#include "study/advice_plan.h"
#include "study/paging_facts.h"

typedef enum wp_try_kind {
    WP_TRY_NOW = 0,   /* as the program and the GPU are */
    WP_TRY_PROGRAM,   /* calls in the program */
    WP_TRY_DRIVER,    /* parameters of the kernel module nvidia-uvm */
    WP_TRY_SIMULATED, /* a policy that no GPU has */
    WP_TRY_REFERENCE, /* no advice: the possible gain */
    WP_TRY_KIND_COUNT
} wp_try_kind;

typedef struct wp_try {
    char *name;      /* "pin to host: edges" */
    char *settings;  /* "paging.prefetch=none", on top of the others; "": none */
    char *hints;     /* as wp_trace_replay takes them; NULL: none */
    char *how;       /* CUDA calls or driver parameters */
    wp_strings code; /* lines of CUDA for the program */
    wp_try_kind kind;
    bool has_result;
    wp_paging_facts facts;
} wp_try;

typedef struct wp_tries {
    wp_try *items;
    size_t count;
} wp_tries;

/** The facts from which tries are chosen. */
typedef struct wp_try_base {
    wp_paging_facts facts;
    const wp_managed_groups *groups;
    const wp_strings *keys; /* the GPU's: name, value, name, value, … */
} wp_try_base;

/** The value in force; "": no such key. */
const char *wpi_key_value(const wp_strings *keys, const char *name);

/** The unchanged run, then the changes, those that help most programs first. */
void wpi_tries_add_all(wp_tries *tries, const wp_try_base *base);
/** Adds a plan's try unless an equal one exists. Returns its index. */
size_t wpi_tries_add_plan(wp_tries *tries, const wp_managed_groups *groups,
                          const wp_advice_plan *plan);
void wpi_tries_drop_last(wp_tries *tries);
/** Fastest first; those that are equally fast stay in order, those without a result come last. */
void wpi_tries_rank(wp_tries *tries);
void wpi_tries_deinit(wp_tries *tries);

/** "program", "driver", … */
const char *wpi_try_kind_name(wp_try_kind kind);

#endif
