/* SPDX-License-Identifier: Apache-2.0 */
/* A big kernel: a hash with all rounds unrolled, an interpreter with a large switch, a long chain of
 * barriers, much local memory, all in one function. */
#include "check.h"

struct state {
    uint32_t s[16];
};

__host__ __device__ inline uint32_t rotate(uint32_t x, int n) { return x << n | x >> (32 - n); }

#define QUARTER(a, b, c, d)                                                                        \
    x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 16), x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 12),    \
    x[a] += x[b], x[d] = rotate(x[d] ^ x[a], 8), x[c] += x[d], x[b] = rotate(x[b] ^ x[c], 7);
#define DOUBLE_ROUND                                                                               \
    QUARTER(0, 4, 8, 12) QUARTER(1, 5, 9, 13) QUARTER(2, 6, 10, 14) QUARTER(3, 7, 11, 15)          \
    QUARTER(0, 5, 10, 15) QUARTER(1, 6, 11, 12) QUARTER(2, 7, 8, 13) QUARTER(3, 4, 9, 14)

__host__ __device__ inline uint32_t scramble(state st, uint32_t n)
{
    uint32_t x[16], sum = 0;
    for (int i = 0; i < 16; i++)
        x[i] = st.s[i] + n * i;
    DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND
    DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND DOUBLE_ROUND
    for (int i = 0; i < 16; i++)
        sum = sum * 31 + x[i];
    return sum;
}

#define OP(n, code) case n: code; break;
__host__ __device__ inline uint32_t interpret(const uint8_t *program, int length, uint32_t seed)
{
    uint32_t stack[64], memory[256];
    int top = 0, budget = 4000;
    for (int i = 0; i < 256; i++)
        memory[i] = seed * i;
    for (int i = 0; i < 64; i++)
        stack[i] = i;
    for (int pc = 0; pc < length && budget-- > 0; pc++) {
        uint32_t a = stack[top], b = stack[(top + 63) % 64];
        switch (program[pc] % 24) {
            OP(0, stack[top] = a + b) OP(1, stack[top] = a - b) OP(2, stack[top] = a * b) OP(3, stack[top] = a ^ b)
            OP(4, stack[top] = a & b) OP(5, stack[top] = a | b) OP(6, stack[top] = ~a) OP(7, stack[top] = a << (b & 31))
            OP(8, stack[top] = a >> (b & 31)) OP(9, top = (top + 1) % 64) OP(10, top = (top + 63) % 64)
            OP(11, stack[top] = memory[a % 256]) OP(12, memory[a % 256] = b) OP(13, stack[top] = pc)
            OP(14, stack[top] = seed) OP(15, if (a % 3 == 0) pc += 2) OP(16, if (a & 1) pc = b % (pc + 1))
            OP(17, stack[top] = rotate(a, 5)) OP(18, stack[(a + 1) % 64] = b) OP(19, stack[top] = a < b ? a : b)
            OP(20, stack[top] = a > b ? a : b) OP(21, stack[top] = a / (b | 1)) OP(22, stack[top] = a % (b | 1))
            OP(23, stack[top] += budget)
        }
    }
    uint32_t sum = top;
    for (int i = 0; i < 64; i++)
        sum = sum * 33 + stack[i];
    return sum;
}

__global__ void big(state st, const uint8_t *program, int length, uint32_t *out)
{
    __shared__ uint32_t tile[64];
    int t = threadIdx.x;
    uint32_t v = scramble(st, t) ^ interpret(program, length, t + 1);
#define EXCHANGE(n)                                                                                \
    tile[t] = v;                                                                                   \
    __syncthreads();                                                                               \
    v = v * 5 + tile[(t + n) % 64];                                                                \
    __syncthreads();
    EXCHANGE(1) EXCHANGE(2) EXCHANGE(3) EXCHANGE(4) EXCHANGE(5) EXCHANGE(6) EXCHANGE(7) EXCHANGE(8)
    EXCHANGE(9) EXCHANGE(10) EXCHANGE(11) EXCHANGE(12) EXCHANGE(13) EXCHANGE(14) EXCHANGE(15) EXCHANGE(16)
    out[t] = v ^ scramble(st, v);
}

int main(void)
{
    state st;
    uint32_t seed = 314, *out = check_managed<uint32_t>(64), v[64], next[64];
    const int length = 500;
    uint8_t *program = check_managed<uint8_t>(length);
    for (int i = 0; i < 16; i++)
        st.s[i] = check_random(&seed);
    for (int i = 0; i < length; i++)
        program[i] = (uint8_t)check_random(&seed);
    big<<<1, 64>>>(st, program, length, out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++)
        v[t] = scramble(st, t) ^ interpret(program, length, t + 1);
    for (int n = 1; n <= 16; n++) {
        for (int t = 0; t < 64; t++)
            next[t] = v[t] * 5 + v[(t + n) % 64];
        memcpy(v, next, sizeof v);
    }
    for (int t = 0; t < 64; t++)
        CHECK_EQ(out[t], v[t] ^ scramble(st, v[t]));
    return check_done();
}
