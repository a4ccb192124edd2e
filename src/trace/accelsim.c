/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/accelsim.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static wp_status fail_line(const wpi_accelsim *in, const char *what, wp_error *err) {
    return WP_FAIL(err, PARSE, "%s:%" PRIu64 ": %s", in->path, in->line_number, what);
}

/* The next line without its end; false at the end of the file. */
static bool read_line(wpi_accelsim *in) {
    const ssize_t length = getline(&in->line, &in->line_capacity, in->file);
    if (length < 0) return false;
    in->line_number++;
    in->line[strcspn(in->line, "\r\n")] = '\0';
    return true;
}

/* ---- words of a line ------------------------------------------------------------------------ */

/* Cuts off the next word; "": none. */
static char *next_word(char **at) {
    char *word = *at + strspn(*at, " \t");
    char *outer = word + strcspn(word, " \t");
    *at = *outer != '\0' ? outer + 1 : outer;
    *outer = '\0';
    return word;
}

static bool parse_number(const char *word, int base, uint64_t *value) {
    char *outer;
    errno = 0;
    *value = base == 10 && word[0] == '-' ? (uint64_t)strtoll(word, &outer, base)
                                          : strtoull(word, &outer, base);
    return word[0] != '\0' && *outer == '\0' && errno == 0;
}

static bool next_number(char **at, int base, uint64_t *value) {
    return parse_number(next_word(at), base, value);
}

/* "R12", or a register of another file, which is not tracked. */
static bool next_registers(char **at, uint8_t *registers, uint32_t *count) {
    uint64_t listed, number;
    *count = 0;
    if (!next_number(at, 10, &listed) || listed > WPI_ACCELSIM_SOURCES) return false;
    for (uint64_t i = 0; i < listed; i++) {
        const char *word = next_word(at);
        if (word[0] == '\0') return false;
        if (word[0] == 'R' && parse_number(word + 1, 10, &number) &&
            number < WPI_ACCELSIM_REGISTERS - 1) /* the last one is zero */
            registers[(*count)++] = (uint8_t)number;
    }
    return true;
}

/* ---- instructions --------------------------------------------------------------------------- */

