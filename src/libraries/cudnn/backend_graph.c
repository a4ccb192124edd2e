/* SPDX-License-Identifier: Apache-2.0 */
#include "libraries/cudnn/backend_graph.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "libraries/cuda_library.h"

#define SLOT_BYTES 256 /* that slots are aligned to */
#define SLOTS_MAX 64

/* A tensor in memory of the run's own. */
typedef struct slot {
    int64_t id;
    size_t at;
} slot;

/* One walk over a graph: without a handle it checks. */
typedef struct run {
    cudnnHandle_t handle;
    const wpi_attribute *ids, *pointers; /* of the variant pack */
    char *memory;                        /* of the slots */
    slot slots[SLOTS_MAX];
    unsigned slot_count;
    size_t memory_bytes;
} run;

/* ---- attributes ---- */

static int64_t number_of(const wpi_backend *one, int name, int64_t otherwise) {
    const wpi_attribute *a = wpi_backend_find(one, name, CUDNN_TYPE_INT64);
    return a != NULL ? *(const int64_t *)(const void *)a->data : otherwise;
}

static int choice_of(const wpi_backend *one, int name, int type, int otherwise) {
    const wpi_attribute *a = wpi_backend_find(one, name, type);
    return a != NULL ? *(const int *)(const void *)a->data : otherwise;
}

static bool flag_of(const wpi_backend *one, int name) {
    const wpi_attribute *a = wpi_backend_find(one, name, CUDNN_TYPE_BOOLEAN);
    return a != NULL && a->data[0] != 0;
}

static double factor_of(const wpi_backend *one, int name, double otherwise) {
    const wpi_attribute *a = wpi_backend_find(one, name, CUDNN_TYPE_DOUBLE);
    if (a != NULL) return *(const double *)(const void *)a->data;
    a = wpi_backend_find(one, name, CUDNN_TYPE_FLOAT);
    return a != NULL ? *(const float *)(const void *)a->data : otherwise;
}

