/* SPDX-License-Identifier: Apache-2.0 */
/** Layers besides convolutions, with sums of one type over elements of any. Before it is included:
 * NAME, REAL, LOAD(tensor, offset), STORE(tensor, offset, value), and dnn_convolve.h. */

/* ---- elements ---- */

static __device__ REAL NAME(gelu)(REAL x) {
    return x * (REAL)0.5 * (1 + erf(x * (REAL)0.70710678118654752));
}

static __device__ REAL NAME(sigmoid)(REAL x) {
    return 1 / (1 + exp(-x));
}

static __device__ REAL NAME(binary)(const wpi_dnn_pointwise &p, REAL a, REAL b, REAL c) {
    switch (p.mode) {
    case CUDNN_POINTWISE_ADD: return a + b;
    case CUDNN_POINTWISE_ADD_SQUARE: return a + b * b;
    case CUDNN_POINTWISE_DIV: return a / b;
    case CUDNN_POINTWISE_MAX: return fmax(a, b);
    case CUDNN_POINTWISE_MIN: return fmin(a, b);
    case CUDNN_POINTWISE_MOD: return fmod(a, b);
    case CUDNN_POINTWISE_MUL: return a * b;
    case CUDNN_POINTWISE_POW: return pow(a, b);
    case CUDNN_POINTWISE_SUB: return a - b;
    case CUDNN_POINTWISE_ATAN2: return atan2(a, b);
    case CUDNN_POINTWISE_FLOOR_MOD: return a - b * floor(a / b);
    case CUDNN_POINTWISE_CMP_EQ: return a == b;
    case CUDNN_POINTWISE_CMP_NEQ: return a != b;
    case CUDNN_POINTWISE_CMP_GT: return a > b;
    case CUDNN_POINTWISE_CMP_GE: return a >= b;
    case CUDNN_POINTWISE_CMP_LT: return a < b;
    case CUDNN_POINTWISE_CMP_LE: return a <= b;
    case CUDNN_POINTWISE_LOGICAL_AND: return a != 0 && b != 0;
    case CUDNN_POINTWISE_LOGICAL_OR: return a != 0 || b != 0;
    default: return c != 0 ? a : b; /* CUDNN_POINTWISE_BINARY_SELECT */
    }
}

static __device__ REAL NAME(unary)(const wpi_dnn_pointwise &p, REAL x) {
    const REAL parameter = (REAL)p.parameter;
    switch (p.mode) {
    case CUDNN_POINTWISE_ABS: return fabs(x);
    case CUDNN_POINTWISE_CEIL: return ceil(x);
    case CUDNN_POINTWISE_COS: return cos(x);
    case CUDNN_POINTWISE_EXP: return exp(x);
    case CUDNN_POINTWISE_FLOOR: return floor(x);
    case CUDNN_POINTWISE_LOG: return log(x);
    case CUDNN_POINTWISE_NEG: return -x;
    case CUDNN_POINTWISE_RSQRT: return 1 / sqrt(x);
    case CUDNN_POINTWISE_SIN: return sin(x);
    case CUDNN_POINTWISE_SQRT: return sqrt(x);
    case CUDNN_POINTWISE_TAN: return tan(x);
    case CUDNN_POINTWISE_ERF: return erf(x);
    case CUDNN_POINTWISE_RECIPROCAL: return 1 / x;
    case CUDNN_POINTWISE_LOGICAL_NOT: return x == 0;
    case WPI_DNN_ONE_LESS: return 1 - x;
    case CUDNN_POINTWISE_RELU_FWD:
        if (x > p.upper) return (REAL)p.upper;
        if (x > p.lower || p.slope == 0) return fmax(x, (REAL)p.lower);
        return (REAL)p.lower + (REAL)p.slope * (x - (REAL)p.lower);
    case CUDNN_POINTWISE_TANH_FWD: return tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD: return NAME(sigmoid)(x);
    case CUDNN_POINTWISE_ELU_FWD: return x > 0 ? x : parameter * (exp(x) - 1);
    case CUDNN_POINTWISE_GELU_FWD: return NAME(gelu)(x);
    case CUDNN_POINTWISE_SOFTPLUS_FWD: return log(1 + exp(parameter * x)) / parameter;
    case CUDNN_POINTWISE_SWISH_FWD: return x * NAME(sigmoid)(parameter * x);
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
        return x * (REAL)0.5 *
               (1 + tanh((REAL)0.79788456080286536 * (x + (REAL)0.044715 * x * x * x)));
    default: return x; /* CUDNN_POINTWISE_IDENTITY */
    }
}

