/* SPDX-License-Identifier: Apache-2.0 */
/** Programs of the Python package, which read and write files by pyarrow. */
#ifndef WP_TABLE_IO_PYTHON_H
#define WP_TABLE_IO_PYTHON_H

#include "base/fail.h"
#include "base/strings.h"
#include "base/subprocess.h"

/** The interpreter (WARPAGE_PYTHON, else python3) and the path of the program `name` in
 * lib/warpage/python/warpage. */
WP_NODISCARD wp_status wpi_python_argv(const char *name, wpi_strings *argv, wp_error *err);
/** Runs it. IO: its first line on stderr, where it fails. */
WP_NODISCARD wp_status wpi_python_run(const wpi_strings *argv,
                                      const wpi_subprocess_options *options, wp_error *err);

#endif
