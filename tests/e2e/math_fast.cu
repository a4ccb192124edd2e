/* SPDX-License-Identifier: Apache-2.0 */
/* The fast forms (__sinf and kin): near the truth within the loose bounds CUDA gives them. */
#include "check.h"

#define N 500
enum { SINF, COSF, TANF, EXPF, EXP10F, LOGF, LOG2F, LOG10F, POWF, DIVF, SC_S, SC_C, SAT, FDIV_RN, OPS };

__global__ void compute(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= N)
        return;
    float a = in[2 * t], b = in[2 * t + 1]; /* a in (-3, 3), b in (0.1, 10) */
    float *o = out + t * OPS;
    o[SINF] = __sinf(a);
    o[COSF] = __cosf(a);
    o[TANF] = __tanf(a / 3);
    o[EXPF] = __expf(a);
    o[EXP10F] = __exp10f(a);
    o[LOGF] = __logf(b);
    o[LOG2F] = __log2f(b);
    o[LOG10F] = __log10f(b);
    o[POWF] = __powf(b, a);
    o[DIVF] = __fdividef(a, b);
    __sincosf(a, &o[SC_S], &o[SC_C]);
    o[SAT] = __saturatef(a);
    o[FDIV_RN] = __frsqrt_rn(b);
}

int main(void)
{
    float *in = check_managed<float>(2 * N), *out = check_managed<float>(N * OPS);
    uint32_t seed = 3;
    for (int i = 0; i < N; i++) {
        in[2 * i] = (float)(check_random(&seed) / 4294967296.0 * 6 - 3);
        in[2 * i + 1] = (float)(check_random(&seed) / 4294967296.0 * 9.9 + 0.1);
    }
    compute<<<8, 64>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < N; t++) {
        double a = in[2 * t], b = in[2 * t + 1];
        const double e[OPS] = {sin(a), cos(a), tan(a / 3), exp(a), pow(10, a), log(b), log2(b), log10(b),
                               pow(b, a), a / b, sin(a), cos(a), a < 0 ? 0 : a > 1 ? 1 : a, 1 / sqrt(b)};
        for (int k = 0; k < OPS; k++) {
            double far = fabs(out[t * OPS + k] - e[k]), allowed = 2e-6 + 2e-6 * fabs(e[k]);
            if (far > allowed && check_note_failure())
                printf("FAIL: function %d of %g, %g: expected %.9g, got %.9g\n", k, a, b, e[k],
                       (double)out[t * OPS + k]);
        }
    }
    return check_done();
}
