/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcudnn
/* cuDNN's recurrent networks against loops in double: cells, directions, layers, biases, layouts, sequences of different lengths.
 * Gradients are compared with differences of those loops. */
#include <cudnn.h>
#include <cuda_fp16.h>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUDNN_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUDNN_STATUS_##status)

typedef std::vector<double> numbers;

static uint32_t state = 2463534242u;
static cudnnHandle_t handle;

static int below(int n) { return (int)(check_random(&state) % (unsigned)n); }

static numbers some(size_t count) {
    numbers all(count);
    for (double &v : all) v = (below(65) - 32) / 32.0;
    return all;
}

struct network {
    cudnnRNNMode_t mode;
    cudnnRNNBiasMode_t bias;
    int directions, layers, input, hidden, layout, steps;
    std::vector<int> lengths;
    cudnnDataType_t type;
    size_t bytes() const { return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_HALF ? 2 : 4; }
    int gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
    int batch() const { return (int)lengths.size(); }
    int width(int layer) const { return layer == 0 ? input : directions * hidden; }
    size_t states() const { return (size_t)layers * directions * batch() * hidden; }
    int biases() const { return bias == CUDNN_RNN_NO_BIAS ? 0 : bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1; }
    size_t matrices() const {
        size_t count = 0;
        for (int l = 0; l < layers; l++) count += (size_t)directions * gates() * hidden * (width(l) + hidden);
        return count;
    }
    size_t weights() const { return matrices() + (size_t)layers * directions * biases() * gates() * hidden; }
    /* Of an element of a sequence, -1: not there. */
    long row(int t, int b) const {
        if (layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED) return t * batch() + b;
        if (layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) return b * steps + t;
        if (t >= lengths[b]) return -1;
        long row = b;
        for (int length : lengths) row += length < t ? length : t;
        return row;
    }
    long rows() const {
        if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return (long)steps * batch();
        long sum = 0;
        for (int length : lengths) sum += length;
        return sum;
    }
};

struct values {
    numbers x, hx, cx, w;
};
struct results {
    numbers y, hy, cy;
};

static double squash(double x) { return 1 / (1 + exp(-x)); }

static results run(const network &n, const values &in) {
    const int H = n.hidden, G = n.gates(), D = n.directions;
    results out = {numbers((size_t)n.rows() * D * H), in.hx, in.cx};
    std::vector<std::vector<numbers>> layer(n.steps, std::vector<numbers>(n.batch(), numbers(n.input)));
    for (int t = 0; t < n.steps; t++)
        for (int b = 0; b < n.batch(); b++)
            for (int v = 0; v < n.input && t < n.lengths[b]; v++) layer[t][b][v] = in.x[(size_t)n.row(t, b) * n.input + v];
    size_t matrix = 0, bias = n.matrices();
    for (int l = 0; l < n.layers; l++) {
        std::vector<std::vector<numbers>> next(n.steps, std::vector<numbers>(n.batch(), numbers((size_t)D * H)));
        const int width = n.width(l);
        for (int d = 0; d < D; d++) {
            const double *w = &in.w[matrix], *r = w + (size_t)G * H * width, *one = NULL, *other = NULL;
            matrix += (size_t)G * H * (width + H);
            if (n.bias == CUDNN_RNN_DOUBLE_BIAS || n.bias == CUDNN_RNN_SINGLE_INP_BIAS) one = &in.w[bias], bias += (size_t)G * H;
            if (n.bias == CUDNN_RNN_DOUBLE_BIAS || n.bias == CUDNN_RNN_SINGLE_REC_BIAS) other = &in.w[bias], bias += (size_t)G * H;
            for (int b = 0; b < n.batch(); b++) {
                double *h = &out.hy[((size_t)(l * D + d) * n.batch() + b) * H], *c = &out.cy[((size_t)(l * D + d) * n.batch() + b) * H];
                for (int i = 0; i < n.lengths[b]; i++) {
                    const int t = d == 0 ? i : n.lengths[b] - 1 - i;
                    numbers p((size_t)G * H), q((size_t)G * H);
                    for (int k = 0; k < G * H; k++) {
                        p[k] = one != NULL ? one[k] : 0, q[k] = other != NULL ? other[k] : 0;
                        for (int v = 0; v < width; v++) p[k] += w[(size_t)k * width + v] * layer[t][b][v];
                        for (int v = 0; v < H; v++) q[k] += r[(size_t)k * H + v] * h[v];
                    }
                    for (int j = 0; j < H; j++) {
                        const auto gate = [&](int g) { return p[g * H + j] + q[g * H + j]; };
                        if (n.mode == CUDNN_RNN_RELU) h[j] = fmax(gate(0), 0);
                        if (n.mode == CUDNN_RNN_TANH) h[j] = tanh(gate(0));
                        if (n.mode == CUDNN_LSTM) {
                            c[j] = squash(gate(1)) * c[j] + squash(gate(0)) * tanh(gate(2));
                            h[j] = squash(gate(3)) * tanh(c[j]);
                        }
                        if (n.mode == CUDNN_GRU) {
                            const double keep = squash(gate(1)), fresh = tanh(p[2 * H + j] + squash(gate(0)) * q[2 * H + j]);
                            h[j] = (1 - keep) * fresh + keep * h[j];
                        }
                        next[t][b][d * H + j] = h[j];
                    }
                }
            }
        }
        layer = next;
    }
    for (int t = 0; t < n.steps; t++)
        for (int b = 0; b < n.batch(); b++)
            for (int v = 0; v < D * H && n.row(t, b) >= 0; v++) out.y[(size_t)n.row(t, b) * D * H + v] = layer[t][b][v];
    return out;
}