/* The derivative, of the function's argument or of its result. */
static __device__ REAL NAME(slope)(const wpi_dnn_pointwise &p, REAL x) {
    const REAL parameter = (REAL)p.parameter;
    switch (p.mode) {
    case CUDNN_POINTWISE_RELU_BWD:
        return x > p.lower ? x < p.upper || isinf(p.upper) : (REAL)p.slope;
    case CUDNN_POINTWISE_TANH_BWD: {
        const REAL y = p.is_of_result ? x : tanh(x);
        return 1 - y * y;
    }
    case CUDNN_POINTWISE_SIGMOID_BWD: {
        const REAL y = p.is_of_result ? x : NAME(sigmoid)(x);
        return y * (1 - y);
    }
    case CUDNN_POINTWISE_ELU_BWD:
        return x > 0 ? 1 : p.is_of_result ? x + parameter : parameter * exp(x);
    case CUDNN_POINTWISE_GELU_BWD:
        return (REAL)0.5 * (1 + erf(x * (REAL)0.70710678118654752)) +
               x * exp((REAL)-0.5 * x * x) * (REAL)0.39894228040143268;
    case CUDNN_POINTWISE_SOFTPLUS_BWD: return NAME(sigmoid)(parameter * x);
    case CUDNN_POINTWISE_SWISH_BWD: {
        const REAL s = NAME(sigmoid)(parameter * x);
        return s + parameter * x * s * (1 - s);
    }
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD: {
        const REAL factor = (REAL)0.79788456080286536;
        const REAL t = tanh(factor * (x + (REAL)0.044715 * x * x * x));
        return (REAL)0.5 * (1 + t) +
               (REAL)0.5 * x * (1 - t * t) * factor * (1 + 3 * (REAL)0.044715 * x * x);
    }
    default: return 1;
    }
}

extern "C" __global__ void NAME(wpk_dnn_elements)(wpi_dnn_pointwise p, wpi_dnn_walk walk) {
    FOR_EACH(item, walk.count) {
        REAL a = 0, b = 0, c = 0, value;
        if (p.a.data != NULL) a = (REAL)p.alpha * LOAD(p.a, offset_of(walk, item, p.a));
        if (p.b.data != NULL) b = (REAL)p.beta * LOAD(p.b, offset_of(walk, item, p.b));
        if (p.c.data != NULL) c = LOAD(p.c, offset_of(walk, item, p.c));
        if (p.mode == CUDNN_POINTWISE_GEN_INDEX)
            value = at_axis(walk, item, p.axis);
        else if (p.mode >= CUDNN_POINTWISE_RELU_BWD && p.mode < CUDNN_POINTWISE_CMP_EQ)
            value = a * NAME(slope)(p, b);
        else if (p.b.data != NULL)
            value = NAME(binary)(p, a, b, c);
        else
            value = NAME(unary)(p, a);
        NAME(put)(p.y, offset_of(walk, item, p.y), value, (REAL)p.scale, (REAL)p.old);
    }
}

static cudaError_t NAME(elements)(cudaStream_t stream, const wpi_dnn_pointwise *p) {
    wpi_dnn_walk walk = walk_of(&p->y);
    return LAUNCH(NAME(wpk_dnn_elements), blocks(walk.count), (void *)p, &walk);
}

/* ---- reductions ---- */

static __device__ REAL NAME(join)(int op, REAL a, REAL b) {
    switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL:
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return a * b;
    case CUDNN_REDUCE_TENSOR_MIN: return fmin(a, b);
    case CUDNN_REDUCE_TENSOR_MAX:
    case CUDNN_REDUCE_TENSOR_AMAX: return fmax(a, b);
    default: return a + b;
    }
}

