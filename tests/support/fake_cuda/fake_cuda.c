/* SPDX-License-Identifier: Apache-2.0 */
/* See fake_cuda.h. One lock around everything; every function begins with CALL. */
#include "fake_cuda.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/cuda/driver.h"

#define EXPORT __attribute__((visibility("default")))
#define OBJECTS_MAX 4096
#define SYMBOLS_MAX 96
#define KERNELS_MAX 256
#define PARAMS_MAX 64

typedef struct object {
    fake_cuda_kind kind;
    bool is_live;
    char *base; /* memory: the range; arrays: the elements */
    size_t bytes;
    bool is_managed;
    double ms; /* events */
    bool is_recorded;
    wpi_cu_array_desc array;
    size_t row_bytes, rows, slices;
    struct module *module;
} object;

typedef struct kernel {
    struct module *module;
    char name[128];
    unsigned param_count;
    size_t param_bytes[PARAMS_MAX];
    int shared_dynamic_max;
} kernel;

typedef struct variable {
    char name[128];
    char *memory;
    size_t bytes;
} variable;

struct module {
    kernel kernels[KERNELS_MAX];
    unsigned kernel_count;
    variable variables[KERNELS_MAX];
    unsigned variable_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object objects[OBJECTS_MAX]; /* a handle is an object's address; none is used twice */
static size_t object_count;
static unsigned generation = 1, retains;
static int sticky;
static bool is_initialised;
static size_t used_bytes;
static size_t limits[3] = {1024, 1 << 20, 8 << 20};
static _Thread_local wpi_cu_context current;
static _Thread_local bool in_host_call;
static int context_token; /* its address, plus the generation, is the context */
static unsigned misuse_count;
static char first_misuse[256];
static unsigned left_at_release;
static const char *last_failed = "";
static fake_cuda_launch last_launch;
static unsigned launch_count;
static fake_cuda_given last_given;

typedef struct symbol_row {
    const char *name;
    unsigned calls, fail_at;
    int result;
} symbol_row;
static symbol_row symbols[SYMBOLS_MAX] = {{.name = "*"}};
static size_t symbol_count = 1;

static size_t env_number(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

__attribute__((format(printf, 1, 2))) static int misuse(const char *format, ...) {
    if (misuse_count++ == 0) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(first_misuse, sizeof first_misuse, format, args);
        va_end(args);
        (void)fprintf(stderr, "fake_cuda: misuse: %s\n", first_misuse);
    }
    return WPI_CU_INVALID_VALUE;
}

/* ---- counting and failing ---- */

static symbol_row *row_of(const char *name) {
    for (size_t i = 0; i < symbol_count; i++)
        if (strcmp(symbols[i].name, name) == 0) return &symbols[i];
    if (symbol_count == SYMBOLS_MAX) abort();
    symbols[symbol_count].name = strdup(name);
    return &symbols[symbol_count++]; /* names stay */
}

static void read_environment(void) {
    static bool is_read;
    const char *text = getenv("FAKE_CUDA_FAIL");
    if (is_read) return;
    is_read = true;
    char name[64];
    unsigned n;
    int result, length;
    while (text != NULL && sscanf(text, " %63[^:]:%u:%d%n", name, &n, &result, &length) == 3) {
        symbol_row *row = row_of(name);
        row->fail_at = n;
        row->result = result;
        text += length;
    }
}

static bool is_sticky(int result) {
    return result == 214 ||
           (result >= 700 && result < 720 && result != 701 && result != 712 && result != 713);
}

/* Whether this call fails, and how. */
static int begin(const char *name, bool needs_init) {
    read_environment();
    symbol_row *rows[2] = {row_of(name), &symbols[0]};
    int result = 0;
    for (int i = 0; i < 2; i++) {
        rows[i]->calls++;
        if (rows[i]->fail_at == 0 || --rows[i]->fail_at != 0) continue;
        result = rows[i]->result;
        last_failed = rows[0]->name;
    }
    if (is_sticky(result)) sticky = result;
    if (needs_init && !is_initialised) misuse("%s before cuInit", name);
    if (in_host_call) misuse("%s in a host function", name);
    return result;
}

static wpi_cu_context context_now(void) {
    return (wpi_cu_context)((uintptr_t)&context_token + 64 * (uintptr_t)generation);
}

#define CALL_AS(name, needs_init)                                                                  \
    pthread_mutex_lock(&lock);                                                                     \
    int result = begin(name, needs_init)
#define CALL(name) CALL_AS(name, true)
#define CALL_IN_CONTEXT(name)                                                                      \
    CALL(name);                                                                                    \
    if (result == 0 && (retains == 0 || current != context_now()))                                 \
        result = (misuse("%s without the current context", name), 201);                            \
    if (result == 0 && sticky != 0) result = sticky
#define RETURN                                                                                     \
    pthread_mutex_unlock(&lock);                                                                   \
    return result

/* ---- objects ---- */

static object *make(fake_cuda_kind kind) {
    if (object_count == OBJECTS_MAX) abort();
    object *o = &objects[object_count++];
    *o = (object){.kind = kind, .is_live = true};
    return o;
}

static object *find_range(const void *address, size_t bytes, fake_cuda_kind kind) {
    for (size_t i = 0; i < object_count; i++) {
        object *o = &objects[i];
        if (o->is_live && o->kind == kind && (uintptr_t)address - (uintptr_t)o->base < o->bytes &&
            bytes <= o->bytes - ((uintptr_t)address - (uintptr_t)o->base))
            return o;
    }
    return NULL;
}

static object *check_handle(const void *handle, fake_cuda_kind kind, const char *call) {
    object *o = (object *)(uintptr_t)handle;
    if (o >= objects && o < objects + object_count &&
        ((uintptr_t)o - (uintptr_t)objects) % sizeof *o == 0 && o->kind == kind && o->is_live)
        return o;
    misuse("%s: %p is no live handle", call, handle);
    return NULL;
}

static bool check_stream(wpi_cu_stream stream, const char *call) {
    return stream == NULL || check_handle(stream, FAKE_STREAM, call) != NULL;
}

static variable *find_variable_memory(const void *address, size_t bytes) {
    for (size_t i = 0; i < object_count; i++) {
        struct module *m = objects[i].is_live ? objects[i].module : NULL;
        for (unsigned v = 0; m != NULL && v < m->variable_count; v++) {
            variable *found = &m->variables[v];
            const uintptr_t offset = (uintptr_t)address - (uintptr_t)found->memory;
            if (offset < found->bytes && bytes <= found->bytes - offset) return found;
        }
    }
    return NULL;
}

static bool is_device_range(const void *address, size_t bytes) {
    return find_range(address, bytes, FAKE_MEMORY) != NULL ||
           find_variable_memory(address, bytes) != NULL;
}

/* Begins in device memory, wherever it ends. */
static bool touches_device(const void *address) {
    const object *o = find_range(address, 1, FAKE_MEMORY);
    return (o != NULL && !o->is_managed) || find_variable_memory(address, 1) != NULL;
}

static void free_module(struct module *m) {
    for (unsigned v = 0; m != NULL && v < m->variable_count; v++)
        free(m->variables[v].memory);
    free(m);
}

static void end_object(object *o) {
    if (o->kind == FAKE_MEMORY) used_bytes -= o->bytes;
    if (o->kind == FAKE_MEMORY || o->kind == FAKE_HOST || o->kind == FAKE_ARRAY) free(o->base);
    free_module(o->module);
    o->module = NULL;
    o->is_live = false;
}

/* ---- hooks ---- */

static void hook_fail_at(const char *symbol, unsigned n, int result) {
    pthread_mutex_lock(&lock);
    symbol_row *row = row_of(symbol);
    row->fail_at = n;
    row->result = result;
    last_failed = "";
    pthread_mutex_unlock(&lock);
}

static unsigned hook_calls(const char *symbol) {
    pthread_mutex_lock(&lock);
    const unsigned calls = row_of(symbol)->calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

static unsigned hook_live(fake_cuda_kind kind) {
    unsigned count = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < object_count; i++)
        count += objects[i].is_live && objects[i].kind == kind;
    if (kind == FAKE_CONTEXT) count = retains;
    pthread_mutex_unlock(&lock);
    return count;
}

static unsigned hook_misuses(const char **first) {
    if (first != NULL) *first = first_misuse;
    return misuse_count;
}

static void hook_forget_misuses(void) {
    misuse_count = 0;
    first_misuse[0] = '\0';
}

static unsigned hook_launches(fake_cuda_launch *last) {
    if (last != NULL) *last = last_launch;
    return launch_count;
}

static unsigned hook_left(void) {
    return left_at_release;
}

static const char *hook_failed(void) {
    return last_failed;
}

static fake_cuda_given hook_given(void) {
    return last_given;
}

EXPORT const fake_cuda_hooks *fake_cuda_get_hooks(void) {
    static const fake_cuda_hooks hooks = {
        .fail_at = hook_fail_at,
        .calls = hook_calls,
        .live = hook_live,
        .misuses = hook_misuses,
        .forget_misuses = hook_forget_misuses,
        .launches = hook_launches,
        .left = hook_left,
        .failed = hook_failed,
        .given = hook_given,
    };
    return &hooks;
}

/* ---- the driver: start, devices, context ---- */

/* The table's types are the prototypes. */
#define FUNCTION(field) EXPORT __typeof__(*(wpi_driver){0}.field)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT wpi_cu_result cuInit(unsigned flags) {
    CALL_AS("cuInit", false);
    if (flags != 0) result = misuse("cuInit(%u)", flags);
    if (result == 0 && env_number("FAKE_CUDA_DEVICES", 1) == 0) result = 100;
    if (result == 0) is_initialised = true;
    RETURN;
}

