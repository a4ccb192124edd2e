/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcudnn
/* cuDNN's graph interface as its frontend uses it: a convolution scaled by a value of the host, with a bias, a ReLU and a
 * sum, whose tensors in between are virtual; gradients; a product of matrices. Descriptors that the program gave away are
 * destroyed before they are used; engines come from the heuristic and by number; graphs that cannot be run are refused. */
#include <cudnn.h>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUDNN_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUDNN_STATUS_##status)

typedef cudnnBackendDescriptor_t descriptor;
typedef std::vector<int64_t> numbers;

static cudnnHandle_t handle;
static uint32_t state = 2463534242u;

static descriptor make(cudnnBackendDescriptorType_t kind) {
    descriptor made = NULL;
    OK(cudnnBackendCreateDescriptor(kind, &made));
    return made;
}

static void set(descriptor d, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count, const void *v) {
    OK(cudnnBackendSetAttribute(d, name, type, count, v));
}
static void set(descriptor d, cudnnBackendAttributeName_t name, const numbers &v) {
    set(d, name, CUDNN_TYPE_INT64, (int64_t)v.size(), v.data());
}
static void give(descriptor d, cudnnBackendAttributeName_t name, descriptor child) {
    set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child);
}

enum { REAL, VIRTUAL, VALUE };

static descriptor tensor(int64_t id, numbers size, int how, bool is_last = false) {
    const descriptor t = make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const bool yes = true;
    numbers stride(size.size());
    int64_t step = is_last ? size[1] : 1;
    for (int d = (int)size.size() - 1; d >= 0; d--) {
        stride[d] = is_last && d == 1 ? 1 : step;
        if (!(is_last && d == 1)) step *= size[d];
    }
    set(t, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(t, CUDNN_ATTR_TENSOR_DIMENSIONS, size);
    set(t, CUDNN_ATTR_TENSOR_STRIDES, stride);
    set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, {id});
    set(t, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
    if (how == VIRTUAL) set(t, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    if (how == VALUE) set(t, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &yes);
    OK(cudnnBackendFinalize(t));
    return t;
}

static descriptor pointwise(cudnnPointwiseMode_t mode, descriptor x, descriptor b, descriptor y) {
    const descriptor op = make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR), d = make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    set(d, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(d, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &type);
    OK(cudnnBackendFinalize(d));
    give(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, d);
    give(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (b != NULL) give(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    give(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    OK(cudnnBackendFinalize(op));
    OK(cudnnBackendDestroyDescriptor(d));
    return op;
}

/* 3 x 3, padding 1. */
static descriptor convolution(cudnnBackendDescriptorType_t kind, int first, descriptor x, descriptor w, descriptor y) {
    const descriptor op = make(kind), d = make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    const float alpha = 1, beta = 0;
    set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
    set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {1, 1});
    set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {1, 1});
    set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {1, 1});
    set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
    OK(cudnnBackendFinalize(d));
    const auto name = [&](int i) { return (cudnnBackendAttributeName_t)(first + i); };
    set(op, name(0), CUDNN_TYPE_FLOAT, 1, &alpha);
    set(op, name(1), CUDNN_TYPE_FLOAT, 1, &beta);
    give(op, name(2), d);
    give(op, name(3), w);
    give(op, name(4), x);
    give(op, name(5), y);
    OK(cudnnBackendFinalize(op));
    OK(cudnnBackendDestroyDescriptor(d));
    return op;
}

static descriptor graph_of(std::vector<descriptor> operations) {
    const descriptor graph = make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, (int64_t)operations.size(), operations.data());
    OK(cudnnBackendFinalize(graph));
    for (descriptor one : operations) OK(cudnnBackendDestroyDescriptor(one));
    return graph;
}

/* A plan by the heuristic's configuration, or by the engine's number. The graph is given away. */
static descriptor plan_of(descriptor graph, bool is_by_number) {
    descriptor config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    const descriptor plan = make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    int64_t count = 0, bytes = -1;
    if (is_by_number) {
        const descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        give(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
        set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {0});
        OK(cudnnBackendFinalize(engine));
        cudnnBackendNumericalNote_t notes[4];
        OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 4, &count, notes));
        CHECK_EQ(count, 0);
        give(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
        OK(cudnnBackendFinalize(config));
        OK(cudnnBackendDestroyDescriptor(engine));
    } else {
        const descriptor heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
        give(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
        OK(cudnnBackendFinalize(heuristic));
        OK(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL));
        CHECK_EQ(count, 1);
        OK(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &config));
        OK(cudnnBackendDestroyDescriptor(heuristic));
        descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
        int64_t index = -1;
        OK(cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine));
        OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &count, &index));
        CHECK_EQ(index, 0);
        OK(cudnnBackendDestroyDescriptor(engine));
    }
    OK(cudnnBackendDestroyDescriptor(graph));
    set(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle);
    give(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    IS(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes),
       BAD_PARAM_NOT_FINALIZED);
    OK(cudnnBackendFinalize(plan));
    OK(cudnnBackendDestroyDescriptor(config));
    OK(cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &bytes));
    CHECK_EQ(bytes, 0);
    return plan;
}