/* `count` numbers of an attribute, as int. */
static cudnnStatus_t numbers_of(const wpi_backend *one, int name, int count, int *out) {
    const wpi_attribute *a = wpi_backend_find(one, name, CUDNN_TYPE_INT64);
    if (a == NULL || a->count < count) return CUDNN_STATUS_BAD_PARAM;
    const int64_t *values = (const int64_t *)(const void *)a->data;
    for (int i = 0; i < count; i++) {
        if (values[i] < INT_MIN || values[i] > INT_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
        out[i] = (int)values[i];
    }
    return CUDNN_STATUS_SUCCESS;
}

/* ---- tensors ---- */

static cudnnStatus_t shape_of(const wpi_backend *tensor, wpi_dnn_tensor *t) {
    const wpi_attribute *sizes =
        wpi_backend_find(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64);
    int size[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX];
    if (sizes == NULL || sizes->count > CUDNN_DIM_MAX) return CUDNN_STATUS_BAD_PARAM;
    const int dims = (int)sizes->count;
    CUDNN_TRY(numbers_of(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, dims, size));
    CUDNN_TRY(numbers_of(tensor, CUDNN_ATTR_TENSOR_STRIDES, dims, stride));
    if (number_of(tensor, CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1) != 1)
        return CUDNN_STATUS_NOT_SUPPORTED;
    const int type = choice_of(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, -1);
    return wpi_cudnn_shape(t, CUDNN_TENSOR_NCHW, type, dims, size, stride);
}

static void *pointer_of(const run *r, int64_t id) {
    const int64_t *ids = (const int64_t *)(const void *)r->ids->data;
    void *const *pointers = (void *const *)(const void *)r->pointers->data;
    for (int64_t i = 0; i < r->ids->count && i < r->pointers->count; i++) {
        if (ids[i] == id) return pointers[i];
    }
    return NULL;
}

/* The slot of a tensor; `is_new`: this walk has not met it before. */
static cudnnStatus_t place(run *r, int64_t id, size_t bytes, size_t *at, bool *is_new) {
    for (unsigned i = 0; i < r->slot_count; i++) {
        if (r->slots[i].id != id) continue;
        *at = r->slots[i].at;
        *is_new = false;
        return CUDNN_STATUS_SUCCESS;
    }
    if (r->slot_count == SLOTS_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
    *at = r->memory_bytes;
    *is_new = true;
    r->slots[r->slot_count++] = (slot){.id = id, .at = *at};
    r->memory_bytes += (bytes + SLOT_BYTES - 1) / SLOT_BYTES * SLOT_BYTES;
    return CUDNN_STATUS_SUCCESS;
}

/* The tensor of an operation's attribute, and in a run where its elements are. */
static cudnnStatus_t tensor_of(run *r, const wpi_backend *operation, int name, wpi_dnn_tensor *t) {
    const wpi_backend *tensor = wpi_backend_child(operation, name);
    if (tensor == NULL) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(shape_of(tensor, t));
    const int64_t id = number_of(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, 0);
    const bool is_value = flag_of(tensor, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
    if (flag_of(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL) || is_value) {
        size_t at;
        bool is_new;
        CUDNN_TRY(place(r, id, wpi_cudnn_bytes(t), &at, &is_new));
        if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
        t->data = r->memory + at;
        if (!is_value || !is_new) return CUDNN_STATUS_SUCCESS;
        const void *value = pointer_of(r, id);
        return value != NULL ? wpi_cudnn_fill(r->handle, t, value) : CUDNN_STATUS_BAD_PARAM;
    }
    if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
    t->data = pointer_of(r, id);
    return t->data != NULL ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

static cudnnStatus_t operand_of(run *r, const wpi_backend *operation, int name,
                                const wpi_dnn_tensor *like, wpi_dnn_tensor *t) {
    wpi_dnn_tensor own;
    CUDNN_TRY(tensor_of(r, operation, name, &own));
    return wpi_cudnn_operand(&own, own.data, like, t);
}

/* ---- operations ---- */

/* The attributes of the three kinds of convolutions follow one another in the same order. */
static cudnnStatus_t convolve(run *r, const wpi_backend *o, wpi_dnn_way way, int first) {
    const wpi_backend *c = wpi_backend_child(o, first + 2);
    wpi_dnn_tensor x, w, y;
    int pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE], dilation[WPI_DNN_SPACE];
    const int64_t space = number_of(c, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
    if (c == NULL || space < 1 || space > WPI_DNN_SPACE) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(tensor_of(r, o, first + 3, &w));
    CUDNN_TRY(tensor_of(r, o, first + 4, &x));
    CUDNN_TRY(tensor_of(r, o, first + 5, &y));
    CUDNN_TRY(numbers_of(c, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, (int)space, pad));
    CUDNN_TRY(numbers_of(c, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, (int)space, step));
    CUDNN_TRY(numbers_of(c, CUDNN_ATTR_CONVOLUTION_DILATIONS, (int)space, dilation));
    wpi_dnn_convolution p = {.alpha = factor_of(o, first, 1), .beta = factor_of(o, first + 1, 0)};
    CUDNN_TRY(wpi_cudnn_convolution(&p, &x, x.data, &w, w.data, &y, y.data, pad, step, dilation,
                                    (int)space));
    p.is_flipped = choice_of(c, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                             CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION;
    if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
    return wpi_cudnn_convolve(r->handle, way, &p);
}

static bool is_known(int mode) {
    return (mode >= CUDNN_POINTWISE_ADD && mode <= CUDNN_POINTWISE_FLOOR_MOD) ||
           (mode >= CUDNN_POINTWISE_RELU_FWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_FWD) ||
           (mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD) ||
           (mode >= CUDNN_POINTWISE_CMP_EQ && mode <= CUDNN_POINTWISE_CMP_LE) ||
           (mode >= CUDNN_POINTWISE_LOGICAL_AND && mode <= CUDNN_POINTWISE_LOGICAL_NOT) ||
           mode == CUDNN_POINTWISE_GEN_INDEX || mode == CUDNN_POINTWISE_BINARY_SELECT;
}

static cudnnStatus_t compute(run *r, const wpi_backend *o) {
    const wpi_backend *d = wpi_backend_child(o, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const int mode = choice_of(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, -1);
    if (!is_known(mode)) return CUDNN_STATUS_NOT_SUPPORTED;
    const bool is_backward =
        mode >= CUDNN_POINTWISE_RELU_BWD && mode <= CUDNN_POINTWISE_GELU_APPROX_TANH_BWD;
    int parameter = CUDNN_ATTR_POINTWISE_SWISH_BETA;
    if (mode == CUDNN_POINTWISE_ELU_FWD || mode == CUDNN_POINTWISE_ELU_BWD)
        parameter = CUDNN_ATTR_POINTWISE_ELU_ALPHA;
    if (mode == CUDNN_POINTWISE_SOFTPLUS_FWD || mode == CUDNN_POINTWISE_SOFTPLUS_BWD)
        parameter = CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA;
    wpi_dnn_pointwise p = {.mode = mode,
                           .alpha = factor_of(o, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
                           .beta = factor_of(o, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1),
                           .scale = 1,
                           .lower = factor_of(d, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
                           .upper = factor_of(d, CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, HUGE_VAL),
                           .slope = factor_of(d, CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0),
                           .parameter = factor_of(d, parameter, 1),
                           .axis = (int)number_of(d, CUDNN_ATTR_POINTWISE_AXIS, 0)};
    if (is_backward) {
        CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, &p.y));
        CUDNN_TRY(operand_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, &p.y, &p.a));
        p.is_of_result = wpi_backend_child(o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) == NULL;
        CUDNN_TRY(operand_of(r, o,
                             p.is_of_result ? CUDNN_ATTR_OPERATION_POINTWISE_YDESC
                                            : CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                             &p.y, &p.b));
        p.beta = 1;
    } else {
        CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &p.y));
        CUDNN_TRY(operand_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &p.y, &p.a));
        if (wpi_backend_child(o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC) != NULL)
            CUDNN_TRY(operand_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &p.y, &p.b));
        if (wpi_backend_child(o, CUDNN_ATTR_OPERATION_POINTWISE_TDESC) != NULL)
            CUDNN_TRY(operand_of(r, o, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, &p.y, &p.c));
    }
    if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
    return wpi_cudnn_status(wpi_dnn_pointwise_run(r->handle->stream, &p));
}

static cudnnStatus_t reduce(run *r, const wpi_backend *o) {
    const wpi_backend *d = wpi_backend_child(o, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
    wpi_dnn_reduction p = {
        .op = choice_of(d, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, -1),
        .alpha = 1};
    if (p.op < 0 || p.op > CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS) return CUDNN_STATUS_NOT_SUPPORTED;
    CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &p.x));
    CUDNN_TRY(operand_of(r, o, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &p.x, &p.y));
    if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
    return wpi_cudnn_status(wpi_dnn_reduce(r->handle->stream, &p));
}

