/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: loaded by the machine that executes them; their kernels, variables, attributes. */
#include "fake.h"

static void list_kernels(fake_object *o) {
    while (pm_module_kernel(o->module, o->kernel_count) != NULL)
        o->kernel_count++;
    o->kernels = calloc(o->kernel_count + 1, sizeof *o->kernels);
    if (o->kernels == NULL) abort();
    for (unsigned i = 0; i < o->kernel_count; i++)
        o->kernels[i] = (fake_kernel){pm_module_kernel(o->module, i), o, 49152};
}

EXPORT wpi_cu_result cuModuleLoadDataEx(wpi_cu_module *out, const void *image, unsigned count,
                                        int *options, void **values) {
    CALL_IN_CONTEXT("cuModuleLoadDataEx");
    char *log = NULL;
    size_t log_bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == WPI_CU_JIT_ERROR_LOG) log = values[i];
        if (options[i] == WPI_CU_JIT_ERROR_LOG_BYTES) log_bytes = (size_t)(uintptr_t)values[i];
    }
    if (result == WPI_CU_INVALID_PTX && log != NULL) /* it is made to fail */
        (void)snprintf(log, log_bytes, "ptxas application ptx input, line 7; error   : no good\n");
    /* A cubin is an ELF file; one that this driver takes is PTX behind the magic number. */
    const bool is_cubin = strncmp(image, "\177ELF", 4) == 0;
    const char *text = (const char *)image + (is_cubin ? 4 : 0);
    pm_module *m = result == 0 ? pm_module_load(text, log, log_bytes) : NULL;
    if (result == 0 && m == NULL) result = is_cubin ? WPI_CU_INVALID_IMAGE : WPI_CU_INVALID_PTX;
    if (result == 0) {
        fake_object *o = fake_make(FAKE_MODULE);
        o->module = m;
        list_kernels(o);
        *out = (wpi_cu_module)(void *)o;
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleUnload(wpi_cu_module module) {
    CALL_IN_CONTEXT("cuModuleUnload");
    if (result == 0) {
        (void)fake_wait_all();
        result = fake_destroy(module, FAKE_MODULE, "cuModuleUnload");
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleGetFunction(wpi_cu_function *out, wpi_cu_module module,
                                         const char *name) {
    CALL_IN_CONTEXT("cuModuleGetFunction");
    fake_object *o =
        result == 0 ? fake_check_handle(module, FAKE_MODULE, "cuModuleGetFunction") : NULL;
    if (result == 0) result = o == NULL ? 400 : WPI_CU_NOT_FOUND;
    for (unsigned i = 0; o != NULL && i < o->kernel_count; i++) {
        if (strcmp(o->kernels[i].info->name, name) != 0) continue;
        *out = (wpi_cu_function)(void *)&o->kernels[i];
        result = 0;
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleGetGlobal_v2(wpi_cu_ptr *address, size_t *bytes, wpi_cu_module module,
                                          const char *name) {
    CALL_IN_CONTEXT("cuModuleGetGlobal_v2");
    fake_object *o =
        result == 0 ? fake_check_handle(module, FAKE_MODULE, "cuModuleGetGlobal") : NULL;
    const pm_variable *v;
    if (result == 0) result = o == NULL ? 400 : WPI_CU_NOT_FOUND;
    for (unsigned i = 0; o != NULL && (v = pm_module_variable(o->module, i)) != NULL; i++) {
        if (strcmp(v->name, name) != 0) continue;
        *address = (wpi_cu_ptr)(uintptr_t)v->memory;
        *bytes = v->bytes;
        result = 0;
    }
    RETURN;
}

fake_kernel *fake_check_function(wpi_cu_function function, const char *call) {
    for (fake_object *o = fake.live; o != NULL; o = o->next)
        for (unsigned i = 0; i < o->kernel_count; i++)
            if ((void *)&o->kernels[i] == (void *)function) return &o->kernels[i];
    fake_misuse("%s: %p is no live function", call, (void *)function);
    return NULL;
}

static size_t constant_bytes(const pm_module *m) {
    size_t bytes = 0;
    const pm_variable *v;
    for (unsigned i = 0; (v = pm_module_variable(m, i)) != NULL; i++)
        if (v->is_constant) bytes += v->bytes;
    return bytes;
}

enum { REGISTERS = 32, PTX_VERSION = 70, BINARY_VERSION = 80 };

EXPORT wpi_cu_result cuFuncGetAttribute(int *value, int attribute, wpi_cu_function function) {
    CALL_IN_CONTEXT("cuFuncGetAttribute");
    const fake_kernel *k = result == 0 ? fake_check_function(function, "cuFuncGetAttribute") : NULL;
    if (result == 0 && (k == NULL || attribute < 0 || attribute > 8)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) {
        const pm_kernel *info = k->info;
        const int values[] = {info->threads_max != 0 ? (int)info->threads_max : 1024,
                              (int)info->shared_static_bytes,
                              (int)constant_bytes(k->module->module),
                              (int)info->local_bytes,
                              REGISTERS,
                              PTX_VERSION,
                              BINARY_VERSION,
                              0,
                              k->shared_dynamic_max};
        *value = values[attribute];
    }
    RETURN;
}

EXPORT wpi_cu_result cuFuncSetAttribute(wpi_cu_function function, int attribute, int value) {
    CALL_IN_CONTEXT("cuFuncSetAttribute");
    fake_kernel *k = result == 0 ? fake_check_function(function, "cuFuncSetAttribute") : NULL;
    const bool is_carveout = attribute == 9 && value >= -1 && value <= 100;
    const bool is_max = attribute == 8 && value >= 0 && k != NULL &&
                        (unsigned)value + k->info->shared_static_bytes <= 166912;
    if (result == 0 && (k == NULL || (!is_carveout && !is_max))) result = WPI_CU_INVALID_VALUE;
    if (result == 0 && is_max) k->shared_dynamic_max = value;
    RETURN;
}

int fake_blocks_per_sm(const fake_kernel *k, unsigned threads, size_t shared_dynamic_bytes) {
    const size_t shared = k->info->shared_static_bytes + shared_dynamic_bytes;
    size_t blocks = FAKE_THREADS_PER_SM / ((threads + 31) / 32 * 32);
    if (blocks > 32) blocks = 32;
    if (shared != 0 && blocks > FAKE_SHARED_PER_SM / shared) blocks = FAKE_SHARED_PER_SM / shared;
    return (int)blocks;
}

EXPORT wpi_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                 wpi_cu_function function,
                                                                 int block_threads,
                                                                 size_t shared_dynamic_bytes) {
    CALL_IN_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    const fake_kernel *k = result == 0 ? fake_check_function(function, "cuOccupancy") : NULL;
    if (result == 0 && (k == NULL || block_threads <= 0)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) *blocks = fake_blocks_per_sm(k, (unsigned)block_threads, shared_dynamic_bytes);
    RETURN;
}
