/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/sass_code.h"

#include <string.h>

#include "base/abi.h"
#include "base/alloc.h"

#define MANY (UINT32_MAX - 1) /* several predecessors, or successors */
#define PC_STEP_BYTES 8u
#define PC_BYTES_MAX ((uint64_t)64 << 20)
#define BLOCK_ACCESSES_MAX 32u

/* ---- opcodes -------------------------------------------------------------------------------- */

/* Meaning of an opcode's first word; the first row that is a prefix of it applies. */
static const struct {
    const char *word;
    uint8_t class;
} classes[] = {
    {"FADD", WP_TRACE_FP32},       {"FMUL", WP_TRACE_FP32},     {"FFMA", WP_TRACE_FP32},
    {"FSET", WP_TRACE_FP32},       {"FMNMX", WP_TRACE_FP32},    {"FSEL", WP_TRACE_FP32},
    {"FCHK", WP_TRACE_FP32},       {"FSWZ", WP_TRACE_FP32},     {"DADD", WP_TRACE_FP64},
    {"DMUL", WP_TRACE_FP64},       {"DFMA", WP_TRACE_FP64},     {"DSET", WP_TRACE_FP64},
    {"DMNMX", WP_TRACE_FP64},      {"HADD", WP_TRACE_FP16},     {"HMUL", WP_TRACE_FP16},
    {"HFMA", WP_TRACE_FP16},       {"HSET", WP_TRACE_FP16},     {"HMNMX", WP_TRACE_FP16},
    {"HMMA", WP_TRACE_FP16},       {"IMMA", WP_TRACE_FP16},     {"MUFU", WP_TRACE_SPECIAL},
    {"IMAD", WP_TRACE_IMUL},       {"IMUL", WP_TRACE_IMUL},     {"XMAD", WP_TRACE_IMUL},
    {"IDP", WP_TRACE_IMUL},        {"UIMAD", WP_TRACE_IMUL},    {"F2", WP_TRACE_CONVERT},
    {"I2", WP_TRACE_CONVERT},      {"FRND", WP_TRACE_CONVERT},  {"POPC", WP_TRACE_CONVERT},
    {"FLO", WP_TRACE_CONVERT},     {"LDC", WP_TRACE_CONSTANT},  {"TEX", WP_TRACE_TEXTURE},
    {"TLD", WP_TRACE_TEXTURE},     {"SULD", WP_TRACE_TEXTURE},  {"SUST", WP_TRACE_TEXTURE},
    {"SHFL", WP_TRACE_WARP},       {"VOTE", WP_TRACE_WARP},     {"MATCH", WP_TRACE_WARP},
    {"REDUX", WP_TRACE_WARP},      {"BAR", WP_TRACE_SYNC},      {"MEMBAR", WP_TRACE_SYNC},
    {"ERRBAR", WP_TRACE_SYNC},     {"CCTL", WP_TRACE_SYNC},     {"BRA", WP_TRACE_CONTROL},
    {"BRX", WP_TRACE_CONTROL},     {"JMP", WP_TRACE_CONTROL},   {"CALL", WP_TRACE_CONTROL},
    {"RET", WP_TRACE_CONTROL},     {"EXIT", WP_TRACE_CONTROL},  {"BSSY", WP_TRACE_CONTROL},
    {"BSYNC", WP_TRACE_CONTROL},   {"SSY", WP_TRACE_CONTROL},   {"SYNC", WP_TRACE_CONTROL},
    {"BREAK", WP_TRACE_CONTROL},   {"YIELD", WP_TRACE_CONTROL}, {"NOP", WP_TRACE_CONTROL},
    {"WARPSYNC", WP_TRACE_CONTROL}};