/* Numbers in device memory, of the network's type. */
struct buffer {
    cudnnDataType_t type;
    size_t count, bytes;
    void *data;
    buffer(const network &n, const numbers &from) : type(n.type), count(from.size()), bytes(count * n.bytes()) {
        std::vector<char> host(bytes);
        for (size_t i = 0; i < count; i++) {
            const float f = (float)from[i];
            const __half h = __float2half(f);
            memcpy(&host[i * n.bytes()], type == CUDNN_DATA_DOUBLE ? (const void *)&from[i] : type == CUDNN_DATA_HALF ? (const void *)&h : &f,
                   n.bytes());
        }
        CUDA_OK(cudaMalloc(&data, bytes));
        CUDA_OK(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice));
    }
    ~buffer() { CUDA_OK(cudaFree(data)); }
    buffer(const buffer &) = delete;
    void compare(const char *what, const numbers &expected, double tolerance) const {
        numbers got(count);
        std::vector<char> host(bytes);
        CUDA_OK(cudaMemcpy(host.data(), data, bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < count; i++) {
            const char *from = &host[i * (bytes / count)];
            float f;
            __half h;
            if (type == CUDNN_DATA_DOUBLE) memcpy(&got[i], from, 8);
            if (type == CUDNN_DATA_FLOAT) memcpy(&f, from, 4), got[i] = f;
            if (type == CUDNN_DATA_HALF) memcpy(&h, from, 2), got[i] = __half2float(h);
        }
        double error = 0, largest = 1e-9;
        for (size_t i = 0; i < count; i++) {
            largest = fmax(largest, fabs(expected[i]));
            error = !(fabs(got[i] - expected[i]) <= error) ? fabs(got[i] - expected[i]) : error;
        }
        if (!(error <= tolerance * largest)) {
            printf("FAIL: %s: off by %g of %g\n", what, error, largest);
            check_failures++;
        }
    }
};

static double loss(const network &n, const values &in, const results &by) {
    const results out = run(n, in);
    double sum = 0;
    for (size_t i = 0; i < out.y.size(); i++) sum += out.y[i] * by.y[i];
    for (size_t i = 0; i < out.hy.size(); i++) sum += out.hy[i] * by.hy[i];
    for (size_t i = 0; i < out.cy.size(); i++) sum += n.mode == CUDNN_LSTM ? out.cy[i] * by.cy[i] : 0;
    return sum;
}

