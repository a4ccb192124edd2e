/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Modules: the PTX section of an image, assembled by the driver for this GPU, or a cubin for it.
 *
 *     image ─┬► PTX for the newest architecture that this GPU runs ─► names; text ─► driver
 *            └► cubin for this GPU, if there is one ────────────────────────────────► driver
 *
 * All kernels are looked up in the driver at load time. By default (CUDA_MODULE_LOADING=LAZY)
 * drivers load a kernel's code when it is looked up, which may wait for running kernels: a kernel
 * that waits for another one, launched for the first time, would deadlock. Variables are looked up
 * on first use. A managed variable is host memory (docs/rooms/ptx.md): before any launch its pages
 * are registered with the driver, and the module's pointer to it is set.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "device/cuda/cuda.h"
#include "device/cuda/ptx_text.h"
#include "device/image.h"

#define JIT_LOG_BYTES 8192
#define SECTION_BYTES_MAX ((uint64_t)1 << 30) /* so that a damaged size does not exhaust memory */
#define MANAGED_PREFIX "wp_managed_"          /* the compiler's names of the pointers */
#define SHARED_BYTES_DEFAULT (48u * 1024u)

typedef struct wpi_cuda_kernel {
    wp_kernel base;
    struct wpi_cuda_module *module;
    char *name;
    const char *params;       /* their list in the text, after the name */
    wpi_cu_function function; /* NULL: a reset has failed */
} wpi_cuda_kernel;

/* Pages of the host that hold managed variables. */
typedef struct page_range {
    uintptr_t first, outer;
} page_range;

typedef struct found_variable {
    char *name;
    void *address;
    size_t size_bytes;
} found_variable;

typedef struct wpi_cuda_module {
    wp_module base;
    wpi_link link;
    const wp_image_header *image;
    char *ptx;                     /* kept for the next reset */
    const wp_image_section *cubin; /* NULL: none, or the driver does not take it */
    wpi_cu_module module;
    wpi_cuda_kernel *kernels; /* [kernel_count], as in the text */
    uint32_t kernel_count;
    pthread_mutex_t lock; /* guards members that are found on first use */
    found_variable *variables;
    uint32_t variable_count;
    page_range *pages; /* registered for this module */
    uint32_t page_count;
} wpi_cuda_module;

typedef struct wpi_cuda_module module;

static wpi_cuda_device *device_of(const module *m) {
    return wpi_cuda_of(m->base.device);
}

/* ---- the text ---- */

static wp_status choose_section(const wpi_cuda_device *device, const wp_image_header *image,
                                const wp_image_section **out, wp_error *err) {
    const wp_device_info *info = &device->base.info;
    const uint32_t own_arch = info->compute_major * 10 + info->compute_minor;
    const wp_image_section *sections = wpi_image_sections(image), *best = NULL, *lowest = NULL;
    for (uint32_t i = 0; i < image->section_count; i++) {
        const wp_image_section *s = &sections[i];
        if (s->kind != WP_SECTION_PTX) continue;
        if (lowest == NULL || s->arch < lowest->arch) lowest = s;
        if (s->arch <= own_arch && (best == NULL || s->arch > best->arch)) best = s;
    }
    if (lowest == NULL) {
        return WP_FAIL(
            err, NOT_FOUND,
            "the program contains no PTX (wpcc reported why when compiling it); it can run on "
            "the device cpu");
    }
    if (best == NULL) {
        return WP_FAIL(err, UNSUPPORTED,
                       "the program's kernels need a GPU of sm_%u or later, %s (%s) is sm_%u; "
                       "compile with -arch=sm_%u if the source allows it",
                       lowest->arch, info->spec, info->name, own_arch, own_arch);
    }
    *out = best;
    return WP_STATUS_OK;
}

/* A GPU runs cubins for its generation (major number), up to its own minor number. */
static const wp_image_section *choose_cubin(const wpi_cuda_device *device,
                                            const wp_image_header *image) {
    const wp_device_info *info = &device->base.info;
    const wp_image_section *sections = wpi_image_sections(image), *best = NULL;
    for (uint32_t i = 0; i < image->section_count; i++) {
        const wp_image_section *s = &sections[i];
        if (s->kind == WP_SECTION_CUBIN && s->arch / 10 == info->compute_major &&
            s->arch % 10 <= info->compute_minor && (best == NULL || s->arch > best->arch))
            best = s;
    }
    return best;
}