/* Instructions that access memory at addresses in the trace. */
static const struct {
    const char *word;
    uint8_t access, space, memory;
} accesses[] = {{"LDGSTS", WP_TRACE_LOAD, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"LDG", WP_TRACE_LOAD, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"STG", WP_TRACE_STORE, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"LDS", WP_TRACE_LOAD, WP_TRACE_SHARED, WPI_SASS_SHARED},
                {"STS", WP_TRACE_STORE, WP_TRACE_SHARED, WPI_SASS_SHARED},
                {"LDL", WP_TRACE_LOAD, WP_TRACE_GLOBAL, WPI_SASS_LOCAL},
                {"STL", WP_TRACE_STORE, WP_TRACE_GLOBAL, WPI_SASS_LOCAL},
                {"ATOMS", WP_TRACE_ATOMIC, WP_TRACE_SHARED, WPI_SASS_SHARED},
                {"ATOMG", WP_TRACE_ATOMIC, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"ATOM", WP_TRACE_ATOMIC, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"RED", WP_TRACE_REDUCE, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"LD", WP_TRACE_LOAD, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL},
                {"ST", WP_TRACE_STORE, WP_TRACE_GLOBAL, WPI_SASS_GLOBAL}};

#define ROWS(table) (sizeof(table) / sizeof(table)[0])

static bool is_word(const char *opcode, const char *word) {
    const size_t length = strlen(word);
    return strncmp(opcode, word, length) == 0 && (opcode[length] == '.' || opcode[length] == '\0');
}

static uint8_t class_of(const char *opcode) {
    for (size_t i = 0; i < ROWS(classes); i++) {
        if (strncmp(opcode, classes[i].word, strlen(classes[i].word)) != 0) continue;
        const bool is_wide = classes[i].class == WP_TRACE_CONVERT && strstr(opcode, "64") != NULL;
        return is_wide ? WP_TRACE_CONVERT64 : classes[i].class;
    }
    return WP_TRACE_INT;
}

static uint8_t cache_of(const char *opcode) {
    if (strstr(opcode, ".CONSTANT") != NULL) return WP_TRACE_CACHE_READ_ONLY;
    return strstr(opcode, ".STRONG.GPU") != NULL || strstr(opcode, ".STRONG.SYS") != NULL
               ? WP_TRACE_CACHE_GLOBAL
               : WP_TRACE_CACHE_ALL;
}

static void classify(wpi_sass_instruction *i, uint32_t width) {
    i->class = class_of(i->opcode);
    if (is_word(i->opcode, "EXIT")) i->kind = WPI_SASS_EXIT;
    if (is_word(i->opcode, "BAR") && strstr(i->opcode, ".ARV") == NULL) i->kind = WPI_SASS_BARRIER;
    for (size_t row = 0; row < ROWS(accesses) && width != 0; row++) {
        if (!is_word(i->opcode, accesses[row].word)) continue;
        i->kind = WPI_SASS_ACCESS;
        i->access = accesses[row].access;
        i->space = accesses[row].space;
        i->memory = (wpi_sass_memory)accesses[row].memory;
        i->cache = cache_of(i->opcode);
        i->size_bytes = (uint8_t)width;
        return;
    }
}

/* ---- seeing --------------------------------------------------------------------------------- */

void wpi_sass_init(wpi_sass_code *code) {
    *code = (wpi_sass_code){.last = WPI_SASS_NONE};
}

void wpi_sass_deinit(wpi_sass_code *code) {
    wpi_free(code->instructions);
    wpi_free(code->by_pc);
    *code = (wpi_sass_code){0};
}

static void end_warp(wpi_sass_code *code) {
    if (code->last != WPI_SASS_NONE) code->instructions[code->last].behind = MANY;
    code->last = WPI_SASS_NONE;
}

void wpi_sass_begin_warp(wpi_sass_code *code) {
    end_warp(code);
    for (uint32_t r = 0; r < WPI_ACCELSIM_REGISTERS; r++)
        code->loaded_by[r] = WPI_SASS_NONE;
}

static bool grow(wpi_sass_code *code, uint64_t slot) {
    if (slot >= code->pc_count) {
        const uint64_t count = 2 * slot + 64;
        uint32_t *by_pc = wpi_realloc(code->by_pc, (size_t)count * sizeof *by_pc);
        if (by_pc == NULL) return false;
        memset(by_pc + code->pc_count, 0, (size_t)(count - code->pc_count) * sizeof *by_pc);
        code->by_pc = by_pc;
        code->pc_count = count;
    }
    if (code->count < code->capacity) return true;
    const uint32_t capacity = 2 * code->capacity + 64;
    wpi_sass_instruction *list = wpi_realloc(code->instructions, capacity * sizeof *list);
    if (list == NULL) return false;
    code->instructions = list;
    code->capacity = capacity;
    return true;
}

