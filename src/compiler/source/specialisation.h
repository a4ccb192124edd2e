/* SPDX-License-Identifier: Apache-2.0 */
/** `template <> __device__ int f(int)` of a template that is `__host__ __device__`: nvcc accepts
 * it, clang looks for a template with the same attributes. clang's error has the place of the name
 * (corrections.h). */
#ifndef WP_COMPILER_SPECIALISATION_H
#define WP_COMPILER_SPECIALISATION_H

/** Gives the specialisation of the function whose name is at `at` both attributes. The caller frees
 * the result; NULL: it does not begin with "template <>". */
char *wpi_specialisation_both_sides(const char *text, const char *at);

/** Removes the default argument of the parameter at `at`; calls that leave it out stay errors. The
 * caller frees the result; NULL: there is none. */
char *wpi_default_argument_remove(const char *text, const char *at);

/** `template <class T> void space::f(T, int) {…}` where the namespace declares another `f`: nvcc
 * accepts it as one more. Puts the definition of the template whose name is at `at` into the
 * namespace. The caller frees the result; NULL: it is no such template. */
char *wpi_out_of_line_template_enclose(const char *text, const char *at);

#endif
