/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's images, kernels and variables. Registration only records; the first call that needs
 * an image loads it and looks a name up in it.
 *
 *     host address ──► entry (hash table) ──► image ──► wp_module (loaded once)
 *                            └── wp_kernel or device address, kept after the first look-up
 *
 * One exception: a __managed__ variable is bound at once, because host code may read it without a
 * call (see base/abi.h). Host code of nvcc calls __cudaInitModule before it reads one: an image
 * that is translated first has them bound when it is loaded.
 *
 * A large fat binary of another compiler, such as a library of hundreds of kernels, is translated
 * part by part (device/ptx_parts.h). A part is an image, too; a kernel's or variable's entry names
 * it from its first use on.
 *
 * Locking: `table_lock` guards the tables; `load_lock` is held while an image is loaded or a name
 * looked up, and is taken first. Entries stay until their image is unregistered.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/entry.h"
#include "cudart/hash_map.h"
#include "device/device.h"
#include "device/fat_binary.h"
#include "device/image.h"
#include "device/module_library.h"
#include "device/ptx_module.h"
#include "device/ptx_parts.h"

#define SHARED_BYTES_DEFAULT (48u * 1024u)
#define WHOLE_BYTES_MAX (256u * 1024u) /* PTX up to this length is translated at once */

/* An image on a device. */
typedef struct loaded_image {
    wp_module *module;
    cudaError_t error; /* why it cannot be used there */
    wp_error detail;
    bool is_loaded; /* or failed to */
} loaded_image;

typedef struct image {
    struct image *next;
    const wp_image_header *header; /* NULL: not Warpage's; a message was printed */
    const void *foreign;           /* another compiler's fat binary, not translated yet */
    wp_image_header *translated;   /* … its image, which `header` is then */
    bool has_cpu_code;             /* … made for it */
    cudaError_t error;             /* why it cannot be used */
    wp_error detail;
    loaded_image on[WP_DEVICES_MAX]; /* by the device's number */
    uint32_t home;                   /* of a module of the driver API: its device's number */
    bool is_linked;                  /* shared by several objects; lives until the process ends */
    wpi_ptx_parts *parts;            /* of a foreign image that stays divided */
    struct image **part_images;      /* … by the part's number; NULL: not used yet */
    const struct image *whole;       /* of a part */
    bool is_divided;                 /* or was found to be indivisible */
} image;

typedef struct function_entry {
    const void *key;
    image *image;
    const char *name;
    _Atomic(wpi_function *) on[WP_DEVICES_MAX]; /* NULL: not looked up there */
    UT_hash_handle hh;
} function_entry;

typedef struct variable_entry {
    const void *key;
    image *image;
    const void *initial;   /* __managed__: its value as compiled */
    void *storage;         /* … of another compiler, where kernels run on this machine */
    void **host_pointer;   /* … the pointer of host code */
    wpi_variable variable; /* its address: of a managed one */
    void *on[WP_DEVICES_MAX];
    bool is_resolved[WP_DEVICES_MAX];
    UT_hash_handle hh;
} variable_entry;

static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static image *images;
static function_entry *functions;
static variable_entry *variables;

/* ---- images ---- */

static image *add_image(const void *data) {
    image *it = wpi_calloc(1, sizeof *it);
    WP_CHECK(it != NULL); /* before main no caller can get an error */
    const wp_image_header *header = data;
    if (header != NULL && memcmp(header->magic, WP_IMAGE_MAGIC, sizeof header->magic) == 0) {
        if (header->abi_version == WP_ABI_VERSION) {
            it->header = header;
            wpi_image_note_arch(header);
        } else {
            it->error = cudaErrorInvalidKernelImage;
            (void)WP_FAIL(
                &it->detail, PARSE,
                "the program was compiled for version %u of the kernel interface, but this "
                "libwarpage has version %u; compile it again with this wpcc",
                header->abi_version, WP_ABI_VERSION);
        }
    } else if (header != NULL && wpi_fat_binary_is(data)) {
        it->foreign = data;
    } else {
        it->error = cudaErrorNoKernelImageForDevice;
        (void)WP_FAIL(&it->detail, PARSE,
                      "the program contains GPU code from another compiler; its kernels can run "
                      "here only if they are compiled with wpcc");
    }
    if (it->error != cudaSuccess) wpi_print_once(it->error, &it->detail);
    pthread_rwlock_wrlock(&table_lock);
    it->next = images;
    images = it;
    pthread_rwlock_unlock(&table_lock);
    return it;
}

