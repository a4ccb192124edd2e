/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Inline PTX to LLVM IR: the parser's output for the translator, and the translator's functions for
 * the instruction files (ops_*.c).
 *
 *     asm text ──parse.c──► statement ──translate.c──► row of a table ──ops_*.c──► IR
 *                                            ▲
 *                                     registers.c (names to values)
 *                                     address.c (integers to pointers)
 *
 * Failure is sticky: the first wpi_ptx_fail sets `status`, later calls still return values of the
 * right types, and translate.c stops after the statement. So instruction handlers need no checks. A
 * handler must take every modifier of an opcode; if one is left, the instruction is "not
 * understood".
 */
#ifndef WP_PTX_PTX_H
#define WP_PTX_PTX_H

#include "base/text.h"
#include "compiler/context.h"
#include "compiler/ir/map.h"

enum {
    WP_PTX_PART_CHARS = 32,
    WP_PTX_PARTS = 16,
    WP_PTX_OPERANDS = 16,
    WP_PTX_POOL = 512 /* each element of a list is there twice */
};

typedef enum wpi_ptx_kind {
    WP_PTX_NONE = 0,
    WP_PTX_BITS,      /* .b32 */
    WP_PTX_UNSIGNED,  /* .u32 */
    WP_PTX_SIGNED,    /* .s32 */
    WP_PTX_FLOAT,     /* .f16 .f32 .f64 */
    WP_PTX_BFLOAT,    /* .bf16 */
    WP_PTX_PREDICATE, /* .pred */
} wpi_ptx_kind;

/** `bits` counts one lane; .f16x2 has two lanes of 16 bits. */
typedef struct wpi_ptx_type {
    wpi_ptx_kind kind;
    unsigned bits;
    unsigned lanes;
} wpi_ptx_type;

typedef enum wpi_ptx_operand_kind {
    WP_PTX_OPERAND_NAME,    /* register, special register or asm operand ("%0") */
    WP_PTX_OPERAND_INTEGER, /* value */
    WP_PTX_OPERAND_REAL32,  /* value: bits of a float */
    WP_PTX_OPERAND_REAL64,  /* value: bits of a double */
    WP_PTX_OPERAND_LIST,    /* {a, b} or (a, b): pool[first .. first + count) */
    WP_PTX_OPERAND_ADDRESS, /* [name + value] or [name + offset_name] or [value]; of a texture:
                               [name, pool[first]], count is 1 */
    WP_PTX_OPERAND_SINK     /* _ */
} wpi_ptx_operand_kind;

typedef struct wpi_ptx_operand {
    wpi_ptx_operand_kind kind;
    bool is_negated;                /* !p */
    const char *name, *offset_name; /* of the parser's table of names; "" if there is none */
    char selector[8];               /* of a video instruction: "b3210", "h1"; else "" */
    uint64_t value;                 /* of a name: bytes after it */
    unsigned first, count;
    unsigned second; /* p|q: pool index of q; 0: none */
} wpi_ptx_operand;

typedef struct wpi_ptx_statement {
    char text[160];                              /* as written, for messages */
    char parts[WP_PTX_PARTS][WP_PTX_PART_CHARS]; /* "ld", "global", "v2", "f32" */
    unsigned part_count;
    uint32_t taken; /* bit i: parts[i] was understood */
    bool has_guard;
    wpi_ptx_operand guard;
    unsigned operand_count;
    unsigned operands[WP_PTX_OPERANDS]; /* pool indices */
    unsigned pool_count;
    wpi_ptx_operand pool[WP_PTX_POOL]; /* [0] is not used */
} wpi_ptx_statement;

typedef enum wpi_ptx_item {
    WP_PTX_ITEM_END,
    WP_PTX_ITEM_STATEMENT,
    WP_PTX_ITEM_OPEN,  /* { */
    WP_PTX_ITEM_CLOSE, /* } */
    WP_PTX_ITEM_NAMES, /* .reg: parser.type and the names in the statement's operands */
    WP_PTX_ITEM_LABEL, /* parser.label, whose ':' was read */
    WP_PTX_ITEM_DOT,   /* modules: a directive other than .reg, not read yet */
    WP_PTX_ITEM_BAD    /* statement.text could not be parsed */
} wpi_ptx_item;

