/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of one generator: NAME(x), STATE. Included once a generator. */
extern "C" __global__ void NAME(wpk_random_start)(STATE *states, unsigned long long seed, unsigned long long skipped) {
    const unsigned int stream = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(seed, stream, skipped / WPI_RANDOM_STREAMS + (stream < skipped % WPI_RANDOM_STREAMS ? 1 : 0), &states[stream]);
}

extern "C" __global__ void NAME(wpk_random)(wpi_draw d) {
    const unsigned int stream = blockIdx.x * blockDim.x + threadIdx.x;
    STATE *state = (STATE *)d.states + stream, own = *state;
    for (unsigned long long i = (stream - d.first) % WPI_RANDOM_STREAMS; i < d.count; i += WPI_RANDOM_STREAMS) {
        switch (d.distribution) {
        case WPI_DISTRIBUTION_BITS: ((unsigned int *)d.out)[i] = curand(&own); break;
        case WPI_DISTRIBUTION_UNIFORM: ((float *)d.out)[i] = curand_uniform(&own); break;
        case WPI_DISTRIBUTION_UNIFORM_DOUBLE: ((double *)d.out)[i] = curand_uniform_double(&own); break;
        case WPI_DISTRIBUTION_POISSON: ((unsigned int *)d.out)[i] = curand_poisson(&own, d.mean); break;
        case WPI_DISTRIBUTION_NORMAL:
        case WPI_DISTRIBUTION_LOG_NORMAL: {
            const float2 pair = curand_normal2(&own);
            const float a = (float)d.mean + (float)d.deviation * pair.x, b = (float)d.mean + (float)d.deviation * pair.y;
            const bool is_log = d.distribution == WPI_DISTRIBUTION_LOG_NORMAL;
            ((float *)d.out)[2 * i] = is_log ? expf(a) : a;
            ((float *)d.out)[2 * i + 1] = is_log ? expf(b) : b;
            break;
        }
        default: {
            const double2 pair = curand_normal2_double(&own);
            const double a = d.mean + d.deviation * pair.x, b = d.mean + d.deviation * pair.y;
            const bool is_log = d.distribution == WPI_DISTRIBUTION_LOG_NORMAL_DOUBLE;
            ((double *)d.out)[2 * i] = is_log ? exp(a) : a;
            ((double *)d.out)[2 * i + 1] = is_log ? exp(b) : b;
            break;
        }
        }
    }
    *state = own;
}

static cudaError_t NAME(start)(cudaStream_t stream, void *states, unsigned long long seed, unsigned long long skipped) {
    void *arguments[] = {&states, &seed, &skipped};
    return cudaLaunchKernel((const void *)NAME(wpk_random_start), dim3(WPI_RANDOM_STREAMS / BLOCK), dim3(BLOCK), arguments, 0,
                            stream);
}

static cudaError_t NAME(draw)(cudaStream_t stream, const wpi_draw *draw) {
    void *arguments[] = {(void *)draw};
    return cudaLaunchKernel((const void *)NAME(wpk_random), dim3(WPI_RANDOM_STREAMS / BLOCK), dim3(BLOCK), arguments, 0, stream);
}