static __device__ REAL NAME(neutral)(int op) {
    switch (op) {
    case CUDNN_REDUCE_TENSOR_MUL:
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return 1;
    case CUDNN_REDUCE_TENSOR_MIN: return (REAL)INFINITY;
    case CUDNN_REDUCE_TENSOR_MAX:
    case CUDNN_REDUCE_TENSOR_AMAX: return -(REAL)INFINITY;
    default: return 0;
    }
}

static __device__ REAL NAME(prepared)(int op, REAL x) {
    switch (op) {
    case CUDNN_REDUCE_TENSOR_AMAX:
    case CUDNN_REDUCE_TENSOR_NORM1: return fabs(x);
    case CUDNN_REDUCE_TENSOR_NORM2: return x * x;
    case CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: return x == 0 ? 1 : x;
    default: return x;
    }
}

/* A warp an element of y. */
extern "C" __global__ void NAME(wpk_dnn_reduction)(wpi_dnn_reduction p, wpi_dnn_walk outer,
                                                   wpi_dnn_walk inner) {
    FOR_EACH_WARP(item, outer.count) {
        const long long base = offset_of(outer, item, p.x);
        REAL value = NAME(neutral)(p.op);
        for (unsigned i = LANE; i < inner.count; i += 32)
            value = NAME(join)(p.op, value,
                               NAME(prepared)(p.op, LOAD(p.x, base + offset_of(inner, i, p.x))));
        for (int distance = 16; distance > 0; distance /= 2)
            value = NAME(join)(p.op, value, __shfl_down_sync(0xffffffffu, value, distance));
        if (p.op == CUDNN_REDUCE_TENSOR_AVG) value /= inner.count;
        if (p.op == CUDNN_REDUCE_TENSOR_NORM2) value = sqrt(value);
        if (LANE == 0)
            NAME(put)(p.y, offset_of(outer, item, p.y), value, (REAL)p.alpha, (REAL)p.beta);
    }
}

static cudaError_t NAME(reduction)(cudaStream_t stream, const wpi_dnn_reduction *p) {
    wpi_dnn_walk outer = walk_of(&p->y), inner = walk_where(&p->x, &p->y);
    return LAUNCH(NAME(wpk_dnn_reduction), blocks(outer.count * 32ll), (void *)p, &outer, &inner);
}

/* ---- products ---- */

extern "C" __global__ void NAME(wpk_dnn_matmul)(wpi_dnn_matmul p, wpi_dnn_walk walk) {
    FOR_EACH(item, walk.count) {
        long long row = offset_of(walk, item, p.a), column = offset_of(walk, item, p.b);
        REAL sum = 0;
        for (int k = 0; k < p.depth; k++) {
            sum += LOAD(p.a, row) * LOAD(p.b, column);
            row += p.a_step;
            column += p.b_step;
        }
        STORE(p.y, offset_of(walk, item, p.y), sum);
    }
}

static cudaError_t NAME(matmul)(cudaStream_t stream, const wpi_dnn_matmul *p) {
    wpi_dnn_walk walk = walk_of(&p->y);
    return LAUNCH(NAME(wpk_dnn_matmul), blocks(walk.count), (void *)p, &walk);
}

/* ---- pooling ---- */

typedef struct NAME(pooled) {
    REAL value;
    long long offset; /* of the largest in x */
    int count;        /* what an average is divided by */
} NAME(pooled);

static __device__ NAME(pooled)
    NAME(pool)(const wpi_dnn_pooling &p, int n, int c, int z, int row, int column) {
    const bool is_max = p.mode == CUDNN_POOLING_MAX || p.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    const int d0 = z * p.step[0] - p.pad[0], h0 = row * p.step[1] - p.pad[1],
              w0 = column * p.step[2] - p.pad[2];
    NAME(pooled) pooled = {is_max ? -(REAL)INFINITY : 0, -1, 0};
    for (int d = d0 < 0 ? 0 : d0; d < d0 + p.window[0] && d < p.x.size[2]; d++) {
        for (int h = h0 < 0 ? 0 : h0; h < h0 + p.window[1] && h < p.x.size[3]; h++) {
            for (int w = w0 < 0 ? 0 : w0; w < w0 + p.window[2] && w < p.x.size[4]; w++) {
                const long long offset = n * p.x.stride[0] + c * p.x.stride[1] + d * p.x.stride[2] +
                                         h * p.x.stride[3] + w * p.x.stride[4];
                const REAL value = p.x.data != NULL ? LOAD(p.x, offset) : 0;
                pooled.count++;
                if (!is_max) {
                    pooled.value += value;
                } else if (value > pooled.value || pooled.offset < 0) {
                    pooled.value = value;
                    pooled.offset = offset;
                }
            }
        }
    }
    if (p.mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING)
        pooled.count = p.window[0] * p.window[1] * p.window[2];
    if (!is_max && pooled.count > 0) pooled.value /= pooled.count;
    return pooled;
}