/* Reads a section, and appends a NUL; the caller frees it. */
static wp_status read_section(const wp_image_header *image, const wp_image_section *section,
                              char **out, wp_error *err) {
    *out = NULL;
    if (section->raw_size_bytes > SECTION_BYTES_MAX)
        return WP_FAIL(err, PARSE, "the embedded GPU code is damaged: its size is invalid");
    const size_t size_bytes = (size_t)section->raw_size_bytes;
    char *data = wpi_malloc(size_bytes + 1);
    if (data == NULL) return WP_FAIL(err, NOMEM, "%zu bytes of code for GPUs", size_bytes);
    const size_t got = ZSTD_decompress(data, size_bytes, wpi_image_section_data(image, section),
                                       section->size_bytes);
    if (ZSTD_isError(got) || got != size_bytes) {
        wpi_free(data);
        return WP_FAIL(err, PARSE, "the embedded GPU code is damaged: it cannot be decompressed");
    }
    data[size_bytes] = '\0';
    *out = data;
    return WP_STATUS_OK;
}

static wp_status list_kernels(module *m, wp_error *err) {
    wpi_ptx_name name;
    uint32_t param_count, count = 0;
    uint64_t address_params;
    for (const char *at = m->ptx; wpi_ptx_next_kernel(&at, &name, &param_count, &address_params);)
        count++;
    m->kernels = wpi_calloc((size_t)count + 1, sizeof *m->kernels);
    if (m->kernels == NULL) return WP_FAIL(err, NOMEM, "%u kernels", count);
    for (const char *at = m->ptx; wpi_ptx_next_kernel(&at, &name, &param_count, &address_params);) {
        wpi_cuda_kernel *kernel = &m->kernels[m->kernel_count];
        kernel->name = wpi_strndup(name.first, name.length);
        if (kernel->name == NULL) return WP_FAIL(err, NOMEM, "the name of a kernel");
        kernel->module = m;
        kernel->params = name.first + name.length;
        kernel->base.device = m->base.device;
        kernel->base.info.name = kernel->name;
        kernel->base.info.param_count = param_count;
        kernel->base.info.address_params = address_params;
        m->kernel_count++;
    }
    return WP_STATUS_OK;
}

/* ---- the driver's module ---- */

static void tell_lines(const char *log) {
    for (size_t length; *log != '\0'; log += length + (log[length] != '\0')) {
        length = strcspn(log, "\r\n");
        if (length != 0)
            wpi_log(WP_LOG_INFO, "device.cuda", "PTX compiler: %.*s", (int)length, log);
    }
}

/* Joins the log to one line. */
static void join_lines(char *log) {
    char *to = log;
    for (const char *from = log; *from != '\0'; from++) {
        const bool is_break = *from == '\n' || *from == '\r';
        if (is_break && (to == log || to[-1] == ' ')) continue;
        *to++ = is_break ? ' ' : *from;
    }
    *to = '\0';
}

/* Results of a driver that cannot use a cubin, for example because it is older than the
 * assembler. */
static bool is_cubin_refused(wpi_cu_result result) {
    return result == WPI_CU_INVALID_IMAGE || result == WPI_CU_NO_BINARY_FOR_GPU ||
           result == WPI_CU_UNSUPPORTED_PTX_VERSION || result == WPI_CU_INVALID_SOURCE;
}

/* Loads the cubin. Sets m->cubin to NULL if the driver cannot use it, so that the PTX is loaded. */
static wp_status load_cubin(module *m, wp_error *err) {
    wpi_cuda_device *device = device_of(m);
    char *code;
    WP_TRY(read_section(m->image, m->cubin, &code, err));
    const wpi_cu_result result = device->cu->module_load(&m->module, code, 0, NULL, NULL);
    wpi_free(code);
    if (!is_cubin_refused(result))
        return wpi_cuda_check(device, result, "loading the program's kernels", err);
    wpi_log(WP_LOG_INFO, "device.cuda", "%s: using the PTX instead of the code for sm_%u: %s (%s)",
            device->base.info.spec, m->cubin->arch, wpi_cu_text(result), wpi_cu_name(result));
    m->cubin = NULL;
    return WP_STATUS_OK;
}

