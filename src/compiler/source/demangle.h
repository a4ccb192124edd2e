/* SPDX-License-Identifier: Apache-2.0 */
/** Demangles names in messages. */
#ifndef WP_COMPILER_DEMANGLE_H
#define WP_COMPILER_DEMANGLE_H

/** A copy of `text` (wpi_free) with every mangled C++ name in it demangled: "_Z1kPi" becomes
 * "k(int*)". */
char *wpi_demangle(const char *text);

#endif
