/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: images that the program passes at run time. What wpcc -cubin and -fatbin write is an
 * image; the PTX of wpcc -ptx and of NVRTC carries one (base/ptx_carrier.h).
 *
 *     data ──► image, a copy ──► CPU code by wpcc, if kernels run on this machine ──► wp_module
 *
 * A module's functions are entries in the table of register.c, with the CUfunction as their key, so
 * that calls of the runtime take them, too. A CUlibrary is a module, a CUkernel a function: there
 * is one context's worth of everything.
 *
 * The same image loaded again while it is loaded is the same module: its variables exist once.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cudart/driver/driver.h"
#include "cudart/entry.h"
#include "cudart/link_input.h"
#include "device/device.h"
#include "device/module_library.h"
#include "device/ptx_module.h"

struct CUfunc_st {
    struct CUfunc_st *next;
    struct CUmod_st *module;
    char *name;
};

/* A managed variable that is known to the runtime; `host` is the key of its entry. */
typedef struct managed_name {
    struct managed_name *next;
    void *host;
    char *name;
} managed_name;

struct CUmod_st {
    struct CUmod_st *next;
    wp_image_header *image;
    void **handle; /* of register.c */
    struct CUfunc_st *functions;
    managed_name *managed;
    unsigned uses;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUmod_st *modules;

/* ---- loading ---- */

static void destroy(struct CUmod_st *m) {
    for (struct CUfunc_st *f = m->functions, *next; f != NULL; f = next) {
        next = f->next;
        wpi_launch_setup_forget(f);
        wpi_free(f->name);
        wpi_free(f);
    }
    for (managed_name *v = m->managed, *next; v != NULL; v = next) {
        next = v->next;
        wpi_free(v->name);
        wpi_free(v);
    }
    wpi_free(m->image);
    wpi_free(m);
}

static struct CUmod_st *find_loaded(const wp_device *device, const wp_image_header *image) {
    for (struct CUmod_st *m = modules; m != NULL; m = m->next)
        if (wpi_image_module(m->handle)->device == device && m->image->id == image->id &&
            m->image->size_bytes == image->size_bytes &&
            memcmp(m->image, image, (size_t)image->size_bytes) == 0)
            return m;
    return NULL;
}

static cudaError_t make_cpu_code(const wp_image_header *image) {
    wp_error err = {0};
    return wpi_result(wpi_module_library_open(image, &err), &err);
}

/* A GPU runs the PTX; it needs code for the host only where that has managed variables, which are
 * in host memory. */
static cudaError_t open_image(wp_device *device, const wp_image_header *image, void ***handle) {
    const bool is_host = wp_device_get_info(device)->host_pointers_are_device_pointers;
    wp_error err = {0};
    if (is_host) WPI_TRY(make_cpu_code(image));
    cudaError_t error = wpi_image_open(device, image, handle, &err);
    if (error == cudaErrorNoKernelImageForDevice && !is_host) {
        WPI_TRY(make_cpu_code(image));
        error = wpi_image_open(device, image, handle, &err);
    }
    return error == cudaSuccess ? error : wpi_explain(error, &err);
}

/* The code of a status of wpi_module_image_copy. */
static cudaError_t explain_image(wp_status status, const wp_error *err) {
    const cudaError_t error =
        status == WP_STATUS_UNSUPPORTED ? cudaErrorNoKernelImageForDevice : wpi_error_of(status);
    return wpi_explain(error, err);
}

/* Under the lock. Takes the image. */
static cudaError_t load_locked(wp_device *device, wp_image_header *image, CUmodule *out) {
    struct CUmod_st *m = find_loaded(device, image);
    if (m != NULL) {
        wpi_free(image);
        m->uses++;
        *out = m;
        return cudaSuccess;
    }
    m = wpi_calloc(1, sizeof *m);
    if (m == NULL) {
        wpi_free(image);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    m->image = image;
    m->uses = 1;
    cudaError_t error = open_image(device, image, &m->handle);
    if (error == cudaSuccess && !wpi_handle_add(WPI_HANDLE_MODULE, m)) {
        __cudaUnregisterFatBinary(m->handle);
        error = wpi_note(cudaErrorMemoryAllocation);
    }
    if (error != cudaSuccess) {
        destroy(m);
        return error;
    }
    m->next = modules;
    modules = m;
    *out = m;
    return cudaSuccess;
}

static cudaError_t load(const void *data, size_t size_bytes, CUmodule *out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (out == NULL || data == NULL) return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    wp_image_header *image;
    const wp_status status = wpi_module_image_copy(data, size_bytes, &image, &err);
    if (status != WP_STATUS_OK) return explain_image(status, &err);
    pthread_mutex_lock(&lock);
    const cudaError_t error = load_locked(device, image, out);
    pthread_mutex_unlock(&lock);
    return error;
}

static cudaError_t load_file(const char *path, CUmodule *out) {
    if (path == NULL || out == NULL) return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    char *data;
    size_t size_bytes;
    const wp_status status = wpi_file_read(path, &data, &size_bytes, &err);
    if (status == WP_STATUS_NOT_FOUND) return wpi_explain(cudaErrorFileNotFound, &err);
    WPI_TRY(wpi_result(status, &err));
    const cudaError_t error =
        size_bytes != 0 ? load(data, size_bytes, out) : wpi_note(cudaErrorInvalidKernelImage);
    wpi_free(data);
    return error;
}

/* Writes the error message into the program's buffers for JIT logs, as far as it fits. */
static void fill_logs(unsigned count, const CUjit_option *options, void **values) {
    char *buffers[2] = {NULL, NULL};
    unsigned *size_places[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    for (unsigned i = 0; options != NULL && values != NULL && i < count; i++) {
        switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER: buffers[0] = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER: buffers[1] = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            size_places[0] = (unsigned *)(void *)&values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            size_places[1] = (unsigned *)(void *)&values[i];
            break;
        default: break;
        }
    }
    for (int i = 0; i < 2; i++) {
        sizes[i] = size_places[i] != NULL ? *size_places[i] : 0;
        if (buffers[i] != NULL && sizes[i] != 0) buffers[i][0] = '\0';
        if (size_places[i] != NULL) *size_places[i] = 0; /* bytes written: messages are on stderr */
    }
}

WP_API CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    WPI_DRIVER(load_file(fname, module));
}

WP_API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    WPI_DRIVER(load(image, 0, module));
}