/* Batches, and the rows or columns that an operand has, repeat where it has one. */
static cudnnStatus_t multiply(run *r, const wpi_backend *o) {
    wpi_dnn_matmul p = {0};
    CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_MATMUL_ADESC, &p.a));
    CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_MATMUL_BDESC, &p.b));
    CUDNN_TRY(tensor_of(r, o, CUDNN_ATTR_OPERATION_MATMUL_CDESC, &p.y));
    const int dims = p.y.dims, row = dims - 2, column = dims - 1;
    if (dims < 2 || p.a.dims != dims || p.b.dims != dims || p.a.size[column] != p.b.size[row] ||
        p.a.size[row] != p.y.size[row] || p.b.size[column] != p.y.size[column])
        return CUDNN_STATUS_BAD_PARAM;
    p.depth = p.a.size[column];
    p.a_step = p.a.stride[column];
    p.b_step = p.b.stride[row];
    p.a.stride[column] = p.b.stride[row] = 0;
    for (int d = 0; d < row; d++) {
        if (p.a.size[d] == 1) p.a.stride[d] = 0;
        if (p.b.size[d] == 1) p.b.stride[d] = 0;
    }
    if (r->handle == NULL) return CUDNN_STATUS_SUCCESS;
    return wpi_cudnn_status(wpi_dnn_multiply(r->handle->stream, &p));
}

static cudnnStatus_t run_operation(run *r, const wpi_backend *o) {
    switch (o != NULL ? o->kind : -1) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
        return convolve(r, o, WPI_DNN_FORWARD, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
        return convolve(r, o, WPI_DNN_DATA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
        return convolve(r, o, WPI_DNN_FILTER, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return compute(r, o);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return reduce(r, o);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return multiply(r, o);
    default: return CUDNN_STATUS_NOT_SUPPORTED;
    }
}

static cudnnStatus_t walk(run *r, const wpi_backend *graph) {
    const wpi_attribute *all =
        wpi_backend_find(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR);
    if (all == NULL) return CUDNN_STATUS_BAD_PARAM;
    const wpi_backend *const *operations = (const wpi_backend *const *)(const void *)all->data;
    for (int64_t i = 0; i < all->count; i++)
        CUDNN_TRY(run_operation(r, operations[i]));
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t wpi_backend_check(const wpi_backend *graph) {
    static atomic_bool is_said;
    run r = {0};
    const cudnnStatus_t status = walk(&r, graph);
    if (status == CUDNN_STATUS_NOT_SUPPORTED)
        wpi_library_missing("cudnn",
                            "a graph with other operations than convolutions, pointwise ones, "
                            "reductions and matrix products",
                            "CUDNN_STATUS_NOT_SUPPORTED", &is_said);
    return status;
}

cudnnStatus_t wpi_backend_run(cudnnHandle_t handle, const wpi_backend *graph,
                              const wpi_backend *pack) {
    run counted = {0};
    run r = {.handle = handle,
             .ids = wpi_backend_find(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64),
             .pointers = wpi_backend_find(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                          CUDNN_TYPE_VOID_PTR)};
    void *memory = NULL;
    if (r.ids == NULL || r.pointers == NULL) return CUDNN_STATUS_BAD_PARAM;
    CUDNN_TRY(walk(&counted, graph));
    if (counted.memory_bytes != 0)
        CUDNN_TRY(wpi_cudnn_status(cudaMallocAsync(&memory, counted.memory_bytes, handle->stream)));
    r.memory = memory;
    cudnnStatus_t status = walk(&r, graph);
    if (memory != NULL && cudaFreeAsync(memory, handle->stream) != cudaSuccess &&
        status == CUDNN_STATUS_SUCCESS)
        status = CUDNN_STATUS_EXECUTION_FAILED;
    return status;
}
