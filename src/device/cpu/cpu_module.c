/* SPDX-License-Identifier: Apache-2.0 */
/** Modules of the CPU device: the kernels and variables of one image, found by name. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/trace_abi.h"
#include "device/cpu/check/access_check.h"
#include "device/cpu/code.h"
#include "device/cpu/cpu.h"
#include "device/image.h"

/* A variable's initial value. Zeros, which most and all large variables have, are not stored:
 * checking for them reads the variable, which commits no memory if nothing was written. */
typedef struct initial_value {
    void *address;
    size_t size_bytes;
    void *bytes; /* NULL: zeros */
} initial_value;

typedef struct wpi_cpu_module {
    wp_module base;
    struct wpi_cpu_module *next; /* of the device */
    initial_value *initial;
    uint32_t initial_count;
    /* Of a further device: where its variables are, in the order of the baseline code, and their
     * memory. NULL: the program's own. */
    void **places;
    char *storage;
    const wp_image_header *image;
    wpi_cpu_code code;
    wpi_cpu_kernel *kernels; /* [kernel_count], sorted by name */
    uint32_t kernel_count;
    const wpi_variant *other; /* a second variant of the kernels, created on demand */
    wpi_cpu_kernel *others;   /* [other_count], sorted by name */
    uint32_t other_count;
} wpi_cpu_module;

typedef struct wpi_cpu_module module;

/* "_Z6vecaddPKfPfi" -> "vecadd": a mangled name without template and namespace contains its length.
 * Others are returned unchanged. Caller frees. */
static char *display_name(const char *name) {
    if (strncmp(name, "_Z", 2) != 0) return wpi_strdup(name);
    const char *p = name + 2;
    if (*p == 'L') p++; /* internal linkage */
    char *end;
    const unsigned long length = strtoul(p, &end, 10);
    if (end == p || length == 0 || length > strlen(end)) return wpi_strdup(name);
    return wpi_strndup(end, length);
}

static uint32_t shared_dynamic_default(const wp_cpu_kernel *code) {
    if (code->shared_static_bytes >= WPI_SHARED_BYTES_DEFAULT) return 0;
    return WPI_SHARED_BYTES_DEFAULT - code->shared_static_bytes;
}

static uint64_t address_params(const wp_cpu_kernel *code) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < code->param_count && i < 64; i++)
        if (code->params[i].size_bytes == sizeof(void *)) mask |= UINT64_C(1) << i;
    return mask;
}

/* Where registers do not limit a block, programs that compute the limit from the attributes must
 * find the largest block possible. */
static uint32_t registers_for(const wp_device_info *device, uint32_t registers,
                              uint32_t threads_max) {
    if (device->register_granule != 0 || threads_max == 0) return registers;
    const uint32_t most = device->registers_per_block / threads_max;
    return registers < most || most == 0 ? registers : most;
}

/* Registers as few as a block of __launch_bounds__ needs, as GPUs' compilers spill the others. */
static uint32_t registers_within(const wp_device_info *device, uint32_t registers,
                                 uint32_t threads_bound) {
    enum { LEAST = 16 };
    const uint32_t threads = threads_bound < device->threads_per_block_max
                                 ? threads_bound
                                 : device->threads_per_block_max;
    while (registers > LEAST && (wpi_occupancy_threads(device, registers) < threads ||
                                 (uint64_t)registers * threads > device->registers_per_block))
        registers--;
    return registers;
}

