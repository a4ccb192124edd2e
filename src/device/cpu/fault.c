/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Faults. Kernel code and copies may get invalid pointers; their faults become errors of the
 * device. The handler only records the facts and jumps out; the message is made afterwards, on an
 * ordinary stack. Other faults go to the handler that was installed before.
 */
#define _GNU_SOURCE /* SA_ONSTACK, SI_KERNEL */
#include "device/cpu/cpu.h"

#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/alloc.h"

#define SIGNAL_STACK_BYTES ((size_t)64 * 1024)

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define SIGNAL_COUNT (sizeof signals / sizeof signals[0])

static struct sigaction previous[SIGNAL_COUNT];
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;

/* Where a copy that faults continues. */
typedef struct guard {
    sigjmp_buf escape;
    const void *address;
} guard;

/* volatile: the handler reads it, which the compiler cannot know. */
static _Thread_local guard *volatile copy_guard WPI_SIGNAL_SAFE;
static _Thread_local bool has_signal_stack;

static void pass_on(size_t index, int number, siginfo_t *info, void *context) {
    const struct sigaction *p = &previous[index];
    if ((p->sa_flags & SA_SIGINFO) != 0) {
        p->sa_sigaction(number, info, context);
    } else if (p->sa_handler != SIG_DFL && p->sa_handler != SIG_IGN) {
        p->sa_handler(number);
    } else { /* returns to the instruction, which faults again and ends the process */
        signal(number, SIG_DFL);
    }
}

/* The handler is left by a jump, so the signal mask is restored here to that of the faulting code.
 */
static void restore_mask(const void *context) {
    const ucontext_t *interrupted = context;
    pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
}

static bool is_general_protection(int number, const siginfo_t *info) {
    return number == SIGSEGV && info->si_code == SI_KERNEL;
}

/* The faulting address; NULL: the processor does not report it and the instruction cannot be
 * decoded. */
static const void *address_of(int number, const siginfo_t *info, const void *context) {
    uint64_t address;
    if (is_general_protection(number, info) && wpi_fault_decode(context, &address)) {
        return (const void *)(uintptr_t)address;
    }
    return info->si_addr;
}

static void note_fault(wpi_worker *worker, int number, const siginfo_t *info, const void *context) {
    worker->fault_signal = number;
    worker->fault_address = address_of(number, info, context);
    worker->fault_is_alignment =
        (number == SIGBUS && info->si_code == BUS_ADRALN) ||
        (is_general_protection(number, info) && worker->fault_address != NULL &&
         wpi_fault_is_canonical((uintptr_t)worker->fault_address));
}

static uintptr_t stack_pointer_of(const void *context) {
#if defined(__x86_64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RSP];
#else
    (void)context;
    return 0;
#endif
}

/* Whether the stack pointer is below the fiber's stack: a large frame skips the guard page. */
static bool is_below(const wpi_fiber *fiber, uintptr_t stack_pointer) {
    return stack_pointer != 0 && stack_pointer < (uintptr_t)fiber->stack;
}

static void handle(int number, siginfo_t *info, void *context) {
    guard *g = copy_guard;
    if (g != NULL && (number == SIGSEGV || number == SIGBUS)) {
        g->address = address_of(number, info, context);
        copy_guard = NULL;
        restore_mask(context);
        siglongjmp(g->escape, 1);
    }
    wpi_worker *worker = wpi_worker_current;
    if (worker != NULL && worker->current != NULL && info->si_code > 0) {
        note_fault(worker, number, info, context);
        worker->fault_stack_pointer = stack_pointer_of(context);
        worker->fault_is_stack =
            worker->fiber != NULL && (wpi_fiber_owns_guard(worker->fiber, info->si_addr) ||
                                      is_below(worker->fiber, worker->fault_stack_pointer));
        restore_mask(context);
        wpi_worker_escape(worker);
    }
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i] == number) pass_on(i, number, info, context);
    }
}

static void free_signal_stack(void *memory) {
    const stack_t off = {.ss_flags = SS_DISABLE};
    sigaltstack(&off, NULL);
    wpi_free(memory);
}

static void create_key(void) {
    WP_CHECK(pthread_key_create(&stack_key, free_signal_stack) == 0);
}

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handle;
}

void wpi_fault_install(void) {
    struct sigaction now;
    sigaction(SIGSEGV, NULL, &now);
    if (is_ours(&now)) return;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = handle;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&install_lock);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        sigaction(signals[i], NULL, &now);
        if (is_ours(&now)) continue;
        previous[i] = now;
        sigaction(signals[i], &action, NULL);
    }
    pthread_mutex_unlock(&install_lock);
}

