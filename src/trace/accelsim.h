/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads Accel-Sim's kernel traces (its tracer's .traceg files), line by line:
 *
 *     -kernel name = walk            properties …
 *     #BEGIN_TB
 *     thread block = 0,0,0
 *     warp = 0
 *     insts = 2
 *     0000 ffffffff 1 R2 LDG.E.64 1 R4 8 1 7f0000000000 8
 *     0010 ffffffff 0 EXIT 0 0
 *     #END_TB
 *
 * An instruction: code address, lanes, destination registers, opcode, source registers, bytes (0:
 * no memory), and the encoding of the lanes' addresses: 0 all, 1 first and stride, 2 first and
 * differences.
 */
#ifndef WP_TRACE_ACCELSIM_H
#define WP_TRACE_ACCELSIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fail.h"

#define WPI_ACCELSIM_REGISTERS 256u
#define WPI_ACCELSIM_SOURCES 8u
#define WPI_ACCELSIM_OPCODE 64u

typedef struct wpi_accelsim_kernel {
    char name[1024];
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers;
    uint64_t stream;
    uint64_t shared_base, local_base;
    uint32_t version; /* of the tracer */
    bool has_lines;   /* instructions begin with a line number */
} wpi_accelsim_kernel;

typedef struct wpi_accelsim_instruction {
    uint64_t pc;
    uint32_t mask;
    char opcode[WPI_ACCELSIM_OPCODE];
    uint32_t destination_count, source_count;
    uint8_t destinations[WPI_ACCELSIM_SOURCES], sources[WPI_ACCELSIM_SOURCES];
    uint32_t width; /* bytes of a lane's access; 0: none */
    uint64_t addresses[32];
} wpi_accelsim_instruction;

typedef enum wpi_accelsim_item {
    WPI_ACCELSIM_CTA = 0,     /* `cta` is set */
    WPI_ACCELSIM_WARP,        /* `warp` */
    WPI_ACCELSIM_INSTRUCTION, /* `instruction` */
    WPI_ACCELSIM_END_CTA,
    WPI_ACCELSIM_END /* of the file */
} wpi_accelsim_item;

typedef struct wpi_accelsim {
    char *path;
    FILE *file;
    char *line;
    size_t line_capacity;
    uint64_t line_number;
    wpi_accelsim_kernel kernel;
    uint64_t cta;
    uint32_t warp, warp_count;
    wpi_accelsim_instruction instruction;
} wpi_accelsim;

/** Opens a file and reads the kernel's properties. NOT_FOUND, IO, PARSE (with the line). Close also
 *  after failure. */
WP_NODISCARD wp_status wpi_accelsim_open(wpi_accelsim *in, const char *path, wp_error *err);
void wpi_accelsim_close(wpi_accelsim *in);
WP_NODISCARD wp_status wpi_accelsim_next(wpi_accelsim *in, wpi_accelsim_item *item, wp_error *err);

#endif