static wp_status assemble(module *m, wp_error *err) {
    wpi_cuda_device *device = device_of(m);
    char *log = wpi_calloc(1, JIT_LOG_BYTES);
    if (log == NULL) return WP_FAIL(err, NOMEM, "the log of the PTX compiler");
    int options[] = {WPI_CU_JIT_ERROR_LOG, WPI_CU_JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)JIT_LOG_BYTES}; /* a number in place of a pointer */
    const wpi_cu_result result = device->cu->module_load(&m->module, m->ptx, 2, options, values);
    log[JIT_LOG_BYTES - 1] = '\0';
    wp_status status = WP_STATUS_OK;
    if (result == WPI_CU_UNSUPPORTED_PTX_VERSION) {
        const uint32_t version = wpi_ptx_version(m->ptx);
        status = WP_FAIL(err, UNSUPPORTED,
                         "%s: the program's PTX has version %u.%u, newer than this driver for CUDA "
                         "%d.%d knows: install a newer driver, or compile with an older -arch",
                         device->base.info.spec, version / 10, version % 10,
                         device->cu->version / 1000, device->cu->version % 1000 / 10);
    } else if (result != WPI_CU_SUCCESS) {
        wp_error error = {0};
        tell_lines(log);
        join_lines(log);
        status = wpi_cuda_check(device, result, "loading the program's kernels", &error);
        if (log[0] != '\0')
            (void)wpi_fail(err, status, __FILE__, __LINE__, "%.200s: %.290s", error.message, log);
        else if (err != NULL)
            *err = error;
    }
    wpi_free(log);
    return status;
}

static wp_status ask(wpi_cuda_kernel *k, int attribute, uint32_t *out, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(k->base.device);
    int value = 0;
    WP_TRY(wpi_cuda_check(device, device->cu->function_attribute(&value, attribute, k->function),
                          "asking for an attribute of a kernel", err));
    *out = value > 0 ? (uint32_t)value : 0;
    return WP_STATUS_OK;
}

static wp_status resolve(wpi_cuda_kernel *k, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(k->base.device);
    WP_TRY(wpi_cuda_check(device,
                          device->cu->module_function(&k->function, k->module->module, k->name),
                          k->name, err));
    wp_kernel_info *info = &k->base.info;
    wp_status status;
    WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_MAX_THREADS, &info->threads_per_block_max, err), failed);
    WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_SHARED_BYTES, &info->shared_static_bytes, err), failed);
    WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_CONSTANT_BYTES, &info->constant_bytes, err), failed);
    WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_LOCAL_BYTES, &info->local_bytes, err), failed);
    WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_REGISTERS, &info->register_count, err), failed);
    for (int i = 0; i < 3 && device->base.info.cluster_blocks_max != 0; i++)
        WP_TRY_GOTO(ask(k, WPI_CU_FUNCTION_CLUSTER_WIDTH + i, &info->cluster_dim[i], err), failed);
    return WP_STATUS_OK;

failed:
    k->function = NULL;
    return status;
}

static wp_status resolve_all(module *m, wp_error *err) {
    for (uint32_t i = 0; i < m->kernel_count; i++)
        WP_TRY(resolve(&m->kernels[i], err));
    return WP_STATUS_OK;
}

wp_status wpi_cuda_kernel_function(wp_kernel *kernel, wpi_cu_function *out, wp_error *err) {
    const wpi_cuda_kernel *k = (const wpi_cuda_kernel *)kernel;
    *out = k->function; /* changes with a reset */
    if (k->function != NULL) return WP_STATUS_OK;
    return WP_FAIL(err, DEVICE, "kernel %s was lost in a failed reset", k->name);
}

/* ---- managed variables ---- */

static bool has_registered(wpi_cuda_device *device, uintptr_t page) {
    bool is_found = false;
    pthread_mutex_lock(&device->lock);
    for (wpi_link *l = device->modules.next; l != &device->modules && !is_found; l = l->next) {
        const module *m = WPI_MEMBER(l, module);
        for (uint32_t i = 0; i < m->page_count; i++)
            if (page >= m->pages[i].first && page < m->pages[i].outer) is_found = true;
    }
    pthread_mutex_unlock(&device->lock);
    return is_found;
}

/* On any device: a page is registered for all. */
static bool is_registered(wpi_cuda_device *device, uintptr_t page) {
    for (int i = 0; i < (int)WP_DEVICES_MAX; i++) {
        wpi_cuda_device *member = wpi_cuda_member(device, i);
        if (member != NULL && has_registered(member, page)) return true;
    }
    return false;
}

static bool is_own(const module *m, uintptr_t page) {
    for (uint32_t i = 0; i < m->page_count; i++)
        if (page >= m->pages[i].first && page < m->pages[i].outer) return true;
    return false;
}

