/* SPDX-License-Identifier: Apache-2.0 */
/* cg::reduce over tiles with plus, less, greater, bit_and, bit_or, bit_xor; int, float, double, 64 bit. */
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int size> __global__ void reduce_all(const int *in, int *out, double *reals)
{
    auto tile = cg::tiled_partition<size>(cg::this_thread_block());
    int t = threadIdx.x, v = in[t];
    int *o = out + t * 7;
    o[0] = cg::reduce(tile, v, cg::plus<int>());
    o[1] = cg::reduce(tile, v, cg::less<int>());
    o[2] = cg::reduce(tile, v, cg::greater<int>());
    o[3] = (int)cg::reduce(tile, (unsigned)v, cg::bit_and<unsigned>());
    o[4] = (int)cg::reduce(tile, (unsigned)v, cg::bit_or<unsigned>());
    o[5] = (int)cg::reduce(tile, (unsigned)v, cg::bit_xor<unsigned>());
    o[6] = (int)(cg::reduce(tile, (long long)v << 33, cg::plus<long long>()) >> 33);
    reals[t * 2] = cg::reduce(tile, v * 0.5f, cg::plus<float>());
    reals[t * 2 + 1] = cg::reduce(tile, v * 0.25, cg::greater<double>());
}

template <int size> static void check_size(const int *in, int *out, double *reals)
{
    reduce_all<size><<<1, 96>>>(in, out, reals);
    KERNEL_OK();
    for (int t = 0; t < 96; t++) {
        int first = t / size * size, sum = 0, low = in[first], high = low, a = -1, o = 0, x = 0;
        for (int i = first; i < first + size; i++) {
            sum += in[i];
            low = in[i] < low ? in[i] : low;
            high = in[i] > high ? in[i] : high;
            a &= in[i];
            o |= in[i];
            x ^= in[i];
        }
        const int e[7] = {sum, low, high, a, o, x, sum};
        for (int k = 0; k < 7; k++)
            CHECK_EQ(out[t * 7 + k], e[k]);
        CHECK_EQ(reals[t * 2], sum * 0.5);
        CHECK_EQ(reals[t * 2 + 1], high * 0.25);
    }
}

int main(void)
{
    int *in = check_managed<int>(96), *out = check_managed<int>(96 * 7);
    double *reals = check_managed<double>(96 * 2);
    uint32_t seed = 21;
    for (int i = 0; i < 96; i++)
        in[i] = (int)(check_random(&seed) % 2001) - 1000;
    check_size<32>(in, out, reals);
    check_size<16>(in, out, reals);
    check_size<8>(in, out, reals);
    check_size<2>(in, out, reals);
    check_size<1>(in, out, reals);
    return check_done();
}