extern "C" __global__ void NAME(wpk_dnn_pool)(wpi_dnn_pooling p, wpi_dnn_walk walk) {
    FOR_EACH(item, walk.count) {
        const NAME(pooled) pooled =
            NAME(pool)(p, at(walk, item, 0), at(walk, item, 1), at(walk, item, 2),
                       at(walk, item, 3), at(walk, item, 4));
        NAME(put)(p.y, offset_of(walk, item, p.y), pooled.value, (REAL)p.alpha, (REAL)p.beta);
    }
}

/* A thread an element of dx: the windows that it was part of. */
extern "C" __global__ void NAME(wpk_dnn_pool_back)(wpi_dnn_pooling p, wpi_dnn_walk walk) {
    const bool is_max = p.mode == CUDNN_POOLING_MAX || p.mode == CUDNN_POOLING_MAX_DETERMINISTIC;
    FOR_EACH(item, walk.count) {
        const int n = at(walk, item, 0), c = at(walk, item, 1);
        const int d = at(walk, item, 2), h = at(walk, item, 3), w = at(walk, item, 4);
        const long long own = offset_of(walk, item, p.x);
        REAL sum = 0;
        for (int z = first_window(d, p, 0); z < p.dy.size[2] && z * p.step[0] - p.pad[0] <= d; z++)
            for (int i = first_window(h, p, 1); i < p.dy.size[3] && i * p.step[1] - p.pad[1] <= h;
                 i++)
                for (int j = first_window(w, p, 2);
                     j < p.dy.size[4] && j * p.step[2] - p.pad[2] <= w; j++) {
                    const NAME(pooled) pooled = NAME(pool)(p, n, c, z, i, j);
                    const REAL change =
                        LOAD(p.dy, n * p.dy.stride[0] + c * p.dy.stride[1] + z * p.dy.stride[2] +
                                       i * p.dy.stride[3] + j * p.dy.stride[4]);
                    if (!is_max)
                        sum += change / pooled.count;
                    else if (pooled.offset == own)
                        sum += change;
                }
        NAME(put)(p.dx, offset_of(walk, item, p.dx), sum, (REAL)p.alpha, (REAL)p.beta);
    }
}

static cudaError_t NAME(pooling)(cudaStream_t stream, const wpi_dnn_pooling *p, int is_backward) {
    wpi_dnn_walk walk = walk_of(is_backward ? &p->dx : &p->y);
    return is_backward ? LAUNCH(NAME(wpk_dnn_pool_back), blocks(walk.count), (void *)p, &walk)
                       : LAUNCH(NAME(wpk_dnn_pool), blocks(walk.count), (void *)p, &walk);
}

/* ---- softmax ---- */

static __device__ REAL NAME(warp_sum)(REAL value) {
    WARP_SUM(value);
    return __shfl_sync(0xffffffffu, value, 0);
}