static const char *find_or_add(wpi_sass_code *code, const wpi_accelsim_instruction *from,
                               uint32_t *number) {
    const uint64_t slot = from->pc / PC_STEP_BYTES;
    if (from->pc >= PC_BYTES_MAX) return "the instruction's address is outside all kernels";
    if (slot < code->pc_count && code->by_pc[slot] != 0) {
        *number = code->by_pc[slot] - 1;
        return strcmp(code->instructions[*number].opcode, from->opcode) == 0
                   ? NULL
                   : "a different instruction has this address";
    }
    if (!grow(code, slot)) return "out of memory";
    *number = code->count++;
    code->by_pc[slot] = code->count;
    wpi_sass_instruction *i = &code->instructions[*number];
    *i = (wpi_sass_instruction){.pc = from->pc,
                                .destination_count = from->destination_count,
                                .source_count = from->source_count,
                                .before = WPI_SASS_NONE,
                                .behind = WPI_SASS_NONE,
                                .site = WPI_SASS_NONE};
    memcpy(i->opcode, from->opcode, sizeof i->opcode);
    memcpy(i->destinations, from->destinations, sizeof i->destinations);
    memcpy(i->sources, from->sources, sizeof i->sources);
    classify(i, from->width);
    return NULL;
}

static void note_only(uint32_t *only, uint32_t number) {
    if (*only == WPI_SASS_NONE) *only = number;
    if (*only != number) *only = MANY;
}

/* Links an instruction to the previous one of the warp. */
static void link_to(wpi_sass_code *code, uint32_t number, uint32_t mask) {
    wpi_sass_instruction *i = &code->instructions[number];
    if (code->last == WPI_SASS_NONE) { /* first instruction of the warp */
        i->before = MANY;
        return;
    }
    wpi_sass_instruction *last = &code->instructions[code->last];
    note_only(&last->behind, mask == code->last_mask ? number : MANY);
    note_only(&i->before, mask == code->last_mask ? code->last : MANY);
}

static bool has_result(const wpi_sass_instruction *i) {
    return i->kind == WPI_SASS_ACCESS &&
           (i->access == WP_TRACE_LOAD || i->access == WP_TRACE_ATOMIC);
}

static void note_loads(wpi_sass_code *code, wpi_sass_instruction *i) {
    for (uint32_t s = 0; s < i->source_count; s++) {
        const uint32_t load = code->loaded_by[i->sources[s]];
        uint32_t at = 0;
        while (at < i->load_count && i->loads[at] != load)
            at++;
        if (load != WPI_SASS_NONE && at == i->load_count && at < WPI_ACCELSIM_SOURCES)
            i->loads[i->load_count++] = load;
    }
}

/* Results wider than 32 bits fill the registers that follow. */
static void note_results(wpi_sass_code *code, const wpi_sass_instruction *i, uint32_t number) {
    const uint32_t width = has_result(i) && i->size_bytes > 4 ? i->size_bytes / 4u : 1;
    for (uint32_t d = 0; d < i->destination_count; d++) {
        for (uint32_t w = 0; w < width; w++) {
            const uint32_t r = i->destinations[d] + w;
            if (r < WPI_ACCELSIM_REGISTERS)
                code->loaded_by[r] = has_result(i) ? number : WPI_SASS_NONE;
        }
    }
}

const char *wpi_sass_see(wpi_sass_code *code, const wpi_accelsim_instruction *from) {
    uint32_t number;
    const char *fault = find_or_add(code, from, &number);
    if (fault != NULL) return fault;
    wpi_sass_instruction *i = &code->instructions[number];
    link_to(code, number, from->mask);
    note_loads(code, i);
    note_results(code, i, number);
    code->last = number;
    code->last_mask = from->mask;
    return NULL;
}

const wpi_sass_instruction *wpi_sass_find(const wpi_sass_code *code, uint64_t pc) {
    const uint64_t slot = pc / PC_STEP_BYTES;
    if (slot >= code->pc_count || code->by_pc[slot] == 0) return NULL;
    return &code->instructions[code->by_pc[slot] - 1];
}

