/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Words that many threads change at the same time, written once for kernels (wpcc, CUDA C++) and
 * for threads of the host (C17, and in CUDA C++ too). The data structures of postpone.h and table.h
 * are built on these.
 *
 * Reads go past the first-level cache of a GPU. A compare-and-swap publishes: what the thread
 * stored before wp_word_fence() and the swap is seen by a thread that reads the swapped word.
 *
 * All functions but wp_word_sum32, wp_word_sum64 return the word's value before the call. Words are
 * aligned to their size.
 */
#ifndef WARPAGE_SHARED_WORDS_H
#define WARPAGE_SHARED_WORDS_H

#include <stdint.h>

#ifdef __CUDACC__
#define WP_WORD_CALL static __host__ __device__ __forceinline__
#else
#define WP_WORD_CALL static inline
#endif

#ifdef __CUDA_ARCH__

WP_WORD_CALL uint32_t wp_word_load32(const uint32_t *word) {
    return *(const volatile uint32_t *)word;
}
WP_WORD_CALL uint64_t wp_word_load64(const uint64_t *word) {
    return *(const volatile uint64_t *)word;
}
WP_WORD_CALL void wp_word_fence(void) {
    __threadfence();
}
WP_WORD_CALL uint32_t wp_word_swap_if32(uint32_t *word, uint32_t is, uint32_t becomes) {
    return atomicCAS((unsigned int *)word, is, becomes);
}
WP_WORD_CALL uint64_t wp_word_swap_if64(uint64_t *word, uint64_t is, uint64_t becomes) {
    return atomicCAS((unsigned long long *)word, (unsigned long long)is,
                     (unsigned long long)becomes);
}
WP_WORD_CALL uint32_t wp_word_exchange32(uint32_t *word, uint32_t value) {
    return atomicExch((unsigned int *)word, value);
}
WP_WORD_CALL uint64_t wp_word_exchange64(uint64_t *word, uint64_t value) {
    return atomicExch((unsigned long long *)word, (unsigned long long)value);
}
WP_WORD_CALL uint32_t wp_word_add32(uint32_t *word, uint32_t value) {
    return atomicAdd((unsigned int *)word, value);
}
WP_WORD_CALL uint64_t wp_word_add64(uint64_t *word, uint64_t value) {
    return atomicAdd((unsigned long long *)word, (unsigned long long)value);
}
WP_WORD_CALL uint32_t wp_word_or32(uint32_t *word, uint32_t value) {
    return atomicOr((unsigned int *)word, value);
}
WP_WORD_CALL uint64_t wp_word_or64(uint64_t *word, uint64_t value) {
    return atomicOr((unsigned long long *)word, (unsigned long long)value);
}
WP_WORD_CALL uint32_t wp_word_min32(uint32_t *word, uint32_t value) {
    return atomicMin((unsigned int *)word, value);
}
WP_WORD_CALL uint64_t wp_word_min64(uint64_t *word, uint64_t value) {
    return atomicMin((unsigned long long *)word, (unsigned long long)value);
}
WP_WORD_CALL uint32_t wp_word_max32(uint32_t *word, uint32_t value) {
    return atomicMax((unsigned int *)word, value);
}
WP_WORD_CALL uint64_t wp_word_max64(uint64_t *word, uint64_t value) {
    return atomicMax((unsigned long long *)word, (unsigned long long)value);
}
/* The value, opaque to the compiler. It keeps the end of a retry loop in one place, where the lanes
 * of a warp meet: without it, compilers make the way of the lane that got a lock leave the loop,
 * and the other lanes then spin before its critical section. GPUs before Volta let them spin for
 * ever. */
WP_WORD_CALL uint32_t wp_word_meet(uint32_t value) {
    __asm__ volatile("" : "+r"(value));
    return value;
}
/* In each round of a loop that depends on what other threads write: it does not wait for them, but
 * goes round again because they were faster, or because of the thread's own work. A comment in PTX.
 * On simulated GPUs a kernel whose other loops do not wait either runs ahead of simulated time. */