void **__cudaRegisterFatBinary(void *fatbin) {
    const wpi_fatbin *wrapper = fatbin;
    const bool is_wrapper = wrapper != NULL && wrapper->magic == WPI_FATBIN_MAGIC;
    return (void **)add_image(is_wrapper ? wrapper->data : NULL);
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

void wp_register_linked(const void *data, void (*callback)(void **handle)) {
    image *it = NULL;
    pthread_rwlock_rdlock(&table_lock);
    for (it = images; it != NULL && (!it->is_linked || (const void *)it->header != data);)
        it = it->next;
    pthread_rwlock_unlock(&table_lock);
    if (it == NULL) {
        it = add_image(data);
        it->is_linked = true;
    }
    callback((void **)it);
}

static void remove_image_locked(image *gone) {
    function_entry *f, *next_f;
    HASH_ITER(hh, functions, f, next_f) {
        if (f->image != gone && f->image->whole != gone) continue;
        HASH_DEL(functions, f);
        for (uint32_t d = 0; d < WP_DEVICES_MAX; d++) {
            wpi_function *function = atomic_load(&f->on[d]);
            if (function != NULL) wpi_cache_code_destroy(function->cached);
            wpi_free(function);
        }
        wpi_free(f);
    }
    variable_entry *v, *next_v;
    HASH_ITER(hh, variables, v, next_v) {
        if (v->image != gone && v->image->whole != gone) continue;
        HASH_DEL(variables, v);
        wpi_free(v);
    }
    for (image **link = &images; *link != NULL; link = &(*link)->next) {
        if (*link != gone) continue;
        *link = gone->next;
        break;
    }
}

static void destroy_image(image *it) {
    if (it == NULL) return;
    for (uint32_t d = 0; d < WP_DEVICES_MAX; d++)
        wp_module_unload(it->on[d].module);
    wpi_ptx_parts_destroy(it->parts);
    wpi_free(it->part_images);
    wpi_free(it->translated);
    wpi_free(it);
}

void __cudaUnregisterFatBinary(void **handle) {
    image *gone = (image *)handle;
    if (gone == NULL || wpi_context_work_was_dropped()) return;
    /* Kernels of this image may still be queued, and their code is unloaded next. Other calls
     * report their errors. */
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        if (gone->on[d].module == NULL && gone->parts == NULL) continue;
        const wp_status ignored = wp_device_wait(wpi_device_at(d), NULL);
        (void)ignored;
    }
    pthread_mutex_lock(&load_lock);
    pthread_rwlock_wrlock(&table_lock);
    remove_image_locked(gone);
    pthread_rwlock_unlock(&table_lock);
    pthread_mutex_unlock(&load_lock);
    const size_t outer = gone->parts != NULL ? wpi_ptx_parts_outer(gone->parts) : 0;
    for (size_t i = 0; i < outer; i++)
        destroy_image(gone->part_images[i]);
    destroy_image(gone);
}

static void bind_foreign(const wp_device *device, const image *it);

/* Under load_lock. Code of a translated image for this machine. Its variables are bound first: the
 * code of a simulated GPU takes their addresses when it is loaded. */
static wp_status make_cpu_code(const wp_device *device, image *it, wp_error *err) {
    if (!it->has_cpu_code) WP_TRY(wpi_module_library_open(it->translated, err));
    it->has_cpu_code = true;
    bind_foreign(device, it);
    return WP_STATUS_OK;
}

