/* SPDX-License-Identifier: Apache-2.0 */
/* cuFFT's interface: plans by number, in a table; arguments and statuses. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/cufft/fft_plan.h"
#include "warpage/cuda/cufftXt.h"
#include "warpage/cudart.h"

#define ELEMENTS_MAX (INT64_C(1) << 40)

#define CUFFT_TRY(expression)                                                                      \
    do {                                                                                           \
        const cufftResult cufft_try = (expression);                                                \
        if (cufft_try != CUFFT_SUCCESS) return cufft_try;                                          \
    } while (0)

/* ---- the table ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static wpi_fft_plan **plans; /* by number - 1; NULL: free */
static size_t plan_count;

static wpi_fft_plan *plan_of(cufftHandle handle) {
    wpi_fft_plan *found = NULL;
    pthread_mutex_lock(&lock);
    if (handle > 0 && (size_t)handle <= plan_count) found = plans[handle - 1];
    pthread_mutex_unlock(&lock);
    return found;
}

static cufftHandle add(wpi_fft_plan *plan) {
    cufftHandle handle = 0;
    pthread_mutex_lock(&lock);
    size_t place = 0;
    while (place < plan_count && plans[place] != NULL)
        place++;
    if (place == plan_count && plan_count < INT32_MAX / 2) {
        wpi_fft_plan **grown = wpi_realloc(plans, (2 * plan_count + 8) * sizeof(*plans));
        if (grown != NULL) {
            memset(grown + plan_count, 0, (plan_count + 8) * sizeof(*plans));
            plans = grown;
            plan_count = 2 * plan_count + 8;
        }
    }
    if (place < plan_count) {
        plans[place] = plan;
        handle = (cufftHandle)place + 1;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

static cufftResult result_of(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return CUFFT_SUCCESS;
    case cudaErrorMemoryAllocation: return CUFFT_ALLOC_FAILED;
    default: return CUFFT_EXEC_FAILED;
    }
}

WP_API cufftResult cufftCreate(cufftHandle *handle) {
    if (handle == NULL) return CUFFT_INVALID_VALUE;
    if (wp_cudart_device() == NULL) return CUFFT_SETUP_FAILED;
    wpi_fft_plan *plan = wpi_calloc(1, sizeof *plan);
    if (plan == NULL) return CUFFT_ALLOC_FAILED;
    plan->has_own_memory = true;
    *handle = add(plan);
    if (*handle != 0) return CUFFT_SUCCESS;
    wpi_free(plan);
    return CUFFT_ALLOC_FAILED;
}

WP_API cufftResult cufftDestroy(cufftHandle plan) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL) return CUFFT_INVALID_PLAN;
    pthread_mutex_lock(&lock);
    plans[plan - 1] = NULL;
    pthread_mutex_unlock(&lock);
    const cudaError_t error = p->own_work != NULL ? cudaFree(p->own_work) : cudaSuccess;
    wpi_free(p);
    return result_of(error);
}

/* ---- making a plan ---- */

typedef struct request {
    int rank;
    long long n[WPI_FFT_RANK_MAX];
    bool has_in, has_out; /* layouts are given */
    long long inembed[WPI_FFT_RANK_MAX], onembed[WPI_FFT_RANK_MAX];
    long long istride, idist, ostride, odist, batch;
    cufftType type;
} request;

static bool is_type(cufftType type) {
    return type == CUFFT_C2C || type == CUFFT_R2C || type == CUFFT_C2R || type == CUFFT_Z2Z ||
           type == CUFFT_D2Z || type == CUFFT_Z2D;
}

/* Dimensions at the end; missing ones in front are 1. */
static void spread(const long long *from, int rank, long long to[WPI_FFT_RANK_MAX]) {
    for (int i = 0; i < WPI_FFT_RANK_MAX; i++) {
        const int own = i - (WPI_FFT_RANK_MAX - rank);
        to[i] = own >= 0 ? from[own] : 1;
    }
}

static wpi_fft_layout layout(const wpi_fft_shape *shape, bool is_given, int rank,
                             const long long *embed, long long stride, long long distance,
                             bool is_half) {
    wpi_fft_layout l = {.stride = stride, .distance = distance};
    if (is_given) {
        spread(embed, rank, l.embed);
        return l;
    }
    memcpy(l.embed, shape->n, sizeof l.embed);
    if (is_half) l.embed[2] = shape->n[2] / 2 + 1;
    l.stride = 1;
    l.distance = l.embed[0] * l.embed[1] * l.embed[2];
    return l;
}

