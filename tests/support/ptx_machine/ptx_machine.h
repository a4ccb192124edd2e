/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A machine that executes PTX on the CPU: what NVIDIA's PTX ISA manual says, lane by lane.
 *
 *   - global and constant memory are the process's own, at their own addresses; a kernel may touch
 *     only the ranges that its launch names. Shared and local memory have windows of generic
 *     addresses
 *   - every lane has its own place in the code; lanes of a warp run together while they are at the
 *     same place, none waits for ever for another. So do warps, and blocks that are resident
 *   - an instruction that the machine does not know is refused when the module is loaded
 *
 * Launches may run at the same time, on threads of their own.
 */
#ifndef PTX_MACHINE_H
#define PTX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pm_module pm_module;

/** How a launch ended; the driver's numbers. */
typedef enum pm_result {
    PM_OK = 0,
    PM_ILLEGAL_ADDRESS = 700,
    PM_OUT_OF_RESOURCES = 701,
    PM_TIMEOUT = 702, /* lanes wait that nothing can wake */
    PM_ASSERT = 710,
    PM_STACK_ERROR = 714,
    PM_ILLEGAL_INSTRUCTION = 715,
    PM_MISALIGNED_ADDRESS = 716,
    PM_ADDRESS_SPACE = 717,
    PM_INVALID_PC = 718,
    PM_TRAP = 719
} pm_result;

typedef struct pm_param {
    size_t offset, bytes;
} pm_param;

typedef struct pm_kernel {
    const char *name;
    const pm_param *params;
    unsigned param_count;
    size_t param_bytes; /* all of them, laid out */
    unsigned shared_static_bytes, local_bytes, register_count;
    unsigned threads_max; /* .maxntid; 0: not given */
    const struct pm_function *function;
} pm_kernel;

typedef struct pm_variable {
    const char *name;
    void *memory;
    size_t bytes;
    bool is_constant;
} pm_variable;

/** NULL: the text is not what the machine takes; `log` says why, with the line. */
pm_module *pm_module_load(const char *text, char *log, size_t log_bytes);
void pm_module_free(pm_module *module);

/** By number, from 0; NULL: there are no more. */
const pm_kernel *pm_module_kernel(const pm_module *module, unsigned number);
const pm_variable *pm_module_variable(const pm_module *module, unsigned number);

/** Memory that kernels may touch. */
typedef struct pm_range {
    uintptr_t first, outer;
} pm_range;

/** A read of a texture (`tex`, `tld4`). */
typedef struct pm_texture_read {
    enum {
        PM_TEX_1D,
        PM_TEX_2D,
        PM_TEX_3D,
        PM_TEX_A1D,
        PM_TEX_A2D,
        PM_TEX_CUBE,
        PM_TEX_ACUBE
    } shape;
    bool is_integer; /* the coordinates are in `i`, not in `x` */
    int gather;      /* the component, of tld4; -1: tex */
    float x[3];
    int32_t i[3];
    uint32_t layer;
} pm_texture_read;

/** A place in a surface (`suld.b`, `sust.b`). */
typedef struct pm_surface_place {
    enum { PM_SURF_1D, PM_SURF_2D, PM_SURF_3D, PM_SURF_A1D, PM_SURF_A2D } shape;
    enum { PM_SURF_TRAP, PM_SURF_CLAMP, PM_SURF_ZERO } outside; /* what happens there */
    int32_t x_bytes, y, z;
    uint32_t layer;
    unsigned bytes; /* of the access */
} pm_surface_place;

/** What the driver provides. `context` is the launch's. */
typedef struct pm_services {
    void (*print)(void *context, const char *text, size_t bytes);
    void *(*heap_alloc)(void *context, size_t bytes); /* malloc; NULL: no room */
    void (*heap_free)(void *context, void *memory);
    /* false: no such texture. The components as bits. */
    bool (*texture)(void *context, uint64_t handle, const pm_texture_read *read, uint32_t out[4]);
    /* Where the access goes, NULL: outside. false: no such surface, or a trap. */
    bool (*surface)(void *context, uint64_t handle, const pm_surface_place *place, void **out);
} pm_services;

typedef struct pm_launch {
    const pm_kernel *kernel;
    unsigned grid[3], block[3];
    unsigned shared_dynamic_bytes;
    const void *params;     /* [kernel->param_bytes] */
    const pm_range *ranges; /* in any order */
    size_t range_count;
    size_t stack_bytes;    /* of a thread, for recursion */
    unsigned resident_max; /* blocks that can be there together */
    unsigned sm_count;
    bool is_cooperative; /* all blocks are resident from the beginning */
    void *workspace;     /* %envreg1, %envreg2; NULL: an ordinary launch */
    const pm_services *services;
    void *context;
} pm_launch;

/** Runs the kernel to its end. `report` says in words what went wrong. */
pm_result pm_run(pm_module *module, const pm_launch *launch, char *report, size_t report_bytes);

/** Instructions that lanes executed, in all launches. */
uint64_t pm_lane_instructions(void);

#endif
