/* SPDX-License-Identifier: Apache-2.0 */
/* Static members named by `this->` in constant expressions, in kernels' and in host code. */
#include "check.h"

struct pair_of {
    int first, second;
};

template <bool HasPayload, int Width> struct storage {
    static constexpr bool has_payload = HasPayload;
    static constexpr int width = Width;

    template <class Slot> __host__ __device__ constexpr auto key(const Slot &slot) const noexcept {
        if constexpr (this->has_payload)
            return slot.first;
        else
            return slot;
    }
    __host__ __device__ int sum() const {
        static_assert(this -> width > 1, "two at least");
        constexpr int twice = 2 * this->width;
        return this->width - 1 + twice;
    }
};

__global__ void look(int *out)
{
    const storage<true, 4> pairs;
    const storage<false, 5> plain;
    out[0] = pairs.key(pair_of{3, 9}) + plain.key(40);
    out[1] = pairs.sum() * 100 + plain.sum();
}

int main(void)
{
    int *out = check_managed<int>(2);
    look<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 43);
    CHECK_EQ(out[1], (3 + 8) * 100 + 4 + 10);
    CHECK_EQ((storage<true, 4>().key(pair_of{7, 0})), 7);
    CHECK_EQ((storage<false, 3>().sum()), 2 + 6);
    return check_done();
}