static numbers slopes(const network &n, values in, numbers values::*of, const results &by) {
    numbers all((in.*of).size());
    for (size_t i = 0; i < all.size(); i++) {
        double &v = (in.*of)[i];
        const double old = v;
        v = old + 1e-5;
        all[i] = loss(n, in, by);
        v = old - 1e-5;
        all[i] = (all[i] - loss(n, in, by)) / 2e-5;
        v = old;
    }
    return all;
}

static void test(const network &n) {
    const cudnnDataType_t type = n.type;
    const double tolerance = type == CUDNN_DATA_DOUBLE ? 1e-12 : type == CUDNN_DATA_HALF ? 1e-3 : 2e-6,
                 loose = type == CUDNN_DATA_DOUBLE ? 1e-8 : type == CUDNN_DATA_HALF ? 2e-3 : 1e-5;
    const int out = n.directions * n.hidden;
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t xd, yd;
    OK(cudnnCreateRNNDescriptor(&rnn));
    OK(cudnnCreateRNNDataDescriptor(&xd));
    OK(cudnnCreateRNNDataDescriptor(&yd));
    OK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, n.mode, n.bias,
                                n.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, type, type,
                                CUDNN_DEFAULT_MATH, n.input, n.hidden, n.hidden, n.layers, NULL, CUDNN_RNN_PADDED_IO_ENABLED));
    OK(cudnnSetRNNDataDescriptor(xd, type, (cudnnRNNDataLayout_t)n.layout, n.steps, n.batch(), n.input, n.lengths.data(), NULL));
    OK(cudnnSetRNNDataDescriptor(yd, type, (cudnnRNNDataLayout_t)n.layout, n.steps, n.batch(), out, n.lengths.data(), NULL));
    OK(cudnnBuildRNNDynamic(handle, rnn, n.batch()));
    values in = {some((size_t)n.rows() * n.input), some(n.states()), some(n.states()), some(n.weights())};
    results by = {some((size_t)n.rows() * out), some(n.states()), some(n.states())};
    for (double &v : in.w) v += 1.0 / 128; /* off the place where ReLU's slope jumps */
    const results expected = run(n, in);

    size_t weight_bytes = 0, work_bytes = 0, kept_bytes = 1;
    OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weight_bytes));
    CHECK_EQ(weight_bytes, n.weights() * n.bytes());
    buffer x(n, in.x), hx(n, in.hx), cx(n, in.cx), w(n, in.w), y(n, by.y), hy(n, by.hy), cy(n, by.cy), dw(n, numbers(in.w.size(), 0.5)),
        dx(n, in.x), dhx(n, in.hx), dcx(n, in.cx), dy(n, by.y), dhy(n, by.hy), dcy(n, by.cy);
    for (int is_training = 0; is_training < 2; is_training++) {
        void *work, *kept = NULL;
        OK(cudnnGetRNNTempSpaceSizes(handle, rnn, is_training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, xd, &work_bytes,
                                     &kept_bytes));
        CHECK_EQ(kept_bytes != 0, is_training != 0);
        CUDA_OK(cudaMalloc(&work, work_bytes));
        if (kept_bytes != 0) CUDA_OK(cudaMalloc(&kept, kept_bytes));
        OK(cudnnRNNForward(handle, rnn, is_training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, NULL, xd, x.data, yd, y.data,
                           NULL, hx.data, hy.data, NULL, cx.data, cy.data, weight_bytes, w.data, work_bytes, work, kept_bytes, kept));
        y.compare("y", expected.y, tolerance);
        hy.compare("hy", expected.hy, tolerance);
        if (n.mode == CUDNN_LSTM) cy.compare("cy", expected.cy, tolerance);
        if (is_training) {
            OK(cudnnRNNBackwardData_v8(handle, rnn, NULL, yd, y.data, dy.data, xd, dx.data, NULL, hx.data, dhy.data, dhx.data, NULL, cx.data,
                                       dcy.data, dcx.data, weight_bytes, w.data, work_bytes, work, kept_bytes, kept));
            OK(cudnnRNNBackwardWeights_v8(handle, rnn, CUDNN_WGRAD_MODE_ADD, NULL, xd, x.data, NULL, hx.data, yd, y.data, weight_bytes,
                                          dw.data, work_bytes, work, kept_bytes, kept));
            numbers expected_w = slopes(n, in, &values::w, by);
            for (double &v : expected_w) v += 0.5;
            dw.compare("weights' gradient", expected_w, loose);
            dx.compare("dx", slopes(n, in, &values::x, by), loose);
            dhx.compare("dhx", slopes(n, in, &values::hx, by), loose);
            if (n.mode == CUDNN_LSTM) dcx.compare("dcx", slopes(n, in, &values::cx, by), loose);
        }
        CUDA_OK(cudaFree(work));
        CUDA_OK(cudaFree(kept));
    }

    /* The layout of the weights. */
    cudnnTensorDescriptor_t md, bd;
    OK(cudnnCreateTensorDescriptor(&md));
    OK(cudnnCreateTensorDescriptor(&bd));
    const int gates = n.gates(), last = n.layers * n.directions - 1;
    for (int id = 0; id < 2 * gates; id++) {
        void *matrix, *bias;
        cudnnDataType_t told;
        int dims, sizes[3], strides[3];
        OK(cudnnGetRNNWeightParams(handle, rnn, last, weight_bytes, w.data, id, md, &matrix, bd, &bias));
        OK(cudnnGetTensorNdDescriptor(md, 3, &told, &dims, sizes, strides));
        const int width = id < gates ? n.width(n.layers - 1) : n.hidden;
        CHECK(dims == 3 && sizes[0] == 1 && sizes[1] == n.hidden && sizes[2] == width);
        const size_t behind = (id < gates ? (size_t)(gates - id) * n.hidden * width + (size_t)gates * n.hidden * n.hidden
                                          : (size_t)(2 * gates - id) * n.hidden * width);
        CHECK_EQ((size_t)((char *)matrix - (char *)w.data), (n.matrices() - behind) * n.bytes());
        const bool has_bias = n.bias == CUDNN_RNN_DOUBLE_BIAS ||
                              n.bias == (id < gates ? CUDNN_RNN_SINGLE_INP_BIAS : CUDNN_RNN_SINGLE_REC_BIAS);
        CHECK_EQ(bias != NULL, has_bias);
    }
    OK(cudnnDestroyTensorDescriptor(md));
    OK(cudnnDestroyTensorDescriptor(bd));
    OK(cudnnDestroyRNNDescriptor(rnn));
    OK(cudnnDestroyRNNDataDescriptor(xd));
    OK(cudnnDestroyRNNDataDescriptor(yd));
}