/* A warp a distribution. */
extern "C" __global__ void NAME(wpk_dnn_softmax)(wpi_dnn_softmax p, wpi_dnn_walk outer,
                                                 wpi_dnn_walk inner) {
    FOR_EACH_WARP(item, outer.count) {
        const long long x0 = offset_of(outer, item, p.x), y0 = offset_of(outer, item, p.y);
        REAL largest = -(REAL)INFINITY, sum = 0;
        for (unsigned i = LANE; i < inner.count; i += 32)
            largest = fmax(largest, LOAD(p.x, x0 + offset_of(inner, i, p.x)));
        for (int distance = 16; distance > 0; distance /= 2)
            largest = fmax(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
        for (unsigned i = LANE; i < inner.count; i += 32)
            sum += exp(LOAD(p.x, x0 + offset_of(inner, i, p.x)) - largest);
        sum = NAME(warp_sum)(sum);
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL x = LOAD(p.x, x0 + offset_of(inner, i, p.x)) - largest;
            NAME(put)(p.y, y0 + offset_of(inner, i, p.y), p.is_log ? x - log(sum) : exp(x) / sum,
                      (REAL)p.alpha, (REAL)p.beta);
        }
    }
}

/* x = dx. */
extern "C" __global__ void NAME(wpk_dnn_softmax_back)(wpi_dnn_softmax p, wpi_dnn_walk outer,
                                                      wpi_dnn_walk inner) {
    FOR_EACH_WARP(item, outer.count) {
        const long long x0 = offset_of(outer, item, p.x), y0 = offset_of(outer, item, p.y),
                        dy0 = offset_of(outer, item, p.dy);
        REAL sum = 0;
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL dy = LOAD(p.dy, dy0 + offset_of(inner, i, p.dy));
            sum += p.is_log ? dy : dy * LOAD(p.y, y0 + offset_of(inner, i, p.y));
        }
        sum = NAME(warp_sum)(sum);
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL dy = LOAD(p.dy, dy0 + offset_of(inner, i, p.dy)),
                       y = LOAD(p.y, y0 + offset_of(inner, i, p.y));
            NAME(put)(p.x, x0 + offset_of(inner, i, p.x),
                      p.is_log ? dy - exp(y) * sum : y * (dy - sum), (REAL)p.alpha, (REAL)p.beta);
        }
    }
}

static cudaError_t NAME(softmax)(cudaStream_t stream, const wpi_dnn_softmax *p, int is_by_channel) {
    wpi_dnn_walk outer = walk_dims(&p->y, is_by_channel ? ~2u : 1u),
                 inner = walk_dims(&p->y, is_by_channel ? 2u : ~1u);
    const unsigned grid = blocks(outer.count * 32ll);
    return p->dy.data != NULL ? LAUNCH(NAME(wpk_dnn_softmax_back), grid, (void *)p, &outer, &inner)
                              : LAUNCH(NAME(wpk_dnn_softmax), grid, (void *)p, &outer, &inner);
}

/* ---- batch normalisation ---- */

/* A warp a parameter. */
extern "C" __global__ void NAME(wpk_dnn_norm)(wpi_dnn_norm p, wpi_dnn_walk outer,
                                              wpi_dnn_walk inner) {
    FOR_EACH_WARP(item, outer.count) {
        const long long x0 = offset_of(outer, item, p.x), y0 = offset_of(outer, item, p.y),
                        own = offset_of(outer, item, p.parameter);
        const REAL factor = ((const REAL *)p.parameter.data)[own],
                   bias = ((const REAL *)p.bias)[own];
        REAL mean, variance;
        if (p.is_training) {
            REAL sum = 0;
            for (unsigned i = LANE; i < inner.count; i += 32)
                sum += LOAD(p.x, x0 + offset_of(inner, i, p.x));
            mean = NAME(warp_sum)(sum) / inner.count;
            sum = 0;
            for (unsigned i = LANE; i < inner.count; i += 32) {
                const REAL off = LOAD(p.x, x0 + offset_of(inner, i, p.x)) - mean;
                sum += off * off;
            }
            sum = NAME(warp_sum)(sum);
            variance = sum / inner.count;
            const REAL momentum = (REAL)p.momentum;
            if (LANE == 0 && p.mean != NULL) {
                REAL *running = (REAL *)p.mean + own;
                *running = momentum == 1 ? mean : *running * (1 - momentum) + mean * momentum;
            }
            if (LANE == 0 && p.variance != NULL) {
                REAL *running = (REAL *)p.variance + own;
                const REAL unbiased = inner.count > 1 ? sum / (inner.count - 1) : variance;
                *running =
                    momentum == 1 ? unbiased : *running * (1 - momentum) + unbiased * momentum;
            }
        } else {
            mean = ((const REAL *)p.mean)[own];
            variance = ((const REAL *)p.variance)[own];
        }
        const REAL inverse = 1 / sqrt(variance + (REAL)p.epsilon);
        if (LANE == 0 && p.kept_mean != NULL) ((REAL *)p.kept_mean)[own] = mean;
        if (LANE == 0 && p.kept_inverse != NULL) ((REAL *)p.kept_inverse)[own] = inverse;
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL x = LOAD(p.x, x0 + offset_of(inner, i, p.x));
            NAME(put)(p.y, y0 + offset_of(inner, i, p.y), (x - mean) * inverse * factor + bias,
                      (REAL)p.alpha, (REAL)p.beta);
        }
    }
}

