/* SPDX-License-Identifier: Apache-2.0 */
/**
 * C++ names of functions, for people: "_ZN2ns6rotateIfEEvPT_" is "void ns::rotate<float>(float*)",
 * and where there is little room "rotate<float>". Any thread.
 */
#ifndef WP_BASE_CXX_NAME_H
#define WP_BASE_CXX_NAME_H

#include <stddef.h>

/** The demangled name (wpi_free), with a '$' suffix after the function's name: "f$x(int)" for
 * "_Z1fi$x". NULL: it is not mangled, no C++ runtime is installed, or memory is out. */
char *wpi_cxx_demangle(const char *mangled);

/** "space::name<…>" for a mangled name that the C++ runtime refuses, as it has more than 1,024
 * characters: kernels of libraries made of templates have such names (wpi_free). NULL: it has
 * fewer, or there is no such name in it. wpi_cxx_demangle gives it, too. */
char *wpi_cxx_outer_name(const char *mangled);

/** A demangled name without its return type and parameters, in at most `columns` (> 0) columns
 *  (wpi_free, never NULL). Where that does not fit, it loses its namespaces, then template
 *  arguments from the last one on ("rotate<float, …>"), then its end ("rota…"). */
char *wpi_cxx_name_short(const char *demangled, size_t columns);

#endif