static wp_status init_kernel(wp_device *device, const wp_cpu_kernel *code, wpi_cpu_kernel *kernel,
                             wp_error *err) {
    *kernel = (wpi_cpu_kernel){
        .code = code, .display_name = display_name(code->name), .id = wpi_kernel_id(code->name)};
    if (kernel->display_name == NULL) return WP_FAIL(err, NOMEM, "kernel %s", code->name);
    if ((code->regions == NULL) == (code->thread == NULL) ||
        (code->regions != NULL && code->region_count == 0)) {
        return WP_FAIL(err, PARSE, "kernel %s: its CPU code is damaged", code->name);
    }
    for (uint32_t i = 0; i < code->param_count; i++) {
        const uint32_t align = code->params[i].align_bytes;
        if (align == 0 || (align & (align - 1)) != 0 || align > 4096) {
            return WP_FAIL(err, PARSE, "kernel %s: parameter %u is aligned to %u bytes", code->name,
                           i, align);
        }
    }
    uint32_t registers = wpi_registers_at_most(&device->info, code->register_estimate);
    registers = registers_within(&device->info, registers, code->max_threads);
    uint32_t threads_max = wpi_occupancy_threads(&device->info, registers);
    if (code->max_threads != 0 && code->max_threads < threads_max) threads_max = code->max_threads;
    registers = registers_for(&device->info, registers, threads_max);
    kernel->has_states = code->regions == NULL || code->region_count > 1;
    kernel->has_requests = code->regions == NULL;
    for (uint32_t s = 1; s < code->region_count && code->regions != NULL; s++) {
        if ((code->regions[s].flags & WP_CPU_REGION_PLAIN) == 0) kernel->has_requests = true;
    }
    kernel->base = (wp_kernel){
        .device = device,
        .info = {.name = code->name,
                 .param_count = code->param_count,
                 .address_params = address_params(code),
                 .cluster_dim = {code->cluster_dim[0], code->cluster_dim[1], code->cluster_dim[2]},
                 .shared_static_bytes = code->shared_static_bytes,
                 .local_bytes = code->local_bytes,
                 .register_count = registers,
                 .threads_per_block_max = threads_max}};
    kernel->shared_dynamic_max = shared_dynamic_default(code);
    return WP_STATUS_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const wpi_cpu_kernel *)a)->code->name, ((const wpi_cpu_kernel *)b)->code->name);
}

static bool defines(const wp_cpu_code *code, const char *name) {
    for (uint32_t i = 0; i < code->kernel_count; i++) {
        if (strcmp(code->kernels[i].name, name) == 0) return true;
    }
    return false;
}

/* Constant bytes are the same for all kernels of a module. */
static uint32_t constant_bytes(const wp_cpu_code *code) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < code->variable_count; i++) {
        if (code->variables[i].kind == WP_VARIABLE_CONSTANT) bytes += code->variables[i].size_bytes;
    }
    return (uint32_t)bytes;
}

/* The address of the bytes of variable `i`; that of a managed one is in its cell. */
static void *target_of(const module *m, uint32_t i) {
    const wp_cpu_variable *variable = &m->code.baseline->variables[i];
    if (m->places != NULL) return m->places[i];
    return variable->kind == WP_VARIABLE_MANAGED ? *(void **)variable->address : variable->address;
}

static bool is_zero(const char *bytes, size_t size_bytes) {
    return size_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}

/* Saves a variable's initial value. Managed variables and texture handles are restored by the CUDA
 * runtime. */
static wp_status keep_initial(module *m, uint32_t i, wp_error *err) {
    const wp_cpu_variable *v = &m->code.baseline->variables[i];
    if (v->kind != WP_VARIABLE_DEVICE && v->kind != WP_VARIABLE_CONSTANT) return WP_STATUS_OK;
    initial_value kept = {.address = target_of(m, i), .size_bytes = v->size_bytes};
    if (!is_zero(kept.address, v->size_bytes)) {
        kept.bytes = wpi_malloc(v->size_bytes);
        if (kept.bytes == NULL) return WP_FAIL(err, NOMEM, "initial value of %s", v->name);
        memcpy(kept.bytes, kept.address, v->size_bytes);
    }
    m->initial[m->initial_count++] = kept;
    return WP_STATUS_OK;
}