static __device__ void NAME(put_parameter)(void *to, long long at, REAL value, REAL alpha,
                                           REAL beta) {
    REAL *cell = (REAL *)to + at;
    *cell = beta == 0 ? alpha * value : alpha * value + beta * *cell;
}

/* y = dx. */
extern "C" __global__ void NAME(wpk_dnn_norm_back)(wpi_dnn_norm p, wpi_dnn_walk outer,
                                                   wpi_dnn_walk inner) {
    FOR_EACH_WARP(item, outer.count) {
        const long long x0 = offset_of(outer, item, p.x), y0 = offset_of(outer, item, p.y),
                        dy0 = offset_of(outer, item, p.dy),
                        own = offset_of(outer, item, p.parameter);
        const REAL factor = ((const REAL *)p.parameter.data)[own];
        REAL mean, inverse, sum = 0, moment = 0;
        if (p.kept_mean != NULL && p.kept_inverse != NULL) {
            mean = ((const REAL *)p.kept_mean)[own];
            inverse = ((const REAL *)p.kept_inverse)[own];
        } else {
            REAL squares = 0;
            for (unsigned i = LANE; i < inner.count; i += 32)
                sum += LOAD(p.x, x0 + offset_of(inner, i, p.x));
            mean = NAME(warp_sum)(sum) / inner.count;
            for (unsigned i = LANE; i < inner.count; i += 32) {
                const REAL off = LOAD(p.x, x0 + offset_of(inner, i, p.x)) - mean;
                squares += off * off;
            }
            inverse = 1 / sqrt(NAME(warp_sum)(squares) / inner.count + (REAL)p.epsilon);
            sum = 0;
        }
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL dy = LOAD(p.dy, dy0 + offset_of(inner, i, p.dy));
            sum += dy;
            moment += dy * (LOAD(p.x, x0 + offset_of(inner, i, p.x)) - mean) * inverse;
        }
        sum = NAME(warp_sum)(sum);
        moment = NAME(warp_sum)(moment);
        for (unsigned i = LANE; i < inner.count; i += 32) {
            const REAL dy = LOAD(p.dy, dy0 + offset_of(inner, i, p.dy)),
                       x = (LOAD(p.x, x0 + offset_of(inner, i, p.x)) - mean) * inverse;
            NAME(put)(p.y, y0 + offset_of(inner, i, p.y),
                      factor * inverse * (dy - sum / inner.count - x * moment / inner.count),
                      (REAL)p.alpha, (REAL)p.beta);
        }
        if (LANE != 0) continue;
        NAME(put_parameter)(p.factor_change, own, moment, (REAL)p.parameter_alpha,
                            (REAL)p.parameter_beta);
        NAME(put_parameter)(p.bias_change, own, sum, (REAL)p.parameter_alpha,
                            (REAL)p.parameter_beta);
    }
}

static cudaError_t NAME(norm)(cudaStream_t stream, const wpi_dnn_norm *p, int is_backward) {
    wpi_dnn_walk outer = walk_of(&p->parameter), inner = walk_where(&p->x, &p->parameter);
    const unsigned grid = blocks(outer.count * 32ll);
    return is_backward ? LAUNCH(NAME(wpk_dnn_norm_back), grid, (void *)p, &outer, &inner)
                       : LAUNCH(NAME(wpk_dnn_norm), grid, (void *)p, &outer, &inner);
}