/* Under load_lock. Translates the PTX of a fat binary, once. */
static void translate(image *it) {
    const wp_status status = wpi_module_image_copy(it->foreign, 0, &it->translated, &it->detail);
    it->foreign = NULL;
    it->header = it->translated;
    if (status == WP_STATUS_OK) return;
    it->error =
        status == WP_STATUS_UNSUPPORTED ? cudaErrorNoKernelImageForDevice : wpi_error_of(status);
    wpi_print_once(it->error, &it->detail);
}

/* Under load_lock. Divides a fat binary of many kernels, if that can be. What is wrong with it is
 * said when it is translated. */
static void divide(image *it) {
    char *text = NULL;
    if (it->foreign == NULL || it->is_divided) return;
    it->is_divided = true;
    if (wpi_fat_binary_ptx(it->foreign, 0, &text, NULL) != WP_STATUS_OK) return;
    if (strlen(text) <= WHOLE_BYTES_MAX ||
        wpi_ptx_parts_create(text, &it->parts, NULL) != WP_STATUS_OK) {
        wpi_free(text);
        return;
    }
    it->part_images = wpi_calloc(wpi_ptx_parts_outer(it->parts), sizeof *it->part_images);
    if (it->part_images != NULL) return;
    wpi_ptx_parts_destroy(it->parts);
    it->parts = NULL;
}

/* Under load_lock. The image that has the kernel or variable; NULL: there is no memory. */
static image *find_part(image *it, const char *name) {
    size_t number;
    divide(it);
    if (it->parts == NULL || !wpi_ptx_parts_find(it->parts, name, &number)) return it;
    image **part = &it->part_images[number];
    char *text = *part == NULL ? wpi_ptx_parts_text(it->parts, number) : NULL;
    if (*part != NULL || text == NULL) return *part;
    *part = wpi_calloc(1, sizeof **part);
    if (*part != NULL) {
        (*part)->whole = it;
        (*part)->foreign = text;
        translate(*part);
    }
    wpi_free(text);
    return *part;
}

/* A GPU runs the PTX of a translated image; where it does not, code for this machine is made. */
static wp_status load_module(wp_device *device, image *it, loaded_image *loaded) {
    const bool is_translated = it->translated != NULL;
    const bool is_host = wp_device_get_info(device)->host_pointers_are_device_pointers;
    if (is_translated && is_host) WP_TRY(make_cpu_code(device, it, &loaded->detail));
    wp_status status = wp_module_load(device, it->header, &loaded->module, &loaded->detail);
    if (status == WP_STATUS_NOT_FOUND && is_translated && !is_host) { /* checks, say */
        WP_TRY(make_cpu_code(device, it, &loaded->detail));
        status = wp_module_load(device, it->header, &loaded->module, &loaded->detail);
    }
    if (status == WP_STATUS_OK && is_translated) bind_foreign(device, it);
    return status;
}

/* Under load_lock. */
static cudaError_t load_image(wp_device *device, image *it, wp_module **module, wp_error *err) {
    loaded_image *loaded = &it->on[device->number];
    *module = NULL;
    if (it->parts != NULL) { /* the name asked for is in none of them */
        (void)WP_FAIL(err, NOT_FOUND, "the program's PTX does not define it");
        return cudaErrorInvalidDeviceFunction;
    }
    if (it->foreign != NULL) translate(it);
    *err = it->detail;
    if (it->error != cudaSuccess) return it->error;
    if (!loaded->is_loaded) {
        const wp_status status = load_module(device, it, loaded);
        loaded->is_loaded = true;
        if (status != WP_STATUS_OK) {
            loaded->error = status == WP_STATUS_NOT_FOUND ? cudaErrorNoKernelImageForDevice
                                                          : wpi_error_of(status);
        }
    }
    *err = loaded->detail;
    *module = loaded->module;
    return loaded->error;
}

char __cudaInitModule(void **handle) {
    wp_device *device;
    image *it = (image *)handle;
    if (it == NULL || wpi_enter_any(&device) != cudaSuccess) return 0;
    pthread_mutex_lock(&load_lock);
    wp_module *module;
    wp_error err;
    divide(it); /* an image with managed variables stays whole */
    const cudaError_t error =
        it->parts != NULL ? cudaSuccess : load_image(device, it, &module, &err);
    pthread_mutex_unlock(&load_lock);
    return error == cudaSuccess;
}

