/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the pass `check`: check_pass.c puts guards before single accesses, check_run.c
 * finds accesses that can be tested together, check_races.c reports accesses to the runtime. */
#ifndef WP_PASS_CHECK_H
#define WP_PASS_CHECK_H

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/context.h"

typedef struct checker {
    wpi_compile *c;
    LLVMTargetDataRef layout;
    LLVMValueRef *sites; /* constants of struct wp_check_site */
    uint32_t site_count;
    uint64_t *places; /* hashes of the places of barriers; their numbers begin at 1 */
    uint32_t place_count;
    bool is_in_run; /* guards are now built in the copy of a run that failed its test */
} checker;

typedef struct access {
    LLVMValueRef instruction;
    unsigned operand; /* index of the address operand */
    wp_check_access kind;
    uint64_t size_bytes; /* 0: known only at run time */
    uint32_t align_bytes;
    uint32_t flags; /* WP_CHECK_SITE_… */
} access;

/* The object that an address is based on. */
typedef struct origin {
    LLVMValueRef base; /* an alloca, a parameter, a global, or anything */
    bool is_constant;  /* `offset` is known */
    int64_t offset;
    uint64_t step;          /* the offset is a multiple of it */
    wp_check_object object; /* ANY: of unknown extent */
    uint64_t size_bytes;    /* of the object; 0: known only at run time */
} origin;

/* Good addresses are first + [0, limit). */
typedef struct bounds {
    LLVMValueRef base, size; /* of the object, or NULL */
    LLVMValueRef first, limit;
} bounds;

/** Describes a load, store or atomic; false if `instruction` is none. */
bool wpi_check_describe(const checker *k, LLVMValueRef instruction, access *a);
origin wpi_check_origin(const checker *k, LLVMValueRef address);
/** Whether no guard is needed. */
bool wpi_check_is_safe(const access *a, const origin *o);
/** Whether the access is aligned by the object's alignment and the size of its elements. */
bool wpi_check_is_aligned(const access *a, const origin *o);
/** Adds the access to the table of sites. */
uint32_t wpi_check_add_site(checker *k, const access *a, const origin *o);
/** Builds the bounds at the builder's position. For an object of unknown extent: from the guard of
 * `site`. */
bounds wpi_check_bounds(checker *k, const access *a, const origin *o, uint32_t site);
/** Marks the branch of a guard for check_loops. */
void wpi_check_mark_guard(wpi_compile *c, LLVMValueRef branch);
bool wpi_check_is_guard(LLVMValueRef branch);
/** Whether an instruction is pure, and safe wherever its operands are known. */
bool wpi_check_is_movable(LLVMValueRef instruction);
/** `pointer` as one of address space 0. */
LLVMValueRef wpi_check_generic(wpi_compile *c, LLVMValueRef pointer);

/** A run: consecutive accesses of a block, all[first … outer), without stops in between. */
typedef struct check_run {
    uint32_t first, outer;
} check_run;

/** The longest run with accesses for two or more guards that begins at all[first] and whose
 * addresses are known there; outer is first if there is none. */
check_run wpi_check_run_find(checker *k, LLVMValueRef *all, uint32_t count, uint32_t first);
/** Tests the accesses of a run together, before it:
 *
 *     all good? ──yes──► copy of the run, without guards ──┐
 *         └──no──► the run: guards are still to be put in ─┴─► rest
 *
 * `sites` ([count of all]) receives the sites that guards must use. */
void wpi_check_run_split(checker *k, LLVMValueRef *all, check_run run, uint32_t *sites);

/** Chooses the accesses that may race with other threads', before they get guards; then makes the
 * kernel report them, and where its threads synchronise. */
void wpi_check_races_choose(checker *k, LLVMValueRef function);
void wpi_check_races_say(checker *k, LLVMValueRef function);

#endif
