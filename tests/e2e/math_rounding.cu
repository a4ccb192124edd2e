/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with a rounding mode in its name is exact: compared with the host's in the same mode. */
#include "check.h"
#include <fenv.h>

#define N 600

#define EACH_MODE(op) op(rn) op(rz) op(ru) op(rd)
enum { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, OPS };

__global__ void singles(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (t >= N)
        return;
    float a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2], *o = out + t * 4 * OPS;
#define SINGLE(mode)                                                                               \
    o[k++] = __fadd_##mode(a, b);                                                                  \
    o[k++] = __fsub_##mode(a, b);                                                                  \
    o[k++] = __fmul_##mode(a, b);                                                                  \
    o[k++] = __fmaf_##mode(a, b, c);                                                               \
    o[k++] = __fdiv_##mode(a, b);                                                                  \
    o[k++] = __frcp_##mode(a);                                                                     \
    o[k++] = __fsqrt_##mode(fabsf(a));
    EACH_MODE(SINGLE)
}

__global__ void doubles(const double *in, double *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (t >= N)
        return;
    double a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2], *o = out + t * 4 * OPS;
#define DOUBLE(mode)                                                                               \
    o[k++] = __dadd_##mode(a, b);                                                                  \
    o[k++] = __dsub_##mode(a, b);                                                                  \
    o[k++] = __dmul_##mode(a, b);                                                                  \
    o[k++] = __fma_##mode(a, b, c);                                                                \
    o[k++] = __ddiv_##mode(a, b);                                                                  \
    o[k++] = __drcp_##mode(a);                                                                     \
    o[k++] = __dsqrt_##mode(fabs(a));
    EACH_MODE(DOUBLE)
}

static float fma_of(float a, float b, float c) { return fmaf(a, b, c); }
static double fma_of(double a, double b, double c) { return fma(a, b, c); }
static float sqrt_of(float a) { return sqrtf(a); }
static double sqrt_of(double a) { return sqrt(a); }

template <class T> static void check_type(void (*kernel)(const T *, T *))
{
    static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
    static const char *names[4] = {"rn", "rz", "ru", "rd"};
    T *in = check_managed<T>(3 * N), *out = check_managed<T>(N * 4 * OPS);
    uint32_t seed = 17;
    for (int i = 0; i < 3 * N; i++) {
        double u = (check_random(&seed) + check_random(&seed) / 4294967296.0) / 4294967296.0 - 0.5;
        in[i] = (T)ldexp(u, (int)(check_random(&seed) % 40) - 20);
    }
    kernel<<<10, 64>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < N; t++)
        for (int m = 0; m < 4; m++) {
            volatile T a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2], one = 1;
            volatile T absolute = a < 0 ? -a : a;
            volatile T e[OPS];
            fesetround(modes[m]);
            e[ADD] = a + b;
            e[SUB] = a - b;
            e[MUL] = a * b;
            e[FMA] = fma_of((T)a, (T)b, (T)c);
            e[DIV] = a / b;
            e[RCP] = one / a;
            e[SQRT] = sqrt_of((T)absolute);
            fesetround(FE_TONEAREST);
            for (int k = 0; k < OPS; k++) {
                T got = out[t * 4 * OPS + m * OPS + k];
                if (got != e[k] && check_note_failure())
                    printf("FAIL: operation %d _%s (%zu bytes) of %a, %a, %a: expected %a, got %a\n", k,
                           names[m], sizeof(T), (double)a, (double)b, (double)c, (double)e[k], (double)got);
            }
        }
}

int main(void)
{
    check_type<float>(singles);
    check_type<double>(doubles);
    return check_done();
}