cudaError_t wpi_image_open(wp_device *device, const wp_image_header *header, void ***handle,
                           wp_error *detail) {
    image *it = add_image(header);
    it->home = device->number;
    pthread_mutex_lock(&load_lock);
    wp_module *module;
    const cudaError_t error = load_image(device, it, &module, detail);
    pthread_mutex_unlock(&load_lock);
    *handle = (void **)it;
    if (error == cudaSuccess) return cudaSuccess;
    __cudaUnregisterFatBinary(*handle);
    *handle = NULL;
    return error;
}

wp_module *wpi_image_module(void **handle) {
    const image *it = (const image *)handle;
    return it->on[it->home].module;
}

/* ---- functions ---- */

int __cudaRegisterFunction(void **handle, const char *host, char *device, const char *device_name,
                           int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                           int *warp_size) {
    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    function_entry *entry = wpi_calloc(1, sizeof *entry);
    WP_CHECK(entry != NULL);
    entry->key = host;
    entry->image = (image *)handle;
    entry->name = device_name;
    pthread_rwlock_wrlock(&table_lock);
    /* A template instantiated in several objects has one host function; any of its images serves.
     */
    function_entry *known = NULL;
    HASH_FIND_PTR(functions, &entry->key, known);
    if (known == NULL) {
        HASH_ADD_PTR(functions, key, entry);
        WP_CHECK(entry->hh.tbl != NULL);
    }
    pthread_rwlock_unlock(&table_lock);
    if (known != NULL) wpi_free(entry);
    return 0;
}

static void set_options(wp_device *device, wpi_function *f) {
    const wp_device_info *info = wp_device_get_info(device);
    uint64_t shared_bytes = info->shared_bytes_per_block;
    if (shared_bytes == 0 || shared_bytes > SHARED_BYTES_DEFAULT)
        shared_bytes = SHARED_BYTES_DEFAULT;
    const uint32_t static_bytes = f->info->shared_static_bytes;
    f->shared_dynamic_bytes_max =
        shared_bytes > static_bytes ? (uint32_t)(shared_bytes - static_bytes) : 0;
    f->shared_carveout_pct = cudaSharedmemCarveoutDefault;
    f->cache_config = cudaFuncCachePreferNone;
}

static cudaError_t resolve_function(wp_device *device, function_entry *entry) {
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&load_lock);
    if (atomic_load_explicit(&entry->on[device->number], memory_order_relaxed) == NULL) {
        wp_error err = {0};
        wpi_function *f = wpi_calloc(1, sizeof *f);
        image *it = find_part(entry->image, entry->name);
        if (it != NULL) entry->image = it;
        if (f == NULL || it == NULL) {
            error = cudaErrorMemoryAllocation;
        } else if ((error = load_image(device, it, &f->module, &err)) != cudaSuccess) {
            /* `err` says why */
        } else if (wp_module_find_kernel(f->module, entry->name, &f->kernel, &err) !=
                   WP_STATUS_OK) {
            error = cudaErrorInvalidDeviceFunction;
        } else {
            f->name = entry->name;
            f->image = entry->image->header;
            f->info = wp_kernel_get_info(f->kernel);
            set_options(device, f);
            if (wpi_cache_code_create(device, f->module, f->name, f->kernel, &f->cached, &err) !=
                WP_STATUS_OK)
                error = cudaErrorInvalidKernelImage;
        }
        if (error == cudaSuccess) {
            atomic_store_explicit(&entry->on[device->number], f, memory_order_release);
        } else {
            wpi_free(f);
            (void)wpi_explain(error, &err);
        }
    }
    pthread_mutex_unlock(&load_lock);
    return error;
}

