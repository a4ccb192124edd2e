/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions that clang refers to for C++ classes. Compiled to bitcode as all of the device
 * library. */
#include "base/abi.h"

void __cxa_pure_virtual(void);

/* The entry of a class's table for a virtual function without a definition. */
void __cxa_pure_virtual(void) {
    wp_rt_trap();
}
