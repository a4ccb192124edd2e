/* SPDX-License-Identifier: Apache-2.0 */
/* registers: how many a thread of each kernel takes on a GPU. */
#include "compiler/ir/pressure.h"
#include "compiler/machine/machine_code.h"
#include "compiler/passes.h"

/* So few that an SM of 65,536 registers has room for the blocks of __launch_bounds__; a warp takes
 * them by multiples of 256. */
static uint32_t most_registers(const wpi_kernel_ir *k) {
    enum { OF_SM = 65536, GRANULE = 8, MOST = 255 };
    const uint64_t threads = (uint64_t)k->max_threads * k->min_blocks;
    const uint32_t most = k->registers_max == 0 ? MOST : k->registers_max;
    if (threads == 0 || threads > OF_SM / GRANULE) return most;
    const uint32_t shared = (uint32_t)(OF_SM / threads) / GRANULE * GRANULE;
    return shared < most ? shared : most;
}

/* Estimates the 32-bit registers that a GPU's compiler would use: those of values, and those for
 * addressing and the calling convention, so many that the mean is ptxas's
 * (bench/hardware/registers.py). Values that are alive only within a block of code take no more
 * than a block of 1,024 threads has: instructions may be moved. Bounded as for GPUs. */
static uint32_t estimate_registers(wpi_compile *c, const wpi_kernel_ir *k) {
    enum { FIXED = 10, LEAST = 16, MOVED_FROM = 64 };
    const wpi_pressure_of most = wpi_pressure(k->function, LLVMGetModuleDataLayout(c->module));
    uint32_t estimate = FIXED + most.anywhere;
    if (estimate > MOVED_FROM) {
        estimate = FIXED + most.at_starts;
        if (estimate < MOVED_FROM) estimate = MOVED_FROM;
    }
    const uint32_t most_of = most_registers(k);
    return estimate < LEAST ? LEAST : estimate > most_of ? most_of : estimate;
}

static uint32_t registers_of(wpi_compile *c, const wpi_kernel_ir *k) {
    const uint32_t assembled = c->machine ? wpi_machine_code_registers(c->machine, k->name) : 0;
    return assembled != 0 ? assembled : estimate_registers(c, k);
}

wp_status wpi_pass_registers(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t k = 0; k < c->kernel_count; k++)
        c->kernels[k].register_estimate = registers_of(c, &c->kernels[k]);
    return WP_STATUS_OK;
}
