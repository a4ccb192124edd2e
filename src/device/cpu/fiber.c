/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Fibers: a stack for each running thread of a block, and switches between them and the worker's
 * own stack.
 *
 *     worker ── wpi_fiber_resume ──► thread code ── wp_rt_stop ──► worker
 *
 * The stacks of a block are one mapping, each with a guard page below it; pages are committed when
 * touched. A thread takes the stack that was freed last, so threads that never stop share one. A
 * fiber never changes its OS thread, so thread-local variables stay valid across a stop. Sanitizers
 * are notified of every switch.
 */
#define _GNU_SOURCE /* MAP_STACK, MAP_NORESERVE */
#include "device/cpu/cpu.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/sanitizer.h"

#if defined(WP_HAS_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(WP_HAS_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

#if !defined(__x86_64__)
#error "the fiber switch is written for x86-64"
#endif

/* Saves callee-saved registers on the stack and the stack pointer in *save, and continues at
 * `load`. Floating-point control words are not saved: kernel code does not change them. */
void wpi_fiber_switch(void **save, void *load);
__asm__(".text\n"
        ".hidden wpi_fiber_switch\n"
        ".globl wpi_fiber_switch\n"
        ".type wpi_fiber_switch, @function\n"
        ".p2align 4\n"
        "wpi_fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size wpi_fiber_switch, .-wpi_fiber_switch\n");

#define PAGE_BYTES 4096u /* of x86-64 */
#define STACK_RESERVE_BYTES 1024u
/* Stacks are whole pages apart: without an offset, their upper ends would map to the same few sets
 * of the processor's caches. */
#define STACK_COLOURS 16u
#define STACK_COLOUR_BYTES 128u

static void free_lists(wpi_block *block) {
    wpi_free(block->fibers);
    wpi_free(block->free_stacks);
    block->fibers = NULL;
    block->free_stacks = NULL;
}

bool wpi_fibers_prepare(wpi_block *block, uint32_t count, size_t stack_bytes) {
    const size_t page = PAGE_BYTES;
    stack_bytes = (stack_bytes + page - 1) / page * page;
    if (block->fiber_capacity >= count && block->fiber_stack_bytes == stack_bytes) return true;
    wpi_fibers_release(block);
    size_t bytes;
    if (!wpi_mul_size(count, stack_bytes + page, &bytes)) return false;
    block->fibers = wpi_calloc(count, sizeof *block->fibers);
    block->free_stacks = wpi_calloc(count, sizeof *block->free_stacks);
    char *stacks = MAP_FAILED;
    if (block->fibers != NULL && block->free_stacks != NULL)
        stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) {
        free_lists(block);
        return false;
    }
    block->fiber_stacks = stacks;
    block->fiber_stack_bytes = stack_bytes;
    block->fiber_capacity = count;
    block->storage_bytes += (size_t)count * 2 * page; /* commonly touched pages */
    for (uint32_t i = 0; i < count; i++) {
        char *guard = stacks + (size_t)i * (stack_bytes + page);
        if (block->worker->has_guards &&
            mprotect(guard, page, PROT_NONE) != 0) { /* the system's limit of mappings is reached */
            wpi_fibers_release(block);
            return false;
        }
        block->fibers[i].stack_bytes = stack_bytes;
#if defined(WP_HAS_TSAN)
        block->fibers[i].tsan = __tsan_create_fiber(0);
#endif
    }
    return true;
}

/* Frees all stacks, including those of aborted threads. */
static void free_all_stacks(wpi_block *block) {
    const uint32_t count = block->fiber_capacity;
    const size_t distance = block->fiber_stack_bytes + PAGE_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        block->free_stacks[i] = block->fiber_stacks + (count - 1 - i) * distance + PAGE_BYTES;
        block->fibers[i].stack = NULL;
    }
    block->free_stack_count = count;
}

void wpi_fibers_start(wpi_block *block) {
    if (block->free_stack_count != block->fiber_capacity) free_all_stacks(block);
}

void wpi_fibers_release(wpi_block *block) {
    if (block->fibers == NULL) return;
#if defined(WP_HAS_TSAN)
    for (uint32_t i = 0; i < block->fiber_capacity; i++) {
        if (block->fibers[i].tsan != NULL) __tsan_destroy_fiber(block->fibers[i].tsan);
    }
#endif
#if defined(WP_HAS_ASAN) /* fibers end without returning, and their addresses may be reused */
    __asan_unpoison_memory_region(block->fiber_stacks,
                                  block->fiber_capacity * (block->fiber_stack_bytes + PAGE_BYTES));
#endif
    munmap(block->fiber_stacks,
           (size_t)block->fiber_capacity * (block->fiber_stack_bytes + PAGE_BYTES));
    block->storage_bytes -= (size_t)block->fiber_capacity * 2 * PAGE_BYTES;
    free_lists(block);
    block->fiber_capacity = 0;
    block->free_stack_count = 0;
}

bool wpi_fiber_owns_guard(const wpi_fiber *fiber, const void *address) {
    const uintptr_t a = (uintptr_t)address, low = (uintptr_t)fiber->stack;
    return a < low && a >= low - PAGE_BYTES;
}

/* ---- switching ---- */

/* Now on a fiber's stack: completes the switch. */
static void arrive_fiber(wpi_worker *worker) {
#if defined(WP_HAS_ASAN)
    __sanitizer_finish_switch_fiber(worker->fiber->fake_stack, &worker->scheduler_stack,
                                    &worker->scheduler_stack_bytes);
#else
    (void)worker;
#endif
}

