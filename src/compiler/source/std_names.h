/* SPDX-License-Identifier: Apache-2.0 */
/** Programs for NVRTC, which has no C++ library, put libcu++'s names into namespace std. Here
 * std has its own. */
#ifndef WP_COMPILER_STD_NAMES_H
#define WP_COMPILER_STD_NAMES_H

/** The text without the `using cuda::std::…;` that has `at` in it; NULL: there is none. The caller
 * frees it. */
char *wpi_std_name_change(const char *text, const char *at);

#endif