static void run(descriptor plan, numbers ids, std::vector<void *> pointers) {
    const descriptor pack = make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
    set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, (int64_t)pointers.size(), pointers.data());
    IS(cudnnBackendExecute(handle, plan, pack), BAD_PARAM_NOT_FINALIZED);
    OK(cudnnBackendFinalize(pack));
    OK(cudnnBackendExecute(handle, plan, pack));
    OK(cudnnBackendDestroyDescriptor(pack));
    OK(cudnnBackendDestroyDescriptor(plan));
}

struct buffer {
    std::vector<float> host;
    float *device;
    explicit buffer(size_t n) : host(n) {
        for (float &v : host) v = (float)(check_random(&state) % 33) / 8 - 2;
        CUDA_OK(cudaMalloc(&device, n * sizeof(float)));
        CUDA_OK(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    }
    ~buffer() { CUDA_OK(cudaFree(device)); }
    buffer(const buffer &) = delete;
    void compare(const char *what, const std::vector<double> &expected) {
        std::vector<float> got(host.size());
        CUDA_OK(cudaMemcpy(got.data(), device, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
        double error = 0;
        for (size_t i = 0; i < got.size(); i++) error = fmax(error, fabs(got[i] - expected[i]));
        if (!(error < 1e-3)) {
            printf("FAIL: %s: off by %g\n", what, error);
            check_failures++;
        }
    }
};

/* Images 2 x 2 x 4 x 5 with channels last, filters 3 x 2 x 3 x 3: calls f(x, w, y) for each product. */
template <typename F> static void each(F f) {
    for (int i = 0; i < 2 * 4 * 5 * 3 * 2 * 9; i++) {
        const int t = i % 9, c = i / 9 % 2, k = i / 18 % 3, w = i / 54 % 5, h = i / 270 % 4, n = i / 1080;
        const int row = h + t / 3 - 1, column = w + t % 3 - 1;
        if (row < 0 || row > 3 || column < 0 || column > 4) continue;
        f(((n * 4 + row) * 5 + column) * 2 + c, (k * 2 + c) * 9 + t, ((n * 4 + h) * 5 + w) * 3 + k);
    }
}

static void fused(bool is_by_number) {
    buffer x(80), w(54), bias(3), y(120), sums(3);
    float scale = 0.5f;
    const numbers ys = {2, 3, 4, 5};
    const descriptor tx = tensor(1, {2, 2, 4, 5}, REAL, true), tw = tensor(2, {3, 2, 3, 3}, REAL), tb = tensor(3, {1, 3, 1, 1}, REAL),
                     ty = tensor(4, ys, REAL, true), ts = tensor(5, {1, 1, 1, 1}, VALUE), tr = tensor(6, {1, 3, 1, 1}, REAL);
    const descriptor v1 = tensor(11, ys, VIRTUAL, true), v2 = tensor(12, ys, VIRTUAL, true), v3 = tensor(13, ys, VIRTUAL);
    const descriptor reduction = make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR), d = make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    const cudnnReduceTensorOp_t add = CUDNN_REDUCE_TENSOR_ADD;
    set(d, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &add);
    OK(cudnnBackendFinalize(d));
    give(reduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC, d);
    give(reduction, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, ty);
    give(reduction, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, tr);
    OK(cudnnBackendFinalize(reduction));
    const descriptor graph = graph_of({convolution(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                                                   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, tx, tw, v1),
                                       pointwise(CUDNN_POINTWISE_MUL, v1, ts, v2), pointwise(CUDNN_POINTWISE_ADD, v2, tb, v3),
                                       pointwise(CUDNN_POINTWISE_RELU_FWD, v3, NULL, ty), reduction});
    for (descriptor one : {tx, tw, tb, ty, ts, tr, v1, v2, v3, d}) OK(cudnnBackendDestroyDescriptor(one));
    run(plan_of(graph, is_by_number), {1, 2, 3, 4, 5, 6}, {x.device, w.device, bias.device, y.device, &scale, sums.device});
    std::vector<double> expected(120), expected_sums(3);
    each([&](int i, int j, int k) { expected[k] += 0.5 * x.host[i] * w.host[j]; });
    for (int i = 0; i < 120; i++) {
        expected[i] = fmax(expected[i] + bias.host[i % 3], 0);
        expected_sums[i % 3] += expected[i];
    }
    y.compare("fused", expected);
    sums.compare("sums", expected_sums);
}

static void gradients() {
    buffer x(80), w(54), y(120);
    const descriptor tx = tensor(1, {2, 2, 4, 5}, REAL, true), tw = tensor(2, {3, 2, 3, 3}, REAL), ty = tensor(3, {2, 3, 4, 5}, REAL, true);
    std::vector<double> dx(80), dw(54);
    each([&](int i, int j, int k) {
        dx[i] += (double)w.host[j] * y.host[k];
        dw[j] += (double)x.host[i] * y.host[k];
    });
    const descriptor filter = graph_of({convolution(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                                                    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, tx, tw, ty)});
    const descriptor data = graph_of({convolution(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                                                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, tx, tw, ty)});
    buffer to_x(80), to_w(54);
    run(plan_of(data, true), {1, 2, 3}, {to_x.device, w.device, y.device});
    run(plan_of(filter, false), {1, 2, 3}, {x.device, to_w.device, y.device});
    to_x.compare("data", dx);
    to_w.compare("filter", dw);
    for (descriptor one : {tx, tw, ty}) OK(cudnnBackendDestroyDescriptor(one));
}

static void product() {
    buffer a(2 * 3 * 4), b(4 * 5), c(2 * 3 * 5);
    const descriptor op = make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR), d = make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    const descriptor ta = tensor(1, {2, 3, 4}, REAL), tb = tensor(2, {1, 4, 5}, REAL), tc = tensor(3, {2, 3, 5}, REAL);
    const cudnnDataType_t type = CUDNN_DATA_FLOAT;
    set(d, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    OK(cudnnBackendFinalize(d));
    give(op, CUDNN_ATTR_OPERATION_MATMUL_DESC, d);
    give(op, CUDNN_ATTR_OPERATION_MATMUL_ADESC, ta);
    give(op, CUDNN_ATTR_OPERATION_MATMUL_BDESC, tb);
    give(op, CUDNN_ATTR_OPERATION_MATMUL_CDESC, tc);
    OK(cudnnBackendFinalize(op));
    for (descriptor one : {d, ta, tb, tc}) OK(cudnnBackendDestroyDescriptor(one));
    run(plan_of(graph_of({op}), false), {1, 2, 3}, {a.device, b.device, c.device});
    std::vector<double> expected(30);
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < 4; k++) expected[i] += (double)a.host[i / 5 * 4 + k] * b.host[k * 5 + i % 5];
    c.compare("product", expected);
}

static void refuse() {
    const descriptor tx = tensor(1, {1, 2, 3, 3}, REAL), ty = tensor(2, {1, 3, 3, 3}, REAL);
    const descriptor unequal = graph_of({pointwise(CUDNN_POINTWISE_EXP, tx, NULL, ty)});
    const descriptor unknown = graph_of({make(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR)});
    for (descriptor graph : {unequal, unknown}) {
        const descriptor engine = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR), heuristic = make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
        descriptor config = make(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        int64_t count = -1;
        give(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
        set(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {0});
        CHECK_EQ((int)cudnnBackendFinalize(engine), graph == unknown ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_BAD_PARAM);
        give(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
        OK(cudnnBackendFinalize(heuristic));
        IS(cudnnBackendSetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph),
           BAD_PARAM); /* it is final */
        OK(cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &config));
        CHECK_EQ(count, 0);
        for (descriptor one : {engine, heuristic, config, graph}) OK(cudnnBackendDestroyDescriptor(one));
    }
    const descriptor other = make(CUDNN_BACKEND_ENGINE_DESCRIPTOR), graph = graph_of({pointwise(CUDNN_POINTWISE_EXP, tx, NULL, tx)});
    give(other, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
    set(other, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {1});
    IS(cudnnBackendFinalize(other), NOT_SUPPORTED);
    IS(cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, NULL), BAD_PARAM_NULL_POINTER);
    IS(cudnnBackendFinalize(NULL), BAD_PARAM_NULL_POINTER);
    IS(cudnnBackendExecute(handle, NULL, NULL), BAD_PARAM_NULL_POINTER);
    for (descriptor one : {tx, ty, other, graph}) OK(cudnnBackendDestroyDescriptor(one));
}

int main() {
    OK(cudnnCreate(&handle));
    fused(false);
    fused(true);
    gradients();
    product();
    refuse();
    OK(cudnnDestroy(handle));
    return check_done();
}