EXPORT wpi_cu_result cuDriverGetVersion(int *version) {
    CALL_AS("cuDriverGetVersion", false);
    *version = (int)env_number("FAKE_CUDA_VERSION", 12040);
    RETURN;
}

EXPORT wpi_cu_result cuGetErrorName(wpi_cu_result error, const char **name) {
    *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : NULL; /* one will do */
    return *name != NULL ? 0 : WPI_CU_INVALID_VALUE;
}

EXPORT wpi_cu_result cuDeviceGetCount(int *count) {
    CALL("cuDeviceGetCount");
    *count = (int)env_number("FAKE_CUDA_DEVICES", 1);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGet(wpi_cu_device *device, int number) {
    CALL("cuDeviceGet");
    if (result == 0 && (number < 0 || number >= (int)env_number("FAKE_CUDA_DEVICES", 1)))
        result = WPI_CU_INVALID_DEVICE;
    *device = number;
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetName(char *name, int bytes, wpi_cu_device device) {
    CALL("cuDeviceGetName");
    (void)snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceTotalMem_v2(size_t *bytes, wpi_cu_device device) {
    CALL("cuDeviceTotalMem_v2");
    (void)device;
    *bytes = env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetPCIBusId(char *id, int bytes, wpi_cu_device device) {
    CALL("cuDeviceGetPCIBusId");
    (void)snprintf(id, (size_t)bytes, "FFFF:%02X:00.0", device);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetAttribute(int *value, int attribute, wpi_cu_device device) {
    static const int known[][2] = {
        {1, 1024},       {8, 49152},    {9, 65536},  {12, 65536},    {13, 1410000}, {14, 512},
        {16, 108},       {36, 1215000}, {37, 5120},  {38, 41943040}, {39, 2048},    {41, 1},
        {69, 268435456}, {81, 167936},  {82, 65536}, {83, 1},        {89, 1},       {91, 1},
        {95, 1},         {97, 166912},  {106, 32},   {33, 101}};
    CALL("cuDeviceGetAttribute");
    (void)device;
    const int sm = (int)env_number("FAKE_CUDA_SM", 80);
    bool is_known = attribute == 75 || attribute == 76 || attribute == 88;
    *value = attribute == 75 ? sm / 10 : sm % 10;
    if (attribute == 88) *value = (int)env_number("FAKE_CUDA_PAGEABLE", 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i][0] != attribute) continue;
        *value = known[i][1];
        is_known = true;
    }
    if (result == 0 && !is_known) result = WPI_CU_INVALID_VALUE;
    RETURN;
}

EXPORT wpi_cu_result cuDevicePrimaryCtxRetain(wpi_cu_context *context, wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxRetain");
    (void)device;
    if (result == 0) {
        retains++;
        *context = context_now();
    }
    RETURN;
}

static void end_context(void) {
    for (size_t i = 0; i < object_count; i++)
        if (objects[i].is_live) end_object(&objects[i]);
    generation++;
    sticky = 0;
}

EXPORT wpi_cu_result cuDevicePrimaryCtxRelease_v2(wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxRelease_v2");
    (void)device;
    if (result == 0) {
        if (retains == 0) {
            result = 201;
        } else if (--retains == 0) {
            left_at_release = 0;
            for (size_t i = 0; i < object_count; i++)
                left_at_release += objects[i].is_live;
            end_context();
        }
    }
    RETURN;
}

/* By its old name: the table has both. */
EXPORT wpi_cu_result cuDevicePrimaryCtxReset(wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxReset");
    (void)device;
    if (result == 0) end_context();
    RETURN;
}

EXPORT wpi_cu_result cuCtxSetCurrent(wpi_cu_context context) {
    CALL("cuCtxSetCurrent");
    if (result == 0 && context != NULL && (retains == 0 || context != context_now()))
        result = (misuse("cuCtxSetCurrent: the context is gone"), 201);
    if (result == 0) current = context;
    RETURN;
}

EXPORT wpi_cu_result cuCtxSynchronize(void) {
    CALL_IN_CONTEXT("cuCtxSynchronize");
    if (result == 0 && env_number("FAKE_CUDA_ENDLESS", 0) != 0) (void)pause();
    RETURN;
}

EXPORT wpi_cu_result cuCtxSetLimit(int limit, size_t value) {
    CALL_IN_CONTEXT("cuCtxSetLimit");
    if (result == 0 && (limit < 0 || limit > 2)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) limits[limit] = value;
    RETURN;
}

EXPORT wpi_cu_result cuCtxGetLimit(size_t *value, int limit) {
    CALL_IN_CONTEXT("cuCtxGetLimit");
    if (result == 0 && (limit < 0 || limit > 2)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) *value = limits[limit];
    RETURN;
}

/* ---- memory ---- */

static int allocate(fake_cuda_kind kind, size_t bytes, void **out) {
    const size_t total = env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    if (bytes == 0) return WPI_CU_INVALID_VALUE;
    if (kind == FAKE_MEMORY && bytes > total - used_bytes) return WPI_CU_OUT_OF_MEMORY;
    char *base = aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (base == NULL) return WPI_CU_OUT_OF_MEMORY;
    object *o = make(kind);
    o->base = base;
    o->bytes = bytes;
    if (kind == FAKE_MEMORY) used_bytes += bytes;
    *out = base;
    return 0;
}

EXPORT wpi_cu_result cuMemAlloc_v2(wpi_cu_ptr *out, size_t bytes) {
    CALL_IN_CONTEXT("cuMemAlloc_v2");
    void *memory = NULL;
    if (result == 0) result = allocate(FAKE_MEMORY, bytes, &memory);
    *out = (wpi_cu_ptr)(uintptr_t)memory;
    RETURN;
}

EXPORT wpi_cu_result cuMemAllocManaged(wpi_cu_ptr *out, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemAllocManaged");
    void *memory = NULL;
    if (result == 0 && flags != 1 && flags != 2)
        result = misuse("cuMemAllocManaged: flags %u", flags);
    if (result == 0) result = allocate(FAKE_MEMORY, bytes, &memory);
    if (result == 0) objects[object_count - 1].is_managed = true;
    *out = (wpi_cu_ptr)(uintptr_t)memory;
    RETURN;
}

static int free_range(void *base, fake_cuda_kind kind, const char *call) {
    object *o = find_range(base, 1, kind);
    if (o == NULL || o->base != base) return misuse("%s(%p): not what was allocated", call, base);
    end_object(o);
    return 0;
}

EXPORT wpi_cu_result cuMemFree_v2(wpi_cu_ptr base) {
    CALL_IN_CONTEXT("cuMemFree_v2");
    if (result == 0) result = free_range((void *)(uintptr_t)base, FAKE_MEMORY, "cuMemFree_v2");
    RETURN;
}

EXPORT wpi_cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    CALL_IN_CONTEXT("cuMemGetInfo_v2");
    *total_bytes = env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    *free_bytes = *total_bytes - used_bytes;
    RETURN;
}

EXPORT wpi_cu_result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostAlloc");
    /* Write-combined memory (4) has an address of its own on the device. */
    if (result == 0 && (flags & ~3u) != 0) result = misuse("cuMemHostAlloc: flags %#x", flags);
    if (result == 0) result = allocate(FAKE_HOST, bytes, out);
    RETURN;
}

EXPORT wpi_cu_result cuMemFreeHost(void *base) {
    CALL_IN_CONTEXT("cuMemFreeHost");
    if (result == 0) result = free_range(base, FAKE_HOST, "cuMemFreeHost");
    RETURN;
}

EXPORT wpi_cu_result cuMemHostRegister_v2(void *base, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostRegister_v2");
    if (result == 0 && (flags & ~15u) != 0) result = misuse("cuMemHostRegister: flags %#x", flags);
    /* As the driver does: whole pages, none of them twice. */
    const uintptr_t first = (uintptr_t)base / 4096 * 4096;
    const uintptr_t outer = ((uintptr_t)base + bytes + 4095) / 4096 * 4096;
    for (size_t i = 0; i < object_count && result == 0; i++) {
        const object *o = &objects[i];
        const uintptr_t o_first = (uintptr_t)o->base / 4096 * 4096;
        const uintptr_t o_outer = ((uintptr_t)o->base + o->bytes + 4095) / 4096 * 4096;
        if (o->is_live && o->kind == FAKE_REGISTERED && o_first < outer && first < o_outer)
            result = WPI_CU_HOST_MEMORY_ALREADY_REGISTERED;
    }
    if (result == 0) {
        object *o = make(FAKE_REGISTERED);
        o->base = base;
        o->bytes = bytes;
    }
    RETURN;
}

EXPORT wpi_cu_result cuMemHostUnregister(void *base) {
    CALL_IN_CONTEXT("cuMemHostUnregister");
    object *o = find_range(base, 1, FAKE_REGISTERED);
    if (result == 0 && (o == NULL || o->base != base))
        result = (misuse("cuMemHostUnregister(%p): not registered", base), 713);
    if (result == 0) o->is_live = false;
    RETURN;
}

EXPORT wpi_cu_result cuMemHostGetDevicePointer_v2(wpi_cu_ptr *out, void *host, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostGetDevicePointer_v2");
    if (result == 0 && (flags != 0 || (find_range(host, 1, FAKE_REGISTERED) == NULL &&
                                       find_range(host, 1, FAKE_HOST) == NULL)))
        result = misuse("cuMemHostGetDevicePointer(%p): not known", host);
    *out = (wpi_cu_ptr)(uintptr_t)host + env_number("FAKE_CUDA_HOST_OFFSET", 0);
    RETURN;
}

/* ---- copies ---- */

static size_t element_bytes(const wpi_cu_array_desc *a) {
    const size_t component = a->format == WPI_CU_FORMAT_U8 || a->format == WPI_CU_FORMAT_S8 ? 1
                             : a->format == WPI_CU_FORMAT_U16 || a->format == WPI_CU_FORMAT_S16 ||
                                     a->format == WPI_CU_FORMAT_HALF
                                 ? 2
                                 : 4;
    return component * a->channel_count;
}

/* The first byte of a side, and how far its rows are apart; NULL: a misuse. */
static char *side_at(int type, const void *host, wpi_cu_ptr device, wpi_cu_array array, size_t x,
                     size_t y, size_t z, size_t pitch, size_t width, size_t height, size_t *step,
                     const char *what) {
    const size_t span = (height - 1) * pitch + width;
    char *base;
    *step = pitch;
    switch (type) {
    case WPI_CU_MEMORY_HOST:
        base = (char *)(uintptr_t)host;
        if (touches_device(base))
            return misuse("%s: device memory given as host memory", what), NULL;
        break;
    case WPI_CU_MEMORY_DEVICE:
        base = (char *)(uintptr_t)device;
        if (!is_device_range(base + x + y * pitch, span))
            return misuse("%s: %p is not %zu bytes of device memory", what, (void *)base, span),
                   NULL;
        break;
    case WPI_CU_MEMORY_ARRAY: {
        const object *a = check_handle(array, FAKE_ARRAY, what);
        if (a == NULL) return NULL;
        if (x + width > a->row_bytes || y + height > a->rows || z >= a->slices ||
            x % element_bytes(&a->array) != 0 || width % element_bytes(&a->array) != 0)
            return misuse("%s: %zu bytes x %zu rows at %zu, %zu, %zu leave the array", what, width,
                          height, x, y, z),
                   NULL;
        *step = a->row_bytes;
        return a->base + (z * a->rows + y) * a->row_bytes + x;
    }
    default: return misuse("%s: memory type %d", what, type), NULL;
    }
    if (height > 1 && pitch < width)
        return misuse("%s: pitch %zu < width %zu", what, pitch, width), NULL;
    return base + x + y * pitch;
}

static int copy_rows(char *dst, size_t dst_step, const char *src, size_t src_step, size_t width,
                     size_t height) {
    if (dst == NULL || src == NULL) return WPI_CU_INVALID_VALUE;
    for (size_t y = 0; y < height; y++)
        memmove(dst + y * dst_step, src + y * src_step, width);
    return 0;
}

EXPORT wpi_cu_result cuMemcpyAsync(wpi_cu_ptr dst, wpi_cu_ptr src, size_t bytes,
                                   wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpyAsync");
    char *to = (char *)(uintptr_t)dst;
    const char *from = (const char *)(uintptr_t)src;
    if (result == 0 && !check_stream(stream, "cuMemcpyAsync")) result = 400;
    if (result == 0 && ((touches_device(to) && !is_device_range(to, bytes)) ||
                        (touches_device(from) && !is_device_range(from, bytes))))
        result = misuse("cuMemcpyAsync: a range leaves its allocation");
    if (result == 0) memmove(to, from, bytes);
    RETURN;
}

EXPORT wpi_cu_result cuMemcpyHtoD_v2(wpi_cu_ptr dst, const void *src, size_t bytes) {
    CALL_IN_CONTEXT("cuMemcpyHtoD_v2");
    char *to = (char *)(uintptr_t)dst;
    if (result == 0 && !is_device_range(to, bytes))
        result = misuse("cuMemcpyHtoD: not device memory");
    if (result == 0) memcpy(to, src, bytes);
    RETURN;
}

EXPORT wpi_cu_result cuMemcpy2DAsync_v2(const wpi_cu_copy_2d *c, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpy2DAsync_v2");
    if (result == 0 && !check_stream(stream, "cuMemcpy2DAsync")) result = 400;
    if (result == 0) {
        size_t to_step, from_step;
        char *from = side_at(c->src_type, c->src_host, c->src_device, c->src_array, c->src_x_bytes,
                             c->src_y, 0, c->src_pitch_bytes, c->width_bytes, c->height, &from_step,
                             "cuMemcpy2DAsync: source");
        char *to = side_at(c->dst_type, c->dst_host, c->dst_device, c->dst_array, c->dst_x_bytes,
                           c->dst_y, 0, c->dst_pitch_bytes, c->width_bytes, c->height, &to_step,
                           "cuMemcpy2DAsync: destination");
        result = copy_rows(to, to_step, from, from_step, c->width_bytes, c->height);
    }
    RETURN;
}

EXPORT wpi_cu_result cuMemcpy3DAsync_v2(const wpi_cu_copy_3d *c, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpy3DAsync_v2");
    if (result == 0 && !check_stream(stream, "cuMemcpy3DAsync")) result = 400;
    if (result == 0 && (c->depth != 1 || c->src_lod != 0 || c->dst_lod != 0 ||
                        c->reserved_0 != NULL || c->reserved_1 != NULL))
        result = misuse("cuMemcpy3DAsync: depth, level or reserved field");
    if (result == 0) {
        size_t to_step, from_step;
        char *from = side_at(c->src_type, c->src_host, c->src_device, c->src_array, c->src_x_bytes,
                             c->src_y, c->src_z, c->src_pitch_bytes, c->width_bytes, c->height,
                             &from_step, "cuMemcpy3DAsync: source");
        char *to = side_at(c->dst_type, c->dst_host, c->dst_device, c->dst_array, c->dst_x_bytes,
                           c->dst_y, c->dst_z, c->dst_pitch_bytes, c->width_bytes, c->height,
                           &to_step, "cuMemcpy3DAsync: destination");
        result = copy_rows(to, to_step, from, from_step, c->width_bytes, c->height);
    }
    RETURN;
}

static int fill(wpi_cu_ptr dst, const void *value, size_t value_bytes, size_t count,
                wpi_cu_stream stream, const char *call) {
    char *to = (char *)(uintptr_t)dst;
    if (!check_stream(stream, call)) return 400;
    if ((uintptr_t)to % value_bytes != 0) return misuse("%s: %p is misaligned", call, (void *)to);
    if (!is_device_range(to, count * value_bytes) &&
        !find_range(to, count * value_bytes, FAKE_HOST) &&
        !find_range(to, count * value_bytes, FAKE_REGISTERED))
        return misuse("%s: not memory that the device knows", call);
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * value_bytes, value, value_bytes);
    return 0;
}

