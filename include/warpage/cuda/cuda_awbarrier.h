/* SPDX-License-Identifier: Apache-2.0 */
/**
 * nvcuda::experimental::awbarrier and the primitives `__mbarrier_…`: a barrier in shared memory
 * where arriving and waiting are two calls. They are the instructions `mbarrier`, which GPUs have
 * from sm_80 on; cpu and simulated GPUs have them all.
 */
#ifndef WARPAGE_CUDA_AWBARRIER_H
#define WARPAGE_CUDA_AWBARRIER_H

#include <stdint.h>

#include "cuda_runtime.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

#if defined(__cplusplus)

#define WP_MBARRIER_MAX 0xfffffu

static __inline__ __host__ __device__ constexpr uint32_t __mbarrier_maximum_count() {
    return WP_MBARRIER_MAX;
}

#if defined(__CUDA__)

#define WP_MBARRIER static __inline__ __device__
#define WP_MBARRIER_AT(barrier) "r"((unsigned)__cvta_generic_to_shared(barrier))

WP_MBARRIER void __mbarrier_init(__mbarrier_t *barrier, uint32_t count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::WP_MBARRIER_AT(barrier), "r"(count)
                 : "memory");
}
WP_MBARRIER void __mbarrier_inval(__mbarrier_t *barrier) {
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::WP_MBARRIER_AT(barrier) : "memory");
}
WP_MBARRIER __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : WP_MBARRIER_AT(barrier)
                 : "memory");
    return token;
}
WP_MBARRIER __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
    __mbarrier_token_t token;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                 : "=l"(token)
                 : WP_MBARRIER_AT(barrier)
                 : "memory");
    return token;
}
WP_MBARRIER bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
    unsigned is_done;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_done)
        : WP_MBARRIER_AT(barrier), "l"(token)
        : "memory");
    return is_done != 0;
}
WP_MBARRIER bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool parity) {
    unsigned is_done;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(is_done)
        : WP_MBARRIER_AT(barrier), "r"((unsigned)parity)
        : "memory");
    return is_done != 0;
}
/** May wait for as long as `sleep_ns`, and answers at once if it need not. */
WP_MBARRIER bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token,
                                     uint32_t sleep_ns) {
    if (__mbarrier_test_wait(barrier, token)) return true;
    __nanosleep(sleep_ns);
    return __mbarrier_test_wait(barrier, token);
}
WP_MBARRIER bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool parity, uint32_t sleep_ns) {
    if (__mbarrier_test_wait_parity(barrier, parity)) return true;
    __nanosleep(sleep_ns);
    return __mbarrier_test_wait_parity(barrier, parity);
}
WP_MBARRIER uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
    uint32_t count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
    return count;
}

namespace nvcuda {
namespace experimental {

class awbarrier {
    __mbarrier_t barrier_;

  public:
    class arrival_token {
        __mbarrier_token_t token_;
        friend class awbarrier;
        __device__ arrival_token(__mbarrier_token_t token) : token_(token) {
        }

      public:
        arrival_token() = default;
        /** Arrivals that were missing before this one. */
        __device__ uint32_t pending_count() const {
            return __mbarrier_token_pending_count(token_);
        }
    };

    awbarrier() = default;
    awbarrier(const awbarrier &) = delete;
    awbarrier &operator=(const awbarrier &) = delete;

    static __host__ __device__ constexpr uint32_t max() {
        return WP_MBARRIER_MAX;
    }
    __device__ arrival_token arrive() {
        return __mbarrier_arrive(&barrier_);
    }
    __device__ arrival_token arrive_and_drop() {
        return __mbarrier_arrive_and_drop(&barrier_);
    }
    __device__ bool try_wait(arrival_token token, uint32_t sleep_ns) {
        return __mbarrier_try_wait(&barrier_, token.token_, sleep_ns);
    }
    __device__ bool try_wait_parity(bool phase, uint32_t sleep_ns) {
        return __mbarrier_try_wait_parity(&barrier_, phase, sleep_ns);
    }
    __device__ bool timed_wait(arrival_token token, uint32_t cycles) {
        for (long long start = clock64(); !__mbarrier_try_wait(&barrier_, token.token_, 32);)
            if (clock64() - start >= (long long)cycles) return false;
        return true;
    }
    __device__ bool timed_wait_parity(bool phase, uint32_t cycles) {
        for (long long start = clock64(); !__mbarrier_try_wait_parity(&barrier_, phase, 32);)
            if (clock64() - start >= (long long)cycles) return false;
        return true;
    }
    __device__ void wait(arrival_token token) {
        while (!__mbarrier_try_wait(&barrier_, token.token_, 32)) {
        }
    }
    __device__ void arrive_and_wait() {
        wait(arrive());
    }

    friend __device__ void init(awbarrier *barrier, uint32_t count) {
        __mbarrier_init(&barrier->barrier_, count);
    }
    friend __device__ void inval(awbarrier *barrier) {
        __mbarrier_inval(&barrier->barrier_);
    }
};

/* For callers that name the namespace. */
__device__ void init(awbarrier *barrier, uint32_t count);
__device__ void inval(awbarrier *barrier);

} // namespace experimental
} // namespace nvcuda

#endif
#endif
#endif