/* The bytes of an access, from ".64", ".U8", ".S16"; 4 by default. */
static uint32_t width_of(const char *opcode) {
    for (const char *dot = strchr(opcode, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        const char *digits = dot + 1;
        if (*digits == 'U' || *digits == 'S') digits++;
        char *outer;
        const unsigned long bits = strtoul(digits, &outer, 10);
        if (outer == digits || (*outer != '.' && *outer != '\0')) continue;
        if (bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128)
            return (uint32_t)(bits / 8);
    }
    return 4;
}

static bool read_list(wpi_accelsim_instruction *i, char **at) {
    for (uint32_t left = i->mask; left != 0; left &= left - 1) {
        if (!next_number(at, 16, &i->addresses[__builtin_ctz(left)])) return false;
    }
    return true;
}

static bool read_stride(wpi_accelsim_instruction *i, char **at) {
    uint64_t address, stride;
    if (!next_number(at, 16, &address) || !next_number(at, 10, &stride)) return false;
    for (uint32_t left = i->mask; left != 0; left &= left - 1) {
        i->addresses[__builtin_ctz(left)] = address;
        address += stride;
    }
    return true;
}

static bool read_differences(wpi_accelsim_instruction *i, char **at) {
    uint64_t address, difference;
    if (!next_number(at, 16, &address)) return false;
    for (uint32_t left = i->mask; left != 0; left &= left - 1) {
        i->addresses[__builtin_ctz(left)] = address;
        if ((left & (left - 1)) == 0) break;
        if (!next_number(at, 10, &difference)) return false;
        address += difference;
    }
    return true;
}

static bool read_addresses(wpi_accelsim_instruction *i, char **at) {
    uint64_t how;
    if (i->mask == 0) return true;
    if (!next_number(at, 10, &how)) return false;
    switch (how) {
    case 0: return read_list(i, at);
    case 1: return read_stride(i, at);
    case 2: return read_differences(i, at);
    default: return false;
    }
}

static wp_status read_instruction(wpi_accelsim *in, wp_error *err) {
    wpi_accelsim_instruction *i = &in->instruction;
    char *at = in->line;
    uint64_t value, mask, bytes;
    for (uint32_t skipped = (in->kernel.version < 3 ? 4u : 0u) + in->kernel.has_lines; skipped != 0;
         skipped--) {
        if (!next_number(&at, 10, &value))
            return fail_line(in, "an instruction must begin with numbers", err);
    }
    if (!next_number(&at, 16, &i->pc) || !next_number(&at, 16, &mask) || mask > UINT32_MAX)
        return fail_line(in, "the instruction's address or lane mask is missing", err);
    i->mask = (uint32_t)mask;
    if (!next_registers(&at, i->destinations, &i->destination_count))
        return fail_line(in, "the destination registers are missing", err);
    const char *opcode = next_word(&at);
    if (opcode[0] == '\0' || strlen(opcode) >= sizeof i->opcode)
        return fail_line(in, "the opcode is missing", err);
    memcpy(i->opcode, opcode, strlen(opcode) + 1);
    if (!next_registers(&at, i->sources, &i->source_count))
        return fail_line(in, "the source registers are missing", err);
    if (!next_number(&at, 10, &bytes)) return fail_line(in, "the access size is missing", err);
    i->width = bytes != 0 ? width_of(i->opcode) : 0;
    if (i->width != 0 && !read_addresses(i, &at))
        return fail_line(in, "the addresses are missing or in an unknown format", err);
    return WP_STATUS_OK;
}

/* ---- properties ----------------------------------------------------------------------------- */

static const char *value_of(const char *line, const char *name) {
    const size_t length = strlen(name);
    if (line[0] != '-' || strncmp(line + 1, name, length) != 0) return NULL;
    line += 1 + length;
    return strncmp(line, " = ", 3) == 0 ? line + 3 : NULL;
}

static bool is_shape(const char *text, uint32_t shape[3]) {
    return sscanf(text, "(%" SCNu32 ",%" SCNu32 ",%" SCNu32 ")", &shape[0], &shape[1], &shape[2]) ==
           3;
}

static bool take_number(const char *text, int base, uint64_t max, uint64_t *value) {
    char word[64];
    return sscanf(text, "%63s", word) == 1 && parse_number(word, base, value) && *value <= max;
}

/* Reads a line "-name = value"; ignores unknown names. */
static bool read_property(wpi_accelsim *in) {
    wpi_accelsim_kernel *k = &in->kernel;
    const char *text;
    uint64_t value = 0;
    bool is_good = true;
    if ((text = value_of(in->line, "kernel name")) != NULL) {
        (void)snprintf(k->name, sizeof k->name, "%s", text);
    } else if ((text = value_of(in->line, "grid dim")) != NULL) {
        is_good = is_shape(text, k->grid);
    } else if ((text = value_of(in->line, "block dim")) != NULL) {
        is_good = is_shape(text, k->block);
    } else if ((text = value_of(in->line, "shmem")) != NULL) {
        is_good = take_number(text, 10, UINT32_MAX, &value);
        k->shared_bytes = (uint32_t)value;
    } else if ((text = value_of(in->line, "nregs")) != NULL) {
        is_good = take_number(text, 10, 1024, &value);
        k->registers = (uint32_t)value;
    } else if ((text = value_of(in->line, "cuda stream id")) != NULL) {
        is_good = take_number(text, 10, UINT64_MAX, &k->stream);
    } else if ((text = value_of(in->line, "shmem base_addr")) != NULL) {
        is_good = take_number(text, 16, UINT64_MAX, &k->shared_base);
    } else if ((text = value_of(in->line, "local mem base_addr")) != NULL) {
        is_good = take_number(text, 16, UINT64_MAX, &k->local_base);
    } else if ((text = value_of(in->line, "accelsim tracer version")) != NULL) {
        is_good = take_number(text, 10, 1000, &value);
        k->version = (uint32_t)value;
    } else if ((text = value_of(in->line, "enable lineinfo")) != NULL) {
        is_good = take_number(text, 10, 1, &value);
        k->has_lines = value != 0;
    }
    return is_good;
}

static wp_status check_kernel(const wpi_accelsim *in, wp_error *err) {
    const wpi_accelsim_kernel *k = &in->kernel;
    if (k->name[0] == '\0') return fail_line(in, "the kernel has no name", err);
    for (int i = 0; i < 3; i++) {
        if (k->grid[i] == 0 || k->grid[i] > 0x7fffffffu || k->block[i] == 0 || k->block[i] > 1024)
            return fail_line(in, "the grid or block dimensions are missing or invalid", err);
    }
    if (k->grid[1] > 65535 || k->grid[2] > 65535 ||
        (uint64_t)k->block[0] * k->block[1] * k->block[2] > 1024)
        return fail_line(in, "the grid or block dimensions are invalid", err);
    return WP_STATUS_OK;
}

wp_status wpi_accelsim_open(wpi_accelsim *in, const char *path, wp_error *err) {
    *in = (wpi_accelsim){.path = wpi_format("%s", path), .file = fopen(path, "r")};
    if (in->file == NULL && errno == ENOENT)
        return WP_FAIL(err, NOT_FOUND, "%s: no such file", path);
    if (in->file == NULL) return WP_FAIL(err, IO, "%s: %s", path, strerror(errno));
    in->kernel.version = 3;
    while (read_line(in)) {
        if (in->line[0] == '#') break; /* instructions follow */
        if (in->line[0] == '-' && !read_property(in))
            return fail_line(in, "the value of this property is malformed", err);
        if (in->line[0] != '-' && in->line[0] != '\0')
            return fail_line(in, "not an Accel-Sim kernel trace: expected a property", err);
    }
    WP_TRY(check_kernel(in, err));
    const wpi_accelsim_kernel *k = &in->kernel;
    in->warp_count = (k->block[0] * k->block[1] * k->block[2] + 31) / 32;
    return WP_STATUS_OK;
}

void wpi_accelsim_close(wpi_accelsim *in) {
    if (in->file != NULL) fclose(in->file);
    free(in->line); /* getline's */
    wpi_free(in->path);
    *in = (wpi_accelsim){0};
}

/* ---- items ---------------------------------------------------------------------------------- */

static wp_status read_cta(wpi_accelsim *in, const char *text, wp_error *err) {
    uint32_t at[3];
    const uint32_t *grid = in->kernel.grid;
    if (sscanf(text, "%" SCNu32 ",%" SCNu32 ",%" SCNu32, &at[0], &at[1], &at[2]) != 3 ||
        at[0] >= grid[0] || at[1] >= grid[1] || at[2] >= grid[2])
        return fail_line(in, "the thread block is not in the grid", err);
    in->cta = ((uint64_t)at[2] * grid[1] + at[1]) * grid[0] + at[0];
    return WP_STATUS_OK;
}

static wp_status read_warp(wpi_accelsim *in, const char *text, wp_error *err) {
    uint64_t warp;
    if (!take_number(text, 10, in->warp_count - 1, &warp))
        return fail_line(in, "the warp is not in the thread block", err);
    in->warp = (uint32_t)warp;
    return WP_STATUS_OK;
}

static bool begins(const char *line, const char *with) {
    return strncmp(line, with, strlen(with)) == 0;
}

wp_status wpi_accelsim_next(wpi_accelsim *in, wpi_accelsim_item *item, wp_error *err) {
    while (read_line(in)) {
        if (in->line[0] == '\0' || begins(in->line, "insts = ") || begins(in->line, "cluster "))
            continue;
        if (begins(in->line, "#END_TB")) {
            *item = WPI_ACCELSIM_END_CTA;
            return WP_STATUS_OK;
        }
        if (in->line[0] == '#') continue;
        if (begins(in->line, "thread block = ")) {
            *item = WPI_ACCELSIM_CTA;
            return read_cta(in, in->line + strlen("thread block = "), err);
        }
        if (begins(in->line, "warp = ")) {
            *item = WPI_ACCELSIM_WARP;
            return read_warp(in, in->line + strlen("warp = "), err);
        }
        *item = WPI_ACCELSIM_INSTRUCTION;
        return read_instruction(in, err);
    }
    *item = WPI_ACCELSIM_END;
    return WP_STATUS_OK;
}