/* ---- tables --------------------------------------------------------------------------------- */

/* Tables under construction. */
typedef struct builder {
    wpi_sass_code *code;
    wp_trace_block *blocks;
    wp_trace_step *steps;
    wp_trace_site *sites;
    uint32_t block_count, step_count, site_count;
    /* Instructions since the last other step: counts by class, and longest chains. */
    uint32_t counts[WP_TRACE_CLASS_COUNT];
    uint32_t chains[WPI_ACCELSIM_REGISTERS][WP_TRACE_CLASS_COUNT]; /* of a register's value */
    uint32_t depths[WPI_ACCELSIM_REGISTERS];
    uint32_t longest[WP_TRACE_CLASS_COUNT];
    uint32_t longest_depth;
} builder;

static bool can_go_on(const wpi_sass_instruction *i) {
    return i->kind != WPI_SASS_BARRIER && i->kind != WPI_SASS_EXIT && i->behind < MANY;
}

bool wpi_sass_goes_on(const wpi_sass_code *code, const wpi_sass_instruction *i) {
    return can_go_on(i) && code->instructions[i->behind].block == i->block &&
           code->instructions[i->behind].before == (uint32_t)(i - code->instructions);
}

static void add_step(builder *b, wp_trace_op op, uint32_t value) {
    b->steps[b->step_count++] = (wp_trace_step){.op = (uint16_t)op, .value = value};
}

static void flush_issues(builder *b) {
    for (uint16_t c = 0; c < WP_TRACE_CLASS_COUNT; c++) {
        if (b->counts[c] == 0) continue;
        b->steps[b->step_count++] = (wp_trace_step){
            .op = WP_TRACE_ISSUE, .class = c, .count = b->counts[c], .chain = b->longest[c]};
    }
    memset(b->counts, 0, sizeof b->counts);
    memset(b->chains, 0, sizeof b->chains);
    memset(b->depths, 0, sizeof b->depths);
    memset(b->longest, 0, sizeof b->longest);
    b->longest_depth = 0;
}

/* Adds an instruction: its chain is the longest of its sources' plus itself. */
static void add_issue(builder *b, const wpi_sass_instruction *i) {
    uint32_t depth = 0, chain[WP_TRACE_CLASS_COUNT] = {0};
    for (uint32_t s = 0; s < i->source_count; s++) {
        if (b->depths[i->sources[s]] <= depth) continue;
        depth = b->depths[i->sources[s]];
        memcpy(chain, b->chains[i->sources[s]], sizeof chain);
    }
    depth++;
    chain[i->class]++;
    b->counts[i->class]++;
    for (uint32_t d = 0; d < i->destination_count; d++) {
        b->depths[i->destinations[d]] = depth;
        memcpy(b->chains[i->destinations[d]], chain, sizeof chain);
    }
    if (depth <= b->longest_depth) return;
    b->longest_depth = depth;
    memcpy(b->longest, chain, sizeof chain);
}

static void add_waits(builder *b, const wpi_sass_instruction *i) {
    if (i->load_count == 0) return;
    flush_issues(b);
    for (uint32_t l = 0; l < i->load_count; l++)
        add_step(b, WP_TRACE_WAIT, b->code->instructions[i->loads[l]].site);
}

static void add_access(builder *b, const wpi_sass_instruction *i) {
    flush_issues(b);
    add_step(b, WP_TRACE_ACCESS, i->site);
    b->sites[i->site] = (wp_trace_site){.block = i->block,
                                        .place = WP_TRACE_NONE,
                                        .parameter = -1,
                                        .access = i->access,
                                        .space = i->space,
                                        .cache = i->cache,
                                        .size_bytes = i->size_bytes};
    b->blocks[i->block].access_count++;
}

static void add_instruction(builder *b, const wpi_sass_instruction *i) {
    add_waits(b, i);
    if (i->kind == WPI_SASS_ACCESS) {
        add_access(b, i);
    } else {
        add_issue(b, i);
    }
    if (i->kind == WPI_SASS_BARRIER) {
        flush_issues(b);
        add_step(b, WP_TRACE_STOP, WP_STOP_BARRIER);
    } else if (i->kind == WPI_SASS_EXIT) {
        flush_issues(b);
        add_step(b, WP_TRACE_RETURN, 0);
    }
}

