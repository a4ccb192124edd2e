/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT's callbacks: functions of the program that load and store elements, of all eight types, with their own argument and
 * shared memory, in one to three dimensions and batches; each element once. Against sums in double. */
// FLAGS: -rdc=true -lcufft_static
#include <cufftXt.h>
#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUFFT_SUCCESS)

struct info {
    double factor;
    int loads, stores;
};

/* In shared memory, so that it is seen to be there. */
template <typename T> static __device__ T through(void *room, T value)
{
    T *slot = (T *)room + threadIdx.x;
    *slot = value;
    return *slot;
}

static __device__ double factor_of(void *own)
{
    atomicAdd(&((info *)own)->loads, 1);
    return ((info *)own)->factor;
}

static __device__ cufftComplex load_c(void *in, size_t i, void *own, void *room)
{
    const float f = (float)factor_of(own);
    const cufftComplex x = through(room, ((cufftComplex *)in)[i]);
    return make_cuComplex(f * x.x, f * x.y);
}
static __device__ cufftDoubleComplex load_z(void *in, size_t i, void *own, void *)
{
    const double f = factor_of(own);
    const cufftDoubleComplex x = ((cufftDoubleComplex *)in)[i];
    return make_cuDoubleComplex(f * x.x, f * x.y);
}
static __device__ cufftReal load_r(void *in, size_t i, void *own, void *room)
{
    return through(room, (float)factor_of(own) * ((short *)in)[i]); /* other data than the plan's */
}
static __device__ cufftDoubleReal load_d(void *in, size_t i, void *own, void *) { return factor_of(own) * ((short *)in)[i]; }
static __device__ void store_c(void *out, size_t i, cufftComplex x, void *own, void *)
{
    atomicAdd(&((info *)own)->stores, 1);
    ((cufftComplex *)out)[i] = make_cuComplex(x.x + (float)i, x.y);
}
static __device__ void store_z(void *out, size_t i, cufftDoubleComplex x, void *own, void *)
{
    atomicAdd(&((info *)own)->stores, 1);
    ((cufftDoubleComplex *)out)[i] = make_cuDoubleComplex(x.x + (double)i, x.y);
}
static __device__ void store_r(void *out, size_t i, cufftReal x, void *own, void *room)
{
    atomicAdd(&((info *)own)->stores, 1);
    ((float *)out)[i] = through(room, x) + (float)i;
}
static __device__ void store_d(void *out, size_t i, cufftDoubleReal x, void *own, void *)
{
    atomicAdd(&((info *)own)->stores, 1);
    ((double *)out)[i] = x + (double)i;
}

static __device__ cufftCallbackLoadC p_load_c = load_c;
static __device__ cufftCallbackLoadZ p_load_z = load_z;
static __device__ cufftCallbackLoadR p_load_r = load_r;
static __device__ cufftCallbackLoadD p_load_d = load_d;
static __device__ cufftCallbackStoreC p_store_c = store_c;
static __device__ cufftCallbackStoreZ p_store_z = store_z;
static __device__ cufftCallbackStoreR p_store_r = store_r;
static __device__ cufftCallbackStoreD p_store_d = store_d;

enum { N_MAX = 1200 };

struct value {
    double re, im;
};

/* The transform of n[0] x n[1] x n[2] elements, by definition. */
static void transform(const value *in, value *out, const int *n, int direction)
{
    for (int a = 0; a < n[0]; a++)
        for (int b = 0; b < n[1]; b++)
            for (int c = 0; c < n[2]; c++) {
                value sum = {0, 0};
                for (int i = 0; i < n[0]; i++)
                    for (int j = 0; j < n[1]; j++)
                        for (int k = 0; k < n[2]; k++) {
                            const double turn = direction * 2 * 3.14159265358979323846 *
                                                ((double)(a * i % n[0]) / n[0] + (double)(b * j % n[1]) / n[1] +
                                                 (double)(c * k % n[2]) / n[2]);
                            const value x = in[(i * n[1] + j) * n[2] + k];
                            sum.re += x.re * cos(turn) - x.im * sin(turn);
                            sum.im += x.re * sin(turn) + x.im * cos(turn);
                        }
                out[(a * n[1] + b) * n[2] + c] = sum;
            }
}

