/* SPDX-License-Identifier: Apache-2.0 */
/** Names of kernels as in the source. */
#ifndef WP_COMPILER_KERNEL_NAME_H
#define WP_COMPILER_KERNEL_NAME_H

#include <stdbool.h>

/** The name of a kernel as in the source: "_ZN2ns1kIiEEvPT_" becomes "ns::k<int>". Caller frees. */
char *wpi_kernel_source_name(const char *mangled);
/** The same with its parameters: "ns::k<int>(int*)". Caller frees. */
char *wpi_kernel_signature(const char *mangled);
/** True if `name` names the kernel: its mangled name, its signature, or its name in the source with
 * or without template arguments. Spaces, a leading `void` and unnamed namespaces do not count. */
bool wpi_kernel_is_called(const char *mangled, const char *name);

#endif