cudaError_t wpi_function_find(wp_device *device, const void *function, wpi_function **out) {
    function_entry *entry = NULL;
    pthread_rwlock_rdlock(&table_lock);
    HASH_FIND_PTR(functions, &function, entry);
    pthread_rwlock_unlock(&table_lock);
    if (entry == NULL) return wpi_note(cudaErrorInvalidDeviceFunction);
    *out = atomic_load_explicit(&entry->on[device->number], memory_order_acquire);
    if (*out == NULL) {
        WPI_TRY(resolve_function(device, entry));
        *out = atomic_load_explicit(&entry->on[device->number], memory_order_acquire);
    }
    return cudaSuccess;
}

wp_status wp_image_find(const void *function, const void **out, const char **name, wp_error *err) {
    function_entry *entry = NULL;
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&load_lock); /* a first launch may name a part of the image */
    pthread_rwlock_rdlock(&table_lock);
    HASH_FIND_PTR(functions, &function, entry);
    pthread_rwlock_unlock(&table_lock);
    if (entry == NULL || entry->image->header == NULL) {
        status = WP_FAIL(err, NOT_FOUND, "the program has no kernel at this address");
    } else {
        *out = entry->image->header;
        *name = entry->name;
    }
    pthread_mutex_unlock(&load_lock);
    return status;
}

void wpi_functions_forget(wp_device *device) {
    pthread_rwlock_wrlock(&table_lock);
    for (function_entry *f = functions; f != NULL; f = f->hh.next) {
        wpi_function *function = atomic_load(&f->on[device->number]);
        if (function != NULL) set_options(device, function);
    }
    pthread_rwlock_unlock(&table_lock);
}

/* ---- variables ---- */

/* The managed variable of that name in the CPU code of the image; NULL when there is none. */
static const wp_cpu_variable *find_managed(const image *it, const char *name) {
    if (it->header == NULL) return NULL;
    const wp_cpu_variable *v = wpi_code_find_variable(it->header->id, name);
    return v != NULL && v->kind == WP_VARIABLE_MANAGED ? v : NULL;
}

static bool is_zero(const char *bytes, size_t size_bytes) {
    return size_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}

/* Binds the managed variable to the host's storage. Returns the address of its compiled value; NULL
 * if it was bound before. */
static const void *bind_managed(const wp_cpu_variable *v, void *host) {
    void **cell = v->address;
    const void *initial = *cell;
    if (initial == host) return NULL;
    if ((v->flags & WP_VARIABLE_OWN_PAGES) != 0)
        wpi_device_place_variable(wpi_device_spec(), host, v->size_bytes);
    if (!is_zero(initial, v->size_bytes)) memcpy(host, initial, v->size_bytes); /* touches pages */
    *cell = host;
    return initial;
}

/* Binds a managed variable of another compiler to its storage before its code is loaded; where a
 * GPU's driver has memory for it, to that, afterwards. */
static wp_status bind_foreign_variable(const wp_device *device, const image *it,
                                       variable_entry *entry, wp_error *err) {
    wpi_variable *v = &entry->variable;
    wp_module *module = it->on[device->number].module;
    size_t size_bytes;
    if (module == NULL) {
        const wp_cpu_variable *code = find_managed(it, v->name);
        if (code == NULL) return WP_STATUS_OK;
        entry->initial = bind_managed(code, entry->storage);
        v->address = entry->storage;
    } else {
        WP_TRY(wp_module_find_variable(module, v->name, &v->address, &size_bytes, err));
    }
    *entry->host_pointer = v->address;
    entry->on[device->number] = v->address;
    entry->is_resolved[device->number] = true;
    return WP_STATUS_OK;
}

/* Under load_lock. A variable that cannot be bound stays NULL for host code. */
static void bind_foreign(const wp_device *device, const image *it) {
    wp_error err = {0};
    pthread_rwlock_wrlock(&table_lock);
    for (variable_entry *v = variables; v != NULL; v = v->hh.next)
        if (v->image == it && v->host_pointer != NULL && v->variable.address == NULL &&
            bind_foreign_variable(device, it, v, &err) != WP_STATUS_OK)
            wpi_print_once(wpi_error_of(err.status), &err);
    pthread_rwlock_unlock(&table_lock);
}

