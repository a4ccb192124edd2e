/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/resources.h"

#include <stdio.h>

void wpi_resources_print(const wpi_compile *c) {
    for (uint32_t i = 0; i < c->kernel_count; i++) {
        const wpi_kernel_ir *k = &c->kernels[i];
        fprintf(stderr, "wpcc: %s: %s%u registers, %u bytes of shared memory, %u of local memory\n",
                k->name, c->machine != NULL ? "" : "about ", k->register_estimate,
                k->shared_static_bytes, k->local_bytes);
    }
}
