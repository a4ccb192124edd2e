/* SPDX-License-Identifier: Apache-2.0 */
/** Values of integers and addresses of a kernel for each thread of a block of a given shape:
 *
 *     value(thread) = factor * unknown + … + number(thread)
 *
 *  The unknowns are values that all threads share: arguments, block indices, loop counters,
 * addresses of variables. The number is computed from the thread's indices by the code's
 * arithmetic. A value without such a form (for example loaded at a computed index) is not known.
 */
#ifndef WP_PASS_THREAD_VALUE_H
#define WP_PASS_THREAD_VALUE_H

#include "compiler/context.h"
#include "compiler/ir/map.h"
#include "compiler/ir/uniform.h"

enum { WP_THREAD_TERMS_MAX = 6, WP_BLOCK_THREADS_MAX = 1024 };

typedef struct wpi_block_shape {
    uint32_t x, y, z;
} wpi_block_shape;

typedef struct wpi_thread_term {
    uint32_t unknown; /* a node */
    int64_t factor;
} wpi_thread_term;

/** A value, its operands (nodes too), and the result of the last evaluation. */
typedef struct wpi_thread_node {
    LLVMValueRef value;
    int kind;         /* of thread_value.c */
    uint32_t detail;  /* opcode, predicate or id */
    uint32_t bits;    /* width of the result, or of compared operands */
    uint32_t bits_in; /* of a cast: the operand's */
    int64_t constant; /* or the scale of the second operand */
    uint32_t operands[3], operand_count;
    uint32_t start; /* of a value that a loop counts on: the node it starts as; else 0 */
    bool is_uniform;
    bool is_known;
    bool varies; /* number has an entry per thread, not one for all */
    uint32_t term_count;
    wpi_thread_term terms[WP_THREAD_TERMS_MAX]; /* by unknown, ascending */
    int64_t *number;                            /* sign-extended from `bits` */
    uint32_t room;
} wpi_thread_node;

typedef struct wpi_thread_values {
    wpi_compile *c;
    LLVMTargetDataRef layout;
    wpi_uniform uniform;
    wpi_thread_node *nodes; /* operands before users */
    uint32_t count, capacity;
    wpi_map index;
} wpi_thread_values;

void wpi_thread_values_init(wpi_thread_values *v, wpi_compile *c, LLVMValueRef kernel);
void wpi_thread_values_deinit(wpi_thread_values *v);
/** Adds the node of `value` and of all its operands; nodes move when others are added. */
uint32_t wpi_thread_values_add(wpi_thread_values *v, LLVMValueRef value);
/** Evaluates the nodes `first` to `outer` - 1; those before are evaluated for the same shape. */
void wpi_thread_values_evaluate(wpi_thread_values *v, wpi_block_shape shape, uint32_t first,
                                uint32_t outer);

/** Whether the node is known, and without unknowns. */
bool wpi_thread_node_is_number(const wpi_thread_node *node);
/** Whether both are known, with the same sum of unknowns: their difference is a number. */
bool wpi_thread_node_is_alike(const wpi_thread_node *a, const wpi_thread_node *b);
static inline int64_t wpi_thread_node_at(const wpi_thread_node *node, uint32_t thread) {
    return node->number[node->varies ? thread : 0];
}
/** Whether a summand of the node, as evaluated, is a number that differs between lanes of a warp.
 * Sets *is_data if another summand is no number, and not the same for all threads. */
bool wpi_thread_node_has_lane(const wpi_thread_values *v, uint32_t node, uint32_t threads,
                              bool *is_data);
/** Whether the node is an unknown that an instruction redefines each time it runs. */
bool wpi_thread_node_is_redefined(const wpi_thread_node *node);

#endif
