/* SPDX-License-Identifier: Apache-2.0 */
/** What kernels take of a GPU, for -Xptxas -v and --resource-usage. */
#ifndef WP_COMPILER_RESOURCES_H
#define WP_COMPILER_RESOURCES_H

#include "compiler/context.h"

/** A line a kernel to stderr: registers, estimated unless c->machine has them, and memory. After
 * the pipeline has run. */
void wpi_resources_print(const wpi_compile *c);

#endif