static wp_status register_range(module *m, uintptr_t first, uintptr_t outer, wp_error *err) {
    wpi_cuda_device *device = device_of(m);
    page_range *grown = wpi_realloc(m->pages, (m->page_count + 1) * sizeof *grown);
    if (grown == NULL) return WP_FAIL(err, NOMEM, "managed variables");
    m->pages = grown;
    WP_TRY(wpi_cuda_check(device,
                          device->cu->host_register((void *)first, outer - first,
                                                    WPI_CU_HOST_PORTABLE | WPI_CU_HOST_DEVICE_MAP),
                          "registering managed variables", err));
    m->pages[m->page_count++] = (page_range){first, outer};
    return WP_STATUS_OK;
}

/* Variables share pages, with others of their module and of other modules; a page can be registered
 * only once. Registers the missing pages of [first, outer) in as few pieces as possible. */
static wp_status register_pages(module *m, uintptr_t first, uintptr_t outer, uintptr_t page_bytes,
                                wp_error *err) {
    uintptr_t start = first;
    for (uintptr_t page = first; page < outer; page += page_bytes) {
        if (!is_own(m, page) && !is_registered(device_of(m), page)) continue;
        if (start < page) WP_TRY(register_range(m, start, page, err));
        start = page + page_bytes;
    }
    return start < outer ? register_range(m, start, outer, err) : WP_STATUS_OK;
}

static wp_status map_managed(module *m, const char *pointer_name, wp_error *err) {
    wpi_cuda_device *device = device_of(m);
    const char *name = pointer_name + strlen(MANAGED_PREFIX);
    const wp_cpu_variable *v = wpi_code_find_variable(m->image->id, name);
    if (v == NULL || v->kind != WP_VARIABLE_MANAGED) {
        return WP_FAIL(
            err, NOT_FOUND,
            "the program's host code has no managed variable %s: link the complete object "
            "that wpcc wrote",
            name);
    }
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *host = *(void **)v->address; /* the cell */
    const uintptr_t first = (uintptr_t)host / page_bytes * page_bytes;
    const uintptr_t outer =
        ((uintptr_t)host + v->size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    WP_TRY(register_pages(m, first, outer, page_bytes, err));
    wpi_cu_ptr mapped = 0, pointer = 0;
    size_t pointer_bytes = 0;
    WP_TRY(wpi_cuda_check(device, device->cu->host_pointer(&mapped, host, 0),
                          "mapping a managed variable", err));
    if (mapped != (wpi_cu_ptr)(uintptr_t)host) { /* kernels also get host addresses */
        return WP_FAIL(err, UNSUPPORTED,
                       "%s: this GPU or system does not use host addresses for host memory, so the "
                       "__managed__ variable %s cannot be shared: use cudaMallocManaged",
                       device->base.info.spec, name);
    }
    WP_TRY(wpi_cuda_check(
        device, device->cu->module_global(&pointer, &pointer_bytes, m->module, pointer_name),
        pointer_name, err));
    return wpi_cuda_check(device, device->cu->copy_in(pointer, &mapped, sizeof mapped),
                          "setting the pointer to a managed variable", err);
}

static wp_status map_all_managed(module *m, wp_error *err) {
    wpi_ptx_name name;
    for (const char *at = m->ptx; wpi_ptx_next_variable(&at, MANAGED_PREFIX, &name);) {
        char *pointer_name = wpi_strndup(name.first, name.length);
        if (pointer_name == NULL) return WP_FAIL(err, NOMEM, "the name of a managed variable");
        const wp_status status = map_managed(m, pointer_name, err);
        wpi_free(pointer_name);
        WP_TRY(status);
    }
    return WP_STATUS_OK;
}

/* ---- life ---- */

static void forget_variables(module *m) {
    for (uint32_t i = 0; i < m->variable_count; i++) {
        (void)wpi_memory_map_remove(wpi_memory_map_global(), m->variables[i].address, NULL);
        wpi_free(m->variables[i].name);
    }
    m->variable_count = 0;
}

static wp_status load_in_driver(module *m, wp_error *err) {
    if (m->cubin != NULL) WP_TRY(load_cubin(m, err));
    if (m->cubin == NULL) WP_TRY(assemble(m, err));
    WP_TRY(resolve_all(m, err));
    return map_all_managed(m, err);
}

static void unregister_pages(module *m) {
    for (uint32_t i = 0; i < m->page_count; i++)
        (void)device_of(m)->cu->host_unregister((void *)m->pages[i].first);
    m->page_count = 0;
}

/* Also accepts a partially loaded module. */
static void destroy(module *m) {
    wpi_cuda_device *device = device_of(m);
    forget_variables(m);
    if (wpi_cuda_enter(device, NULL) == WP_STATUS_OK) {
        unregister_pages(m);
        if (m->module != NULL) (void)device->cu->module_unload(m->module);
    }
    for (uint32_t i = 0; m->kernels != NULL && i < m->kernel_count; i++)
        wpi_free(m->kernels[i].name);
    wpi_free(m->kernels);
    wpi_free(m->variables);
    wpi_free(m->pages);
    wpi_free(m->ptx);
    pthread_mutex_destroy(&m->lock);
    wpi_free(m);
}

static wp_status load(wp_device *base, const void *data, wp_module **out, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    const wp_image_header *image;
    const wp_image_section *section = NULL;
    WP_TRY(wpi_image_check(data, &image, err));
    WP_TRY(choose_section(device, image, &section, err));
    WP_TRY(wpi_cuda_enter(device, err));
    module *m = wpi_calloc(1, sizeof *m);
    if (m == NULL) return WP_FAIL(err, NOMEM, "module");
    m->base.device = base;
    m->image = image;
    m->cubin = choose_cubin(device, image);
    pthread_mutex_init(&m->lock, NULL);
    wp_status status;
    WP_TRY_GOTO(read_section(image, section, &m->ptx, err), failed);
    WP_TRY_GOTO(list_kernels(m, err), failed);
    WP_TRY_GOTO(load_in_driver(m, err), failed);
    wpi_link_add(device, &device->modules, &m->link);
    *out = &m->base;
    return WP_STATUS_OK;

failed:
    destroy(m);
    return status;
}

static void unload(wp_module *base) {
    module *m = (module *)base;
    wpi_link_remove(device_of(m), &m->link);
    destroy(m);
}

void wpi_cuda_modules_unregister(wpi_cuda_device *device) {
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK) return;
    for (wpi_link *l = device->modules.next; l != &device->modules; l = l->next)
        unregister_pages(WPI_MEMBER(l, module));
}