static cufftResult shape_of(const request *r, wpi_fft_shape *out) {
    if (!is_type(r->type)) return CUFFT_INVALID_TYPE;
    if (r->rank < 1 || r->rank > WPI_FFT_RANK_MAX) return CUFFT_INVALID_VALUE;
    if (r->batch < 1) return CUFFT_INVALID_SIZE;
    long long product = r->batch;
    for (int i = 0; i < r->rank; i++) {
        if (r->n[i] < 1 || r->n[i] > ELEMENTS_MAX / product) return CUFFT_INVALID_SIZE;
        product *= r->n[i];
    }
    spread(r->n, r->rank, out->n);
    out->batch = r->batch;
    return CUFFT_SUCCESS;
}

static cufftResult make(cufftHandle handle, const request *r, size_t *work_size) {
    wpi_fft_plan *p = plan_of(handle);
    wpi_fft_shape shape;
    if (p == NULL || p->is_made) return CUFFT_INVALID_PLAN;
    CUFFT_TRY(shape_of(r, &shape));
    if ((r->has_in && (r->istride < 1 || r->idist < 0)) ||
        (r->has_out && (r->ostride < 1 || r->odist < 0)))
        return CUFFT_INVALID_VALUE;
    p->type = r->type;
    p->shape = shape;
    p->is_default_layout = !r->has_in && !r->has_out;
    p->in = layout(&shape, r->has_in, r->rank, r->inembed, r->istride, r->idist,
                   wpi_fft_is_to_real(r->type));
    p->out = layout(&shape, r->has_out, r->rank, r->onembed, r->ostride, r->odist,
                    wpi_fft_is_from_real(r->type));
    p->work_bytes = wpi_fft_work_bytes(&shape, r->type);
    if (work_size != NULL) *work_size = p->work_bytes;
    if (p->has_own_memory) {
        if (cudaMalloc(&p->own_work, p->work_bytes) != cudaSuccess) {
            p->own_work = NULL;
            return CUFFT_ALLOC_FAILED;
        }
        p->work = p->own_work;
    }
    p->is_made = true;
    return CUFFT_SUCCESS;
}

static request simple(int rank, int nx, int ny, int nz, cufftType type, int batch) {
    return (request){.rank = rank, .n = {nx, ny, nz}, .type = type, .batch = batch};
}

static cufftResult many(request *r, int rank, const int *n, const int *inembed, int istride,
                        int idist, const int *onembed, int ostride, int odist, cufftType type,
                        int batch) {
    if (rank < 1 || rank > WPI_FFT_RANK_MAX || n == NULL) return CUFFT_INVALID_VALUE;
    /* One layout without the other: both are the default, as cuFFT documents. */
    const bool is_given = inembed != NULL && onembed != NULL;
    *r = (request){.rank = rank,
                   .has_in = is_given,
                   .has_out = is_given,
                   .istride = istride,
                   .idist = idist,
                   .ostride = ostride,
                   .odist = odist,
                   .type = type,
                   .batch = batch};
    for (int i = 0; i < rank; i++) {
        r->n[i] = n[i];
        r->inembed[i] = is_given ? inembed[i] : 0;
        r->onembed[i] = is_given ? onembed[i] : 0;
    }
    return CUFFT_SUCCESS;
}

static cufftResult make_new(cufftHandle *plan, const request *r) {
    CUFFT_TRY(cufftCreate(plan));
    const cufftResult result = make(*plan, r, NULL);
    if (result != CUFFT_SUCCESS) {
        (void)cufftDestroy(*plan);
        *plan = 0;
    }
    return result;
}

WP_API cufftResult cufftPlan1d(cufftHandle *plan, int nx, cufftType type, int batch) {
    const request r = simple(1, nx, 1, 1, type, batch);
    return make_new(plan, &r);
}

WP_API cufftResult cufftPlan2d(cufftHandle *plan, int nx, int ny, cufftType type) {
    const request r = simple(2, nx, ny, 1, type, 1);
    return make_new(plan, &r);
}

WP_API cufftResult cufftPlan3d(cufftHandle *plan, int nx, int ny, int nz, cufftType type) {
    const request r = simple(3, nx, ny, nz, type, 1);
    return make_new(plan, &r);
}

WP_API cufftResult cufftPlanMany(cufftHandle *plan, int rank, int *n, int *inembed, int istride,
                                 int idist, int *onembed, int ostride, int odist, cufftType type,
                                 int batch) {
    request r;
    CUFFT_TRY(many(&r, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return make_new(plan, &r);
}

WP_API cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch,
                                   size_t *workSize) {
    const request r = simple(1, nx, 1, 1, type, batch);
    return make(plan, &r, workSize);
}

WP_API cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type,
                                   size_t *workSize) {
    const request r = simple(2, nx, ny, 1, type, 1);
    return make(plan, &r, workSize);
}