WP_API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                                   CUjit_option *options, void **optionValues) {
    fill_logs(numOptions, options, optionValues);
    return cuModuleLoadData(module, image);
}

WP_API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    const wpi_fatbin *wrapper = fatCubin;
    const bool is_wrapper = wrapper != NULL && wrapper->magic == WPI_FATBIN_MAGIC;
    return cuModuleLoadData(module, is_wrapper ? wrapper->data : fatCubin);
}

/* The module's work ends first; a later load finds the initial values of its variables. */
static void unload_locked(struct CUmod_st *m) {
    for (struct CUmod_st **link = &modules; *link != NULL; link = &(*link)->next) {
        if (*link != m) continue;
        *link = m->next;
        break;
    }
    wp_module *module = wpi_image_module(m->handle);
    const wp_status ignored =
        wp_device_wait(module->device, NULL); /* other calls return its error */
    (void)ignored;
    wpi_module_references_forget(m);
    wpi_module_restore(module);
    __cudaUnregisterFatBinary(m->handle);
    destroy(m);
}

static cudaError_t unload(CUmodule m) {
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    pthread_mutex_lock(&lock);
    const bool is_last = m != NULL && wpi_handle_is_live(WPI_HANDLE_MODULE, m) && --m->uses == 0;
    const bool is_live = m != NULL && wpi_handle_is_live(WPI_HANDLE_MODULE, m);
    if (is_last && wpi_handle_remove(WPI_HANDLE_MODULE, m)) unload_locked(m);
    pthread_mutex_unlock(&lock);
    return wpi_note(is_live ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

WP_API CUresult cuModuleUnload(CUmodule hmod) {
    WPI_DRIVER(unload(hmod));
}

WP_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (mode == NULL) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---- names ---- */

/* Under the lock. NULL: out of memory. */
static struct CUfunc_st *add_function(struct CUmod_st *m, const char *name) {
    struct CUfunc_st *f = wpi_calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    *f = (struct CUfunc_st){.next = m->functions, .module = m, .name = wpi_strdup(name)};
    if (f->name == NULL) {
        wpi_free(f);
        return NULL;
    }
    (void)__cudaRegisterFunction(m->handle, (const char *)f, NULL, f->name, -1, NULL, NULL, NULL,
                                 NULL, NULL);
    m->functions = f;
    return f;
}

static cudaError_t get_function_locked(struct CUmod_st *m, const char *name, CUfunction *out) {
    wp_kernel *kernel;
    if (m == NULL || !wpi_handle_is_live(WPI_HANDLE_MODULE, m))
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (wp_module_find_kernel(wpi_image_module(m->handle), name, &kernel, NULL) != WP_STATUS_OK)
        return wpi_note(cudaErrorSymbolNotFound);
    struct CUfunc_st *f = m->functions;
    while (f != NULL && strcmp(f->name, name) != 0)
        f = f->next;
    if (f == NULL) f = add_function(m, name);
    if (f == NULL) return wpi_note(cudaErrorMemoryAllocation);
    *out = f;
    return cudaSuccess;
}

static cudaError_t get_function(CUmodule m, const char *name, CUfunction *out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (name == NULL || out == NULL) return wpi_note(cudaErrorInvalidValue);
    pthread_mutex_lock(&lock);
    const cudaError_t error = get_function_locked(m, name, out);
    pthread_mutex_unlock(&lock);
    return error;
}

WP_API CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    WPI_DRIVER(get_function(hmod, name, hfunc));
}

/* The first `count` functions of a module, or with `out` NULL how many there are. */
static cudaError_t list_functions(CUmodule m, CUfunction *out, unsigned *count) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (count == NULL) return wpi_note(cudaErrorInvalidValue);
    if (m == NULL || !wpi_handle_is_live(WPI_HANDLE_MODULE, m))
        return wpi_note(cudaErrorInvalidResourceHandle);
    const wp_module *module = wpi_image_module(m->handle);
    const wpi_module_ops *ops = module->device->ops->module;
    if (ops->kernel_name == NULL) return wpi_note(cudaErrorNotSupported);
    const char *name;
    cudaError_t error = cudaSuccess;
    unsigned i = 0;
    pthread_mutex_lock(&lock);
    for (; error == cudaSuccess && (out == NULL || i < *count) &&
           (name = ops->kernel_name(module, i)) != NULL;
         i++)
        if (out != NULL) error = get_function_locked(m, name, &out[i]);
    pthread_mutex_unlock(&lock);
    if (out == NULL) *count = i;
    return error;
}