/* Takes what is said of the variable besides its key. */
static void add_entry(void **handle, const variable_entry *said) {
    variable_entry *entry = wpi_calloc(1, sizeof *entry);
    WP_CHECK(entry != NULL);
    *entry = *said;
    entry->key = said->variable.host;
    entry->image = (image *)handle;
    pthread_rwlock_wrlock(&table_lock);
    variable_entry *known = NULL;
    HASH_FIND_PTR(variables, &entry->key, known);
    if (known == NULL) {
        HASH_ADD_PTR(variables, key, entry);
        WP_CHECK(entry->hh.tbl != NULL);
    }
    pthread_rwlock_unlock(&table_lock);
    if (known != NULL) wpi_free(entry);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *device_name,
                       int is_extern, size_t size_bytes, int is_constant, int is_global) {
    (void)device, (void)is_extern, (void)is_global;
    wpi_variable variable = {.name = device_name,
                             .host = host,
                             .size_bytes = size_bytes,
                             .kind = is_constant ? WP_VARIABLE_CONSTANT : WP_VARIABLE_DEVICE};
    const wp_cpu_variable *v = find_managed((image *)handle, device_name);
    const void *initial = NULL;
    if (v != NULL) {
        initial = bind_managed(v, host);
        variable.kind = WP_VARIABLE_MANAGED;
        variable.address = host;
    }
    add_entry(handle, &(variable_entry){.variable = variable, .initial = initial});
}

/* Whole pages, which a simulated GPU migrates. They stay: its code has their addresses. */
static void *make_storage(size_t size_bytes) {
    void *storage = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    WP_CHECK(storage != MAP_FAILED); /* before main no caller can get an error */
    wpi_device_place_variable(wpi_device_spec(), storage, size_bytes);
    return storage;
}

void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                              const char *device_name, int is_extern, size_t size_bytes,
                              int is_constant, int is_global) {
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    /* Host code, too, uses a pointer here: the storage need not move. */
    const wp_cpu_variable *v = find_managed((image *)handle, device_name);
    if (v != NULL) *host_pointer = *(void **)v->address;
    void *const storage = v != NULL ? *host_pointer : NULL;
    const wpi_variable variable = {.name = device_name,
                                   .host = host_pointer,
                                   .address = storage,
                                   .size_bytes = size_bytes,
                                   .kind = WP_VARIABLE_MANAGED};
    variable_entry entry = {.variable = variable};
    if (((const image *)handle)->foreign != NULL) {
        entry.host_pointer = host_pointer;
        entry.storage = make_storage(size_bytes);
    }
    add_entry(handle, &entry);
}

void __cudaRegisterTexture(void **handle, const struct textureReference *host, const void **device,
                           const char *device_name, int dim, int is_normalized, int is_extern) {
    (void)device, (void)is_extern;
    const wpi_variable variable = {.name = device_name,
                                   .host = host,
                                   .size_bytes = sizeof(cudaTextureObject_t),
                                   .kind = WP_VARIABLE_TEXTURE,
                                   .texture_dim = dim,
                                   .texture_reads_normalized = is_normalized != 0};
    add_entry(handle, &(variable_entry){.variable = variable});
}

void __cudaRegisterSurface(void **handle, const struct surfaceReference *host, const void **device,
                           const char *device_name, int dim, int is_extern) {
    (void)device, (void)is_extern;
    const wpi_variable variable = {.name = device_name,
                                   .host = host,
                                   .size_bytes = sizeof(cudaSurfaceObject_t),
                                   .kind = WP_VARIABLE_SURFACE,
                                   .texture_dim = dim};
    add_entry(handle, &(variable_entry){.variable = variable});
}

