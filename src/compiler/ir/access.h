/* SPDX-License-Identifier: Apache-2.0 */
/** Memory accesses of instructions. For the roots of addresses see pointer.h. */
#ifndef WP_IR_ACCESS_H
#define WP_IR_ACCESS_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum wpi_ir_access_kind {
    WP_ACCESS_NONE = 0, /* none; calls other than those below also count as none */
    WP_ACCESS_READ,     /* a load */
    WP_ACCESS_WRITE,    /* a store */
    WP_ACCESS_ATOMIC,   /* a read-modify-write operation, or compare-and-exchange */
    WP_ACCESS_COPY,     /* memcpy, memmove: writes the range at `pointer`, reads that at `source` */
    WP_ACCESS_SET,      /* memset */
    WP_ACCESS_FENCE
} wpi_ir_access_kind;

typedef struct wpi_ir_access {
    LLVMValueRef instruction;
    wpi_ir_access_kind kind;
    unsigned operand;     /* index of the instruction's operand `pointer` */
    LLVMValueRef pointer; /* NULL: a fence, or no access */
    LLVMValueRef source;  /* of COPY */
    LLVMValueRef value;   /* stored by WRITE; the byte of SET; else NULL */
    LLVMTypeRef type;     /* of the data at `pointer`; NULL: a range of bytes */
    bool is_ordered;      /* volatile, or atomic of any order */
} wpi_ir_access;

wpi_ir_access wpi_access_of(LLVMValueRef instruction);

/** Bytes accessed at `pointer`; 0: known only at run time, or none. */
uint64_t wpi_access_bytes(LLVMTargetDataRef layout, const wpi_ir_access *access);
/** The address space of `pointer`, as its type has it. */
uint32_t wpi_access_space(const wpi_ir_access *access);

static inline bool wpi_access_reads(const wpi_ir_access *a) {
    return a->kind == WP_ACCESS_READ || a->kind == WP_ACCESS_ATOMIC || a->kind == WP_ACCESS_COPY;
}

static inline bool wpi_access_writes(const wpi_ir_access *a) {
    return a->kind >= WP_ACCESS_WRITE && a->kind <= WP_ACCESS_SET;
}

/** Whether it is a range of bytes: COPY or SET. */
static inline bool wpi_access_is_range(const wpi_ir_access *a) {
    return a->kind == WP_ACCESS_COPY || a->kind == WP_ACCESS_SET;
}

/** Whether an instruction is an atomic operation. */
bool wpi_access_is_atomic(LLVMValueRef instruction);
/** Whether an instruction is a load that is neither volatile nor atomic. */
bool wpi_access_is_plain_read(LLVMValueRef instruction);

#endif