/** Names, each once: equal names of one parser are the same pointer. */
typedef struct wpi_ptx_name wpi_ptx_name;

typedef struct wpi_ptx_parser {
    wpi_text clean; /* comments gone, asm operands marked */
    const char *at;
    bool is_module;
    wpi_ptx_type type;
    const char *label;
    wpi_ptx_name *names;
    wpi_text word;          /* the name being read */
    const char *line_start; /* the newlines before it are counted in `line` */
    unsigned line;
    wpi_ptx_statement statement; /* the last one read */
} wpi_ptx_parser;

/** `text` is LLVM's form of an asm string ($0, $$, ${:uid}). */
void wpi_ptx_parser_init(wpi_ptx_parser *parser, const char *text, size_t length, unsigned uid);
/** `text` is a module's. */
void wpi_ptx_parser_init_module(wpi_ptx_parser *parser, const char *text, size_t length);
void wpi_ptx_parser_deinit(wpi_ptx_parser *parser);
wpi_ptx_item wpi_ptx_parse(wpi_ptx_parser *parser);
/** The line of `parser->at`, from 1. */
unsigned wpi_ptx_line(wpi_ptx_parser *parser);
/** Fills statement.text with the text at `from`, up to ';'. */
void wpi_ptx_note_text(wpi_ptx_statement *s, const char *from);

/* The words of modules. */
void wpi_ptx_skip_blanks(wpi_ptx_parser *parser);
bool wpi_ptx_accept(wpi_ptx_parser *parser, char c);
/** A name, or NULL: there is none here. */
const char *wpi_ptx_read_name(wpi_ptx_parser *parser);
/** A number into `o`: its kind and value. */
bool wpi_ptx_read_number(wpi_ptx_parser *parser, wpi_ptx_operand *o);
/** The type named by "f32", "b16x2", "pred"; kind NONE if it is none. */
wpi_ptx_type wpi_ptx_type_parse(const char *name);

typedef struct wpi_ptx_register {
    wpi_ptx_name *name;
    bool is_predicate;
    bool is_symbol; /* modules: a variable, parameter or function; its value is its address */
    unsigned bits;
    unsigned depth;     /* of the { } it was declared in */
    int shadowed;       /* the register of this name in an outer scope, or -1 */
    char alias[16];     /* another name for this asm operand, or "" */
    LLVMValueRef value; /* i1, an integer of `bits`, or a pointer; NULL before the first write */
    bool is_output;     /* of an asm block */
    bool has_slot;      /* control flow joins it: in a module, or where an asm block has labels */
    LLVMValueRef slot;  /* its place in the function's frame; NULL before the first use */
} wpi_ptx_register;

/** One asm block under translation. */
typedef struct wpi_ptx {
    wpi_compile *c;
    LLVMBuilderRef b;    /* always just before `anchor` */
    LLVMValueRef anchor; /* the asm call, or the end of a guarded statement */
    LLVMValueRef function;
    bool is_volatile; /* asm volatile */
    bool is_kernel;
    LLVMValueRef carry;        /* CC.CF, i1; NULL: not set */
    LLVMValueRef matrix_words; /* ops_tensor.c: memory of this function, or NULL */
    LLVMValueRef group_words;  /* ops_wgmma.c: the same */
    wpi_map *pointers;         /* address.c: pointers recovered in this function */
    wpi_map *hopeless;         /* … and phis that are not pointers */
    bool is_module;            /* all registers have slots */
    unsigned line;             /* modules: of the statement */
    wpi_ptx_name *names;       /* of registers */
    wpi_ptx_statement *s;      /* the statement under translation */
    wpi_ptx_register *registers;
    unsigned register_count, register_capacity;
    unsigned depth;
    struct {
        wpi_ptx_name *names; /* numbers: indices of blocks */
        LLVMBasicBlockRef *blocks;
        unsigned count;
    } labels; /* of an asm block */
    wp_status status;
    wp_error *err;
} wpi_ptx;