wp_status wpi_cuda_modules_restore(wpi_cuda_device *device, wp_error *err) {
    for (wpi_link *l = device->modules.next; l != &device->modules; l = l->next) {
        module *m = WPI_MEMBER(l, module);
        pthread_mutex_lock(&m->lock);
        m->module = NULL; /* destroyed with its context */
        for (uint32_t i = 0; i < m->kernel_count; i++)
            m->kernels[i].function = NULL;
        forget_variables(m);
        pthread_mutex_unlock(&m->lock);
    }
    for (wpi_link *l = device->modules.next; l != &device->modules; l = l->next)
        WP_TRY(load_in_driver(WPI_MEMBER(l, module), err));
    return WP_STATUS_OK;
}

/* ---- finding things ---- */

static wp_status find_kernel(wp_module *base, const char *name, wp_kernel **out, wp_error *err) {
    module *m = (module *)base;
    for (uint32_t i = 0; i < m->kernel_count; i++) {
        if (strcmp(m->kernels[i].name, name) != 0) continue;
        *out = &m->kernels[i].base;
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, NOT_FOUND, "the program's PTX has no kernel %s", name);
}

static wp_status add_variable(module *m, const char *name, void *address, size_t size_bytes,
                              wp_error *err) {
    found_variable *grown = wpi_realloc(m->variables, (m->variable_count + 1) * sizeof *grown);
    if (grown == NULL) return WP_FAIL(err, NOMEM, "variable %s", name);
    m->variables = grown;
    found_variable *v = &m->variables[m->variable_count];
    *v = (found_variable){wpi_strdup(name), address, size_bytes};
    if (v->name == NULL) return WP_FAIL(err, NOMEM, "variable %s", name);
    const wpi_memory_entry entry = {
        .allocation = {.base = address, .size_bytes = size_bytes, .kind = WP_MEMORY_VARIABLE},
        .device = m->base.device};
    const wp_status status = wpi_memory_map_add(wpi_memory_map_global(), &entry, err);
    if (status != WP_STATUS_OK)
        wpi_free(v->name);
    else
        m->variable_count++;
    return status;
}

