// FLAGS: --extended-lambda
/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's questions about types of lambdas, on both sides of the compilation. */
#include "check.h"

#define IS_DEVICE(f)                                                                               \
    (__nv_is_extended_device_lambda_closure_type(decltype(f)) &&                                   \
     !__nv_is_extended_host_device_lambda_closure_type(decltype(f)))
#define IS_BOTH(f)                                                                                 \
    (!__nv_is_extended_device_lambda_closure_type(decltype(f)) &&                                  \
     __nv_is_extended_host_device_lambda_closure_type(decltype(f)))

struct op {
    __device__ int operator()(int x) const {
        return x;
    }
};

template <class F> __global__ void call(F f, int *p) {
    *p = IS_DEVICE(f) ? f(1) : -1;
}

int main() {
    int a = 3;
    auto device = [a] __device__(int x) { return x + a; };
    auto both = [a] __host__ __device__(int x) { return x + a; };
    auto device_refs = [a] __device__(int &x, const float *) mutable { return x = a++; };
    auto both_refs = [a] __host__ __device__(int &x, const float *) mutable { return x = a++; };
    auto device_none = [] __device__() {};
    auto both_none = [] __host__ __device__() {};
    auto device_const = [] __device__(const int &x) -> const int & { return x; };
    static_assert(IS_DEVICE(device) && IS_BOTH(both), "");
    static_assert(IS_DEVICE(device_refs) && IS_BOTH(both_refs), "");
    static_assert(IS_DEVICE(device_none) && IS_BOTH(both_none), "");
    static_assert(IS_DEVICE(device_const), "");
    static_assert(!IS_DEVICE(op()) && !IS_BOTH(op()), "");
    int *p = check_managed<int>(1);
    call<<<1, 1>>>(device, p);
    KERNEL_OK();
    CHECK_EQ(*p, 4);
    CHECK_EQ(both(1), 4);
    return check_done();
}
