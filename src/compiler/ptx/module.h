/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Modules of PTX text to nvptx64 IR, as clang's front end would give it:
 *
 *     text ──module_declare.c──► variables, functions, parameters
 *            module.c ─────────► bodies: blocks, branches, calls; instructions by translate.c
 *            module_pointers.c ► integers back into pointers
 *
 * A register is a slot of the frame, which LLVM then turns into values. A variable, parameter or
 * function is a register whose value is its address (wpi_ptx_declare_symbol).
 */
#ifndef WP_PTX_MODULE_H
#define WP_PTX_MODULE_H

#include "compiler/ptx/ptx.h"

/** Reads a module; `*out` is from wpi_compile_create. UNSUPPORTED, PARSE: one sentence with the
 * line. */
WP_NODISCARD wp_status wpi_ptx_module_read(const char *text, size_t length, wpi_compile **out,
                                           wp_error *err);

/* ---- between the files of the module */

/** A parameter or a variable, without its initial value. */
typedef struct wpi_ptx_declared {
    const char *name;
    wpi_ptx_type type; /* of an element */
    bool is_array;     /* name[…], or a vector */
    bool is_open;      /* name[] */
    bool is_register;  /* .reg */
    bool is_managed;   /* .attribute(.managed) */
    uint64_t count;    /* of elements */
    unsigned align;
} wpi_ptx_declared;

enum { WP_PTX_PARAMS = 256 };

typedef struct wpi_ptx_signature {
    wpi_ptx_declared result; /* name NULL: none */
    wpi_ptx_declared params[WP_PTX_PARAMS];
    unsigned count;
} wpi_ptx_signature;

typedef struct wpi_ptx_label {
    LLVMBasicBlockRef block;
    const char *directive; /* the text after "name:" of .branchtargets or .callprototype, or NULL */
} wpi_ptx_label;

typedef struct wpi_ptx_lines wpi_ptx_lines;

typedef struct wpi_ptx_module {
    wpi_ptx t;
    wpi_ptx_parser p;
    wpi_ptx_signature signature; /* of the function that is read, or of a prototype */
    LLVMValueRef result;         /* of the function: its memory, or NULL */
    wpi_ptx_name *label_names;   /* "scope:name" */
    wpi_ptx_label *labels;
    unsigned label_count, label_capacity;
    unsigned *parents; /* of scopes */
    unsigned scope_count, scope_capacity, scope;
    LLVMValueRef *managed; /* annotations of managed variables */
    unsigned managed_count, managed_capacity;
    wpi_ptx_lines *lines; /* NULL: the module has none */
} wpi_ptx_module;

/** Fails at the current line. */
void wpi_ptx_module_fail(wpi_ptx_module *m, const char *why);
bool wpi_ptx_module_failed(const wpi_ptx_module *m);

/* ---- module_declare.c */
/** ".name" here, with a dot: the name without it, read; else NULL. */
const char *wpi_ptx_read_directive(wpi_ptx_module *m);
void wpi_ptx_skip_line(wpi_ptx_module *m);
/** Reads what may stand between functions and in them, after its name: a variable, or what has no
 * meaning here. False: `name` is something else. */
bool wpi_ptx_module_directive(wpi_ptx_module *m, const char *name, bool is_extern,
                              bool is_in_function);
/** At the end of a module: which of its variables are managed. */
void wpi_ptx_module_annotate(wpi_ptx_module *m);
/** Before it: each variable that was declared (.extern) must have been defined. */
void wpi_ptx_module_check_externs(wpi_ptx_module *m);
/** Reads "(.param .b32 a, …)"; none if there is no '('. */
unsigned wpi_ptx_read_params(wpi_ptx_module *m, wpi_ptx_declared *out, unsigned most);
/** The type of values of this declaration in a signature. */
LLVMTypeRef wpi_ptx_declared_type(wpi_ptx_module *m, const wpi_ptx_declared *d);
uint64_t wpi_ptx_declared_bytes(const wpi_ptx_declared *d);

/* ---- module_lines.c: without lines in the module they do nothing */
/** Reads the names of files from all of the text. */
void wpi_ptx_lines_open(wpi_ptx_module *m);
/** Before the body of `m->t.function`, and behind it. */
void wpi_ptx_lines_function(wpi_ptx_module *m, const char *name);
void wpi_ptx_lines_end(wpi_ptx_module *m);
/** Behind ".loc": what is built from now on is from that line. Does not go on in the text. */
void wpi_ptx_lines_read(wpi_ptx_module *m);
void wpi_ptx_lines_close(wpi_ptx_module *m);

/* ---- module_pointers.c */
WP_NODISCARD wp_status wpi_ptx_module_pointers(wpi_compile *c, wp_error *err);

#endif