#define FILL(name, type)                                                                           \
    EXPORT wpi_cu_result name(wpi_cu_ptr dst, type value, size_t count, wpi_cu_stream stream) {    \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0) result = fill(dst, &value, sizeof value, count, stream, #name);           \
        RETURN;                                                                                    \
    }
FILL(cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32Async, unsigned)

/* ---- streams and events ---- */

EXPORT wpi_cu_result cuStreamCreateWithPriority(wpi_cu_stream *out, unsigned flags, int priority) {
    CALL_IN_CONTEXT("cuStreamCreateWithPriority");
    if (result == 0 && flags > 1) result = misuse("cuStreamCreate: flags %u", flags);
    if (result == 0) last_given = (fake_cuda_given){last_given.event_flags, priority};
    if (result == 0) *out = (wpi_cu_stream)(void *)make(FAKE_STREAM);
    RETURN;
}

EXPORT wpi_cu_result cuStreamDestroy_v2(wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuStreamDestroy_v2");
    if (result == 0) {
        object *o = check_handle(stream, FAKE_STREAM, "cuStreamDestroy");
        if (o == NULL)
            result = 400;
        else
            end_object(o);
    }
    RETURN;
}

#define STREAM_CALL(name)                                                                          \
    EXPORT wpi_cu_result name(wpi_cu_stream stream) {                                              \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0 && !check_stream(stream, #name)) result = 400;                             \
        if (result == 0 && stream != NULL && env_number("FAKE_CUDA_ENDLESS", 0) != 0)              \
            result = WPI_CU_NOT_READY;                                                             \
        RETURN;                                                                                    \
    }
STREAM_CALL(cuStreamSynchronize)
STREAM_CALL(cuStreamQuery)

EXPORT wpi_cu_result cuStreamWaitEvent(wpi_cu_stream stream, wpi_cu_event event, unsigned flags) {
    CALL_IN_CONTEXT("cuStreamWaitEvent");
    if (result == 0 && (flags != 0 || !check_stream(stream, "cuStreamWaitEvent") ||
                        check_handle(event, FAKE_EVENT, "cuStreamWaitEvent") == NULL))
        result = 400;
    RETURN;
}

#ifndef FAKE_CUDA_OLD /* a driver from before CUDA 10.0 */
typedef struct host_call {
    void (*call)(void *);
    void *arg;
} host_call;

static void *run_host_call(void *arg) {
    const host_call *h = arg;
    in_host_call = true;
    h->call(h->arg);
    return NULL;
}

EXPORT wpi_cu_result cuLaunchHostFunc(wpi_cu_stream stream, void (*call)(void *), void *arg) {
    CALL_IN_CONTEXT("cuLaunchHostFunc");
    if (result == 0 && (call == NULL || !check_stream(stream, "cuLaunchHostFunc"))) result = 400;
    pthread_mutex_unlock(&lock);
    if (result != 0) return result;
    host_call h = {call, arg};
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_host_call, &h) != 0) return 304;
    (void)pthread_join(thread, NULL);
    return 0;
}
#endif

