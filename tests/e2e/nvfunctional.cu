/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --extended-lambda -std=c++17
/* nvstd::function: small and large callables, copies, moves, an empty one, a function; on device
 * and host. */
#include <nvfunctional>

#include "check.h"

static __device__ __host__ int twice(int x) {
    return 2 * x;
}

struct large {
    int factors[20];
    int *alive; /* how many of them there are */
    __device__ __host__ large(int *counter) : alive(counter) {
        for (int i = 0; i < 20; i++)
            factors[i] = i;
        ++*alive;
    }
    __device__ __host__ large(const large &other) : alive(other.alive) {
        for (int i = 0; i < 20; i++)
            factors[i] = other.factors[i];
        ++*alive;
    }
    __device__ __host__ ~large() {
        --*alive;
    }
    __device__ __host__ int operator()(int x) const {
        return factors[19] * x;
    }
};

static __device__ __host__ int through(const nvstd::function<int(int)> &f, int x) {
    return f(x);
}

static __device__ __host__ void uses(int x, int *alive, int *out) {
    nvstd::function<int(int)> f, g(nullptr);
    out[0] = !f && f == nullptr && !(g != nullptr);
    f = [=](int y) { return x + y; };
    g = f;
    out[1] = f(10) + through(g, 100);
    f = twice;
    out[2] = f(x);
    f.swap(g);
    out[3] = f(1) * 1000 + g(1);
    {
        nvstd::function<int(int)> big{large(alive)}, copy(big),
            moved(static_cast<nvstd::function<int(int)> &&>(big));
        out[4] = copy(x) + moved(1);
        out[5] = big == nullptr;
        out[6] = *alive;
        copy = nullptr;
        f = moved;
    }
    out[7] = f(2);
    f = nullptr;
    out[8] = *alive;
    int seen = 0;
    nvstd::function<void(int &, int)> adds = [](int &to, int y) { to += y; };
    adds(seen, x);
    out[9] = seen;
}

static __global__ void kernel(int *alive, int *out) {
    uses((int)threadIdx.x, alive + threadIdx.x, out + threadIdx.x * 10);
    nvstd::function<int()> own = [] { return (int)threadIdx.x; }; /* of the device only */
    out[threadIdx.x * 10 + 9] += own();
}

static void check(const int *out, int x, int last) {
    CHECK_EQ(out[0], 1);
    CHECK_EQ(out[1], x + 10 + x + 100);
    CHECK_EQ(out[2], 2 * x);
    CHECK_EQ(out[3], (x + 1) * 1000 + 2);
    CHECK_EQ(out[4], 19 * x + 19);
    CHECK_EQ(out[5], 1);
    CHECK_EQ(out[6], 2);
    CHECK_EQ(out[7], 38);
    CHECK_EQ(out[8], 0);
    CHECK_EQ(out[9], last);
}

int main() {
    int *out = check_managed<int>(320), *alive = check_managed<int>(32);
    kernel<<<1, 32>>>(alive, out);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        check(out + t * 10, t, 2 * t);
    uses(7, alive, out);
    check(out, 7, 7);
    return check_done();
}
