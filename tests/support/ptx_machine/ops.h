/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The instructions that the machine knows, a table a file. A row's name has the parts that tell one
 * handler from another; `*` stands for a type out of `types`. Other parts of an instruction's name
 * must be among those that the row allows.
 */
#ifndef PM_OPS_H
#define PM_OPS_H

#include "parser.h"

enum {
    PM_MAY_ROUND = 1,
    PM_MAY_FTZ = 2,
    PM_MAY_SAT = 4,
    PM_MAY_NAN = 8,
    PM_MAY_ACCESS = 16,  /* state space, cache, order, scope */
    PM_MAY_VECTOR = 32,  /* .v2 .v4 */
    PM_MAY_COMBINE = 64, /* .and .or .xor */
    PM_MAY_UNI = 128     /* .uni .aligned .cta */
};

/* Operands by a letter each:
 *   d  register written            s  value            V  registers written, {a, b} or one
 *   p  predicate written, or p|q   q  predicate, !p    v  values, {a, b} or one
 *   P  register written, or r|p    m  [address]        l  label
 *   ?  those behind it may be missing */
typedef struct pm_op {
    const char *name, *types, *shape;
    unsigned allowed;
    pm_handler run;
    int aux;
    void (*decode)(pm_parser *, const pm_statement *, pm_insn *); /* instead of the shape */
} pm_op;

extern const pm_op pm_integer_ops[], pm_logic_ops[], pm_float_ops[], pm_half_ops[],
    pm_convert_ops[], pm_memory_ops[], pm_atomic_ops[], pm_control_ops[], pm_warp_ops[],
    pm_texture_ops[];

/* For `decode`. */
int32_t pm_source(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_type type);
int32_t pm_destination(pm_parser *p, const pm_statement *s, const pm_operand *o);
void pm_take_address(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in);
void pm_take_vector(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in,
                    bool is_source);
/* Matrix instructions, whose names have many parts; false: it is none that exists. */
bool pm_decode_matrix(pm_parser *p, const pm_statement *s, pm_insn *in);
_Noreturn void pm_bad_operand(pm_parser *p, const pm_statement *s);

#endif