EXPORT wpi_cu_result cuEventCreate(wpi_cu_event *out, unsigned flags) {
    CALL_IN_CONTEXT("cuEventCreate");
    if (result == 0 && flags > 3) result = misuse("cuEventCreate: flags %u", flags);
    if (result == 0) last_given.event_flags = flags;
    if (result == 0) *out = (wpi_cu_event)(void *)make(FAKE_EVENT);
    RETURN;
}

EXPORT wpi_cu_result cuEventDestroy_v2(wpi_cu_event event) {
    CALL_IN_CONTEXT("cuEventDestroy_v2");
    if (result == 0) {
        object *o = check_handle(event, FAKE_EVENT, "cuEventDestroy");
        if (o == NULL)
            result = 400;
        else
            end_object(o);
    }
    RETURN;
}

EXPORT wpi_cu_result cuEventRecord(wpi_cu_event event, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuEventRecord");
    object *o = result == 0 ? check_handle(event, FAKE_EVENT, "cuEventRecord") : NULL;
    if (result == 0 && (o == NULL || !check_stream(stream, "cuEventRecord"))) result = 400;
    if (result == 0) {
        struct timespec now;
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        o->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
        o->is_recorded = true;
    }
    RETURN;
}

#define EVENT_CALL(name)                                                                           \
    EXPORT wpi_cu_result name(wpi_cu_event event) {                                                \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0 && check_handle(event, FAKE_EVENT, #name) == NULL) result = 400;           \
        RETURN;                                                                                    \
    }
EVENT_CALL(cuEventSynchronize)
EVENT_CALL(cuEventQuery)

EXPORT wpi_cu_result cuEventElapsedTime(float *ms, wpi_cu_event first, wpi_cu_event second) {
    CALL_IN_CONTEXT("cuEventElapsedTime");
    const object *a = result == 0 ? check_handle(first, FAKE_EVENT, "cuEventElapsedTime") : NULL;
    const object *b = result == 0 ? check_handle(second, FAKE_EVENT, "cuEventElapsedTime") : NULL;
    if (result == 0 && (a == NULL || b == NULL || !a->is_recorded || !b->is_recorded)) result = 400;
    if (result == 0) *ms = (float)(b->ms - a->ms);
    RETURN;
}

/* ---- modules ---- */

static size_t type_bytes(const char *type) { /* "u64", "b8", "f32" */
    return strtoul(type + 1, NULL, 10) / 8;
}

/* "[.align 8] .b8 name[32]" -> name and bytes; what follows. */
static const char *parse_declaration(const char *p, char *name, size_t name_bytes, size_t *bytes) {
    size_t element = 0, count = 1, length = 0;
    while (*p == ' ' || *p == '\t')
        p++;
    while (*p == '.') {
        if (strncmp(p, ".align ", 7) == 0) {
            p += 7;
            p += strspn(p, "0123456789");
        } else {
            element = type_bytes(p + 1);
            p += strcspn(p, " \t");
        }
        p += strspn(p, " \t");
    }
    length = strcspn(p, "[,;) =\n\t");
    (void)snprintf(name, name_bytes, "%.*s", (int)length, p);
    p += length;
    if (*p == '[') {
        count = strtoul(p + 1, NULL, 10);
        p += strcspn(p, "]");
    }
    *bytes = element * count;
    return p;
}

static bool parse_module(const char *text, struct module *m) {
    if (strncmp(text, "//", 2) != 0 && strstr(text, ".version") != text) return false;
    if (strstr(text, ".version ") == NULL || strstr(text, ".target sm_") == NULL ||
        strstr(text, ".address_size 64") == NULL)
        return false;
    for (const char *line = text; line != NULL && *line != '\0';
         line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        const char *p = line + (strncmp(line, ".visible ", 9) == 0 ? 9 : 0);
        if (strncmp(p, ".entry ", 7) == 0 && m->kernel_count < KERNELS_MAX) {
            kernel *k = &m->kernels[m->kernel_count++];
            k->module = m;
            k->shared_dynamic_max = 49152;
            const size_t length = strcspn(p + 7, "( \n\t");
            (void)snprintf(k->name, sizeof k->name, "%.*s", (int)length, p + 7);
            const char *end = strchr(p, ')'), *body = strchr(p, '{');
            if (end == NULL || (body != NULL && body < end)) continue; /* no parameters */
            char name[128];
            for (p = strstr(p, ".param"); p != NULL && p < end; p = strstr(p, ".param"))
                p = parse_declaration(p + 6, name, sizeof name, &k->param_bytes[k->param_count++]);
        } else if ((strncmp(p, ".global ", 8) == 0 || strncmp(p, ".const ", 7) == 0) &&
                   m->variable_count < KERNELS_MAX) {
            variable *v = &m->variables[m->variable_count++];
            (void)parse_declaration(p + (p[1] == 'g' ? 8 : 7), v->name, sizeof v->name, &v->bytes);
            v->memory = calloc(1, v->bytes != 0 ? v->bytes : 1);
        }
    }
    return true;
}

EXPORT wpi_cu_result cuModuleLoadDataEx(wpi_cu_module *out, const void *image, unsigned count,
                                        int *options, void **values) {
    CALL_IN_CONTEXT("cuModuleLoadDataEx");
    struct module *m = calloc(1, sizeof *m);
    /* A cubin is an ELF file; one that this driver takes is PTX behind the magic number. */
    const bool is_cubin = strncmp(image, "\177ELF", 4) == 0;
    if (result == 0 && !parse_module((const char *)image + (is_cubin ? 4 : 0), m))
        result = is_cubin ? WPI_CU_INVALID_IMAGE : WPI_CU_INVALID_PTX;
    if (result == WPI_CU_INVALID_PTX) {
        char *log = NULL;
        size_t log_bytes = 0;
        for (unsigned i = 0; i < count; i++) {
            if (options[i] == WPI_CU_JIT_ERROR_LOG) log = values[i];
            if (options[i] == WPI_CU_JIT_ERROR_LOG_BYTES) log_bytes = (size_t)(uintptr_t)values[i];
        }
        if (log != NULL)
            (void)snprintf(log, log_bytes,
                           "ptxas application ptx input, line 7; error   : no good\n");
    }
    if (result == 0) {
        object *o = make(FAKE_MODULE);
        o->module = m;
        *out = (wpi_cu_module)(void *)o;
    } else {
        free_module(m);
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleUnload(wpi_cu_module module) {
    CALL_IN_CONTEXT("cuModuleUnload");
    if (result == 0) {
        object *o = check_handle(module, FAKE_MODULE, "cuModuleUnload");
        if (o == NULL)
            result = 400;
        else
            end_object(o);
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleGetFunction(wpi_cu_function *out, wpi_cu_module module,
                                         const char *name) {
    CALL_IN_CONTEXT("cuModuleGetFunction");
    object *o = result == 0 ? check_handle(module, FAKE_MODULE, "cuModuleGetFunction") : NULL;
    if (result == 0) result = o == NULL ? 400 : WPI_CU_NOT_FOUND;
    for (unsigned i = 0; o != NULL && i < o->module->kernel_count; i++) {
        if (strcmp(o->module->kernels[i].name, name) != 0) continue;
        *out = (wpi_cu_function)(void *)&o->module->kernels[i];
        result = 0;
    }
    RETURN;
}

EXPORT wpi_cu_result cuModuleGetGlobal_v2(wpi_cu_ptr *address, size_t *bytes, wpi_cu_module module,
                                          const char *name) {
    CALL_IN_CONTEXT("cuModuleGetGlobal_v2");
    object *o = result == 0 ? check_handle(module, FAKE_MODULE, "cuModuleGetGlobal") : NULL;
    if (result == 0) result = o == NULL ? 400 : WPI_CU_NOT_FOUND;
    for (unsigned i = 0; o != NULL && i < o->module->variable_count; i++) {
        const variable *v = &o->module->variables[i];
        if (strcmp(v->name, name) != 0) continue;
        *address = (wpi_cu_ptr)(uintptr_t)v->memory;
        *bytes = v->bytes;
        result = 0;
    }
    RETURN;
}

static kernel *check_function(wpi_cu_function function, const char *call) {
    for (size_t i = 0; i < object_count; i++) {
        struct module *m = objects[i].is_live ? objects[i].module : NULL;
        for (unsigned k = 0; m != NULL && k < m->kernel_count; k++)
            if ((void *)&m->kernels[k] == (void *)function) return &m->kernels[k];
    }
    misuse("%s: %p is no live function", call, (void *)function);
    return NULL;
}

EXPORT wpi_cu_result cuFuncGetAttribute(int *value, int attribute, wpi_cu_function function) {
    static const int values[] = {1024, 0, 0, 0, 32, 70, 80, 0};
    CALL_IN_CONTEXT("cuFuncGetAttribute");
    const kernel *k = result == 0 ? check_function(function, "cuFuncGetAttribute") : NULL;
    if (result == 0 && (k == NULL || attribute < 0 || attribute > 8)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) *value = attribute == 8 ? k->shared_dynamic_max : values[attribute];
    RETURN;
}

EXPORT wpi_cu_result cuFuncSetAttribute(wpi_cu_function function, int attribute, int value) {
    CALL_IN_CONTEXT("cuFuncSetAttribute");
    kernel *k = result == 0 ? check_function(function, "cuFuncSetAttribute") : NULL;
    if (result == 0 && (k == NULL || attribute != 8 || value < 0 || value > 166912))
        result = WPI_CU_INVALID_VALUE;
    if (result == 0) k->shared_dynamic_max = value;
    RETURN;
}

EXPORT wpi_cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                 wpi_cu_function function,
                                                                 int block_threads,
                                                                 size_t shared_dynamic_bytes) {
    CALL_IN_CONTEXT("cuOccupancyMaxActiveBlocksPerMultiprocessor");
    if (result == 0 && (check_function(function, "cuOccupancy") == NULL || block_threads <= 0))
        result = WPI_CU_INVALID_VALUE;
    if (result == 0) *blocks = 2048 / block_threads;
    if (result == 0 && shared_dynamic_bytes != 0 && *blocks > (int)(167936 / shared_dynamic_bytes))
        *blocks = (int)(167936 / shared_dynamic_bytes);
    RETURN;
}

static int launch(wpi_cu_function function, const unsigned grid[3], const unsigned block[3],
                  unsigned shared_bytes, wpi_cu_stream stream, void **args, bool is_cooperative) {
    const kernel *k = check_function(function, "cuLaunchKernel");
    if (k == NULL || !check_stream(stream, "cuLaunchKernel")) return 400;
    const unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || threads == 0 || threads > 1024)
        return misuse("cuLaunchKernel: a shape that no GPU takes");
    if (shared_bytes > (unsigned)k->shared_dynamic_max)
        return misuse("cuLaunchKernel: %u bytes of shared memory were not asked for", shared_bytes);
    if (k->param_count != 0 && args == NULL) return misuse("cuLaunchKernel: no arguments");
    last_launch = (fake_cuda_launch){.grid = {grid[0], grid[1], grid[2]},
                                     .block = {block[0], block[1], block[2]},
                                     .shared_bytes = shared_bytes,
                                     .is_cooperative = is_cooperative,
                                     .param_count = k->param_count};
    (void)snprintf(last_launch.kernel, sizeof last_launch.kernel, "%s", k->name);
    for (unsigned i = 0; i < k->param_count; i++) {
        if (args[i] == NULL) return misuse("cuLaunchKernel: argument %u is missing", i);
        const size_t bytes = k->param_bytes[i];
        if (last_launch.param_bytes + bytes > sizeof last_launch.params) break;
        memcpy(last_launch.params + last_launch.param_bytes, args[i],
               bytes); /* all of it is read */
        last_launch.param_bytes += (bytes + 15) / 16 * 16;
    }
    launch_count++;
    return 0;
}

EXPORT wpi_cu_result cuLaunchKernel(wpi_cu_function function, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                                    wpi_cu_stream stream, void **args, void **extra) {
    CALL_IN_CONTEXT("cuLaunchKernel");
    if (result == 0 && extra != NULL) result = misuse("cuLaunchKernel: extra");
    if (result == 0)
        result = launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes,
                        stream, args, false);
    RETURN;
}

EXPORT wpi_cu_result cuLaunchCooperativeKernel(wpi_cu_function function, unsigned gx, unsigned gy,
                                               unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                               unsigned shared_bytes, wpi_cu_stream stream,
                                               void **args) {
    CALL_IN_CONTEXT("cuLaunchCooperativeKernel");
    if (result == 0)
        result = launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes,
                        stream, args, true);
    RETURN;
}

/* ---- arrays, textures, surfaces ---- */

static bool is_format(int format, unsigned channels) {
    return ((format >= 1 && format <= 3) || (format >= 8 && format <= 10) || format == 0x10 ||
            format == 0x20) &&
           (channels == 1 || channels == 2 || channels == 4);
}

EXPORT wpi_cu_result cuArray3DCreate_v2(wpi_cu_array *out, const wpi_cu_array_desc *d) {
    CALL_IN_CONTEXT("cuArray3DCreate_v2");
    if (result == 0 && (d->width == 0 || !is_format(d->format, d->channel_count) ||
                        (d->height == 0 && d->depth != 0 && (d->flags & 1) == 0)))
        result = misuse("cuArray3DCreate: a description that cannot be");
    if (result == 0) {
        object *o = make(FAKE_ARRAY);
        o->array = *d;
        o->row_bytes = d->width * element_bytes(d);
        o->rows = d->height != 0 ? d->height : 1;
        o->slices = d->depth != 0 ? d->depth : 1;
        o->base = calloc(o->row_bytes * o->rows, o->slices);
        *out = (wpi_cu_array)(void *)o;
    }
    RETURN;
}

EXPORT wpi_cu_result cuArrayDestroy(wpi_cu_array array) {
    CALL_IN_CONTEXT("cuArrayDestroy");
    if (result == 0) {
        object *o = check_handle(array, FAKE_ARRAY, "cuArrayDestroy");
        if (o == NULL)
            result = 400;
        else
            end_object(o);
    }
    RETURN;
}

static int check_resource(const wpi_cu_resource *r) {
    if (r->flags != 0) return misuse("a resource with flags");
    switch (r->kind) {
    case WPI_CU_RESOURCE_ARRAY:
        return check_handle(r->u.array.array, FAKE_ARRAY, "resource") != NULL ? 0 : 400;
    case WPI_CU_RESOURCE_LINEAR:
        if (!is_format(r->u.linear.format, r->u.linear.channel_count) ||
            r->u.linear.data % 512 != 0)
            return WPI_CU_INVALID_VALUE;
        return is_device_range((void *)(uintptr_t)r->u.linear.data, r->u.linear.size_bytes)
                   ? 0
                   : misuse("a texture of memory that is not the device's");
    case WPI_CU_RESOURCE_PITCH_2D:
        if (!is_format(r->u.pitch_2d.format, r->u.pitch_2d.channel_count) ||
            r->u.pitch_2d.data % 512 != 0 || r->u.pitch_2d.pitch_bytes % 32 != 0)
            return WPI_CU_INVALID_VALUE;
        return 0;
    default: return misuse("a resource of kind %d", r->kind);
    }
}

EXPORT wpi_cu_result cuTexObjectCreate(wpi_cu_object *out, const wpi_cu_resource *resource,
                                       const wpi_cu_texture *texture, const void *view) {
    CALL_IN_CONTEXT("cuTexObjectCreate");
    if (result == 0) result = check_resource(resource);
    if (result == 0 && (view != NULL || (texture->flags & ~3u) != 0)) result = misuse("a texture");
    if (result == 0) *out = (wpi_cu_object)(uintptr_t)make(FAKE_TEXTURE);
    RETURN;
}

EXPORT wpi_cu_result cuSurfObjectCreate(wpi_cu_object *out, const wpi_cu_resource *resource) {
    CALL_IN_CONTEXT("cuSurfObjectCreate");
    if (result == 0) result = check_resource(resource);
    if (result == 0 && (resource->kind != WPI_CU_RESOURCE_ARRAY ||
                        (((object *)(void *)resource->u.array.array)->array.flags & 2) == 0))
        result = misuse("a surface of something else than an array for surfaces");
    if (result == 0) *out = (wpi_cu_object)(uintptr_t)make(FAKE_SURFACE);
    RETURN;
}

#define DESTROY_OBJECT(name, kind)                                                                 \
    EXPORT wpi_cu_result name(wpi_cu_object handle) {                                              \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0) {                                                                         \
            object *o = check_handle((void *)(uintptr_t)handle, kind, #name);                      \
            if (o == NULL)                                                                         \
                result = 400;                                                                      \
            else                                                                                   \
                end_object(o);                                                                     \
        }                                                                                          \
        RETURN;                                                                                    \
    }
DESTROY_OBJECT(cuTexObjectDestroy, FAKE_TEXTURE)
DESTROY_OBJECT(cuSurfObjectDestroy, FAKE_SURFACE)