static cudaError_t resolve_variable(wp_device *device, variable_entry *entry) {
    wp_error err = {0};
    wpi_variable *v = &entry->variable;
    void **address = &entry->on[device->number];
    size_t size_bytes = 0;
    wp_module *module = NULL;
    image *it = find_part(entry->image, v->name);
    if (it != NULL) entry->image = it;
    cudaError_t error =
        it != NULL ? load_image(device, it, &module, &err) : cudaErrorMemoryAllocation;
    if (error == cudaSuccess &&
        wp_module_find_variable(module, v->name, address, &size_bytes, &err) != WP_STATUS_OK)
        error = cudaErrorInvalidSymbol;
    if (error == cudaSuccess) {
        if (v->size_bytes == 0) v->size_bytes = size_bytes; /* extern arrays without extent */
        if (v->kind == WP_VARIABLE_MANAGED) v->address = *address;
        entry->is_resolved[device->number] = true;
    }
    if (error != cudaSuccess && error != cudaErrorInvalidSymbol) (void)wpi_explain(error, &err);
    return error;
}

cudaError_t wpi_variable_find(wp_device *device, const void *symbol, wpi_variable *out) {
    variable_entry *entry = NULL;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&load_lock);
    pthread_rwlock_rdlock(&table_lock);
    HASH_FIND_PTR(variables, &symbol, entry);
    /* nvcc passes a managed variable's own address, and registers that of the host's pointer */
    for (variable_entry *v = variables; v != NULL && entry == NULL && symbol != NULL;
         v = v->hh.next)
        if (v->host_pointer != NULL && v->variable.address == symbol) entry = v;
    pthread_rwlock_unlock(&table_lock);
    if (entry == NULL)
        error = cudaErrorInvalidSymbol;
    else if (!entry->is_resolved[device->number])
        error = resolve_variable(device, entry);
    if (error == cudaSuccess) {
        *out = entry->variable;
        out->address = entry->on[device->number];
    }
    pthread_mutex_unlock(&load_lock);
    return error;
}

/* Whether `name` is the source's name of `device_name`. Static variables: "_ZL5table", possibly
 * with a suffix that distinguishes files. */
static bool is_called(const char *device_name, const char *name) {
    if (strncmp(device_name, "_ZL", 3) != 0) return strcmp(device_name, name) == 0;
    char *rest;
    const unsigned long length = strtoul(device_name + 3, &rest, 10);
    return length == strlen(name) && strncmp(rest, name, length) == 0;
}

const void *wp_symbol_find(const void *address, const char *name) {
    const void *found = address;
    variable_entry *entry = NULL;
    pthread_rwlock_rdlock(&table_lock);
    HASH_FIND_PTR(variables, &address, entry);
    for (variable_entry *v = variables; entry == NULL && name != NULL && v != NULL; v = v->hh.next)
        if (is_called(v->variable.name, name)) entry = v;
    if (entry != NULL) found = entry->key;
    pthread_rwlock_unlock(&table_lock);
    return found;
}

/* The device resets variables that are not shared with the host, possibly at other addresses. */
void wpi_variables_reset(wp_device *device) {
    pthread_mutex_lock(&load_lock);
    pthread_rwlock_rdlock(&table_lock);
    for (variable_entry *v = variables; v != NULL; v = v->hh.next) {
        if (v->initial != NULL) memcpy(v->variable.address, v->initial, v->variable.size_bytes);
        if (v->variable.kind != WP_VARIABLE_MANAGED) v->is_resolved[device->number] = false;
    }
    pthread_rwlock_unlock(&table_lock);
    pthread_mutex_unlock(&load_lock);
}

bool wpi_variable_managed_at(const void *address, size_t *left_bytes) {
    const uintptr_t at = (uintptr_t)address;
    bool is_found = false;
    pthread_rwlock_rdlock(&table_lock);
    for (variable_entry *v = variables; v != NULL && !is_found; v = v->hh.next) {
        const uintptr_t first = (uintptr_t)v->variable.address;
        if (v->variable.kind != WP_VARIABLE_MANAGED || at < first ||
            at - first >= v->variable.size_bytes)
            continue;
        *left_bytes = v->variable.size_bytes - (at - first);
        is_found = true;
    }
    pthread_rwlock_unlock(&table_lock);
    return is_found;
}