WP_API CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
    WPI_DRIVER(list_functions(mod, NULL, count));
}

WP_API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                           CUmodule mod) {
    if (functions == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(list_functions(mod, functions, &numFunctions));
}

/* Where managed variables are in host memory, no device lists them: copies must know the address.
 */
static cudaError_t enter_managed(struct CUmod_st *m, const char *name, size_t size_bytes) {
    managed_name *v = wpi_calloc(1, sizeof *v);
    char *copy = wpi_strdup(name);
    if (v == NULL || copy == NULL) {
        wpi_free(v);
        wpi_free(copy);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    pthread_mutex_lock(&lock);
    *v = (managed_name){.next = m->managed, .name = copy};
    m->managed = v;
    __cudaRegisterManagedVar(m->handle, &v->host, copy, copy, 0, size_bytes, 0, 0);
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* Static variables are found by their source's name: "table" is "_ZL5table" of the module. */
static bool find_global(CUmodule m, const char *name, void **address, size_t *size_bytes) {
    wp_module *module = wpi_image_module(m->handle);
    char *internal = wpi_format("_ZL%zu%s", strlen(name), name);
    const bool is_found =
        wp_module_find_variable(module, name, address, size_bytes, NULL) == WP_STATUS_OK ||
        wp_module_find_variable(module, internal, address, size_bytes, NULL) == WP_STATUS_OK;
    wpi_free(internal);
    return is_found;
}

cudaError_t wpi_module_variable(CUmodule m, const char *name, wp_device **device, void **address,
                                size_t *size_bytes) {
    WPI_TRY(wpi_enter(device));
    if (!wpi_handle_is_live(WPI_HANDLE_MODULE, m)) return wpi_note(cudaErrorInvalidResourceHandle);
    *device = wpi_image_module(m->handle)->device;
    const bool is_found = find_global(m, name, address, size_bytes);
    return wpi_note(is_found ? cudaSuccess : cudaErrorSymbolNotFound);
}

static cudaError_t get_global(CUmodule m, const char *name, CUdeviceptr *at, size_t *bytes) {
    wp_device *device;
    void *address;
    size_t size_bytes;
    WPI_TRY(wpi_enter(&device));
    if (name == NULL || (at == NULL && bytes == NULL)) return wpi_note(cudaErrorInvalidValue);
    if (m == NULL || !wpi_handle_is_live(WPI_HANDLE_MODULE, m))
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (!find_global(m, name, &address, &size_bytes)) return wpi_note(cudaErrorSymbolNotFound);
    wp_allocation known;
    size_t left_bytes;
    if (!wpi_allocation_find(address, &known, NULL) &&
        !wpi_variable_managed_at(address, &left_bytes))
        WPI_TRY(enter_managed(m, name, size_bytes));
    if (at != NULL) *at = (CUdeviceptr)(uintptr_t)address;
    if (bytes != NULL) *bytes = size_bytes;
    return cudaSuccess;
}

WP_API CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
                                  const char *name) {
    WPI_DRIVER(get_global(hmod, name, dptr, bytes));
}

/* A function of a module, or NULL: then it may be the host function of a kernel. */
static CUmodule module_of(CUfunction f) {
    CUmodule found = NULL;
    pthread_mutex_lock(&lock);
    for (struct CUmod_st *m = modules; m != NULL && found == NULL; m = m->next)
        for (struct CUfunc_st *g = m->functions; g != NULL && found == NULL; g = g->next)
            if (g == f) found = m;
    pthread_mutex_unlock(&lock);
    return found;
}

WP_API CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (hmod == NULL) return CUDA_ERROR_INVALID_VALUE;
    *hmod = module_of(hfunc);
    return *hmod != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* Code is loaded with its module. */
WP_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (state == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (module_of(function) == NULL) return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

WP_API CUresult cuFuncLoad(CUfunction function) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    return module_of(function) != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- libraries: modules under another name ---- */

static CUmodule as_module(CUlibrary library) {
    return (CUmodule)(void *)library;
}

WP_API CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                                  void **jitOptionsValues, unsigned int numJitOptions,
                                  CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                  unsigned int numLibraryOptions) {
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    fill_logs(numJitOptions, jitOptions, jitOptionsValues);
    WPI_DRIVER_IN(false, load(code, 0, (CUmodule *)(void *)library));
}

WP_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName,
                                      CUjit_option *jitOptions, void **jitOptionsValues,
                                      unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                                      void **libraryOptionValues, unsigned int numLibraryOptions) {
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    fill_logs(numJitOptions, jitOptions, jitOptionsValues);
    WPI_DRIVER_IN(false, load_file(fileName, (CUmodule *)(void *)library));
}

WP_API CUresult cuLibraryUnload(CUlibrary library) {
    WPI_DRIVER_IN(false, unload(as_module(library)));
}

WP_API CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
    WPI_DRIVER_IN(false, get_function(as_module(library), name, (CUfunction *)(void *)pKernel));
}

