/* SPDX-License-Identifier: Apache-2.0 */
/** Inline PTX that names a register by one percent sign beside operands, `asm("mov.u32 %0,
 * %laneid;" : "=r"(x))`, or lacks a comma between operands: nvcc accepts both, clang neither. */
#ifndef WP_COMPILER_ASM_SYNTAX_H
#define WP_COMPILER_ASM_SYNTAX_H

/** `text` with such percent signs doubled and commas added (wpi_free), or NULL if it has none. Only
 * asm statements with operands change, of percent signs those before names of more than one letter:
 * `%r0` and the like are modifiers of operands to both compilers. Lines stay. */
char *wpi_asm_syntax_escape(const char *text);

/** `text` with the percent sign at `at`, or before it in the line, doubled: it numbers an operand
 * that is not there. nvcc refuses that in code that is used, clang in any; so does the PTX of
 * code that is used. NULL: there is none. The caller frees it. */
char *wpi_asm_operand_escape(const char *text, const char *at);

/** Doubles the percent sign that ends the literal before `at`, where a macro's result follows that
 * is no operand's number: "mov.u32 %0, %" TEXT(laneid) ";". NULL: no literal ends so. */
char *wpi_asm_register_escape(const char *text, const char *at);

#endif
