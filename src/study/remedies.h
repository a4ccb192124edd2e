/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The changes that `warpage advise` tries on a program's managed memory, and the calls or
 * parameters that make them on a real GPU. Pure: from the facts of a run to a list of settings and
 * hints.
 */
#ifndef WP_STUDY_REMEDIES_H
#define WP_STUDY_REMEDIES_H

#include "base/strings.h"
#include "study/advice_plan.h"
#include "study/paging_facts.h"

typedef enum wpi_remedy_kind {
    WP_REMEDY_NOW = 0,   /* unchanged program and GPU */
    WP_REMEDY_PROGRAM,   /* calls in the program */
    WP_REMEDY_DRIVER,    /* parameters of the kernel module nvidia-uvm */
    WP_REMEDY_SIMULATED, /* a policy that no GPU has */
    WP_REMEDY_REFERENCE, /* no advice: the possible gain */
    WP_REMEDY_KIND_COUNT
} wpi_remedy_kind;

typedef struct wpi_remedy {
    char *name;       /* "pin to host: edges" */
    char *settings;   /* "paging.prefetch=none", on top of the others; "": none */
    char *hints;      /* as wp_trace_replay takes them; NULL: none */
    char *how;        /* CUDA calls or driver parameters */
    wpi_strings code; /* lines of CUDA for the program */
    wpi_remedy_kind kind;
    bool has_result;
    size_t trial; /* index of the trial that has its result */
    wpi_paging_facts facts;
} wpi_remedy;

typedef struct wpi_remedies {
    wpi_remedy *items;
    size_t count;
} wpi_remedies;

/** The facts from which remedies are chosen. */
typedef struct wpi_remedy_base {
    wpi_paging_facts facts;
    const wpi_managed_groups *groups;
    const wpi_strings *keys; /* the GPU's: name, value, name, value, … */
} wpi_remedy_base;

/** The value in force; "": no such key. */
const char *wpi_key_value(const wpi_strings *keys, const char *name);

/** The unchanged run, then the changes, those that help most programs first. */
void wpi_remedies_add_all(wpi_remedies *remedies, const wpi_remedy_base *base);
/** Adds a plan as a remedy unless an equal one exists. Returns its index. */
size_t wpi_remedies_add_plan(wpi_remedies *remedies, const wpi_managed_groups *groups,
                             const wpi_advice_plan *plan);
void wpi_remedies_drop_last(wpi_remedies *remedies);
/** Fastest first; those that are equally fast stay in order, those without a result come last. */
void wpi_remedies_rank(wpi_remedies *remedies);
void wpi_remedies_deinit(wpi_remedies *remedies);

/** "program", "driver", … */
const char *wpi_remedy_kind_name(wpi_remedy_kind kind);

#endif