WP_API cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                                   size_t *workSize) {
    const request r = simple(3, nx, ny, nz, type, 1);
    return make(plan, &r, workSize);
}

WP_API cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int *n, int *inembed, int istride,
                                     int idist, int *onembed, int ostride, int odist,
                                     cufftType type, int batch, size_t *workSize) {
    request r;
    CUFFT_TRY(many(&r, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return make(plan, &r, workSize);
}

WP_API cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int *n,
                                       long long int *inembed, long long int istride,
                                       long long int idist, long long int *onembed,
                                       long long int ostride, long long int odist, cufftType type,
                                       long long int batch, size_t *workSize) {
    if (rank < 1 || rank > WPI_FFT_RANK_MAX || n == NULL) return CUFFT_INVALID_VALUE;
    const bool is_given = inembed != NULL && onembed != NULL;
    request r = {.rank = rank,
                 .has_in = is_given,
                 .has_out = is_given,
                 .istride = istride,
                 .idist = idist,
                 .ostride = ostride,
                 .odist = odist,
                 .type = type,
                 .batch = batch};
    for (int i = 0; i < rank; i++) {
        r.n[i] = n[i];
        r.inembed[i] = is_given ? inembed[i] : 0;
        r.onembed[i] = is_given ? onembed[i] : 0;
    }
    return make(plan, &r, workSize);
}

/* ---- sizes ---- */

static cufftResult size_of(const request *r, size_t *work_size) {
    wpi_fft_shape shape;
    if (work_size == NULL) return CUFFT_INVALID_VALUE;
    CUFFT_TRY(shape_of(r, &shape));
    *work_size = wpi_fft_work_bytes(&shape, r->type);
    return CUFFT_SUCCESS;
}

WP_API cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t *workSize) {
    const request r = simple(1, nx, 1, 1, type, batch);
    return size_of(&r, workSize);
}

WP_API cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t *workSize) {
    const request r = simple(2, nx, ny, 1, type, 1);
    return size_of(&r, workSize);
}

WP_API cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t *workSize) {
    const request r = simple(3, nx, ny, nz, type, 1);
    return size_of(&r, workSize);
}

WP_API cufftResult cufftEstimateMany(int rank, int *n, int *inembed, int istride, int idist,
                                     int *onembed, int ostride, int odist, cufftType type,
                                     int batch, size_t *workSize) {
    request r;
    CUFFT_TRY(many(&r, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch));
    return size_of(&r, workSize);
}

WP_API cufftResult cufftGetSize1d(cufftHandle handle, int nx, cufftType type, int batch,
                                  size_t *workSize) {
    return plan_of(handle) == NULL ? CUFFT_INVALID_PLAN
                                   : cufftEstimate1d(nx, type, batch, workSize);
}

WP_API cufftResult cufftGetSize2d(cufftHandle handle, int nx, int ny, cufftType type,
                                  size_t *workSize) {
    return plan_of(handle) == NULL ? CUFFT_INVALID_PLAN : cufftEstimate2d(nx, ny, type, workSize);
}

WP_API cufftResult cufftGetSize3d(cufftHandle handle, int nx, int ny, int nz, cufftType type,
                                  size_t *workSize) {
    return plan_of(handle) == NULL ? CUFFT_INVALID_PLAN
                                   : cufftEstimate3d(nx, ny, nz, type, workSize);
}

WP_API cufftResult cufftGetSizeMany(cufftHandle handle, int rank, int *n, int *inembed, int istride,
                                    int idist, int *onembed, int ostride, int odist, cufftType type,
                                    int batch, size_t *workSize) {
    return plan_of(handle) == NULL ? CUFFT_INVALID_PLAN
                                   : cufftEstimateMany(rank, n, inembed, istride, idist, onembed,
                                                       ostride, odist, type, batch, workSize);
}

WP_API cufftResult cufftGetSize(cufftHandle handle, size_t *workSize) {
    const wpi_fft_plan *p = plan_of(handle);
    if (p == NULL || !p->is_made) return CUFFT_INVALID_PLAN;
    if (workSize == NULL) return CUFFT_INVALID_VALUE;
    *workSize = p->work_bytes;
    return CUFFT_SUCCESS;
}

/* ---- settings ---- */

WP_API cufftResult cufftSetAutoAllocation(cufftHandle plan, int autoAllocate) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL || p->is_made) return CUFFT_INVALID_PLAN;
    p->has_own_memory = autoAllocate != 0;
    return CUFFT_SUCCESS;
}

