/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of the rewrite `stream` (docs/rooms/stream.md), in the order in which they run:
 *
 *     stream.c          a module that has only the kernel; at the end, back into the program
 *     stream_root.c     tells where addresses start
 *     stream_plain.c    makes accesses loads and stores of few widths
 *     stream_access.c   finds mapped reads and writes, and replaces them by marker calls
 *     stream_meet.c     finds reads of what another thread wrote before a barrier
 *     stream_bytes.c    finds kernels that read single bytes one after the other
 *     stream_follow.c   tells how the host finds addresses that depend on mapped data
 *     stream_points.c   cuts the kernel at check points, and makes it a state machine
 *     stream_slice.c    copies it into the address slice and the compute slice
 *
 * Where the address slice would need data that it does not have, or a kernel relies on lanes being
 * together, or windows are faster, all starts over with windows: instead of the last two comes
 *
 *     stream_window.c   accesses ask the host for the data around an address, and wait
 *
 * All of them refuse with UNSUPPORTED and a sentence: kernel, file, line, reason.
 */
#ifndef WP_COMPILER_STREAM_H
#define WP_COMPILER_STREAM_H

#include "base/stream_abi.h"
#include "compiler/context.h"
#include "compiler/ir/map.h"

/** What an address may start from. */
typedef struct wpi_stream_root {
    uint64_t params;  /* pointer parameters */
    bool is_local;    /* the thread's own memory */
    bool is_shared;   /* the block's */
    bool is_variable; /* a variable of the program */
    bool is_loaded;   /* or made from a number: anything but mapped data */
} wpi_stream_root;

/** A value that the address slice must not need. */
typedef struct wpi_stream_unknown {
    char *place;        /* "kmeans.cu:12", or "" */
    const char *reason; /* "depends on mapped data, which is read" */
} wpi_stream_unknown;

typedef struct wpi_stream {
    wpi_compile *c;
    const wpi_kernel_ir *kernel;
    uint64_t mask;
    wpi_stream_root written; /* by the kernel, apart from mapped data and its own memory */
    LLVMValueRef body;       /* void(parameters, thread *): becomes the compute slice */
    wpi_stream_unknown *unknowns;
    uint32_t unknown_count, unknown_capacity;
    wpi_map indices;        /* loads of mapped data that the host may do, too */
    uint32_t address_rows;  /* bits: rows with addresses */
    uint32_t write_classes; /* bits: classes in use */
    bool has_barriers;
    bool has_windows; /* in place of an address slice, for facts.reason */
    bool has_lines;   /* slices take slots from lines in registers */
    wpi_stream_facts facts;
} wpi_stream;

/* ---- marker calls: names start with "wp.stream."; the slices replace them ---- */

/** i<8·bytes> wp.stream.read.<bytes>(i32 is_own, ptr, i32 unknown, i32 loop, i32 site, i32 sites,
 * i32 row, i64 entry): the read number `site` of the `sites` of this row that are in a turn of the
 * loop, but not of a loop inside of it. stream_points.c sets these; sites is 0 where there are too
 * many. With windows, `loop` is the window. `entry` counts in rows that are none of the classes;
 * there `ptr` is null unless is_own. */
#define WPI_STREAM_READ "wp.stream.read."
/** void wp.stream.entry(i32 row, i64 entry, i32 0, i32 loop, i32 site, i32 sites): of a row that
 * the host needs for the next read. */
#define WPI_STREAM_ENTRY_CALL "wp.stream.entry"
/** void wp.stream.write.<bytes>(i32 is_own, ptr, i<8·bytes>); with windows, instead of is_own the
 * bits of those in which the value may be read again. */
#define WPI_STREAM_WRITE "wp.stream.write."
/** i32 wp.stream.next(i32 wpi_stream_kind): the wpi_stream_answer of all threads of its half */
#define WPI_STREAM_NEXT "wp.stream.next"
/** a value of a type that the address slice does not have: T wp.stream.unknown.<type>(i32) */
#define WPI_STREAM_UNKNOWN "wp.stream.unknown."

