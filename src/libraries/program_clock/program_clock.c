/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `warpage run --simulated-clock` preloads this library: the clocks that a program reads follow the
 * simulated GPU, so that what it measures itself is simulated time.
 *
 *     time = real time of the first reading + simulated time + READ_NS for each reading
 *
 * A reading takes time, so a loop that waits for a moment ends. Libwarpage itself reads real
 * clocks; so do sleeps and waits with a time limit, which are the C library's. Any thread.
 */
#define _GNU_SOURCE /* dladdr, RTLD_NOLOAD */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define READ_NS 25
#define NS_PER_S INT64_C(1000000000)

#define EXPORTED __attribute__((visibility("default")))

static _Atomic uint64_t readings;

/* ---- the real clock ---- */

/* Only the kernel is asked: a call of the C library's function would come back here. */
static int read_real(clockid_t clock, struct timespec *out) {
    return (int)syscall(SYS_clock_gettime, clock, out);
}

static int64_t real_ns(clockid_t clock) {
    struct timespec now = {0};
    (void)read_real(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* ---- simulated time ---- */

typedef uint64_t (*clock_fn)(void);

/* Libwarpage's, once it is loaded; what replaces a static runtime loads it for itself alone. */
static clock_fn simulated_clock(void) {
    static _Atomic(clock_fn) found;
    clock_fn clock = atomic_load(&found);
    void *library = clock == NULL ? dlopen("libwarpage.so.0", RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (library != NULL) {
        *(void **)&clock = dlsym(library, "wpi_simulated_ns");
        atomic_store(&found, clock);
        (void)dlclose(library);
    }
    return clock;
}

static bool is_library(const void *caller, clock_fn clock) {
    Dl_info of_caller, of_library;
    return dladdr(caller, &of_caller) != 0 && dladdr(*(void **)&clock, &of_library) != 0 &&
           of_caller.dli_fbase == of_library.dli_fbase;
}

/* Nanoseconds since the first reading; negative: the caller is to have real time. */
static int64_t elapsed_ns(const void *caller) {
    clock_fn clock = simulated_clock();
    if (clock != NULL && is_library(caller, clock)) return -1;
    const uint64_t passed = atomic_fetch_add(&readings, 1) * READ_NS;
    return (int64_t)(passed + (clock != NULL ? clock() : 0));
}

/* When the program read this clock first. */
static int64_t start_ns(clockid_t clock) {
    enum { CLOCKS = 8 };
    static _Atomic int64_t starts[CLOCKS];
    int64_t none = 0, now = real_ns(clock);
    return atomic_compare_exchange_strong(&starts[clock], &none, now) ? now : none;
}

static bool is_followed(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
           clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

static int64_t now_ns(clockid_t clock, const void *caller) {
    const int64_t start = start_ns(clock), elapsed = elapsed_ns(caller);
    return elapsed < 0 ? real_ns(clock) : start + elapsed;
}

/* ---- what programs call ---- */

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out) {
    if (!is_followed(clock)) return read_real(clock, out);
    const int64_t now = now_ns(clock, __builtin_return_address(0));
    *out = (struct timespec){now / NS_PER_S, now % NS_PER_S};
    return 0;
}

EXPORTED int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    if (zone != NULL) *(struct timezone *)zone = (struct timezone){0};
    const int64_t now = now_ns(CLOCK_REALTIME, __builtin_return_address(0));
    *out = (struct timeval){now / NS_PER_S, now % NS_PER_S / 1000};
    return 0;
}

EXPORTED time_t time(time_t *out) {
    const time_t now = now_ns(CLOCK_REALTIME, __builtin_return_address(0)) / NS_PER_S;
    if (out != NULL) *out = now;
    return now;
}

EXPORTED int timespec_get(struct timespec *out, int base) {
    if (base != TIME_UTC) return 0;
    const int64_t now = now_ns(CLOCK_REALTIME, __builtin_return_address(0));
    *out = (struct timespec){now / NS_PER_S, now % NS_PER_S};
    return base;
}

/* Processor time, which many programs take for the time that a kernel needs. */
EXPORTED clock_t clock(void) {
    const int64_t elapsed = elapsed_ns(__builtin_return_address(0));
    return (elapsed < 0 ? real_ns(CLOCK_PROCESS_CPUTIME_ID) : elapsed) /
           (NS_PER_S / CLOCKS_PER_SEC);
}
