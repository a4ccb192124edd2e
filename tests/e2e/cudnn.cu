/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcudnn
/* cuDNN's layers against loops in double: types, layouts, one to three dimensions of space, padding, strides, dilation,
 * groups, factors. Gradients are compared with sums that scatter what forward gathers, or with differences of forward. */
#include <cudnn.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <functional>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUDNN_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUDNN_STATUS_##status)

static uint32_t state = 88172645u;
static cudnnHandle_t handle;

static int below(int n) { return (int)(check_random(&state) % (unsigned)n); }

/* Eighths, which all types hold. */
static double any() { return (below(33) - 16) / 8.0; }

struct kind {
    cudnnDataType_t type;
    int bytes;
    double tolerance;
};
static const kind kinds[] = {{CUDNN_DATA_FLOAT, 4, 1e-5}, {CUDNN_DATA_DOUBLE, 8, 1e-13},
                             {CUDNN_DATA_HALF, 2, 2e-3}, {CUDNN_DATA_BFLOAT16, 2, 1.6e-2}};

/* A tensor on the device and its elements in double, in the order of dimensions. */
struct tensor {
    kind k;
    std::vector<int> size, stride;
    std::vector<double> value;
    cudnnTensorDescriptor_t descriptor;
    void *data;

    tensor(const kind &its, std::vector<int> sizes, int layout) : k(its), size(sizes), stride(sizes.size()) {
        const int dims = (int)size.size();
        int step = layout == 1 ? size[1] : 1; /* 0: packed; 1: channels last; 2: with gaps */
        for (int d = dims - 1; d >= 0; d--) {
            if (layout == 1 && d == 1) {
                stride[d] = 1;
                continue;
            }
            stride[d] = step;
            step *= size[d] + (layout == 2 ? 1 : 0);
        }
        value.resize(count());
        for (double &v : value) v = any();
        OK(cudnnCreateTensorDescriptor(&descriptor));
        OK(cudnnSetTensorNdDescriptor(descriptor, k.type, dims, size.data(), stride.data()));
        CUDA_OK(cudaMalloc(&data, bytes()));
        put();
    }
    ~tensor() {
        OK(cudnnDestroyTensorDescriptor(descriptor));
        CUDA_OK(cudaFree(data));
    }
    tensor(const tensor &) = delete;
    size_t count() const {
        size_t n = 1;
        for (int s : size) n *= s;
        return n;
    }
    size_t bytes() const {
        size_t told = 0, last = 1;
        OK(cudnnGetTensorSizeInBytes(descriptor, &told));
        for (size_t d = 0; d < size.size(); d++) last += (size_t)(size[d] - 1) * stride[d];
        CHECK_EQ(told, last * k.bytes);
        return told;
    }
    size_t offset(size_t i) const {
        size_t at = 0;
        for (int d = (int)size.size() - 1; d >= 0; d--) {
            at += i % size[d] * stride[d];
            i /= size[d];
        }
        return at;
    }
    void put() {
        std::vector<char> host(bytes(), 0x7f);
        for (size_t i = 0; i < count(); i++) {
            char *to = &host[offset(i) * k.bytes];
            const float f = (float)value[i];
            const __half h = __float2half(f);
            const __nv_bfloat16 b = __float2bfloat16(f);
            if (k.type == CUDNN_DATA_FLOAT) memcpy(to, &f, 4);
            if (k.type == CUDNN_DATA_DOUBLE) memcpy(to, &value[i], 8);
            if (k.type == CUDNN_DATA_HALF) memcpy(to, &h, 2);
            if (k.type == CUDNN_DATA_BFLOAT16) memcpy(to, &b, 2);
        }
        CUDA_OK(cudaMemcpy(data, host.data(), host.size(), cudaMemcpyHostToDevice));
    }
    /* What the device has against `expected`, relative to the largest. */
    void compare(const char *what, const std::vector<double> &expected) const {
        std::vector<char> host(bytes());
        CUDA_OK(cudaMemcpy(host.data(), data, host.size(), cudaMemcpyDeviceToHost));
        double largest = 1e-9, error = 0;
        for (double v : expected) largest = fmax(largest, fabs(v));
        for (size_t i = 0; i < count(); i++) {
            const char *from = &host[offset(i) * k.bytes];
            double got = 0;
            float f;
            __half h;
            __nv_bfloat16 b;
            if (k.type == CUDNN_DATA_FLOAT) memcpy(&f, from, 4), got = f;
            if (k.type == CUDNN_DATA_DOUBLE) memcpy(&got, from, 8);
            if (k.type == CUDNN_DATA_HALF) memcpy(&h, from, 2), got = __half2float(h);
            if (k.type == CUDNN_DATA_BFLOAT16) memcpy(&b, from, 2), got = __bfloat162float(b);
            error = !(fabs(got - expected[i]) <= error) ? fabs(got - expected[i]) : error;
        }
        if (!(error <= k.tolerance * largest)) {
            printf("FAIL: %s, type %d: off by %g of %g\n", what, (int)k.type, error, largest);
            check_failures++;
        }
    }
};

/* Factors of the tensors' type. */
struct factor {
    float narrow;
    double wide;
    bool is_wide;
    factor(const tensor &t, double v) : narrow((float)v), wide(v), is_wide(t.k.type == CUDNN_DATA_DOUBLE) {}
    operator const void *() const { return is_wide ? (const void *)&wide : &narrow; }
};