static void *room_in, *room_out;
static info *own;

static void near(const char *what, int i, double got, double want, double unit)
{
    if (fabs(got - want) > unit * (10 + fabs(want)) && check_note_failure())
        printf("FAIL: %s, number %d: %g, not %g\n", what, i, got, want);
}

template <typename P> static void set(cufftHandle plan, const P &pointer, cufftXtCallbackType type, size_t shared)
{
    void *routine = NULL, *argument = own;
    CUDA_OK(cudaMemcpyFromSymbol(&routine, pointer, sizeof routine));
    OK(cufftXtSetCallback(plan, &routine, type, &argument));
    OK(cufftXtSetCallbackSharedSize(plan, type, shared));
}

/* Numbers of the input, as a double each. */
static double number(int i) { return (i * 7 + i / 5) % 11 - 5; }

static void try_plan(const char *what, cufftType type, int rank, int *n3, int batch)
{
    const bool is_double = type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
    const bool from_real = type == CUFFT_R2C || type == CUFFT_D2Z, to_real = type == CUFFT_C2R || type == CUFFT_Z2D;
    const int row_in = to_real ? n3[2] / 2 + 1 : n3[2], row_out = from_real ? n3[2] / 2 + 1 : n3[2];
    const int lines = n3[0] * n3[1], in_count = lines * row_in * batch, out_count = lines * row_out * batch;
    const int direction = to_real ? 1 : -1;
    static value in[N_MAX], out[N_MAX];
    cufftHandle plan;
    OK(cufftPlanMany(&plan, rank, n3 + 3 - rank, NULL, 1, 0, NULL, 1, 0, type, batch));
    own->factor = 3;
    own->loads = own->stores = 0;
    for (int i = 0; i < in_count; i++) {
        if (from_real) {
            ((short *)room_in)[i] = (short)number(i);
        } else if (is_double) {
            ((cufftDoubleComplex *)room_in)[i] = make_cuDoubleComplex(number(i), number(i + 3));
        } else {
            ((cufftComplex *)room_in)[i] = make_cuComplex((float)number(i), (float)number(i + 3));
        }
    }
    const size_t shared = 256 * sizeof(cufftComplex);
    switch (type) {
    case CUFFT_R2C: set(plan, p_load_r, CUFFT_CB_LD_REAL, shared); break;
    case CUFFT_D2Z: set(plan, p_load_d, CUFFT_CB_LD_REAL_DOUBLE, 0); break;
    case CUFFT_C2C:
    case CUFFT_C2R: set(plan, p_load_c, CUFFT_CB_LD_COMPLEX, shared); break;
    default: set(plan, p_load_z, CUFFT_CB_LD_COMPLEX_DOUBLE, 0);
    }
    switch (type) {
    case CUFFT_C2R: set(plan, p_store_r, CUFFT_CB_ST_REAL, shared); break;
    case CUFFT_Z2D: set(plan, p_store_d, CUFFT_CB_ST_REAL_DOUBLE, 0); break;
    case CUFFT_C2C:
    case CUFFT_R2C: set(plan, p_store_c, CUFFT_CB_ST_COMPLEX, 0); break;
    default: set(plan, p_store_z, CUFFT_CB_ST_COMPLEX_DOUBLE, 0);
    }
    OK(cufftXtExec(plan, room_in, room_out, direction));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(own->loads, in_count);
    CHECK_EQ(own->stores, out_count);
    for (int b = 0, at = 0; b < batch; b++) {
        for (int l = 0; l < lines; l++)
            for (int k = 0; k < n3[2]; k++) {
                int place = b * lines * row_in + l * row_in + k;
                double sign = 1;
                if (k >= row_in) { /* the conjugate of its mirror image */
                    const int i = l / n3[1], j = l % n3[1];
                    const int other = (n3[0] - i) % n3[0] * n3[1] + (n3[1] - j) % n3[1];
                    place = b * lines * row_in + other * row_in + n3[2] - k;
                    sign = -1;
                }
                in[l * n3[2] + k].re = 3 * number(place);
                in[l * n3[2] + k].im = from_real ? 0 : sign * 3 * number(place + 3);
            }
        transform(in, out, n3, direction);
        for (int l = 0; l < lines; l++)
            for (int k = 0; k < row_out; k++, at++) {
                const value want = out[l * n3[2] + k];
                double re, im = 0;
                if (to_real) {
                    re = is_double ? ((double *)room_out)[at] : (double)((float *)room_out)[at];
                } else if (is_double) {
                    re = ((cufftDoubleComplex *)room_out)[at].x, im = ((cufftDoubleComplex *)room_out)[at].y;
                } else {
                    re = (double)((cufftComplex *)room_out)[at].x, im = (double)((cufftComplex *)room_out)[at].y;
                }
                near(what, at, re, want.re + at, is_double ? 1e-12 : 1e-5);
                if (!to_real) near(what, at, im, want.im, is_double ? 1e-12 : 1e-5);
            }
    }
    OK(cufftDestroy(plan));
}