static void restore(wp_module *base) {
    const module *m = (const module *)base;
    for (uint32_t i = 0; i < m->initial_count; i++) {
        const initial_value *v = &m->initial[i];
        if (v->bytes != NULL) {
            memcpy(v->address, v->bytes, v->size_bytes);
        } else {
            memset(v->address, 0, v->size_bytes);
        }
    }
}

void wpi_cpu_modules_reset(wpi_cpu_device *device) {
    pthread_mutex_lock(device->lock);
    for (module *m = device->modules; m != NULL; m = m->next)
        restore(&m->base);
    pthread_mutex_unlock(device->lock);
}

/* Adds variables to the memory map. One that is already there (loaded twice) is skipped. */
static wp_status enter_variables(module *m, wp_error *err) {
    const wp_cpu_code *code = m->code.baseline;
    m->initial = wpi_calloc((size_t)code->variable_count + 1, sizeof *m->initial);
    if (m->initial == NULL)
        return WP_FAIL(err, NOMEM, "module: %u variables", code->variable_count);
    for (uint32_t i = 0; i < code->variable_count; i++) {
        const wp_cpu_variable *v = &code->variables[i];
        if (v->size_bytes == 0) continue;
        const wpi_memory_entry entry = {.allocation = {.base = target_of(m, i),
                                                       .size_bytes = v->size_bytes,
                                                       .kind = WP_MEMORY_VARIABLE},
                                        .device = m->base.device};
        if (wpi_memory_map_add(wpi_memory_map_global(), &entry, NULL) != WP_STATUS_OK) continue;
        WP_TRY(keep_initial(m, i, err));
    }
    return WP_STATUS_OK;
}

/* ---- variables of a further device ---- */

#define VARIABLE_ALIGN 256u

static bool is_per_device(const wp_cpu_variable *v) {
    return v->kind != WP_VARIABLE_MANAGED && v->size_bytes != 0;
}

/* The initial value of the program's own variable, if the first device has loaded the image and
 * may have changed it. Called with the lock held. */
static const initial_value *first_value(const module *m, const void *address) {
    const wpi_cpu_device *first = ((const wpi_cpu_device *)m->base.device)->group->devices;
    for (const module *other = first->modules; other != NULL; other = other->next)
        for (uint32_t i = 0; i < other->initial_count; i++)
            if (other->initial[i].address == address) return &other->initial[i];
    return NULL;
}

static void copy_first(const module *m, const wp_cpu_variable *v, char *to) {
    const initial_value *kept = first_value(m, v->address);
    if (v->kind != WP_VARIABLE_DEVICE && v->kind != WP_VARIABLE_CONSTANT) return;
    if (kept == NULL)
        memcpy(to, v->address, v->size_bytes);
    else if (kept->bytes != NULL)
        memcpy(to, kept->bytes, v->size_bytes);
}

/* Gives the module variables of its own, unless it has none or is of the first device. */
static wp_status make_variables(module *m, wp_error *err) {
    const wp_cpu_code *code = m->code.baseline;
    const wpi_cpu_device *device = (const wpi_cpu_device *)m->base.device;
    size_t bytes = 0;
    for (uint32_t i = 0; i < code->variable_count; i++)
        if (is_per_device(&code->variables[i]))
            bytes += code->variables[i].size_bytes + VARIABLE_ALIGN;
    if (device->base.number == 0 || bytes == 0) return WP_STATUS_OK;
    void **places = wpi_calloc(code->variable_count, sizeof *places);
    m->storage = wpi_calloc(1, bytes + VARIABLE_ALIGN);
    if (places == NULL || m->storage == NULL) {
        wpi_free(places);
        return WP_FAIL(err, NOMEM, "module: variables of %zu bytes", bytes);
    }
    char *next = m->storage + VARIABLE_ALIGN - (uintptr_t)m->storage % VARIABLE_ALIGN;
    pthread_mutex_lock(device->lock);
    for (uint32_t i = 0; i < code->variable_count; i++) {
        const wp_cpu_variable *v = &code->variables[i];
        places[i] = target_of(m, i);
        if (!is_per_device(v)) continue;
        places[i] = next;
        copy_first(m, v, next);
        next += (v->size_bytes + VARIABLE_ALIGN - 1) / VARIABLE_ALIGN * VARIABLE_ALIGN;
    }
    pthread_mutex_unlock(device->lock);
    m->places = places;
    return WP_STATUS_OK;
}

