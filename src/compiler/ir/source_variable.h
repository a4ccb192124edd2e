/* SPDX-License-Identifier: Apache-2.0 */
/** Source places and names for the tables of variants. */
#ifndef WP_PASS_SOURCE_H
#define WP_PASS_SOURCE_H

#include "base/text.h"
#include "compiler/context.h"

typedef struct wpi_source_place {
    const char *file; /* not terminated; NULL: unknown */
    size_t file_length;
    unsigned line; /* 0: unknown */
} wpi_source_place;

/** The source place of an instruction; of code inlined from our headers or clang's, that of the
 * call. */
wpi_source_place wpi_source_place_of(LLVMValueRef instruction);
/** Appends the places of the calls that brought an inlined instruction to its function, innermost
 * first: "a.cu:12, a.cu:40"; nothing: not inlined. */
void wpi_source_append_calls(LLVMValueRef instruction, wpi_text *out);
/** The same as a constant string; null: not inlined. */
LLVMValueRef wpi_source_calls(wpi_compile *c, LLVMValueRef instruction);
/** A hash of line, column and calls, equal for copies that the compiler made of one instruction. */
uint64_t wpi_source_hash(LLVMValueRef instruction);
/** The address of a constant string; null for NULL. */
LLVMValueRef wpi_source_text(wpi_compile *c, const char *bytes, size_t length);
/** The name of a variable as in the source, as a constant string; null for anything else. */
LLVMValueRef wpi_source_variable(wpi_compile *c, LLVMValueRef base);

#endif
