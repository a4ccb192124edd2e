/* SPDX-License-Identifier: Apache-2.0 */
/**
 * wpcc --stream=KERNEL:PARAMETER[,PARAMETER...]: the rewrite `stream` in the user's words. The
 * option is looked up in the kernels of each file (with relocatable device code, of the linked
 * program); files without such a kernel stay as they are, and at the end some file must have had
 * it.
 */
#ifndef WP_COMPILER_STREAM_OPTION_H
#define WP_COMPILER_STREAM_OPTION_H

#include "compiler/driver/job.h"

/** INVALID: not of the form above. */
WP_NODISCARD wp_status wpi_stream_check(const char *value, wp_error *err);
/** Appends the rewrites for a file of bitcode: those of --rewrite, and one for each --stream whose
 * kernel is in it. INVALID: several kernels of that name, or no such pointer parameter. */
WP_NODISCARD wp_status wpi_stream_rewrites(wpi_compile_job *job, const char *bitcode_path,
                                           wpi_strings *rewrites, wp_error *err);
/** NOT_FOUND if the kernel of a --stream was in none of the files. If it may be in others, that is
 * a warning; if there was no device code, it is nothing. */
WP_NODISCARD wp_status wpi_stream_check_found(wpi_compile_job *job, bool may_be_elsewhere,
                                              wp_error *err);

#endif