/* Removes a module from its device, if it was added. */
static void leave_device(module *m) {
    wpi_cpu_device *device = (wpi_cpu_device *)m->base.device;
    pthread_mutex_lock(device->lock);
    for (module **link = &device->modules; *link != NULL; link = &(*link)->next) {
        if (*link != m) continue;
        *link = m->next;
        break;
    }
    pthread_mutex_unlock(device->lock);
}

static void enter_device(module *m) {
    wpi_cpu_device *device = (wpi_cpu_device *)m->base.device;
    pthread_mutex_lock(device->lock);
    m->next = device->modules;
    device->modules = m;
    pthread_mutex_unlock(device->lock);
}

static void leave_variables(module *m) {
    const wp_cpu_code *code = m->code.baseline;
    wpi_memory_entry entry;
    for (uint32_t i = 0; code != NULL && i < code->variable_count; i++) {
        const void *address = target_of(m, i);
        if (wpi_memory_map_find(wpi_memory_map_global(), address, &entry) &&
            entry.allocation.kind == WP_MEMORY_VARIABLE && entry.device == m->base.device) {
            (void)wpi_memory_map_remove(wpi_memory_map_global(), address, NULL);
        }
    }
}

static void free_kernels(wpi_cpu_kernel *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        wpi_free(kernels[i].display_name);
    wpi_free(kernels);
}

static void unload(wp_module *base) {
    module *m = (module *)base;
    leave_device(m);
    leave_variables(m);
    for (uint32_t i = 0; i < m->initial_count; i++)
        wpi_free(m->initial[i].bytes);
    wpi_free(m->initial);
    wpi_free(m->places);
    wpi_free(m->storage);
    free_kernels(m->kernels, m->kernel_count);
    free_kernels(m->others, m->other_count);
    wpi_free(m);
}

/* ---- variants -------------------------------------------------------------------------------- */

/* The kernel's rows in the tables of a traced variant. */
static void enter_tables(wpi_cpu_kernel *kernel, const wpi_variant_library *variant) {
    kernel->tables = dlsym(variant->library, WP_TRACE_TABLES_SYMBOL);
    for (uint32_t k = 0; kernel->tables != NULL && k < kernel->tables->kernel_count; k++) {
        const wp_trace_kernel *row = &kernel->tables->kernels[k];
        if (strcmp(row->name, kernel->code->name) == 0) kernel->trace = row;
    }
}

static wp_status open_variant(module *m, const wpi_variant *variant, wpi_variant_library *out,
                              wp_error *err) {
    const wp_cpu_isa isa = (wp_cpu_isa)m->code.best->isa;
    WP_TRY(wpi_variant_open(m->image, variant, isa, m->base.device->number, out, err));
    return wpi_variant_bind(out, m->code.baseline, m->places, err);
}

/* Loads the variant of the module's kernels. Function pointers in memory point to code of one
 * variant, so kernels that use them must not be mixed. */
static wp_status load_variant(module *m, wpi_variant_library *out, wp_error *err) {
    const wpi_cpu_device *device = (const wpi_cpu_device *)m->base.device;
    static const wpi_variant copy = {.kind = WP_VARIANT_COPY};
    const wpi_variant *wanted = device->variant;
    if (wanted == NULL && device->is_in_lockstep && !wpi_check_is_on()) wanted = &device->lockstep;
    if (wanted == NULL && m->places != NULL && !wpi_check_is_on()) wanted = &copy;
    if (wanted == NULL) return WP_STATUS_OK;
    WP_TRY(open_variant(m, wanted, out, err));
    const wp_trace_tables *tables = dlsym(out->library, WP_TRACE_TABLES_SYMBOL);
    const wpi_variant *instead = tables != NULL && device->variant_instead != NULL
                                     ? device->variant_instead(device, tables)
                                     : NULL;
    if (instead != NULL) WP_TRY(open_variant(m, instead, out, err));
    m->code.best = out->code;
    return WP_STATUS_OK;
}

