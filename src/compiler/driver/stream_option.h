/* SPDX-License-Identifier: Apache-2.0 */
/**
 * wpcc --stream=KERNEL:PARAMETER[,PARAMETER...]: the rewrite `stream` with the user's names. KERNEL
 * is searched in each file (with relocatable device code, in the linked program); files without it
 * are unchanged, and at least one file must have it.
 */
#ifndef WP_COMPILER_STREAM_OPTION_H
#define WP_COMPILER_STREAM_OPTION_H

#include "compiler/driver/job.h"

/** INVALID: not of the form above. */
WP_NODISCARD wp_status wpi_stream_check(const char *value, wp_error *err);
/** Appends the rewrites for a file of bitcode: those of --rewrite, and one for each --stream whose
 * kernel it has. INVALID: several kernels of that name, or no such pointer parameter. */
WP_NODISCARD wp_status wpi_stream_rewrites(wpi_compile_job *job, const char *bitcode_path,
                                           wpi_strings *rewrites, wp_error *err);
/** NOT_FOUND if the kernel of a --stream was in no file. Only warns if it may be in other files; OK
 * if there was no device code. */
WP_NODISCARD wp_status wpi_stream_check_found(wpi_compile_job *job, bool may_be_elsewhere,
                                              wp_error *err);

#endif