WP_API cufftResult cufftSetWorkArea(cufftHandle plan, void *workArea) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL) return CUFFT_INVALID_PLAN;
    const cudaError_t error = p->own_work != NULL ? cudaFree(p->own_work) : cudaSuccess;
    p->own_work = NULL;
    p->work = workArea;
    return result_of(error);
}

WP_API cufftResult cufftSetStream(cufftHandle plan, cudaStream_t stream) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL) return CUFFT_INVALID_PLAN;
    p->stream = stream;
    return CUFFT_SUCCESS;
}

WP_API cufftResult cufftGetVersion(int *version) {
    if (version == NULL) return CUFFT_INVALID_VALUE;
    *version = CUFFT_VERSION;
    return CUFFT_SUCCESS;
}

WP_API cufftResult cufftGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CUFFT_VER_MAJOR, CUFFT_VER_MINOR, CUFFT_VER_PATCH};
    if (value == NULL || (unsigned)type > PATCH_LEVEL) return CUFFT_INVALID_VALUE;
    *value = values[type];
    return CUFFT_SUCCESS;
}

/* ---- execution ---- */

static cufftResult execute(cufftHandle handle, cufftType type, void *in, void *out, int direction) {
    const wpi_fft_plan *p = plan_of(handle);
    if (p == NULL || !p->is_made || p->type != type) return CUFFT_INVALID_PLAN;
    if (in == NULL || out == NULL || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE))
        return CUFFT_INVALID_VALUE;
    if (p->work == NULL) return CUFFT_NO_WORKSPACE;
    return result_of(wpi_fft_execute(p, in, out, direction));
}

WP_API cufftResult cufftExecC2C(cufftHandle plan, cufftComplex *idata, cufftComplex *odata,
                                int direction) {
    return execute(plan, CUFFT_C2C, idata, odata, direction);
}

WP_API cufftResult cufftExecR2C(cufftHandle plan, cufftReal *idata, cufftComplex *odata) {
    return execute(plan, CUFFT_R2C, idata, odata, CUFFT_FORWARD);
}

WP_API cufftResult cufftExecC2R(cufftHandle plan, cufftComplex *idata, cufftReal *odata) {
    return execute(plan, CUFFT_C2R, idata, odata, CUFFT_INVERSE);
}

WP_API cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex *idata,
                                cufftDoubleComplex *odata, int direction) {
    return execute(plan, CUFFT_Z2Z, idata, odata, direction);
}

WP_API cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal *idata,
                                cufftDoubleComplex *odata) {
    return execute(plan, CUFFT_D2Z, idata, odata, CUFFT_FORWARD);
}

WP_API cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex *idata,
                                cufftDoubleReal *odata) {
    return execute(plan, CUFFT_Z2D, idata, odata, CUFFT_INVERSE);
}

/* ---- plans whose types are arguments ---- */

/* The type of a transform between these; CUFFT_NOT_SUPPORTED, logged, for half precision. */
static cufftResult type_between(cudaDataType in, cudaDataType out, cudaDataType execution,
                                cufftType *type) {
    static const struct {
        cudaDataType in, out, execution;
        cufftType type;
    } rows[] = {{CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_C2C},
                {CUDA_R_32F, CUDA_C_32F, CUDA_C_32F, CUFFT_R2C},
                {CUDA_C_32F, CUDA_R_32F, CUDA_C_32F, CUFFT_C2R},
                {CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
                {CUDA_R_64F, CUDA_C_64F, CUDA_C_64F, CUFFT_D2Z},
                {CUDA_C_64F, CUDA_R_64F, CUDA_C_64F, CUFFT_Z2D}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].in == in && rows[i].out == out && rows[i].execution == execution) {
            *type = rows[i].type;
            return CUFFT_SUCCESS;
        }
    static atomic_bool is_said;
    wpi_library_missing("cufft", "a plan of other types than single and double precision",
                        "CUFFT_NOT_SUPPORTED", &is_said);
    return CUFFT_NOT_SUPPORTED;
}

WP_API cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int *n,
                                       long long int *inembed, long long int istride,
                                       long long int idist, cudaDataType inputtype,
                                       long long int *onembed, long long int ostride,
                                       long long int odist, cudaDataType outputtype,
                                       long long int batch, size_t *workSize,
                                       cudaDataType executiontype) {
    cufftType type;
    const cufftResult known = type_between(inputtype, outputtype, executiontype, &type);
    return known != CUFFT_SUCCESS
               ? known
               : cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride,
                                     odist, type, batch, workSize);
}