enum {
    WPI_STREAM_READ_LOOP = 3,
    WPI_STREAM_READ_SITE,
    WPI_STREAM_READ_SITES,
    WPI_STREAM_READ_ROW,
    WPI_STREAM_READ_ENTRY
};

/** The class of a marked read or write; -1: the instruction is none. */
int wpi_stream_read_class(LLVMValueRef instruction);
int wpi_stream_write_class(LLVMValueRef instruction);
/** The row of a marked read or entry; -1: the instruction is none. */
int wpi_stream_row_of(LLVMValueRef instruction);

/** "file:line" of an instruction, or ""; free with wpi_free. */
char *wpi_stream_place(LLVMValueRef instruction);
WP_NODISCARD wp_status wpi_stream_refuse(const wpi_stream *s, LLVMValueRef instruction,
                                         const char *reason, wp_error *err);
/** UNSUPPORTED, with facts.reason: `reason` and the place, "file:line" or "". */
WP_NODISCARD wp_status wpi_stream_need_windows(wpi_stream *s, const char *reason, const char *place,
                                               wp_error *err);
/** The number of a value that the address slice lacks, for messages. */
uint32_t wpi_stream_add_unknown(wpi_stream *s, LLVMValueRef instruction, const char *reason);

wpi_stream_root wpi_stream_root_of(LLVMValueRef pointer);
/** What wpi_stream_find_accesses noted of an instruction that reads or writes memory, while
 * addresses were still values: later they are in memory of the thread. Without a note: the thread's
 * own. */
wpi_stream_root wpi_stream_noted_root(LLVMValueRef instruction);
void wpi_stream_note_roots(wpi_stream *s);           /* and which of them the kernel writes */
bool wpi_stream_is_own(const wpi_stream_root *root); /* memory of this thread only */

/** Mapped data are then read by loads and written by stores, of a power of two bytes up to 16 at a
 * multiple of so many, except where they are refused later. */
WP_NODISCARD wp_status wpi_stream_make_plain(wpi_stream *s, wp_error *err);
WP_NODISCARD wp_status wpi_stream_find_accesses(wpi_stream *s, wp_error *err);
/** Whether two accesses of a thread are of some of the same bytes wherever it is, so that other
 * threads have others. False: perhaps. */
bool wpi_stream_is_same_place(const wpi_stream *s, LLVMValueRef a, uint64_t a_bytes, LLVMValueRef b,
                              uint64_t b_bytes);
/** A barrier or fence on a way from a write to a read; NULL: there is none. */
LLVMValueRef wpi_stream_barrier_between(LLVMValueRef write, LLVMValueRef read);
/** If the address of a load is that of an affine function of one of `indices`: the row of such
 * reads, and the load's entry in it; entries of the index are put before the load. 0: it is not, or
 * there are too many rows. */
uint32_t wpi_stream_follow(wpi_stream *s, LLVMValueRef load, uint32_t class, LLVMValueRef *entry);
/** A marked read of a byte, in a run of such reads one behind the other; NULL: there is none. */
LLVMValueRef wpi_stream_byte_after_byte(const wpi_stream *s);
WP_NODISCARD wp_status wpi_stream_cut(wpi_stream *s, wp_error *err);
/** Makes the slices; `addresses` and `compute` are functions with the parameters of `body`.
 * UNSUPPORTED with facts.reason: windows are needed. */
WP_NODISCARD wp_status wpi_stream_slice(wpi_stream *s, LLVMValueRef *addresses,
                                        LLVMValueRef *compute, wp_error *err);

/** In place of the slices: `body` reads and writes through windows. */
void wpi_stream_use_windows(wpi_stream *s);

/** The device library function `__wp_stream_<name>`, declared. */
LLVMValueRef wpi_stream_call(wpi_compile *c, const char *name, LLVMTypeRef result,
                             LLVMValueRef *args, unsigned count);

#endif