/* ---- translate.c */
/** Translates `text`; the registers named "%0", "%1" … were declared by the caller. */
void wpi_ptx_translate(wpi_ptx *t, const char *text, size_t length, unsigned uid);
/** Translates the statement without its guard. */
void wpi_ptx_run(wpi_ptx *t);
/** Declares the registers of a .reg. */
void wpi_ptx_declare_all(wpi_ptx *t, const wpi_ptx_parser *parser);
/** Ends a { }: its registers are gone. */
void wpi_ptx_close_scope(wpi_ptx *t);
/** The statement is not understood; `why` may add the reason, or be NULL. */
void wpi_ptx_fail(wpi_ptx *t, const char *why);

typedef struct wpi_ptx_row {
    const char *name; /* first part of the opcode */
    void (*emit)(wpi_ptx *t);
} wpi_ptx_row;
extern const wpi_ptx_row wpi_ptx_arithmetic[], wpi_ptx_bits[], wpi_ptx_compare[], wpi_ptx_convert[],
    wpi_ptx_memory[], wpi_ptx_atomic[], wpi_ptx_thread[], wpi_ptx_video[], wpi_ptx_tensor[],
    wpi_ptx_mbarrier[], wpi_ptx_texture[], wpi_ptx_cluster[], wpi_ptx_wgmma[];

/* ---- labels.c: of asm blocks */
/** Finds the labels of `text`; if there are any, registers that are written get slots. */
void wpi_ptx_labels_read(wpi_ptx *t, const char *text, size_t length, unsigned uid);
void wpi_ptx_labels_forget(wpi_ptx *t);
/** The label is here. */
void wpi_ptx_labels_place(wpi_ptx *t, const char *name);
/** The statement is `bra`, with or without a guard. */
void wpi_ptx_labels_branch(wpi_ptx *t);

/* ---- modifiers and operands of the statement */
bool wpi_ptx_has(wpi_ptx *t, const char *modifier);  /* … and marks it as taken */
void wpi_ptx_skip(wpi_ptx *t, const char *modifier); /* marks it as taken if present */
/** .L2::cache_hint, and the cache policy that it adds behind the other operands: without effect. */
void wpi_ptx_take_policy(wpi_ptx *t);
/** Index in `names` (NULL-terminated) of the first that is present; -1: none. */
int wpi_ptx_choice(wpi_ptx *t, const char *const *names);
/** Takes the leftmost type not taken yet; fails the statement if there is none. */
wpi_ptx_type wpi_ptx_type_take(wpi_ptx *t);
/** Rounding to integer or of results: 'n' 'z' 'm' 'p', 0 if not given. */
char wpi_ptx_rounding(wpi_ptx *t);
/** Fails the statement unless it has `least` to `most` operands. */
void wpi_ptx_expect(wpi_ptx *t, unsigned least, unsigned most);
const wpi_ptx_operand *wpi_ptx_operand_at(const wpi_ptx *t, unsigned index);
/** How many items operand `index` has: those of {a, b, …}; else it is one itself. */
unsigned wpi_ptx_length(const wpi_ptx *t, unsigned index);
const wpi_ptx_operand *wpi_ptx_item_at(const wpi_ptx *t, unsigned index, unsigned i);
/** The second of p|q, or NULL. */
const wpi_ptx_operand *wpi_ptx_second(const wpi_ptx *t, unsigned index);

/* ---- ptx_names.c */
/** The entry of a name in `*names`, made if absent. */
wpi_ptx_name *wpi_ptx_name_add(wpi_ptx_name **names, const char *text, size_t length);
wpi_ptx_name *wpi_ptx_name_find(wpi_ptx_name *names, const char *text);
const char *wpi_ptx_name_text(const wpi_ptx_name *name);
/** A number that belongs to the name; -1 at first. */
int *wpi_ptx_name_number(wpi_ptx_name *name);
void wpi_ptx_names_deinit(wpi_ptx_name **names);

