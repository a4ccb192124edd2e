/* SPDX-License-Identifier: Apache-2.0 */
/** `kernel<<<grid, block>>>(…)` in device code (dynamic parallelism), which clang 19 refuses: code
 * of a GPU may not refer to kernels. Their address as an argument of a template may be. Its error
 * has the place of the kernel's name (corrections.h). */
#ifndef WP_COMPILER_DEVICE_LAUNCHES_H
#define WP_COMPILER_DEVICE_LAUNCHES_H

/** Changes the launch of the kernel whose name is at `name`. The caller frees it; NULL: there is no
 * launch. */
char *wpi_device_launch_change(const char *text, const char *name);

/** The kernel of a changed launch is overloaded: chooses it by the number of arguments. `at`: the
 * first "&kernel" of the launch. NULL: it is none. */
char *wpi_device_launch_choose(const char *text, const char *at);

/** The kernel of a launch changed so is a template whose arguments follow from those of the call:
 * chooses it by their types. `at`: the name that chooses by number. NULL: it is none. */
char *wpi_device_launch_deduce(const char *text, const char *at);

#endif