/* Many stacks with guard pages may exceed the system's limit of mappings. Without guard pages, an
 * overflow is detected when the thread stops. */
static void check_depth(wpi_worker *worker) {
    const char here = 0;
    const char *lowest = worker->fiber->stack + STACK_RESERVE_BYTES;
    if (worker->has_guards || (uintptr_t)&here >= (uintptr_t)lowest) return;
    wpi_worker_fail(worker, WP_STATUS_KERNEL_ADDRESS, true,
                    "stack overflow: its stack of %zu bytes is used up; "
                    "cudaDeviceSetLimit(cudaLimitStackSize, BYTES) raises the limit",
                    worker->fiber->stack_bytes);
}

void wpi_fiber_leave(wpi_worker *worker) {
    wpi_fiber *fiber = worker->fiber;
    if (!worker->is_failing) check_depth(worker);
#if defined(WP_HAS_ASAN)
    __sanitizer_start_switch_fiber(&fiber->fake_stack, worker->scheduler_stack,
                                   worker->scheduler_stack_bytes);
#endif
#if defined(WP_HAS_TSAN)
    __tsan_switch_to_fiber(worker->scheduler_tsan, 0);
#endif
    wpi_fiber_switch(&fiber->sp, worker->scheduler_sp);
    arrive_fiber(worker);
}

/* The first function on a fiber's stack. It runs one thread and does not return: the stack is set
 * up anew for the next block. */
static void enter(void) {
    wpi_worker *worker = wpi_worker_current;
    arrive_fiber(worker);
    wpi_block *block = worker->current;
    block->launch->kernel->code->thread(&block->pub);
    block->pub.requests[block->pub.thread].op = WPI_OP_EXIT;
    for (;;)
        wpi_fiber_leave(worker);
}

/* Puts the thread's fiber at the entry of the block's kernel, on a stack. */
static void start(wpi_block *block, uint32_t thread, wpi_fiber *fiber) {
    fiber->stack = block->free_stacks[--block->free_stack_count];
    const uintptr_t colour = (uintptr_t)fiber->stack / PAGE_BYTES % STACK_COLOURS;
    const uint32_t *dim = block->pub.block_dim;
    fiber->tid[0] = thread % dim[0];
    fiber->tid[1] = thread / dim[0] % dim[1];
    fiber->tid[2] = thread / dim[0] / dim[1];
    /* The frame that wpi_fiber_switch pops: six registers, the address of `enter`, and above it a
     * zero return address, at which a debugger's backtrace ends. On entry of a function the stack
     * pointer is 8 below a multiple of 16. */
    uintptr_t *top =
        (uintptr_t *)(void *)(fiber->stack + fiber->stack_bytes - colour * STACK_COLOUR_BYTES);
#if defined(WP_HAS_ASAN)
    __asan_unpoison_memory_region(fiber->stack, fiber->stack_bytes); /* of an aborted thread */
#endif
    memset(top - 10, 0, 10 * sizeof *top);
    top[-2] = (uintptr_t)enter;
    fiber->sp = top - 8;
    fiber->fake_stack = NULL;
}

void wpi_fiber_resume(wpi_block *block, uint32_t thread) {
    wpi_worker *worker = block->worker;
    wp_cpu_block *pub = &block->pub;
    wpi_fiber *fiber = &block->fibers[thread];
    if (fiber->stack == NULL) start(block, thread, fiber);
    pub->thread = thread;
    memcpy(pub->tid, fiber->tid, sizeof pub->tid);
    worker->fiber = fiber;
#if defined(WP_HAS_TSAN)
    worker->scheduler_tsan = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->tsan, 0);
#endif
#if defined(WP_HAS_ASAN)
    __sanitizer_start_switch_fiber(&worker->scheduler_fake_stack, fiber->stack, fiber->stack_bytes);
#endif
    wpi_fiber_switch(&worker->scheduler_sp, fiber->sp);
#if defined(WP_HAS_ASAN)
    __sanitizer_finish_switch_fiber(worker->scheduler_fake_stack, NULL, NULL);
#endif
    worker->fiber = NULL;
    if (worker->is_failing) wpi_worker_escape(worker);
    if (pub->requests[thread].op == WPI_OP_EXIT) {
        block->free_stacks[block->free_stack_count++] = fiber->stack;
        fiber->stack = NULL;
    }
}

uint64_t wp_rt_stop(uint32_t op, uint32_t point, uint32_t mask, uint64_t a, uint64_t b) {
    if (op == WP_STOP_ROUND || op == WP_STOP_CUT) return b; /* fibers run independently */
    wpi_worker *worker = wpi_worker_current;
    wp_cpu_block *pub = wp_rt_block;
    const uint32_t thread = pub->thread;
    pub->states[thread] = point;
    pub->requests[thread] = (wp_cpu_request){.op = op, .mask = mask, .a = a, .b = b};
    wpi_fiber_leave(worker);
    return pub->requests[thread].result;
}

uint64_t wpi_fiber_hold(uint64_t a, uint64_t b) {
    wpi_worker *worker = wpi_worker_current;
    wp_cpu_block *pub = wp_rt_block;
    const uint32_t thread = pub->thread;
    pub->requests[thread] = (wp_cpu_request){.op = WPI_OP_HELD, .a = a, .b = b};
    wpi_fiber_leave(worker);
    return pub->requests[thread].result;
}