WP_WORD_CALL void wp_word_retries(void) {
    __asm__ volatile("// warpage: retries");
}
/* Adds to a word that nothing reads before the kernel has ended: a count. On the CPU device each
 * worker keeps sums of its own and adds them up at the latest when it leaves the launch, so that
 * words that all workers add to, such as those of frequent keys, stay in the processors' caches. */
WP_WORD_CALL void wp_word_sum32(uint32_t *word, uint32_t value) {
    __asm__ volatile("// warpage: sums 32");
    (void)atomicAdd((unsigned int *)word, value);
}
WP_WORD_CALL void wp_word_sum64(uint64_t *word, uint64_t value) {
    __asm__ volatile("// warpage: sums 64");
    (void)atomicAdd((unsigned long long *)word, (unsigned long long)value);
}

#else

WP_WORD_CALL uint32_t wp_word_load32(const uint32_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
WP_WORD_CALL uint64_t wp_word_load64(const uint64_t *word) {
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
/* Every operation below acquires and releases. */
WP_WORD_CALL void wp_word_fence(void) {
}
WP_WORD_CALL uint32_t wp_word_meet(uint32_t value) {
    return value;
}
WP_WORD_CALL void wp_word_retries(void) {
}
WP_WORD_CALL uint32_t wp_word_swap_if32(uint32_t *word, uint32_t is, uint32_t becomes) {
    (void)__atomic_compare_exchange_n(word, &is, becomes, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is;
}
WP_WORD_CALL uint64_t wp_word_swap_if64(uint64_t *word, uint64_t is, uint64_t becomes) {
    (void)__atomic_compare_exchange_n(word, &is, becomes, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return is;
}
WP_WORD_CALL uint32_t wp_word_exchange32(uint32_t *word, uint32_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}
WP_WORD_CALL uint64_t wp_word_exchange64(uint64_t *word, uint64_t value) {
    return __atomic_exchange_n(word, value, __ATOMIC_ACQ_REL);
}
WP_WORD_CALL uint32_t wp_word_add32(uint32_t *word, uint32_t value) {
    return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}
WP_WORD_CALL uint64_t wp_word_add64(uint64_t *word, uint64_t value) {
    return __atomic_fetch_add(word, value, __ATOMIC_ACQ_REL);
}
WP_WORD_CALL void wp_word_sum32(uint32_t *word, uint32_t value) {
    (void)__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
WP_WORD_CALL void wp_word_sum64(uint64_t *word, uint64_t value) {
    (void)__atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}
WP_WORD_CALL uint32_t wp_word_or32(uint32_t *word, uint32_t value) {
    return __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL);
}
WP_WORD_CALL uint64_t wp_word_or64(uint64_t *word, uint64_t value) {
    return __atomic_fetch_or(word, value, __ATOMIC_ACQ_REL);
}
#define WP_WORD_UPDATE(name, type, load, swap_if, better)                                          \
    WP_WORD_CALL type name(type *word, type value) {                                               \
        type is = load(word);                                                                      \
        while (value better is) {                                                                  \
            const type found = swap_if(word, is, value);                                           \
            if (found == is) break;                                                                \
            is = found;                                                                            \
        }                                                                                          \
        return is;                                                                                 \
    }
WP_WORD_UPDATE(wp_word_min32, uint32_t, wp_word_load32, wp_word_swap_if32, <)
WP_WORD_UPDATE(wp_word_min64, uint64_t, wp_word_load64, wp_word_swap_if64, <)
WP_WORD_UPDATE(wp_word_max32, uint32_t, wp_word_load32, wp_word_swap_if32, >)
WP_WORD_UPDATE(wp_word_max64, uint64_t, wp_word_load64, wp_word_swap_if64, >)
#undef WP_WORD_UPDATE

#endif
#endif