/* ---- registers.c */
/** Forgets the registers from index `count` on. */
void wpi_ptx_forget(wpi_ptx *t, unsigned count);
/** The value of a register: bits or a pointer; NULL before its first write. */
LLVMValueRef wpi_ptx_value(wpi_ptx *t, wpi_ptx_register *r);
void wpi_ptx_set_value(wpi_ptx *t, wpi_ptx_register *r, LLVMValueRef value);
/** Memory of the function's frame, made in its first block. */
LLVMValueRef wpi_ptx_frame(wpi_ptx *t, LLVMTypeRef type);
/** Modules: declares a variable, parameter or function by its address. */
void wpi_ptx_declare_symbol(wpi_ptx *t, const char *name, LLVMValueRef address);
void wpi_ptx_declare(wpi_ptx *t, const char *name, wpi_ptx_type type, LLVMValueRef value);
/** Makes `name` another name of the register `target`. */
void wpi_ptx_alias(wpi_ptx *t, const char *name, const char *target);
wpi_ptx_register *wpi_ptx_find(wpi_ptx *t, const char *name);
/** Values as instructions compute with them: integers of the type's width, float and double; both
 *  16-bit floats as float; two lanes as a vector of two. */
LLVMValueRef wpi_ptx_read(wpi_ptx *t, unsigned index, wpi_ptx_type type);
LLVMValueRef wpi_ptx_read_operand(wpi_ptx *t, const wpi_ptx_operand *o, wpi_ptx_type type);
void wpi_ptx_write(wpi_ptx *t, unsigned index, wpi_ptx_type type, LLVMValueRef value);
void wpi_ptx_write_operand(wpi_ptx *t, const wpi_ptx_operand *o, wpi_ptx_type type,
                           LLVMValueRef value);
/** The value as stored in the register, maybe a pointer; NULL: `o` is not a register with a
 * value. */
LLVMValueRef wpi_ptx_read_raw(wpi_ptx *t, const wpi_ptx_operand *o);
bool wpi_ptx_write_raw(wpi_ptx *t, const wpi_ptx_operand *o, LLVMValueRef value);
/** Any register value as an integer of its own width. */
LLVMValueRef wpi_ptx_as_integer(wpi_ptx *t, LLVMValueRef value);
/** A value of a special register such as "%tid.x"; NULL if there is none of this name. */
LLVMValueRef wpi_ptx_special(wpi_ptx *t, const char *name);

/* ---- ops_arithmetic.c: floats with .ftz and .sat; the destination is operand 0 */
LLVMValueRef wpi_ptx_read_flushed(wpi_ptx *t, unsigned index, wpi_ptx_type type, bool is_ftz);
void wpi_ptx_write_float(wpi_ptx *t, wpi_ptx_type type, LLVMValueRef value, bool is_ftz,
                         bool is_sat);

/* ---- ops_bulk.c */
void wpi_ptx_bulk(wpi_ptx *t);        /* cp.async.bulk, cp.reduce.async.bulk */
void wpi_ptx_store_async(wpi_ptx *t); /* st.async */
/** Calls `copy` for each block of a cluster that the mask (i32) names, in a loop. */
void wpi_ptx_multicast(wpi_ptx *t, LLVMValueRef mask,
                       void (*copy)(wpi_ptx *t, LLVMValueRef rank, const void *arg),
                       const void *arg);
/** The same place in the shared memory of the block `rank`. */
LLVMValueRef wpi_ptx_mapped(wpi_ptx *t, LLVMValueRef pointer, LLVMValueRef rank);

/* ---- ops_tensor_copy.c: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor */
/** The words before "tensor" are taken. */
void wpi_ptx_tensor_copy(wpi_ptx *t);
/** Whether a name is that of a function of tensorlib. */
#define WP_PTX_TENSOR_PREFIX "__wp_tensor_"

