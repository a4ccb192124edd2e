/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Machine code reconstructed from a trace of instructions, and the tables (base/trace_abi.h)
 * derived from it: instructions that always follow each other with the same lanes form a block; an
 * instruction waits for the loads of its source registers.
 *
 *     begin_warp, see, see, …  begin_warp, …  ──► build ──► tables; block_of, accesses
 */
#ifndef WP_TRACE_SASS_CODE_H
#define WP_TRACE_SASS_CODE_H

#include "base/trace_abi.h"
#include "trace/accelsim.h"

typedef enum wpi_sass_kind {
    WPI_SASS_PLAIN = 0,
    WPI_SASS_ACCESS,  /* of global, shared or local memory, with addresses */
    WPI_SASS_BARRIER, /* of the block */
    WPI_SASS_EXIT
} wpi_sass_kind;

typedef enum wpi_sass_memory {
    WPI_SASS_GLOBAL = 0,
    WPI_SASS_SHARED,
    WPI_SASS_LOCAL
} wpi_sass_memory;

#define WPI_SASS_NONE UINT32_MAX

/** An instruction of the code. */
typedef struct wpi_sass_instruction {
    uint64_t pc;
    char opcode[WPI_ACCELSIM_OPCODE];
    wpi_sass_kind kind;
    wpi_sass_memory memory;
    uint8_t access, space, cache, size_bytes; /* as a wp_trace_site's */
    uint8_t class;                            /* wp_trace_class */
    uint32_t destination_count, source_count;
    uint8_t destinations[WPI_ACCELSIM_SOURCES], sources[WPI_ACCELSIM_SOURCES];
    uint32_t before, behind;              /* the only predecessor and successor; NONE, or MANY */
    uint32_t loads[WPI_ACCELSIM_SOURCES]; /* instructions whose results it needs */
    uint32_t load_count;
    uint32_t block; /* after build */
    uint32_t site;  /* … of an ACCESS */
} wpi_sass_instruction;

typedef struct wpi_sass_code {
    wpi_sass_instruction *instructions;
    uint32_t count, capacity;
    uint32_t *by_pc; /* [pc_count], in steps of 8 bytes: number + 1, or 0 */
    uint64_t pc_count;
    uint32_t last, last_mask; /* last instruction of the current warp */
    uint32_t loaded_by[WPI_ACCELSIM_REGISTERS];
} wpi_sass_code;

void wpi_sass_init(wpi_sass_code *code);
void wpi_sass_deinit(wpi_sass_code *code);
/** A warp begins; the previous one has ended. */
void wpi_sass_begin_warp(wpi_sass_code *code);
/** The warp executes an instruction; its lanes are not empty. NULL, or the error. */
const char *wpi_sass_see(wpi_sass_code *code, const wpi_accelsim_instruction *instruction);
/** The instruction at the address; NULL: never executed. */
const wpi_sass_instruction *wpi_sass_find(const wpi_sass_code *code, uint64_t pc);
/** Whether the block continues after the instruction. */
bool wpi_sass_goes_on(const wpi_sass_code *code, const wpi_sass_instruction *instruction);

/** Tables of a kernel called `name` with this code, for wpi_sass_free_tables. NOMEM. */
WP_NODISCARD wp_status wpi_sass_build(wpi_sass_code *code, const char *name, wp_trace_tables **out,
                                      wp_error *err);
void wpi_sass_free_tables(wp_trace_tables *tables); /* NULL allowed */

#endif