void wpi_fault_prepare_thread(void) {
    if (has_signal_stack) return;
    pthread_once(&key_once, create_key);
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
        void *memory = wpi_malloc(SIGNAL_STACK_BYTES);
        if (memory == NULL) return; /* then faults are handled on the faulting stack */
        const stack_t stack = {.ss_sp = memory, .ss_size = SIGNAL_STACK_BYTES};
        sigaltstack(&stack, NULL);
        pthread_setspecific(stack_key, memory);
    }
    has_signal_stack = true;
}

/* ---- copies ---- */

/* Copies an aligned word atomically: a kernel or an actor may poll it as a flag, and must then see
 * earlier copies. False: not such a word. */
static bool copy_word(void *dst, const void *src, size_t bytes) {
    if (((uintptr_t)dst | (uintptr_t)src) % bytes != 0) return false;
    if (bytes == sizeof(uint32_t)) {
        const uint32_t word = __atomic_load_n((const uint32_t *)src, __ATOMIC_ACQUIRE);
        __atomic_store_n((uint32_t *)dst, word, __ATOMIC_RELEASE);
        return true;
    }
    if (bytes != sizeof(uint64_t)) return false;
    const uint64_t word = __atomic_load_n((const uint64_t *)src, __ATOMIC_ACQUIRE);
    __atomic_store_n((uint64_t *)dst, word, __ATOMIC_RELEASE);
    return true;
}

bool wpi_fault_copy(void *dst, size_t dst_pitch_bytes, const void *src, size_t src_pitch_bytes,
                    size_t width_bytes, size_t height, const void **fault) {
    guard g;
    if (sigsetjmp(g.escape, 0) != 0) {
        *fault = g.address;
        return false;
    }
    copy_guard = &g;
    const bool is_word = height == 1 && copy_word(dst, src, width_bytes);
    for (size_t row = is_word ? 1 : 0; row < height; row++) {
        memcpy((char *)dst + row * dst_pitch_bytes, (const char *)src + row * src_pitch_bytes,
               width_bytes);
    }
    copy_guard = NULL;
    return true;
}

bool wpi_fault_fill(void *dst, uint32_t value, uint32_t value_bytes, size_t count,
                    const void **fault) {
    guard g;
    if (sigsetjmp(g.escape, 0) != 0) {
        *fault = g.address;
        return false;
    }
    copy_guard = &g;
    if (value_bytes == sizeof value && count == 1) {
        __atomic_store_n((uint32_t *)dst, value, __ATOMIC_RELEASE);
    } else if (value_bytes == 1) {
        memset(dst, (int)(value & 0xffu), count);
    } else if (value_bytes == 2) {
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)dst)[i] = (uint16_t)value;
    } else {
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)dst)[i] = value;
    }
    copy_guard = NULL;
    return true;
}

/* ---- words ---- */

static const char *kind_name(wp_memory_kind kind) {
    switch (kind) {
    case WP_MEMORY_DEVICE: return "allocation";
    case WP_MEMORY_MANAGED: return "managed allocation";
    case WP_MEMORY_PINNED: return "pinned host allocation";
    case WP_MEMORY_REGISTERED: return "registered host range";
    default: return "variable";
    }
}

void wpi_fault_describe(const wp_device *device, const void *address, char *out, size_t out_bytes) {
    wpi_memory_entry entry;
    int64_t distance_bytes;
    void *base;
    size_t size_bytes;
    if ((uintptr_t)address < 4096) {
        snprintf(out, out_bytes, "a NULL pointer or close to one");
        return;
    }
    if (wpi_memory_map_find_reserved(address, &base, &size_bytes)) {
        snprintf(
            out, out_bytes,
            "byte %zu of the streaming reservation of %zu bytes at %p: a mapped pointer must be "
            "a parameter of the kernel, not in a structure or in memory",
            (size_t)((uintptr_t)address - (uintptr_t)base), size_bytes, base);
        return;
    }
    if (!wpi_memory_map_nearest(wpi_memory_map_global(), address, device, &entry,
                                &distance_bytes)) {
        snprintf(out, out_bytes, "but no device memory is allocated");
        return;
    }
    const wp_allocation *a = &entry.allocation;
    if (distance_bytes == 0) {
        snprintf(out, out_bytes, "byte %zu of the %s of %zu bytes at %p",
                 (size_t)((uintptr_t)address - (uintptr_t)a->base), kind_name(a->kind),
                 a->size_bytes, a->base);
        return;
    }
    const bool is_before = distance_bytes < 0;
    const uint64_t away = is_before ? (uint64_t)-distance_bytes : (uint64_t)distance_bytes;
    snprintf(out, out_bytes, "%llu bytes %s the nearest %s (%zu bytes at %p)",
             (unsigned long long)away, is_before ? "before" : "past the end of", kind_name(a->kind),
             a->size_bytes, a->base);
}