/* ---- ops_mbarrier.c */
/** Counts transferred bytes (64 bits) at the barrier. */
void wpi_ptx_count_bytes(wpi_ptx *t, LLVMValueRef barrier, LLVMValueRef bytes);
void wpi_ptx_copy_arrives(wpi_ptx *t); /* cp.async.mbarrier.arrive */

/* ---- ops_cluster.c */
void wpi_ptx_cluster_barrier(wpi_ptx *t); /* barrier.cluster */
/** Whether the statement accesses .shared::cluster memory. */
bool wpi_ptx_is_cluster_space(const wpi_ptx *t);
/** The generic pointer that a .shared::cluster address means. */
LLVMValueRef wpi_ptx_cluster_pointer(wpi_ptx *t, LLVMValueRef value);
/** The value of the special predicate "%is_explicit_cluster"; NULL if `name` is another. */
LLVMValueRef wpi_ptx_special_predicate(wpi_ptx *t, const char *name);

/* ---- address.c */
/** The pointer meant by operand `index`, which must be [address]. */
LLVMValueRef wpi_ptx_address(wpi_ptx *t, unsigned index);
/** The same, where operands of the statement are in several spaces. */
typedef enum wpi_ptx_place {
    WP_PTX_PLACE_GLOBAL, /* or generic */
    WP_PTX_PLACE_SHARED,
    WP_PTX_PLACE_CLUSTER
} wpi_ptx_place;
LLVMValueRef wpi_ptx_address_in(wpi_ptx *t, unsigned index, wpi_ptx_place place);
/** The same; the address may have coordinates behind it: [map, {x, y}]. */
LLVMValueRef wpi_ptx_base_in(wpi_ptx *t, unsigned index, wpi_ptx_place place);
/** The pointer that an integer was computed from, with the same arithmetic applied; NULL if there
 * is none. Code is placed where the integer was computed. */
LLVMValueRef wpi_ptx_pointer_of(wpi_ptx *t, LLVMValueRef value);

/** Modules: the generic pointer whose shared address has the low 32 bits of `value`: a call that
 *  module_pointers.c replaces. */
#define WP_PTX_SHARED_POINTER "__wp_ptx_shared"
LLVMValueRef wpi_ptx_shared_pointer(wpi_ptx *t, LLVMValueRef value);

/* ---- small builders */
LLVMTypeRef wpi_ptx_llvm(const wpi_ptx *t, wpi_ptx_type type);  /* what wpi_ptx_read returns */
LLVMValueRef wpi_ptx_integer(LLVMTypeRef type, uint64_t value); /* splat for vectors */
LLVMValueRef wpi_ptx_real(LLVMTypeRef type, double value);
/** Calls an LLVM intrinsic overloaded by one type. */
LLVMValueRef wpi_ptx_intrinsic(wpi_ptx *t, const char *name, LLVMTypeRef type, LLVMValueRef *args,
                               unsigned count);
/** Calls a function by name, declared by the types of `args`. */
LLVMValueRef wpi_ptx_call(wpi_ptx *t, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                          unsigned count);
LLVMValueRef wpi_ptx_minmax(wpi_ptx *t, bool is_max, bool is_signed, LLVMValueRef a,
                            LLVMValueRef b);
/** Integers resized by the signedness of `from`. */
LLVMValueRef wpi_ptx_resize(wpi_ptx *t, LLVMValueRef value, bool is_signed, LLVMTypeRef type);

static inline wpi_ptx_type wpi_ptx_type_of(wpi_ptx_kind kind, unsigned bits) {
    return (wpi_ptx_type){kind, bits, 1};
}
static inline bool wpi_ptx_is_float(wpi_ptx_type type) {
    return type.kind == WP_PTX_FLOAT || type.kind == WP_PTX_BFLOAT;
}
static inline bool wpi_ptx_is_integer(wpi_ptx_type type) {
    return type.kind == WP_PTX_UNSIGNED || type.kind == WP_PTX_SIGNED || type.kind == WP_PTX_BITS;
}
static inline bool wpi_ptx_is_signed(wpi_ptx_type type) {
    return type.kind == WP_PTX_SIGNED;
}

#endif
