/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, misuses, counted and failing calls, the hooks. */
#include "fake.h"

#include <stdarg.h>

enum { SYMBOLS_MAX = 96 };

fake_state fake = {.lock = PTHREAD_MUTEX_INITIALIZER,
                   .changed = PTHREAD_COND_INITIALIZER,
                   .generation = 1,
                   .limits = {1024, 1 << 20, 8 << 20, 2, 2048}};
_Thread_local wpi_cu_context fake_current;
_Thread_local bool fake_in_host_call;

static int context_token; /* its address, plus the generation, is the context */
static unsigned misuse_count;
static char first_misuse[256];
static const char *last_failed = "";

typedef struct symbol_row {
    const char *name;
    unsigned calls, fail_at;
    int result;
} symbol_row;
static symbol_row symbols[SYMBOLS_MAX] = {{.name = "*"}};
static size_t symbol_count = 1;

size_t fake_env_number(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

int fake_misuse(const char *format, ...) {
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

bool fake_is_sticky(int result) {
    return result == 214 ||
           (result >= 700 && result < 720 && result != 701 && result != 712 && result != 713);
}

/* Whether this call fails, and how. */
int fake_begin(const char *name, bool needs_init) {
    read_environment();
    symbol_row *rows[2] = {row_of(name), &symbols[0]};
    int result = 0;
    for (int i = 0; i < 2; i++) {
        rows[i]->calls++;
        if (rows[i]->fail_at == 0 || --rows[i]->fail_at != 0) continue;
        result = rows[i]->result;
        last_failed = rows[0]->name;
    }
    if (fake_is_sticky(result)) fake.sticky = result;
    if (needs_init && !fake.is_initialised) fake_misuse("%s before cuInit", name);
    if (fake_in_host_call) fake_misuse("%s in a host function", name);
    return result;
}

wpi_cu_context fake_context(void) {
    return (wpi_cu_context)((uintptr_t)&context_token + 64 * (uintptr_t)fake.generation);
}

/* All devices have one memory and one error; their contexts differ. */
wpi_cu_context fake_context_of(wpi_cu_device device) {
    return (wpi_cu_context)((uintptr_t)fake_context() + (uintptr_t)device);
}

bool fake_is_context(wpi_cu_context context) {
    const uintptr_t devices = fake_env_number("FAKE_CUDA_DEVICES", 1);
    return (uintptr_t)context - (uintptr_t)fake_context() < devices;
}

int fake_check_context(const char *name) {
    if (fake.retains == 0 || !fake_is_context(fake_current)) {
        fake_misuse("%s without the current context", name);
        return 201;
    }
    return fake.sticky;
}

/* ---- objects: a handle is an object's address; none is used twice ---- */

static fake_object *dead;

fake_object *fake_make(fake_cuda_kind kind) {
    fake_object *o = calloc(1, sizeof *o);
    if (o == NULL) abort();
    o->kind = kind;
    o->is_live = true;
    o->next = fake.live;
    o->link = &fake.live;
    if (o->next != NULL) o->next->link = &o->next;
    return fake.live = o;
}

void fake_end(fake_object *o) {
    if (o->kind == FAKE_MEMORY) fake.used_bytes -= o->bytes;
    if (o->kind == FAKE_MEMORY || o->kind == FAKE_HOST || o->kind == FAKE_ARRAY) free(o->base);
    if (o->kind == FAKE_STREAM) fake_stream_end(o);
    pm_module_free(o->module);
    free(o->kernels);
    o->module = NULL;
    o->kernels = NULL;
    o->is_live = false;
    *o->link = o->next;
    if (o->next != NULL) o->next->link = o->link;
    o->next = dead; /* kept, so that its address is not another's */
    dead = o;
}

void fake_end_all(void) {
    while (fake.live != NULL)
        fake_end(fake.live);
    fake_heap_end();
}

fake_object *fake_find_range(const void *address, size_t bytes, fake_cuda_kind kind) {
    for (fake_object *o = fake.live; o != NULL; o = o->next) {
        const uintptr_t offset = (uintptr_t)address - (uintptr_t)o->base;
        if (o->kind == kind && offset < o->bytes && bytes <= o->bytes - offset) return o;
    }
    return NULL;
}

fake_object *fake_check_handle(const void *handle, fake_cuda_kind kind, const char *call) {
    for (fake_object *o = fake.live; o != NULL; o = o->next)
        if (o == handle && o->kind == kind) return o;
    fake_misuse("%s: %p is no live handle", call, handle);
    return NULL;
}

int fake_destroy(const void *handle, fake_cuda_kind kind, const char *call) {
    fake_object *o = fake_check_handle(handle, kind, call);
    if (o == NULL) return 400;
    fake_end(o);
    return 0;
}

static bool is_variable(const void *address, size_t bytes) {
    for (const fake_object *o = fake.live; o != NULL; o = o->next) {
        const pm_variable *v;
        for (unsigned i = 0; o->module != NULL && (v = pm_module_variable(o->module, i)) != NULL;
             i++) {
            const uintptr_t offset = (uintptr_t)address - (uintptr_t)v->memory;
            if (offset < v->bytes && bytes <= v->bytes - offset) return true;
        }
    }
    return false;
}

bool fake_is_device_range(const void *address, size_t bytes) {
    return fake_find_range(address, bytes, FAKE_MEMORY) != NULL || is_variable(address, bytes);
}

bool fake_touches_device(const void *address) {
    const fake_object *o = fake_find_range(address, 1, FAKE_MEMORY);
    return (o != NULL && !o->is_managed) || is_variable(address, 1);
}

/* ---- hooks ---- */

static void hook_fail_at(const char *symbol, unsigned n, int result) {
    pthread_mutex_lock(&fake.lock);
    symbol_row *row = row_of(symbol);
    row->fail_at = n;
    row->result = result;
    last_failed = "";
    pthread_mutex_unlock(&fake.lock);
}

static unsigned hook_calls(const char *symbol) {
    pthread_mutex_lock(&fake.lock);
    const unsigned calls = row_of(symbol)->calls;
    pthread_mutex_unlock(&fake.lock);
    return calls;
}

static unsigned hook_live(fake_cuda_kind kind) {
    unsigned count = 0;
    pthread_mutex_lock(&fake.lock);
    for (const fake_object *o = fake.live; o != NULL; o = o->next)
        count += o->kind == kind;
    if (kind == FAKE_CONTEXT) count = fake.retains;
    pthread_mutex_unlock(&fake.lock);
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
    if (last != NULL) *last = fake.last_launch;
    return fake.launch_count;
}

static unsigned hook_left(void) {
    return fake.left_at_release;
}

static const char *hook_failed(void) {
    return last_failed;
}

static fake_cuda_given hook_given(void) {
    return fake.last_given;
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