WP_API CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
    WPI_DRIVER_IN(false, list_functions(as_module(lib), NULL, count));
}

WP_API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels,
                                          CUlibrary lib) {
    if (kernels == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_IN(false,
                  list_functions(as_module(lib), (CUfunction *)(void *)kernels, &numKernels));
}

WP_API CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (pLib == NULL) return CUDA_ERROR_INVALID_VALUE;
    *pLib = (CUlibrary)(void *)module_of((CUfunction)(void *)kernel);
    return *pLib != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

WP_API CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (pMod == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (!wpi_handle_is_live(WPI_HANDLE_MODULE, library)) return CUDA_ERROR_INVALID_HANDLE;
    *pMod = as_module(library);
    return CUDA_SUCCESS;
}

WP_API CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                   const char *name) {
    WPI_DRIVER(get_global(as_module(library), name, dptr, bytes));
}

WP_API CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                                    const char *name) {
    WPI_DRIVER_IN(false, get_global(as_module(library), name, dptr, bytes));
}

WP_API CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (pFunc == NULL) return CUDA_ERROR_INVALID_VALUE;
    *pFunc = (CUfunction)(void *)kernel;
    return kernel != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- linking ---- */

struct CUlinkState_st {
    wpi_link_input link;
};

static void destroy_link(CUlinkState state) {
    wpi_link_input_deinit(&state->link);
    wpi_free(state);
}

