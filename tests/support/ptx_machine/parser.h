/* SPDX-License-Identifier: Apache-2.0 */
/** From text to a module: directives here, instructions as statements for the decoder. */
#ifndef PM_PARSER_H
#define PM_PARSER_H

#include <setjmp.h>

#include "lexer.h"
#include "machine.h"
#include "symbols.h"

typedef enum pm_operand_kind {
    PM_OPERAND_REGISTER,
    PM_OPERAND_INTEGER,
    PM_OPERAND_FLOAT,
    PM_OPERAND_DOUBLE,
    PM_OPERAND_SYMBOL,  /* `value` is added to its address */
    PM_OPERAND_SPECIAL, /* value: its number */
    PM_OPERAND_VECTOR,  /* {a, b} */
    PM_OPERAND_ADDRESS, /* [items[0] + value], and for textures, {items[1]} */
    PM_OPERAND_LIST,    /* (a, b) */
    PM_OPERAND_PAIR,    /* a|b */
    PM_OPERAND_SINK,    /* _ */
    PM_OPERAND_NAME     /* of nothing so far: a label */
} pm_operand_kind;

typedef struct pm_operand {
    pm_operand_kind kind;
    const pm_symbol *symbol;
    bool is_negated; /* !p */
    uint64_t value;
    const char *name; /* PM_OPERAND_NAME, and labels */
    size_t name_length;
    struct pm_operand *items;
    unsigned item_count;
} pm_operand;

enum { PM_OPERANDS_MAX = 8 };
typedef struct pm_statement {
    char name[96];
    pm_operand operands[PM_OPERANDS_MAX];
    unsigned operand_count;
    const pm_symbol *guard;
    bool is_guard_negated;
    const char *text;
    uint32_t line;
} pm_statement;

/* A place that needs a label's pc. */
typedef struct pm_fixup {
    uint32_t insn;    /* its offset; */
    uint32_t *target; /* or this */
    const char *name;
    size_t name_length;
    uint32_t line;
    unsigned depth;
    struct pm_fixup *next;
} pm_fixup;

enum { PM_MODULE_DEPTH = 1, PM_PARAMS_DEPTH, PM_FUNCTION_DEPTH }; /* of scopes */

enum { PM_CONSTANT_BUCKETS = 4096 };
typedef struct pm_parser {
    pm_lexer lexer;
    pm_module *module;
    pm_symbols symbols;
    pm_function *function; /* the one at hand */
    uint32_t local_top;
    pm_fixup *fixups;
    int32_t sink_row; /* -1: not made */
    uint32_t constant_heads[PM_CONSTANT_BUCKETS], *constant_links;
    jmp_buf failed;
    char *log;
    size_t log_bytes;
} pm_parser;

_Noreturn __attribute__((format(printf, 3, 4))) void pm_parse_fail(pm_parser *p, unsigned line,
                                                                   const char *format, ...);

/* Parses the whole text. */
void pm_parse(pm_parser *p);

/* A type by its name, with or without the dot; bytes 0: none. */
pm_type pm_type_of(const char *name, size_t length);

/* Declarations. */
/* `.align 8 .b8 name[32]`, with what stands before the name. */
typedef struct pm_declaration {
    pm_type type;
    uint64_t align, bytes;
    unsigned vector;
    pm_token name;
    bool is_array, is_open; /* name[] */
} pm_declaration;

pm_declaration pm_parse_declaration(pm_parser *p);
pm_symbol *pm_add_variable(pm_parser *p, const pm_declaration *d, pm_space space);
void pm_parse_registers(pm_parser *p);
void pm_parse_variable(pm_parser *p, const pm_token *space, bool is_extern);
bool pm_is_space(const pm_token *token);

/* What stands between braces, behind the opening one. */
void pm_parse_block(pm_parser *p);

/* Rows. */
int32_t pm_new_row(pm_parser *p);
int32_t pm_constant_row(pm_parser *p, uint64_t value);

uint64_t pm_round_up(uint64_t value, uint64_t to);
/* The array with room for one more than `count`. */
void *pm_grow(void *array, uint32_t count, uint32_t *capacity, size_t item_bytes);
/* Room in the function's local frame. */
uint32_t pm_local_place(pm_parser *p, uint64_t bytes, uint64_t align);

pm_insn *pm_emit(pm_parser *p, const pm_statement *s, pm_handler run);
void pm_decode(pm_parser *p, const pm_statement *s);
void pm_add_fixup(pm_parser *p, const pm_operand *label, uint32_t *target, uint32_t line);

/* A variable of global or constant memory, after its name: its initial value. */
void pm_parse_initial(pm_parser *p, pm_type type, uint8_t *memory, uint64_t bytes);
/* A number, maybe a sum. */
uint64_t pm_parse_number(pm_parser *p);

/* Little helpers around the token at hand. */
pm_token pm_take_word(pm_parser *p, const char *what);
void pm_skip_statement(pm_parser *p);
void pm_skip_line(pm_parser *p);
bool pm_accept(pm_parser *p, const char *text);
void pm_expect(pm_parser *p, const char *text);

/* Special registers. */
int pm_special_find(const char *name, size_t length);
void pm_special_run(pm_warp *w, const pm_insn *in);

/* The driver's functions; NULL: none of that name. */
pm_handler pm_native_find(const char *name);

#endif