static std::vector<double> blend(double alpha, const std::vector<double> &result, double beta, const std::vector<double> &old) {
    std::vector<double> all(result.size());
    for (size_t i = 0; i < all.size(); i++) all[i] = alpha * result[i] + beta * old[i];
    return all;
}

/* ---- convolutions ---- */

struct window {
    int space, size[3], pad[3], step[3], dilation[3], groups;
    bool is_flipped;
};

/* Calls f(i, j, k): element i of x times element j of w is part of element k of y. */
static void each_product(const window &c, const tensor &x, const std::vector<int> &w, const tensor &y,
                         const std::function<void(size_t, size_t, size_t)> &f) {
    const int maps = w[0] / c.groups;
    std::vector<int> at(y.size.size());
    for (size_t k = 0; k < y.count(); k++) {
        size_t rest = k, taps = 1;
        for (int d = (int)at.size() - 1; d >= 0; d--) at[d] = (int)(rest % y.size[d]), rest /= y.size[d];
        for (int d = 0; d < c.space; d++) taps *= c.size[d];
        for (int channel = 0; channel < w[1]; channel++)
            for (size_t tap = 0; tap < taps; tap++) {
                size_t i = (size_t)at[0] * x.size[1] + at[1] / maps * w[1] + channel, left = taps, from = tap;
                bool is_inside = true;
                for (int d = 0; d < c.space; d++) {
                    left /= c.size[d];
                    int t = (int)(from / left);
                    from %= left;
                    if (c.is_flipped) t = c.size[d] - 1 - t;
                    const int place = at[2 + d] * c.step[d] - c.pad[d] + t * c.dilation[d];
                    is_inside = is_inside && place >= 0 && place < x.size[2 + d];
                    i = i * x.size[2 + d] + (is_inside ? place : 0);
                }
                if (is_inside) f(i, ((size_t)at[1] * w[1] + channel) * taps + tap, k);
            }
    }
}

/* Shapes at the edges of the kernels' tiles, and results that are computed by parts of the depth. */
struct shape {
    int images, channels, maps, size, window, step, pad, groups;
};
static const shape edges[] = {{1, 5, 65, 6, 3, 1, 1, 1},  {2, 66, 4, 8, 3, 2, 1, 1},   {2, 2, 5, 40, 3, 1, 1, 1},
                              {1, 120, 4, 5, 3, 1, 0, 1}, {2, 17, 9, 9, 1, 1, 0, 1},  {3, 16, 18, 7, 2, 3, 0, 2},
                              {1, 3, 8, 21, 5, 2, 2, 1},  {2, 6, 6, 9, 3, 1, 1, 6},   {1, 8, 8, 3, 5, 4, 4, 1}};

static void convolve(const kind &k, const shape *given) {
    window c;
    c.space = given != NULL ? 2 : 1 + below(3);
    c.groups = given != NULL ? given->groups : 1 + below(2) * below(3);
    c.is_flipped = below(3) == 0;
    const int layout = below(3), channels = given != NULL ? given->channels : c.groups * (1 + below(3)),
              maps = given != NULL ? given->maps : c.groups * (1 + below(3));
    std::vector<int> xs = {given != NULL ? given->images : 1 + below(3), channels}, ws = {maps, channels / c.groups},
                     ys(c.space + 2);
    for (int d = 0; d < c.space; d++) {
        xs.push_back(given != NULL ? given->size + d : 4 + below(5));
        c.size[d] = given != NULL ? given->window : 1 + below(3);
        c.pad[d] = given != NULL ? given->pad : below(3);
        c.step[d] = given != NULL ? given->step : 1 + below(3);
        c.dilation[d] = given != NULL ? 1 : 1 + below(2);
        if ((c.size[d] - 1) * c.dilation[d] >= xs.back()) c.pad[d]++;
        ws.push_back(c.size[d]);
    }
    cudnnConvolutionDescriptor_t conv;
    cudnnFilterDescriptor_t filter;
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnSetConvolutionNdDescriptor(conv, c.space, c.pad, c.step, c.dilation,
                                       c.is_flipped ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnSetConvolutionGroupCount(conv, c.groups));
    OK(cudnnCreateFilterDescriptor(&filter));
    const int filter_layout = below(2);
    OK(cudnnSetFilterNdDescriptor(filter, k.type, filter_layout ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, c.space + 2, ws.data()));
    tensor x(k, xs, layout), w(k, ws, filter_layout);
    OK(cudnnGetConvolutionNdForwardOutputDim(conv, x.descriptor, filter, c.space + 2, ys.data()));
    tensor y(k, ys, layout);
    const double alpha = below(2) ? 1 : 0.5, beta = below(2) ? 0 : 0.25;

    int count = 0;
    size_t bytes = 1;
    cudnnConvolutionFwdAlgoPerf_t best;
    OK(cudnnGetConvolutionForwardAlgorithm_v7(handle, x.descriptor, filter, conv, y.descriptor, 1, &count, &best));
    CHECK_EQ(count, 1);
    OK(cudnnGetConvolutionForwardWorkspaceSize(handle, x.descriptor, filter, conv, y.descriptor, best.algo, &bytes));
    CHECK_EQ(bytes, 0u);
    cudnnConvolutionFwdAlgo_t fastest;
    OK(cudnnGetConvolutionForwardAlgorithm(handle, x.descriptor, filter, conv, y.descriptor,
                                           CUDNN_CONVOLUTION_FWD_PREFER_FASTEST, 0, &fastest));
    CHECK_EQ((int)fastest, (int)best.algo);

    std::vector<double> sum(y.count());
    each_product(c, x, ws, y, [&](size_t i, size_t j, size_t o) { sum[o] += x.value[i] * w.value[j]; });
    const std::vector<double> expected = blend(alpha, sum, beta, y.value);
    OK(cudnnConvolutionForward(handle, factor(x, alpha), x.descriptor, x.data, filter, w.data, conv, best.algo, NULL, 0,
                               factor(x, beta), y.descriptor, y.data));
    y.compare("forward", expected);

    tensor dy(k, ys, layout), dx(k, xs, layout);
    sum.assign(x.count(), 0);
    each_product(c, x, ws, y, [&](size_t i, size_t j, size_t o) { sum[i] += dy.value[o] * w.value[j]; });
    const std::vector<double> expected_x = blend(alpha, sum, beta, dx.value);
    OK(cudnnConvolutionBackwardData(handle, factor(x, alpha), filter, w.data, dy.descriptor, dy.data, conv,
                                    CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, NULL, 0, factor(x, beta), dx.descriptor, dx.data));
    dx.compare("backward, data", expected_x);

    sum.assign(w.count(), 0);
    each_product(c, x, ws, y, [&](size_t i, size_t j, size_t o) { sum[j] += dy.value[o] * x.value[i]; });
    const std::vector<double> expected_w = blend(alpha, sum, beta, w.value);
    OK(cudnnConvolutionBackwardFilter(handle, factor(x, alpha), x.descriptor, x.data, dy.descriptor, dy.data, conv,
                                      CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, NULL, 0, factor(x, beta), filter, w.data));
    w.compare("backward, filter", expected_w);

    std::vector<int> bs(c.space + 2, 1);
    bs[1] = maps;
    tensor bias(k, bs, 0);
    sum.assign(maps, 0);
    const size_t plane = y.count() / ys[0] / maps;
    for (size_t i = 0; i < y.count(); i++) sum[i / plane % maps] += dy.value[i];
    const std::vector<double> expected_b = blend(alpha, sum, beta, bias.value);
    OK(cudnnConvolutionBackwardBias(handle, factor(x, alpha), dy.descriptor, dy.data, factor(x, beta), bias.descriptor, bias.data));
    bias.compare("backward, bias", expected_b);
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyFilterDescriptor(filter));
}