static wp_status find_variable_locked(module *m, const char *name, void **address,
                                      size_t *size_bytes, wp_error *err) {
    wpi_cuda_device *device = device_of(m);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        if (strcmp(m->variables[i].name, name) != 0) continue;
        *address = m->variables[i].address;
        *size_bytes = m->variables[i].size_bytes;
        return WP_STATUS_OK;
    }
    wpi_cu_ptr found = 0;
    size_t found_bytes = 0;
    const wpi_cu_result result = device->cu->module_global(&found, &found_bytes, m->module, name);
    if (result == WPI_CU_NOT_FOUND)
        return WP_FAIL(err, NOT_FOUND, "the program's PTX has no variable %s", name);
    WP_TRY(wpi_cuda_check(device, result, name, err));
    WP_TRY(add_variable(m, name, (void *)(uintptr_t)found, found_bytes, err));
    *address = (void *)(uintptr_t)found;
    *size_bytes = found_bytes;
    return WP_STATUS_OK;
}

static wp_status find_variable(wp_module *base, const char *name, void **address,
                               size_t *size_bytes, wp_error *err) {
    module *m = (module *)base;
    const wp_cpu_variable *v = wpi_code_find_variable(m->image->id, name);
    if (v != NULL && v->kind == WP_VARIABLE_MANAGED) { /* host memory */
        *address = *(void **)v->address;
        *size_bytes = (size_t)v->size_bytes;
        return WP_STATUS_OK;
    }
    WP_TRY(wpi_cuda_enter(device_of(m), err));
    pthread_mutex_lock(&m->lock);
    const wp_status status = find_variable_locked(m, name, address, size_bytes, err);
    pthread_mutex_unlock(&m->lock);
    return status;
}

/* ---- options ---- */

static uint32_t occupancy_blocks(const wp_kernel *kernel, uint32_t block_threads,
                                 uint32_t shared_dynamic_bytes) {
    wpi_cuda_device *device = wpi_cuda_of(kernel->device);
    if (device->cu->occupancy == NULL)
        return wpi_occupancy_blocks(&device->base.info, &kernel->info, block_threads,
                                    shared_dynamic_bytes);
    int blocks = 0;
    wpi_cu_function function;
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK ||
        wpi_cuda_kernel_function((wp_kernel *)(uintptr_t)kernel, &function, NULL) != WP_STATUS_OK ||
        wpi_cuda_check(
            device,
            device->cu->occupancy(&blocks, function, (int)block_threads, shared_dynamic_bytes),
            "asking for the occupancy", NULL) != WP_STATUS_OK ||
        blocks < 0) {
        return 0;
    }
    return (uint32_t)blocks;
}

static wp_status set_shared_max(wp_kernel *kernel, uint32_t bytes, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(kernel->device);
    wpi_cu_function function;
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_kernel_function(kernel, &function, err));
    /* This much is allowed without opting in. */
    const uint32_t static_bytes = kernel->info.shared_static_bytes;
    const uint32_t least =
        static_bytes < SHARED_BYTES_DEFAULT ? SHARED_BYTES_DEFAULT - static_bytes : 0;
    return wpi_cuda_check(device,
                          device->cu->function_set_attribute(function,
                                                             WPI_CU_FUNCTION_SHARED_DYNAMIC_MAX,
                                                             (int)(bytes > least ? bytes : least)),
                          "raising a kernel's shared memory", err);
}

/* GPUs whose two sizes are fixed take it, too. */
static wp_status set_carveout(wp_kernel *kernel, int pct, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(kernel->device);
    wpi_cu_function function;
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(wpi_cuda_kernel_function(kernel, &function, err));
    return wpi_cuda_check(
        device, device->cu->function_set_attribute(function, WPI_CU_FUNCTION_CARVEOUT, pct),
        "preferring a size of shared memory", err);
}

static wpi_param_place param_place(const wp_kernel *kernel, uint32_t i) {
    wpi_param_place place;
    wpi_ptx_param(((const wpi_cuda_kernel *)kernel)->params, i, &place.offset_bytes,
                  &place.size_bytes);
    return place;
}

const wpi_module_ops wpi_cuda_module_ops = {
    .load = load,
    .unload = unload,
    .find_kernel = find_kernel,
    .find_variable = find_variable,
    .occupancy_blocks = occupancy_blocks,
    .set_shared_max = set_shared_max,
    .set_carveout = set_carveout,
    .param_place = param_place,
};