static wpi_cpu_kernel *search(wpi_cpu_kernel *kernels, uint32_t count, const char *name) {
    size_t first = 0, outer = count;
    while (first < outer) {
        const size_t middle = first + (outer - first) / 2;
        const int order = strcmp(name, kernels[middle].code->name);
        if (order == 0) return &kernels[middle];
        if (order < 0) {
            outer = middle;
        } else {
            first = middle + 1;
        }
    }
    return NULL;
}

static wp_status make_others(module *m, const wpi_variant *variant, wp_error *err) {
    wpi_variant_library library;
    WP_TRY(open_variant(m, variant, &library, err));
    m->others = wpi_calloc((size_t)library.code->kernel_count + 1, sizeof *m->others);
    if (m->others == NULL) return WP_FAIL(err, NOMEM, "variant %s", wpi_variant_word(variant));
    m->other = variant;
    for (uint32_t i = 0; i < library.code->kernel_count; i++) {
        wpi_cpu_kernel *kernel = &m->others[m->other_count++];
        WP_TRY(init_kernel(m->base.device, &library.code->kernels[i], kernel, err));
        enter_tables(kernel, &library);
        kernel->module = m;
    }
    qsort(m->others, m->other_count, sizeof *m->others, by_name);
    return WP_STATUS_OK;
}

wp_status wpi_cpu_kernel_as(const wpi_cpu_kernel *kernel, const wpi_variant *variant,
                            const wpi_cpu_kernel **out, wp_error *err) {
    module *m = kernel->module;
    *out = NULL;
    if (m->other == NULL) WP_TRY(make_others(m, variant, err));
    WP_CHECK(wpi_variant_equals(m->other, variant));
    *out = search(m->others, m->other_count, kernel->code->name);
    if (*out != NULL) return WP_STATUS_OK;
    return WP_FAIL(err, NOT_FOUND, "the variant '%s' has no kernel %s", wpi_variant_word(variant),
                   kernel->display_name);
}

const wpi_cpu_kernel *wpi_cpu_kernel_beside(const wpi_cpu_kernel *kernel, uint64_t id) {
    const module *m = kernel->module;
    for (uint32_t i = 0; i < m->kernel_count; i++)
        if (m->kernels[i].id == id) return &m->kernels[i];
    return NULL;
}

