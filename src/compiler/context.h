/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One compilation of device code: the LLVM context and module, common types, and the passes'
 * results on kernels and variables. The first argument of every pass.
 *
 * Ownership: the context owns everything it points to; strings of kernels and variables included.
 */
#ifndef WP_COMPILER_CONTEXT_H
#define WP_COMPILER_CONTEXT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/variant.h"
#include "warpage/error.h"

/* Of functions whose source was compiled with --lockstep. */
#define WP_LOCKSTEP_ATTRIBUTE "wp-lockstep"

/* NVPTX address spaces, as the front end numbers them. */
enum {
    WP_SPACE_GENERIC = 0,
    WP_SPACE_GLOBAL = 1,
    WP_SPACE_SHARED = 3,
    WP_SPACE_CONSTANT = 4,
    WP_SPACE_LOCAL = 5
};

/** A point at which a thread of a kernel stops, after the split: see wp_cpu_region. */
typedef struct wpi_stop_point {
    LLVMValueRef call; /* the call of wp_rt_stop, first in its block */
    uint32_t op;       /* wp_stop and flags */
    bool is_plain;     /* barrier over all threads: no request */
    bool is_alike;     /* WP_CPU_REGION_ALIKE */
    uint64_t b;        /* … wp_cpu_region.b */
    /* A round has two states: of threads that continue the loop, then of those that left it. */
    bool is_last_round;
} wpi_stop_point;

typedef struct wpi_kernel_ir {
    LLVMValueRef function;   /* the kernel as the front end made it: one thread */
    char *name;              /* mangled */
    uint32_t max_threads;    /* __launch_bounds__, 0: none */
    uint32_t min_blocks;     /* … its second argument: of an SM */
    uint32_t registers_max;  /* -maxrregcount, 0: none */
    uint32_t cluster_dim[3]; /* __cluster_dims__, 0: none */
    /* filled by the passes */
    uint32_t shared_static_bytes;
    uint32_t local_bytes;
    uint32_t register_estimate;
    uint32_t frame_bytes;
    uint32_t flags;        /* WP_CPU_KERNEL_* */
    LLVMValueRef thread;   /* fiber form, or NULL */
    LLVMValueRef *regions; /* region form: region_count functions, or NULL */
    LLVMValueRef whole;    /* … that are parts of this one, or NULL */
    wpi_stop_point *stops; /* [region_count]; entry 0 is the kernel's start */
    uint32_t region_count;
} wpi_kernel_ir;

typedef struct wpi_variable_ir {
    LLVMValueRef global;
    LLVMValueRef cell; /* managed variables: the pointer through which kernels reach it */
    char *name;
    wp_variable_kind kind;
    uint32_t flags; /* WP_VARIABLE_… */
} wpi_variable_ir;

typedef struct wpi_compile {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder; /* scratch; its position is undefined between passes */
    LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, none;
    wpi_kernel_ir *kernels;
    uint32_t kernel_count;
    wpi_variable_ir *variables;
    uint32_t variable_count;
    /* options */
    wpi_variant variant; /* a copy: the strings are the caller's */
    uint64_t image_id;
    wp_cpu_isa isa;
    bool refers_to_variables; /* … that the code for another instruction set defines */
    bool is_quick;            /* `optimize` found the module large: its code is generated quickly */
    const char *devicelib_path;
    const struct wpi_machine_code *machine; /* machine/machine_code.h; NULL: costs are estimated */
    uint32_t shared_common_bytes;           /* shared memory of functions that were not inlined */
} wpi_compile;

/** Reads nvptx64 bitcode and finds its kernels and variables. */
WP_NODISCARD wp_status wpi_compile_create(const void *bitcode, size_t size_bytes, wpi_compile **out,
                                          wp_error *err);
/** An empty nvptx64 module. */
WP_NODISCARD wp_status wpi_compile_create_empty(const char *name, wpi_compile **out, wp_error *err);
/** Reads a library of bitcode that belongs to Warpage, in the program's context. */
WP_NODISCARD wp_status wpi_compile_read_library(wpi_compile *c, const char *path,
                                                LLVMModuleRef *out, wp_error *err);
/** Writes the module as bitcode that wpi_compile_create reads again; before the first pass only. */
WP_NODISCARD wp_status wpi_compile_write(wpi_compile *c, const char *path, wp_error *err);
void wpi_compile_destroy(wpi_compile *c);

/** Whether the program's own code is compiled, not a variant of it. */
static inline bool wpi_compile_is_own(const wpi_compile *c) {
    return c->variant.kind == WP_VARIANT_OWN;
}

/** … or the same with variables elsewhere: both compute as the CPU does fastest. */
static inline bool wpi_compile_is_plain(const wpi_compile *c) {
    return wpi_compile_is_own(c) || c->variant.kind == WP_VARIANT_COPY;
}

bool wpi_compile_is_kernel(const wpi_compile *c, LLVMValueRef function);

/** Runs LLVM's own passes by pipeline text; `machine` may be NULL. */
WP_NODISCARD wp_status wpi_compile_run(wpi_compile *c, const char *pipeline,
                                       LLVMTargetMachineRef machine, wp_error *err);
/** Verifies the module; the message names `after`. */
WP_NODISCARD wp_status wpi_compile_verify(wpi_compile *c, const char *after, wp_error *err);

/** Returns the declaration of the runtime function or placeholder `name`, created if absent. */
LLVMValueRef wpi_compile_declare(wpi_compile *c, const char *name, LLVMTypeRef result,
                                 LLVMTypeRef *params, unsigned count);
/** The function type of `wpi_compile_declare`d or any other function. */
LLVMTypeRef wpi_function_type(LLVMValueRef function);
/** Adds an attribute without value to a function ("alwaysinline"). */
void wpi_function_attribute(wpi_compile *c, LLVMValueRef function, const char *name);
void wpi_function_attribute_remove(LLVMValueRef function, const char *name);
bool wpi_function_has(LLVMValueRef function, const char *name);

LLVMValueRef wpi_const32(const wpi_compile *c, uint32_t value);
LLVMValueRef wpi_const64(const wpi_compile *c, uint64_t value);

/** Target machines, created once per process: nvptx64, and the host at an instruction set. */
WP_NODISCARD wp_status wpi_target_nvptx(LLVMTargetMachineRef *out, wp_error *err);
/** Creates a target machine for the caller: arch 70 for sm_70, PTX version 63 for 6.3;
 *  `is_specific`: sm_90a for 90. */
WP_NODISCARD wp_status wpi_target_nvptx_at(uint32_t arch, uint32_t version, bool is_specific,
                                           LLVMTargetMachineRef *out, wp_error *err);
WP_NODISCARD wp_status wpi_target_host(wp_cpu_isa isa, LLVMTargetMachineRef *out, wp_error *err);
/** For code that is generated quickly: see `is_quick`. */
WP_NODISCARD wp_status wpi_target_host_quick(wp_cpu_isa isa, LLVMTargetMachineRef *out,
                                             wp_error *err);

#endif
