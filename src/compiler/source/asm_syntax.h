/* SPDX-License-Identifier: Apache-2.0 */
/** Inline PTX that names a register by one percent sign beside operands, `asm("mov.u32 %0,
 * %laneid;" : "=r"(x))`: nvcc accepts it, clang requires `%%laneid`. */
#ifndef WP_COMPILER_ASM_SYNTAX_H
#define WP_COMPILER_ASM_SYNTAX_H

/** `text` with such percent signs doubled (wpi_free), or NULL if it has none. Only strings in asm
 * statements with operands change, and names of more than one letter: `%r0` and the like are
 * modifiers of operands to both compilers. Lines stay. */
char *wpi_asm_syntax_escape(const char *text);

#endif
