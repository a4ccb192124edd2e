/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What `warpage advise` tries on a program's managed memory, and how it is had on a real GPU. Pure:
 * from what a run says to a list of settings and hints; nothing runs here.
 */
#ifndef WP_CLI_TRIES_H
#define WP_CLI_TRIES_H

#include "base/strings.h"
#include "cli/advice_plan.h"
#include "cli/paging_facts.h"

typedef enum wp_try_kind {
    WP_TRY_NOW = 0,   /* as the program and the GPU are */
    WP_TRY_PROGRAM,   /* calls in the program */
    WP_TRY_DRIVER,    /* parameters of the kernel module nvidia-uvm */
    WP_TRY_SIMULATED, /* in no real GPU */
    WP_TRY_REFERENCE, /* no advice: what there is to gain */
    WP_TRY_KIND_COUNT
} wp_try_kind;

typedef struct wp_try {
    char *name;      /* "edges across the link" */
    char *settings;  /* "paging.prefetch=none", on top of the others; "": none */
    char *hints;     /* as wp_trace_replay takes them; NULL: none */
    char *how;       /* in CUDA's words */
    wp_strings code; /* what the program says, line by line */
    wp_try_kind kind;
    /* What came out. */
    bool has_result;
    wp_paging_facts facts;
} wp_try;

typedef struct wp_tries {
    wp_try *items;
    size_t count;
} wp_tries;

/** What is known when tries are chosen. */
typedef struct wp_try_base {
    wp_paging_facts facts;
    const wp_managed_groups *groups;
    const wp_strings *keys; /* the GPU's: name, value, name, value, … */
} wp_try_base;

/** The value in force; "": no such key. */
const char *wpi_key_value(const wp_strings *keys, const char *name);

/** The run as it is, then what may help, what helps most programs first. */
void wpi_tries_add_all(wp_tries *tries, const wp_try_base *base);
/** What a plan says, unless that is among the tries already. Its place among them. */
size_t wpi_tries_add_plan(wp_tries *tries, const wp_managed_groups *groups,
                          const wp_advice_plan *plan);
void wpi_tries_drop_last(wp_tries *tries);
/** Fastest first; those that are equally fast stay in order, those without a result come last. */
void wpi_tries_rank(wp_tries *tries);
void wpi_tries_deinit(wp_tries *tries);

/** "program", "driver", … */
const char *wpi_try_kind_name(wp_try_kind kind);

#endif