static wp_status load(wp_device *device, const void *image, wp_module **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const wp_image_header *header;
    WP_TRY(wpi_image_check(image, &header, err));
    module *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return WP_FAIL(err, NOMEM, "module");
    m->base.device = device;
    m->image = header;
    WP_TRY_GOTO(wpi_cpu_code_find(header->id, &m->code, err), failed);

    WP_TRY_GOTO(make_variables(m, err), failed);
    wpi_variant_library checked = {0};
    if (wpi_check_is_on()) {
        WP_TRY_GOTO(wpi_check_load(header, &m->code, device->number, m->places, &checked, err),
                    failed);
        m->code.best = checked.code;
    }
    wpi_variant_library other = {0};
    WP_TRY_GOTO(load_variant(m, &other, err), failed);
    const wp_cpu_code *copies[2] = {m->code.best, m->code.baseline};
    const uint32_t copy_count = copies[0] == copies[1] ? 1 : 2;
    size_t kernel_max = copies[0]->kernel_count;
    if (copy_count == 2) kernel_max += copies[1]->kernel_count;
    m->kernels = wpi_calloc(kernel_max + 1, sizeof *m->kernels);
    if (m->kernels == NULL) {
        status = WP_FAIL(err, NOMEM, "module: %zu kernels", kernel_max);
        goto failed;
    }
    for (uint32_t c = 0; c < copy_count; c++) {
        for (uint32_t i = 0; i < copies[c]->kernel_count; i++) {
            const wp_cpu_kernel *code = &copies[c]->kernels[i];
            if (c == 1 && defines(copies[0], code->name)) continue;
            status = init_kernel(device, code, &m->kernels[m->kernel_count++], err);
            if (status != WP_STATUS_OK) goto failed;
            wpi_cpu_kernel *kernel = &m->kernels[m->kernel_count - 1];
            kernel->module = m;
            if (other.code != NULL && copies[c] == other.code) enter_tables(kernel, &other);
            if (copies[c] != checked.code) continue;
            kernel->sites = wpi_check_sites(&checked, &kernel->site_count);
        }
    }
    for (uint32_t i = 0; i < m->kernel_count; i++) {
        m->kernels[i].base.info.constant_bytes = constant_bytes(m->code.baseline);
    }
    qsort(m->kernels, m->kernel_count, sizeof *m->kernels, by_name);
    WP_TRY_GOTO(enter_variables(m, err), failed_entered);
    enter_device(m);
    *out = &m->base;
    return WP_STATUS_OK;

failed:
    m->code.baseline = NULL; /* no variables were added */
failed_entered:
    unload(&m->base);
    return status;
}

static wp_status find_kernel(wp_module *base, const char *name, wp_kernel **out, wp_error *err) {
    module *m = (module *)base;
    wpi_cpu_kernel *found = search(m->kernels, m->kernel_count, name);
    if (found != NULL) {
        *out = &found->base;
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, NOT_FOUND, "the program's CPU code has no kernel %s", name);
}

static const char *kernel_name(const wp_module *base, uint32_t i) {
    const module *m = (const module *)base;
    return i < m->kernel_count ? m->kernels[i].code->name : NULL;
}

static wp_status find_variable(wp_module *base, const char *name, void **address,
                               size_t *size_bytes, wp_error *err) {
    const wp_cpu_code *code = ((module *)base)->code.baseline;
    for (uint32_t i = 0; i < code->variable_count; i++) {
        if (strcmp(code->variables[i].name, name) == 0) {
            *address = target_of((const module *)base, i);
            *size_bytes = (size_t)code->variables[i].size_bytes;
            return WP_STATUS_OK;
        }
    }
    return WP_FAIL(err, NOT_FOUND, "the program's CPU code has no variable %s", name);
}

static wp_status set_shared_max(wp_kernel *kernel, uint32_t bytes, wp_error *err) {
    (void)err;
    wpi_cpu_kernel *k = (wpi_cpu_kernel *)kernel;
    const uint32_t least = shared_dynamic_default(k->code); /* always allowed without opting in */
    atomic_store(&k->shared_dynamic_max, bytes > least ? bytes : least);
    return WP_STATUS_OK;
}

static wpi_param_place param_place(const wp_kernel *kernel, uint32_t index) {
    const wp_cpu_kernel *code = ((const wpi_cpu_kernel *)kernel)->code;
    wpi_param_place place = {0};
    for (uint32_t i = 0; i <= index; i++) {
        const uint32_t align = code->params[i].align_bytes;
        const uint32_t end = place.offset_bytes + place.size_bytes;
        place = (wpi_param_place){.offset_bytes = (end + align - 1) / align * align,
                                  .size_bytes = code->params[i].size_bytes};
    }
    return place;
}

const wpi_module_ops wpi_cpu_module_ops = {
    .load = load,
    .unload = unload,
    .find_kernel = find_kernel,
    .kernel_name = kernel_name,
    .find_variable = find_variable,
    .set_shared_max = set_shared_max,
    .param_place = param_place,
    .restore = restore,
};