static void fused(const kind &k) {
    cudnnConvolutionDescriptor_t conv;
    cudnnFilterDescriptor_t filter;
    cudnnActivationDescriptor_t relu;
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnSetConvolution2dDescriptor(conv, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    OK(cudnnCreateFilterDescriptor(&filter));
    OK(cudnnSetFilter4dDescriptor(filter, k.type, CUDNN_TENSOR_NCHW, 3, 2, 1, 1));
    OK(cudnnCreateActivationDescriptor(&relu));
    OK(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    tensor x(k, {2, 2, 3, 4}, 0), w(k, {3, 2, 1, 1}, 0), z(k, {2, 3, 3, 4}, 1), bias(k, {1, 3, 1, 1}, 0), y(k, {2, 3, 3, 4}, 0);
    for (int in_place = 0; in_place < 2; in_place++) {
        const tensor &added = in_place ? y : z;
        std::vector<double> expected(y.count());
        for (int i = 0; i < (int)y.count(); i++) {
            const int p = i % 12, m = i / 12 % 3, n = i / 36;
            double sum = bias.value[m] + 0.5 * added.value[i];
            for (int c = 0; c < 2; c++) sum += 2 * x.value[(n * 2 + c) * 12 + p] * w.value[m * 2 + c];
            expected[i] = fmax(sum, 0);
        }
        OK(cudnnConvolutionBiasActivationForward(handle, factor(x, 2), x.descriptor, x.data, filter, w.data, conv,
                                                 CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, NULL, 0, factor(x, 0.5),
                                                 added.descriptor, added.data, bias.descriptor, bias.data, relu, y.descriptor,
                                                 y.data));
        y.compare("convolution, bias, ReLU", expected);
        y.put();
    }
    OK(cudnnDestroyConvolutionDescriptor(conv));
    OK(cudnnDestroyFilterDescriptor(filter));
    OK(cudnnDestroyActivationDescriptor(relu));
}

/* ---- layers ---- */

static double active(cudnnActivationMode_t mode, double x) {
    switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: return 1 / (1 + exp(-x));
    case CUDNN_ACTIVATION_RELU: return x > 0 ? x : 0;
    case CUDNN_ACTIVATION_TANH: return tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU: return x > 1.3 ? 1.3 : x > 0 ? x : 0;
    case CUDNN_ACTIVATION_ELU: return x > 0 ? x : 1.3 * (exp(x) - 1);
    case CUDNN_ACTIVATION_SWISH: return x / (1 + exp(-x));
    default: return x;
    }
}

static void activate(const kind &k) {
    cudnnActivationDescriptor_t d;
    OK(cudnnCreateActivationDescriptor(&d));
    for (int m = CUDNN_ACTIVATION_SIGMOID; m <= CUDNN_ACTIVATION_SWISH; m++) {
        const cudnnActivationMode_t mode = (cudnnActivationMode_t)m;
        OK(cudnnSetActivationDescriptor(d, mode, CUDNN_NOT_PROPAGATE_NAN, 1.3));
        tensor x(k, {2, 3, 4, 5}, 0), y(k, {2, 3, 4, 5}, 1), dy(k, {2, 3, 4, 5}, 2), dx(k, {2, 3, 4, 5}, 0);
        for (double &v : x.value) v += 0.03125; /* off the places where a slope jumps */
        x.put();
        std::vector<double> result(x.count()), slope(x.count());
        for (size_t i = 0; i < x.count(); i++) {
            result[i] = active(mode, x.value[i]);
            slope[i] = dy.value[i] * (active(mode, x.value[i] + 1e-6) - active(mode, x.value[i] - 1e-6)) / 2e-6;
        }
        std::vector<double> expected = blend(0.5, result, 0.25, y.value);
        OK(cudnnActivationForward(handle, d, factor(x, 0.5), x.descriptor, x.data, factor(x, 0.25), y.descriptor, y.data));
        y.compare("activation", expected);
        OK(cudnnActivationForward(handle, d, factor(x, 1), x.descriptor, x.data, factor(x, 0), y.descriptor, y.data));
        expected = blend(0.5, slope, 0.25, dx.value);
        OK(cudnnActivationBackward(handle, d, factor(x, 0.5), y.descriptor, y.data, dy.descriptor, dy.data, x.descriptor, x.data,
                                   factor(x, 0.25), dx.descriptor, dx.data));
        kind loose = k; /* differences, and results that were rounded */
        loose.tolerance = fmax(k.tolerance * 4, 1e-8);
        dx.k = loose;
        dx.compare("activation, backward", expected);
    }
    OK(cudnnDestroyActivationDescriptor(d));
}

static void pool(const kind &k) {
    static const cudnnPoolingMode_t modes[] = {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                               CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING};
    cudnnPoolingDescriptor_t d;
    OK(cudnnCreatePoolingDescriptor(&d));
    for (int m = 0; m < 3; m++) {
        const int wh = 2 + below(2), ww = 2 + below(2), ph = below(2), pw = below(2), sh = 1 + below(3), sw = 1 + below(3);
        OK(cudnnSetPooling2dDescriptor(d, modes[m], CUDNN_NOT_PROPAGATE_NAN, wh, ww, ph, pw, sh, sw));
        const int layout = below(3);
        tensor x(k, {2, 3, 6, 7}, layout), dx(k, {2, 3, 6, 7}, layout);
        for (size_t i = 0; i < x.count(); i++) x.value[i] = (double)((int)(i * 37 % 127) - 60) / 64; /* all different */
        x.put();
        int n, c, h, w;
        OK(cudnnGetPooling2dForwardOutputDim(d, x.descriptor, &n, &c, &h, &w));
        tensor y(k, {n, c, h, w}, layout), dy(k, {n, c, h, w}, 0);
        std::vector<double> result(y.count()), slope(x.count());
        for (size_t o = 0; o < y.count(); o++) {
            const int j = (int)(o % w), i = (int)(o / w % h), image = (int)(o / w / h);
            std::vector<size_t> inside;
            for (int a = 0; a < wh; a++)
                for (int b = 0; b < ww; b++) {
                    const int row = i * sh - ph + a, column = j * sw - pw + b;
                    if (row >= 0 && row < 6 && column >= 0 && column < 7) inside.push_back(((size_t)image * 6 + row) * 7 + column);
                }
            size_t largest = inside[0];
            double sum = 0;
            for (size_t at : inside) {
                sum += x.value[at];
                if (x.value[at] > x.value[largest]) largest = at;
            }
            const double divisor = m == 1 ? wh * ww : (double)inside.size();
            result[o] = m == 0 ? x.value[largest] : sum / divisor;
            if (m == 0) slope[largest] += dy.value[o];
            for (size_t at : inside) slope[at] += m == 0 ? 0 : dy.value[o] / divisor;
        }
        std::vector<double> expected = blend(0.5, result, 0.25, y.value), expected_x = blend(0.5, slope, 0.25, dx.value);
        OK(cudnnPoolingForward(handle, d, factor(x, 0.5), x.descriptor, x.data, factor(x, 0.25), y.descriptor, y.data));
        y.compare("pooling", expected);
        OK(cudnnPoolingForward(handle, d, factor(x, 1), x.descriptor, x.data, factor(x, 0), y.descriptor, y.data));
        OK(cudnnPoolingBackward(handle, d, factor(x, 0.5), y.descriptor, y.data, dy.descriptor, dy.data, x.descriptor, x.data,
                                factor(x, 0.25), dx.descriptor, dx.data));
        dx.compare("pooling, backward", expected_x);
    }
    OK(cudnnDestroyPoolingDescriptor(d));
}

static void soften(const kind &k) {
    for (int way = 0; way < 4; way++) {
        const bool is_log = way % 2, is_channel = way / 2;
        tensor x(k, {2, 5, 3, 2}, below(3)), y(k, {2, 5, 3, 2}, below(3)), dy(k, {2, 5, 3, 2}, 0), dx(k, {2, 5, 3, 2}, 0);
        const auto soft = [&](const std::vector<double> &in) {
            std::vector<double> out(in.size());
            for (size_t i = 0; i < in.size(); i++) {
                double sum = 0;
                for (size_t j = 0; j < in.size(); j++)
                    if (i / 30 == j / 30 && (!is_channel || i % 6 == j % 6)) sum += exp(in[j]);
                out[i] = is_log ? in[i] - log(sum) : exp(in[i]) / sum;
            }
            return out;
        };
        const std::vector<double> result = soft(x.value);
        const cudnnSoftmaxAlgorithm_t algorithm = is_log ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE;
        const cudnnSoftmaxMode_t mode = is_channel ? CUDNN_SOFTMAX_MODE_CHANNEL : CUDNN_SOFTMAX_MODE_INSTANCE;
        OK(cudnnSoftmaxForward(handle, algorithm, mode, factor(x, 1), x.descriptor, x.data, factor(x, 0), y.descriptor, y.data));
        y.compare("softmax", result);
        std::vector<double> slope(x.count());
        for (size_t i = 0; i < x.count(); i++) {
            std::vector<double> up = x.value, down = x.value;
            up[i] += 1e-6, down[i] -= 1e-6;
            up = soft(up), down = soft(down);
            for (size_t j = 0; j < x.count(); j++) slope[i] += dy.value[j] * (up[j] - down[j]) / 2e-6;
        }
        OK(cudnnSoftmaxBackward(handle, algorithm, mode, factor(x, 1), y.descriptor, y.data, dy.descriptor, dy.data, factor(x, 0),
                                dx.descriptor, dx.data));
        dx.k.tolerance = fmax(k.tolerance * 8, 1e-8);
        dx.compare("softmax, backward", slope);
    }
}

static void normalise(const kind &k) {
    const kind wide = k.type == CUDNN_DATA_DOUBLE ? k : kinds[0];
    for (int spatial = 0; spatial < 2; spatial++) {
        const std::vector<int> ps = spatial ? std::vector<int>{1, 3, 1, 1} : std::vector<int>{1, 3, 2, 2};
        const cudnnBatchNormMode_t mode = spatial ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
        tensor x(k, {6, 3, 2, 2}, below(3)), y(k, {6, 3, 2, 2}, below(3)), dy(k, {6, 3, 2, 2}, 0), dx(k, {6, 3, 2, 2}, 0);
        tensor scale(wide, ps, 0), bias(wide, ps, 0), mean(wide, ps, 0), variance(wide, ps, 0), kept(wide, ps, 0),
            inverse(wide, ps, 0), dscale(wide, ps, 0), dbias(wide, ps, 0);
        cudnnTensorDescriptor_t derived;
        OK(cudnnCreateTensorDescriptor(&derived));
        OK(cudnnDeriveBNTensorDescriptor(derived, x.descriptor, mode));
        const double epsilon = 0.01, momentum = 0.25;
        const int parameters = (int)scale.count(), members = (int)x.count() / parameters;
        const auto parameter = [&](size_t i) { return spatial ? i / 4 % 3 : i % 12; };
        std::vector<double> m(parameters), v(parameters);
        const auto norm = [&](const std::vector<double> &in) {
            std::vector<double> out(in.size());
            m.assign(parameters, 0), v.assign(parameters, 0);
            for (size_t i = 0; i < in.size(); i++) m[parameter(i)] += in[i] / members;
            for (size_t i = 0; i < in.size(); i++) v[parameter(i)] += pow(in[i] - m[parameter(i)], 2) / members;
            for (size_t i = 0; i < in.size(); i++) {
                const size_t p = parameter(i);
                out[i] = (in[i] - m[p]) / sqrt(v[p] + epsilon) * scale.value[p] + bias.value[p];
            }
            return out;
        };
        std::vector<double> slope(x.count()), by_scale(parameters), by_bias(parameters);
        for (size_t i = 0; i < x.count(); i++) {
            std::vector<double> up = x.value, down = x.value;
            up[i] += 1e-5, down[i] -= 1e-5;
            up = norm(up), down = norm(down);
            for (size_t j = 0; j < x.count(); j++) slope[i] += dy.value[j] * (up[j] - down[j]) / 2e-5;
        }
        const std::vector<double> result = norm(x.value);
        std::vector<double> running_mean(parameters), running_variance(parameters), inverses(parameters);
        for (int p = 0; p < parameters; p++) {
            running_mean[p] = mean.value[p] * (1 - momentum) + m[p] * momentum;
            running_variance[p] = variance.value[p] * (1 - momentum) + v[p] * members / (members - 1) * momentum;
            inverses[p] = 1 / sqrt(v[p] + epsilon);
        }
        for (size_t i = 0; i < x.count(); i++) {
            by_bias[parameter(i)] += dy.value[i];
            by_scale[parameter(i)] += dy.value[i] * (x.value[i] - m[parameter(i)]) * inverses[parameter(i)];
        }
        OK(cudnnBatchNormalizationForwardTraining(handle, mode, factor(x, 1), factor(x, 0), x.descriptor, x.data, y.descriptor,
                                                  y.data, derived, scale.data, bias.data, momentum, mean.data, variance.data,
                                                  epsilon, kept.data, inverse.data));
        y.compare("normalisation", result);
        mean.compare("running mean", running_mean);
        variance.compare("running variance", running_variance);
        kept.compare("mean", m);
        inverse.compare("inverse", inverses);
        for (int is_kept = 0; is_kept < 2; is_kept++) {
            OK(cudnnBatchNormalizationBackward(handle, mode, factor(x, 1), factor(x, 0), factor(x, 1), factor(x, 0), x.descriptor,
                                               x.data, dy.descriptor, dy.data, dx.descriptor, dx.data, derived, scale.data,
                                               dscale.data, dbias.data, epsilon, is_kept ? kept.data : NULL,
                                               is_kept ? inverse.data : NULL));
            dx.k.tolerance = fmax(k.tolerance * 8, 1e-6);
            dx.compare("normalisation, backward", slope);
            dscale.compare("normalisation, scale", by_scale);
            dbias.compare("normalisation, bias", by_bias);
        }
        std::vector<double> inferred(x.count());
        for (double &one : variance.value) one = fabs(one) + 0.5;
        variance.put();
        mean.put();
        for (size_t i = 0; i < x.count(); i++) {
            const size_t p = parameter(i);
            inferred[i] = (x.value[i] - mean.value[p]) / sqrt(variance.value[p] + epsilon) * scale.value[p] + bias.value[p];
        }
        OK(cudnnBatchNormalizationForwardInference(handle, mode, factor(x, 1), factor(x, 0), x.descriptor, x.data, y.descriptor,
                                                   y.data, derived, scale.data, bias.data, mean.data, variance.data, epsilon));
        y.compare("normalisation, inference", inferred);
        OK(cudnnDestroyTensorDescriptor(derived));
    }
}

/* Masks are the same for a seed, differ from call to call, keep as many as the rate says, and hold for the gradient. */
static void drop(const kind &k) {
    const float rate = 0.25f;
    cudnnDropoutDescriptor_t d;
    size_t state_bytes, mask_bytes;
    void *states, *mask;
    OK(cudnnCreateDropoutDescriptor(&d));
    OK(cudnnDropoutGetStatesSize(handle, &state_bytes));
    CUDA_OK(cudaMalloc(&states, state_bytes));
    tensor x(k, {4, 5, 10, 20}, 0), y(k, {4, 5, 10, 20}, 1), dx(k, {4, 5, 10, 20}, 2);
    for (double &v : x.value) v = 1 + below(8) / 8.0;
    x.put();
    OK(cudnnDropoutGetReserveSpaceSize(x.descriptor, &mask_bytes));
    CUDA_OK(cudaMalloc(&mask, mask_bytes));
    std::vector<double> first;
    for (int turn = 0; turn < 4; turn++) { /* 0, 2: the first draw of the seed; 1, 3: the second, after a restore at 3 */
        if (turn % 2 == 0) OK(cudnnSetDropoutDescriptor(d, handle, rate, states, state_bytes, 77));
        if (turn == 3) OK(cudnnRestoreDropoutDescriptor(d, handle, rate, states, state_bytes, 77));
        OK(cudnnDropoutForward(handle, d, x.descriptor, x.data, y.descriptor, y.data, mask, mask_bytes));
        std::vector<char> host(y.bytes());
        CUDA_OK(cudaMemcpy(host.data(), y.data, host.size(), cudaMemcpyDeviceToHost));
        std::vector<double> expected(x.count()), kept(x.count());
        int count = 0;
        for (size_t i = 0; i < x.count(); i++) {
            bool is_kept = false;
            for (int b = 0; b < k.bytes; b++) is_kept = is_kept || host[y.offset(i) * k.bytes + b] != 0;
            count += is_kept;
            kept[i] = is_kept;
            expected[i] = is_kept ? x.value[i] / 0.75 : 0;
        }
        y.compare("dropout", expected);
        CHECK(count > 2860 && count < 3140); /* 3000 of 4000, 5 standard deviations */
        OK(cudnnDropoutBackward(handle, d, x.descriptor, x.data, dx.descriptor, dx.data, mask, mask_bytes));
        dx.compare("dropout, backward", expected);
        if (turn == 0) first = kept;
        CHECK_EQ(kept == first, turn % 2 == 0);
    }
    IS(cudnnDropoutForward(handle, d, x.descriptor, x.data, y.descriptor, y.data, mask, mask_bytes - 1), BAD_PARAM);
    OK(cudnnSetDropoutDescriptor(d, handle, rate, NULL, 0, 0)); /* to infer only */
    IS(cudnnDropoutForward(handle, d, x.descriptor, x.data, y.descriptor, y.data, mask, mask_bytes), BAD_PARAM);
    IS(cudnnSetDropoutDescriptor(d, handle, rate, states, 1, 0), INVALID_VALUE);
    IS(cudnnSetDropoutDescriptor(d, handle, 1.5f, states, state_bytes, 0), BAD_PARAM);
    OK(cudnnDestroyDropoutDescriptor(d));
    CUDA_OK(cudaFree(states));
    CUDA_OK(cudaFree(mask));
}

static void respond(const kind &k) {
    cudnnLRNDescriptor_t d;
    OK(cudnnCreateLRNDescriptor(&d));
    IS(cudnnSetLRNDescriptor(d, 17, 1, 0.75, 1), BAD_PARAM);
    for (int n = 1; n < 6; n++) {
        const double alpha = 0.5, power = 0.75, k0 = 2;
        OK(cudnnSetLRNDescriptor(d, n, alpha, power, k0));
        tensor x(k, {2, 7, 3, 2}, below(3)), y(k, {2, 7, 3, 2}, below(3)), dy(k, {2, 7, 3, 2}, 0), dx(k, {2, 7, 3, 2}, 1);
        const auto norm = [&](const std::vector<double> &in) {
            std::vector<double> out(in.size());
            for (int i = 0; i < (int)in.size(); i++) {
                double sum = 0;
                for (int c = i / 6 % 7 - (n - 1) / 2; c <= i / 6 % 7 + n / 2; c++)
                    if (c >= 0 && c < 7) sum += pow(in[i / 42 * 42 + c * 6 + i % 6], 2);
                out[i] = in[i] / pow(k0 + alpha / n * sum, power);
            }
            return out;
        };
        std::vector<double> slope(x.count());
        for (size_t i = 0; i < x.count(); i++) {
            std::vector<double> up = x.value, down = x.value;
            up[i] += 1e-5, down[i] -= 1e-5;
            up = norm(up), down = norm(down);
            for (size_t j = 0; j < x.count(); j++) slope[i] += dy.value[j] * (up[j] - down[j]) / 2e-5;
        }
        const std::vector<double> expected = blend(0.5, norm(x.value), 0.25, y.value), expected_x = blend(0.5, slope, 0.25, dx.value);
        OK(cudnnLRNCrossChannelForward(handle, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, factor(x, 0.5), x.descriptor, x.data,
                                       factor(x, 0.25), y.descriptor, y.data));
        y.compare("local response", expected);
        OK(cudnnLRNCrossChannelBackward(handle, d, CUDNN_LRN_CROSS_CHANNEL_DIM1, factor(x, 0.5), y.descriptor, y.data,
                                        dy.descriptor, dy.data, x.descriptor, x.data, factor(x, 0.25), dx.descriptor, dx.data));
        dx.k.tolerance = fmax(k.tolerance * 4, 1e-8);
        dx.compare("local response, backward", expected_x);
    }
    OK(cudnnDestroyLRNDescriptor(d));
}

/* ---- tensors ---- */

static void combine(const kind &k) {
    cudnnOpTensorDescriptor_t op;
    cudnnReduceTensorDescriptor_t reduction;
    OK(cudnnCreateOpTensorDescriptor(&op));
    OK(cudnnCreateReduceTensorDescriptor(&reduction));
    for (int o = CUDNN_OP_TENSOR_ADD; o <= CUDNN_OP_TENSOR_NOT; o++) {
        OK(cudnnSetOpTensorDescriptor(op, (cudnnOpTensorOp_t)o, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN));
        tensor a(k, {2, 3, 4, 5}, 1), b(k, {1, 3, 1, 1}, 0), c(k, {2, 3, 4, 5}, 0);
        for (double &v : a.value) v = fabs(v);
        a.put();
        std::vector<double> result(c.count());
        for (size_t i = 0; i < c.count(); i++) {
            const double x = 2 * a.value[i], z = 0.5 * b.value[i / 20 % 3];
            const double all[] = {x + z, x * z, fmin(x, z), fmax(x, z), sqrt(x), 1 - x};
            result[i] = all[o];
        }
        const std::vector<double> expected = blend(1, result, 0.25, c.value);
        OK(cudnnOpTensor(handle, op, factor(a, 2), a.descriptor, a.data, factor(a, 0.5), b.descriptor, b.data, factor(a, 0.25),
                         c.descriptor, c.data));
        c.compare("operation", expected);
    }
    for (int o = CUDNN_REDUCE_TENSOR_ADD; o <= CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS; o++) {
        OK(cudnnSetReduceTensorDescriptor(reduction, (cudnnReduceTensorOp_t)o, CUDNN_DATA_FLOAT, CUDNN_NOT_PROPAGATE_NAN,
                                          CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES));
        tensor a(k, {3, 2, 3, 2}, below(3)), c(k, {1, 2, 1, 2}, 0);
        std::vector<double> result(4, o == CUDNN_REDUCE_TENSOR_MUL || o == CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS ? 1 : 0);
        if (o == CUDNN_REDUCE_TENSOR_MIN) result.assign(4, HUGE_VAL);
        if (o == CUDNN_REDUCE_TENSOR_MAX) result.assign(4, -HUGE_VAL);
        for (size_t i = 0; i < a.count(); i++) {
            double &r = result[i / 6 % 2 * 2 + i % 2];
            const double v = a.value[i];
            const double all[] = {r + v, r * v, fmin(r, v), fmax(r, v), fmax(r, fabs(v)), r + v / 9, r + fabs(v), r + v * v,
                                  v == 0 ? r : r * v};
            r = all[o];
        }
        for (double &r : result) r = o == CUDNN_REDUCE_TENSOR_NORM2 ? sqrt(r) : r;
        const std::vector<double> expected = blend(0.5, result, 0.25, c.value);
        OK(cudnnReduceTensor(handle, reduction, NULL, 0, NULL, 0, factor(a, 0.5), a.descriptor, a.data, factor(a, 0.25),
                             c.descriptor, c.data));
        c.compare("reduction", expected);
    }
    tensor x(k, {2, 3, 4, 5}, 0), y(k, {2, 3, 4, 5}, 1), bias(k, {1, 3, 1, 1}, 0), value(k, {1, 1, 1, 1}, 0);
    OK(cudnnTransformTensor(handle, factor(x, 1), x.descriptor, x.data, factor(x, 0), y.descriptor, y.data));
    y.compare("another layout", x.value);
    std::vector<double> sum = x.value;
    for (size_t i = 0; i < sum.size(); i++) sum[i] += bias.value[i / 20 % 3];
    OK(cudnnAddTensor(handle, factor(x, 1), bias.descriptor, bias.data, factor(x, 1), y.descriptor, y.data));
    y.compare("sum", sum);
    for (double &v : sum) v *= 2;
    OK(cudnnScaleTensor(handle, y.descriptor, y.data, factor(x, 2)));
    y.compare("scaled", sum);
    char host[8];
    CUDA_OK(cudaMemcpy(host, value.data, k.bytes, cudaMemcpyDeviceToHost));
    OK(cudnnSetTensor(handle, y.descriptor, y.data, host));
    y.compare("set", std::vector<double>(y.count(), value.value[0]));
    OK(cudnnDestroyOpTensorDescriptor(op));
    OK(cudnnDestroyReduceTensorDescriptor(reduction));
}

/* ---- mistakes ---- */

static void refuse() {
    const float one = 1, none = 0;
    tensor x(kinds[0], {1, 2, 4, 4}, 0), y(kinds[0], {1, 3, 4, 4}, 0);
    cudnnTensorDescriptor_t t;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    OK(cudnnCreateTensorDescriptor(&t));
    OK(cudnnCreateFilterDescriptor(&w));
    OK(cudnnCreateConvolutionDescriptor(&conv));
    IS(cudnnSetTensor4dDescriptor(NULL, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1), BAD_PARAM);
    IS(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 0, 1, 1), BAD_PARAM);
    IS(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_INT8, 1, 1, 1, 1), NOT_SUPPORTED);
    IS(cudnnSetTensor4dDescriptor(t, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1 << 16, 1 << 10, 1 << 5, 1), NOT_SUPPORTED);
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 5, 3, 3));
    IS(cudnnSetConvolution2dDescriptor(conv, 1, 1, 0, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT), BAD_PARAM);
    OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    int n, c, h, wide;
    IS(cudnnGetConvolution2dForwardOutputDim(conv, x.descriptor, w, &n, &c, &h, &wide), BAD_PARAM); /* channels */
    IS(cudnnConvolutionForward(handle, &one, x.descriptor, x.data, w, x.data, conv, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, NULL, 0,
                               &none, y.descriptor, y.data),
       BAD_PARAM);
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 2, 5, 3));
    IS(cudnnConvolutionForward(handle, &one, x.descriptor, x.data, w, x.data, conv, CUDNN_CONVOLUTION_FWD_ALGO_GEMM, NULL, 0,
                               &none, y.descriptor, y.data),
       BAD_PARAM); /* y has two rows more */
    IS(cudnnTransformTensor(handle, &one, x.descriptor, x.data, &none, y.descriptor, y.data), BAD_PARAM);
    IS(cudnnAddTensor(NULL, &one, x.descriptor, x.data, &none, x.descriptor, x.data), BAD_PARAM);
    IS(cudnnCreateAttnDescriptor(), NOT_SUPPORTED);
    CHECK_EQ(strcmp(cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM), "CUDNN_STATUS_BAD_PARAM"), 0);
    CHECK_EQ(cudnnGetVersion(), (size_t)CUDNN_VERSION);
    OK(cudnnDestroyTensorDescriptor(t));
    OK(cudnnDestroyFilterDescriptor(w));
    OK(cudnnDestroyConvolutionDescriptor(conv));
}