int main(void)
{
    CUDA_OK(cudaMallocManaged(&room_in, N_MAX * sizeof(cufftDoubleComplex)));
    CUDA_OK(cudaMallocManaged(&room_out, N_MAX * sizeof(cufftDoubleComplex)));
    own = check_managed<info>(1);
    int line[] = {1, 1, 60}, prime[] = {1, 1, 17}, plane[] = {1, 6, 10}, cube[] = {3, 4, 5};
    try_plan("C2C", CUFFT_C2C, 1, line, 3);
    try_plan("Z2Z", CUFFT_Z2Z, 2, plane, 2);
    try_plan("R2C", CUFFT_R2C, 3, cube, 1);
    try_plan("D2Z", CUFFT_D2Z, 1, prime, 2);
    try_plan("Z2D", CUFFT_Z2D, 1, line, 2);
    try_plan("C2R", CUFFT_C2R, 1, prime, 3);
    /* Half of a spectrum whose own mirror images agree: a line's first element is real. */
    try_plan("D2Z in two dimensions", CUFFT_D2Z, 2, plane, 1);

    cufftHandle plan;
    cufftComplex *x = (cufftComplex *)room_in;
    void *routine = NULL;
    OK(cufftPlan1d(&plan, 4, CUFFT_C2C, 1));
    CUDA_OK(cudaMemcpyFromSymbol(&routine, p_load_r, sizeof routine));
    CHECK_EQ((int)cufftXtSetCallback(plan, &routine, CUFFT_CB_LD_REAL, NULL), (int)CUFFT_INVALID_VALUE);
    CHECK_EQ((int)cufftXtSetCallback(plan, NULL, CUFFT_CB_LD_COMPLEX, NULL), (int)CUFFT_INVALID_VALUE);
    CHECK_EQ((int)cufftXtSetCallback(plan, &routine, CUFFT_CB_UNDEFINED, NULL), (int)CUFFT_INVALID_VALUE);
    CHECK_EQ((int)cufftXtSetCallback(plan + 1, &routine, CUFFT_CB_LD_COMPLEX, NULL), (int)CUFFT_INVALID_PLAN);
    CHECK_EQ((int)cufftXtSetCallbackSharedSize(plan, CUFFT_CB_LD_COMPLEX, 1 << 20), (int)CUFFT_INVALID_VALUE);
    set(plan, p_load_c, CUFFT_CB_LD_COMPLEX, 256 * sizeof(cufftComplex));
    for (int i = 0; i < 4; i++) x[i] = make_cuComplex(i == 0, 0);
    OK(cufftXtClearCallback(plan, CUFFT_CB_LD_COMPLEX));
    OK(cufftExecC2C(plan, x, x, CUFFT_FORWARD));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(x[3].x, 1); /* not 3 */
    OK(cufftDestroy(plan));
    return check_done();
}