/* The size depends on neither layouts nor strides. */
WP_API cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int *n,
                                      long long int *inembed, long long int istride,
                                      long long int idist, cudaDataType inputtype,
                                      long long int *onembed, long long int ostride,
                                      long long int odist, cudaDataType outputtype,
                                      long long int batch, size_t *workSize,
                                      cudaDataType executiontype) {
    (void)inembed, (void)istride, (void)idist, (void)onembed, (void)ostride, (void)odist;
    if (plan_of(plan) == NULL) return CUFFT_INVALID_PLAN;
    if (rank < 1 || rank > WPI_FFT_RANK_MAX || n == NULL) return CUFFT_INVALID_VALUE;
    cufftType type;
    const cufftResult known = type_between(inputtype, outputtype, executiontype, &type);
    if (known != CUFFT_SUCCESS) return known;
    int lengths[WPI_FFT_RANK_MAX];
    for (int i = 0; i < rank; i++) {
        if (n[i] > INT_MAX) return CUFFT_INVALID_SIZE;
        lengths[i] = (int)n[i];
    }
    if (batch > INT_MAX) return CUFFT_INVALID_SIZE;
    return cufftEstimateMany(rank, lengths, NULL, 1, 0, NULL, 1, 0, type, (int)batch, workSize);
}

WP_API cufftResult cufftXtExec(cufftHandle plan, void *input, void *output, int direction) {
    const wpi_fft_plan *p = plan_of(plan);
    if (p == NULL || !p->is_made) return CUFFT_INVALID_PLAN;
    if (wpi_fft_is_from_real(p->type)) direction = CUFFT_FORWARD;
    if (wpi_fft_is_to_real(p->type)) direction = CUFFT_INVERSE;
    return execute(plan, p->type, input, output, direction);
}

/* ---- callbacks ---- */

/* The plan's callback of a type; NULL: its transforms do not load or store that type. */
static wpi_fft_callback *callback_of(wpi_fft_plan *p, cufftXtCallbackType type) {
    const bool is_double = (type & 1) != 0, is_store = type >= CUFFT_CB_ST_COMPLEX;
    const bool is_real = (type & 2) != 0;
    if ((unsigned)type >= CUFFT_CB_UNDEFINED || is_double != wpi_fft_is_double(p->type))
        return NULL;
    if (is_real != (is_store ? wpi_fft_is_to_real(p->type) : wpi_fft_is_from_real(p->type)))
        return NULL;
    return is_store ? &p->store : &p->load;
}

WP_API int wpi_cufft_set_callback(int plan, void *routine, int type, void *info,
                                  const wpi_fft_called *kernels) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL || !p->is_made) return CUFFT_INVALID_PLAN;
    wpi_fft_callback *callback = callback_of(p, (cufftXtCallbackType)type);
    if (callback == NULL || routine == NULL) return CUFFT_INVALID_VALUE;
    callback->routine = routine;
    callback->info = info;
    p->called = kernels;
    return CUFFT_SUCCESS;
}

/* Of programs that link the library of another name: a kernel cannot call the device code of
 * another module on all devices. */
WP_API cufftResult cufftXtSetCallback(cufftHandle plan, void **callback_routine,
                                      cufftXtCallbackType type, void **caller_info) {
    static atomic_bool is_said;
    (void)plan, (void)callback_routine, (void)type, (void)caller_info;
    wpi_library_missing("cufft", "cufftXtSetCallback without -rdc=true and -lcufft_static",
                        "CUFFT_NOT_SUPPORTED", &is_said);
    return CUFFT_NOT_SUPPORTED;
}

WP_API cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType type) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL || !p->is_made) return CUFFT_INVALID_PLAN;
    wpi_fft_callback *callback = callback_of(p, type);
    if (callback == NULL) return CUFFT_INVALID_VALUE;
    *callback = (wpi_fft_callback){0};
    return CUFFT_SUCCESS;
}

WP_API cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType type,
                                                size_t sharedSize) {
    wpi_fft_plan *p = plan_of(plan);
    if (p == NULL || !p->is_made) return CUFFT_INVALID_PLAN;
    wpi_fft_callback *callback = callback_of(p, type);
    if (callback == NULL || sharedSize > 16384) return CUFFT_INVALID_VALUE;
    callback->shared_bytes = (unsigned)sharedSize;
    return CUFFT_SUCCESS;
}

/* ---- calls without an implementation ---- */

#define WP_CUFFT_MISSING(name) WPI_LIBRARY_MISSING("cufft", cufftResult, CUFFT_NOT_SUPPORTED, name)
#include "warpage/cuda/wp/cufft_missing.h"