/* Temporary memory of a convolution is in a captured graph, too. */
static void capture() {
    const float one = 1, none = 0;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t conv;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    CUDA_OK(cudaStreamCreate(&stream));
    OK(cudnnSetStream(handle, stream));
    OK(cudnnCreateFilterDescriptor(&w));
    OK(cudnnCreateConvolutionDescriptor(&conv));
    OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 5, 4, 3, 3));
    OK(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
    tensor x(kinds[0], {1, 4, 40, 40}, 0), filter(kinds[0], {5, 4, 3, 3}, 0), dy(kinds[0], {1, 5, 40, 40}, 0), result(kinds[0], {5, 4, 3, 3}, 0);
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cudnnConvolutionBackwardFilter(handle, &one, x.descriptor, x.data, dy.descriptor, dy.data, conv, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
                                      NULL, 0, &none, w, result.data));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&runnable, graph, 0));
    for (int turn = 0; turn < 2; turn++) {
        std::vector<double> expected(result.count());
        for (double &v : x.value) v = any();
        x.put();
        result.put(); /* others than the sums */
        for (int k = 0; k < 5; k++)
            for (int c = 0; c < 4; c++)
                for (int tap = 0; tap < 9; tap++)
                    for (int at = 0; at < 1600; at++) {
                        const int row = at / 40 + tap / 3 - 1, column = at % 40 + tap % 3 - 1;
                        if (row >= 0 && row < 40 && column >= 0 && column < 40)
                            expected[(k * 4 + c) * 9 + tap] += dy.value[k * 1600 + at] * x.value[c * 1600 + row * 40 + column];
                    }
        CUDA_OK(cudaGraphLaunch(runnable, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
        result.compare("captured", expected);
    }
    CUDA_OK(cudaGraphExecDestroy(runnable));
    CUDA_OK(cudaGraphDestroy(graph));
    OK(cudnnSetStream(handle, NULL));
    CUDA_OK(cudaStreamDestroy(stream));
    OK(cudnnDestroyFilterDescriptor(w));
    OK(cudnnDestroyConvolutionDescriptor(conv));
}

int main() {
    OK(cudnnCreate(&handle));
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    for (const kind &k : kinds) {
        for (int i = 0; i < 12; i++) convolve(k, NULL);
        for (const shape &s : edges) convolve(k, &s);
        fused(k);
        activate(k);
        pool(k);
        soften(k);
        normalise(k);
        drop(k);
        respond(k);
        combine(k);
    }
    capture();
    refuse();
    OK(cudnnSetStream(handle, stream));
    OK(cudnnDestroy(handle));
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