/* Between layers, in training only: two draws differ, and the gradient of the sum of y is a difference for the same draw. */
static void drop() {
    network n = {CUDNN_LSTM, CUDNN_RNN_DOUBLE_BIAS, 1, 2, 3, 8, 0, 2, {2, 2}, CUDNN_DATA_DOUBLE};
    cudnnRNNDescriptor_t rnn;
    cudnnRNNDataDescriptor_t xd, yd;
    cudnnDropoutDescriptor_t d;
    size_t state_bytes, weight_bytes, work_bytes, kept_bytes;
    void *states, *work, *kept;
    OK(cudnnCreateDropoutDescriptor(&d));
    OK(cudnnDropoutGetStatesSize(handle, &state_bytes));
    CUDA_OK(cudaMalloc(&states, state_bytes));
    OK(cudnnSetDropoutDescriptor(d, handle, 0.5f, states, state_bytes, 7));
    OK(cudnnCreateRNNDescriptor(&rnn));
    OK(cudnnCreateRNNDataDescriptor(&xd));
    OK(cudnnCreateRNNDataDescriptor(&yd));
    OK(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, n.mode, n.bias, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_DOUBLE,
                                CUDNN_DATA_DOUBLE, CUDNN_DEFAULT_MATH, n.input, n.hidden, 0, n.layers, d, 0));
    OK(cudnnSetRNNDataDescriptor(xd, CUDNN_DATA_DOUBLE, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 2, 3, n.lengths.data(), NULL));
    OK(cudnnSetRNNDataDescriptor(yd, CUDNN_DATA_DOUBLE, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED, 2, 2, 8, n.lengths.data(), NULL));
    OK(cudnnGetRNNWeightSpaceSize(handle, rnn, &weight_bytes));
    OK(cudnnGetRNNTempSpaceSizes(handle, rnn, CUDNN_FWD_MODE_TRAINING, xd, &work_bytes, &kept_bytes));
    CUDA_OK(cudaMalloc(&work, work_bytes));
    CUDA_OK(cudaMalloc(&kept, kept_bytes));
    const numbers xs = some(12), ones(32, 1);
    buffer w(n, some(n.weights())), dx(n, xs), dy(n, ones);
    const auto forward = [&](const numbers &from, bool is_again) {
        buffer x(n, from), y(n, ones);
        if (is_again) OK(cudnnSetDropoutDescriptor(d, handle, 0.5f, states, state_bytes, 7));
        OK(cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_TRAINING, NULL, xd, x.data, yd, y.data, NULL, NULL, NULL, NULL, NULL, NULL, weight_bytes,
                           w.data, work_bytes, work, kept_bytes, kept));
        numbers got(32);
        CUDA_OK(cudaMemcpy(got.data(), y.data, sizeof(double) * 32, cudaMemcpyDeviceToHost));
        double sum = 0;
        for (double v : got) sum += v;
        return sum;
    };
    numbers slope(12);
    for (int i = 0; i < 12; i++) {
        numbers up = xs, down = xs;
        up[i] += 1e-5, down[i] -= 1e-5;
        slope[i] = (forward(up, true) - forward(down, true)) / 2e-5;
    }
    const double first = forward(xs, true);
    CHECK(fabs(forward(xs, false) - first) > 1e-6);
    CHECK(forward(xs, true) == first);
    OK(cudnnRNNBackwardData_v8(handle, rnn, NULL, yd, dy.data, dy.data, xd, dx.data, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, weight_bytes,
                               w.data, work_bytes, work, kept_bytes, kept));
    dx.compare("dx, dropout", slope, 1e-8);
    IS(cudnnRNNForward(handle, rnn, CUDNN_FWD_MODE_TRAINING, NULL, xd, dx.data, yd, dy.data, NULL, NULL, NULL, NULL, NULL, NULL, weight_bytes,
                       w.data, work_bytes, work, kept_bytes - 1, kept),
       BAD_PARAM);
    IS(cudnnSetRNNDescriptor_v8(rnn, CUDNN_RNN_ALGO_STANDARD, n.mode, n.bias, CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, CUDNN_DATA_DOUBLE,
                                CUDNN_DATA_DOUBLE, CUDNN_DEFAULT_MATH, n.input, n.hidden, 4, n.layers, d, 0),
       NOT_SUPPORTED);
    const int unsorted[] = {1, 2};
    IS(cudnnSetRNNDataDescriptor(xd, CUDNN_DATA_DOUBLE, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 2, 2, 3, unsorted, NULL), BAD_PARAM);
    OK(cudnnDestroyRNNDescriptor(rnn));
    OK(cudnnDestroyRNNDataDescriptor(xd));
    OK(cudnnDestroyRNNDataDescriptor(yd));
    OK(cudnnDestroyDropoutDescriptor(d));
    CUDA_OK(cudaFree(states));
    CUDA_OK(cudaFree(work));
    CUDA_OK(cudaFree(kept));
}

int main() {
    OK(cudnnCreate(&handle));
    for (int mode = CUDNN_RNN_RELU; mode <= CUDNN_GRU; mode++)
        for (int i = 0; i < 5; i++) {
            network n = {(cudnnRNNMode_t)mode, (cudnnRNNBiasMode_t)((mode + i) % 4), 1 + i % 2, 1 + (i + mode) % 3 % 2, 3, 5, i % 3, 4, {4, 3, 1},
                         i == 3 ? CUDNN_DATA_FLOAT : i == 4 ? CUDNN_DATA_HALF : CUDNN_DATA_DOUBLE};
            if (i == 2) n.lengths = {4, 4};
            test(n);
        }
    drop();
    OK(cudnnDestroy(handle));
    return check_done();
}