static cudaError_t create_link(CUlinkState *out) {
    if (out == NULL) return cudaErrorInvalidValue;
    *out = wpi_calloc(1, sizeof **out);
    if (*out != NULL && wpi_handle_add(WPI_HANDLE_LINK, *out)) return cudaSuccess;
    wpi_free(*out);
    return cudaErrorMemoryAllocation;
}

static cudaError_t add_link_data(CUlinkState state, const void *data, size_t size_bytes) {
    if (state == NULL || !wpi_handle_is_live(WPI_HANDLE_LINK, state))
        return cudaErrorInvalidResourceHandle;
    if (data == NULL || size_bytes == 0) return cudaErrorInvalidValue;
    wp_error err = {0};
    const wp_status status = wpi_link_input_add(&state->link, data, size_bytes, &err);
    return status == WP_STATUS_OK ? cudaSuccess : explain_image(status, &err);
}

WP_API CUresult cuLinkCreate(unsigned int numOptions, CUjit_option *options, void **optionValues,
                             CUlinkState *stateOut) {
    fill_logs(numOptions, options, optionValues);
    WPI_DRIVER(create_link(stateOut));
}

WP_API CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                              const char *name, unsigned int numOptions, CUjit_option *options,
                              void **optionValues) {
    (void)type, (void)name, (void)numOptions, (void)options, (void)optionValues;
    WPI_DRIVER(add_link_data(state, data, size));
}

static cudaError_t add_link_file(CUlinkState state, const char *path) {
    static const char device_runtime[] = "libcudadevrt.a";
    wp_error err = {0};
    char *data;
    size_t size_bytes;
    if (path == NULL) return cudaErrorInvalidValue;
    /* What kernels call to launch others is in every image. */
    const char *slash = strrchr(path, '/');
    if (strcmp(slash != NULL ? slash + 1 : path, device_runtime) == 0)
        return state != NULL && wpi_handle_is_live(WPI_HANDLE_LINK, state)
                   ? cudaSuccess
                   : cudaErrorInvalidResourceHandle;
    const wp_status status = wpi_file_read(path, &data, &size_bytes, &err);
    if (status == WP_STATUS_NOT_FOUND) return wpi_explain(cudaErrorFileNotFound, &err);
    WPI_TRY(wpi_result(status, &err));
    const cudaError_t error = add_link_data(state, data, size_bytes);
    wpi_free(data);
    return error;
}

WP_API CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path,
                              unsigned int numOptions, CUjit_option *options, void **optionValues) {
    (void)type, (void)numOptions, (void)options, (void)optionValues;
    WPI_DRIVER(add_link_file(state, path));
}

static cudaError_t complete_link(CUlinkState state, void **image, size_t *size_bytes) {
    wp_error err = {0};
    const wp_status status = wpi_link_input_complete(&state->link, &err);
    if (status != WP_STATUS_OK) return explain_image(status, &err);
    *image = state->link.image;
    if (size_bytes != NULL) *size_bytes = (size_t)state->link.image->size_bytes;
    return cudaSuccess;
}

WP_API CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (state == NULL || !wpi_handle_is_live(WPI_HANDLE_LINK, state))
        return CUDA_ERROR_INVALID_HANDLE;
    if (cubinOut == NULL || state->link.count == 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(complete_link(state, cubinOut, sizeOut));
}

WP_API CUresult cuLinkDestroy(CUlinkState state) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (state == NULL || !wpi_handle_remove(WPI_HANDLE_LINK, state))
        return CUDA_ERROR_INVALID_HANDLE;
    destroy_link(state);
    return CUDA_SUCCESS;
}