/* Adds the block that begins at a leader. */
static void add_block(builder *b, wpi_sass_instruction *leader) {
    wp_trace_block *block = &b->blocks[b->block_count];
    *block = (wp_trace_block){.join = WP_TRACE_NONE, .first_step = b->step_count};
    wpi_sass_instruction *list = b->code->instructions;
    for (wpi_sass_instruction *i = leader;;) {
        i->block = b->block_count;
        add_instruction(b, i);
        if (!can_go_on(i)) break;
        wpi_sass_instruction *behind = &list[i->behind];
        if (behind->before != (uint32_t)(i - list) || behind->block != WPI_SASS_NONE) break;
        if (block->access_count == BLOCK_ACCESSES_MAX) { /* the next one begins a block */
            behind->before = MANY;
            break;
        }
        i = behind;
    }
    flush_issues(b);
    block->step_count = b->step_count - block->first_step;
    b->block_count++;
}

/* Adds blocks in order of addresses, also those without predecessors. */
static void add_blocks(builder *b) {
    wpi_sass_code *code = b->code;
    for (uint32_t i = 0; i < code->count; i++) {
        code->instructions[i].block = WPI_SASS_NONE;
        if (code->instructions[i].kind == WPI_SASS_ACCESS)
            code->instructions[i].site = b->site_count++;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t slot = 0; slot < code->pc_count; slot++) {
            if (code->by_pc[slot] == 0) continue;
            wpi_sass_instruction *i = &code->instructions[code->by_pc[slot] - 1];
            const bool is_leader =
                i->before >= MANY || !can_go_on(&code->instructions[i->before]) ||
                code->instructions[i->before].behind != (uint32_t)(i - code->instructions);
            if (i->block == WPI_SASS_NONE && (is_leader || pass == 1)) add_block(b, i);
        }
    }
}

/* Tables and the data that they point to, in one allocation. */
typedef struct sass_tables {
    wp_trace_tables tables; /* first */
    wp_trace_kernel kernel;
    builder builder;
    char *name;
} sass_tables;

static bool allocate(sass_tables *made, uint32_t instruction_count, const char *name) {
    /* An instruction adds its own step, one for each load it waits for, and how it ends a block. */
    const size_t items = instruction_count + (size_t)1, steps = items * (WPI_ACCELSIM_SOURCES + 3);
    made->builder.blocks = wpi_calloc(items, sizeof *made->builder.blocks);
    made->builder.sites = wpi_calloc(items, sizeof *made->builder.sites);
    made->builder.steps = wpi_calloc(steps, sizeof *made->builder.steps);
    made->name = wpi_strdup(name);
    return made->builder.blocks != NULL && made->builder.sites != NULL &&
           made->builder.steps != NULL && made->name != NULL;
}

wp_status wpi_sass_build(wpi_sass_code *code, const char *name, wp_trace_tables **out,
                         wp_error *err) {
    *out = NULL;
    end_warp(code);
    sass_tables *made = wpi_calloc(1, sizeof *made);
    if (made == NULL || !allocate(made, code->count, name)) {
        if (made != NULL) wpi_sass_free_tables(&made->tables);
        return WP_FAIL(err, NOMEM, "code of a trace");
    }
    builder *b = &made->builder;
    b->code = code;
    add_blocks(b);
    made->kernel = (wp_trace_kernel){.name = made->name};
    made->tables = (wp_trace_tables){.version = WP_TRACE_VERSION,
                                     .block_count = b->block_count,
                                     .step_count = b->step_count,
                                     .site_count = b->site_count,
                                     .kernel_count = 1,
                                     .blocks = b->blocks,
                                     .steps = b->steps,
                                     .sites = b->sites,
                                     .kernels = &made->kernel};
    *out = &made->tables;
    return WP_STATUS_OK;
}

void wpi_sass_free_tables(wp_trace_tables *tables) {
    if (tables == NULL) return;
    sass_tables *made = (sass_tables *)(void *)tables;
    wpi_free(made->builder.blocks);
    wpi_free(made->builder.sites);
    wpi_free(made->builder.steps);
    wpi_free(made->name);
    wpi_free(made);
}
