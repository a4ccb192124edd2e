/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcurand
/* cuRAND's generators of Mersenne Twister: the numbers of streams beside MT19937 as its authors wrote it, an offset, moments. */
#include <curand.h>
#include <math.h>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CURAND_STATUS_SUCCESS)
#define STREAMS 4096u

/* All words are made at once. */
struct twister {
    unsigned int words[624];
    int at = 624;
    twister(const unsigned int *key, int length) {
        words[0] = 19650218u;
        for (int i = 1; i < 624; i++)
            words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + (unsigned)i;
        int i = 1, j = 0;
        for (int k = 624; k > 0; k--) {
            words[i] = (words[i] ^ (words[i - 1] ^ words[i - 1] >> 30) * 1664525u) + key[j] + (unsigned)j;
            if (++i >= 624) words[0] = words[623], i = 1;
            if (++j >= length) j = 0;
        }
        for (int k = 623; k > 0; k--) {
            words[i] = (words[i] ^ (words[i - 1] ^ words[i - 1] >> 30) * 1566083941u) - (unsigned)i;
            if (++i >= 624) words[0] = words[623], i = 1;
        }
        words[0] = 0x80000000u;
    }
    unsigned int next() {
        if (at == 624) {
            for (int i = 0; i < 624; i++) {
                const unsigned int y = (words[i] & 0x80000000u) | (words[(i + 1) % 624] & 0x7fffffffu);
                words[i] = words[(i + 397) % 624] ^ y >> 1 ^ (y % 2 != 0 ? 0x9908b0dfu : 0u);
            }
            at = 0;
        }
        unsigned int x = words[at++];
        x ^= x >> 11;
        x ^= x << 7 & 0x9d2c5680u;
        x ^= x << 15 & 0xefc60000u;
        return x ^ x >> 18;
    }
};

/* More than a stream has words on the CPU; elsewhere, where it takes long, more than are made of words as seeded. */
static unsigned int turns_of_device() {
    const char *device = getenv("WARPAGE_DEVICE");
    return device == NULL || strcmp(device, "cpu") == 0 ? 640 : 230;
}

static void numbers() {
    const unsigned int turns = turns_of_device();
    const unsigned int published_key[] = {0x123, 0x234, 0x345, 0x456};
    const unsigned int published[] = {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u};
    twister reference(published_key, 4);
    for (unsigned int x : published)
        CHECK_EQ(reference.next(), x);

    const size_t count = (size_t)STREAMS * turns, skipped = 3 * STREAMS + 5, rest = 1000;
    unsigned int *x = check_managed<unsigned int>(count), *y = check_managed<unsigned int>(rest);
    curandGenerator_t g;
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MT19937));
    OK(curandSetPseudoRandomGeneratorSeed(g, 0x123456789abcdefull));
    OK(curandGenerate(g, x, count));
    CUDA_OK(cudaDeviceSynchronize());
    const unsigned int tried[] = {0, 1, 17, STREAMS - 1};
    for (unsigned int stream : tried) {
        const unsigned int key[] = {0x89abcdefu, 0x1234567u, stream};
        twister own(key, 3);
        unsigned int differences = 0;
        for (unsigned int i = 0; i < turns; i++)
            differences += x[(size_t)i * STREAMS + stream] != own.next();
        CHECK_EQ(differences, 0u);
    }
    OK(curandSetGeneratorOffset(g, skipped));
    OK(curandGenerate(g, y, rest));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(memcmp(x + skipped, y, rest * sizeof *y) == 0);
    OK(curandDestroyGenerator(g));
    CUDA_OK(cudaFree(x));
    CUDA_OK(cudaFree(y));
}

static void distributions() {
    const size_t n = 8192;
    float *f = check_managed<float>(n);
    double *d = check_managed<double>(n), sum = 0, squares = 0, sum_double = 0;
    curandGenerator_t g;
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MTGP32));
    OK(curandGenerateNormal(g, f, n, 1, 2));
    OK(curandGenerateUniformDouble(g, d, n));
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < n; i++) {
        sum += f[i];
        squares += (double)f[i] * f[i];
        sum_double += d[i];
        if (!(d[i] > 0 && d[i] <= 1)) CHECK(!"a number outside (0, 1]");
    }
    const double mean = sum / n;
    CHECK(fabs(mean - 1) < 5 * 2 / sqrt(n)); /* five standard deviations */
    CHECK(fabs(squares / n - mean * mean - 4) < 5 * sqrt(32. / n));
    CHECK(fabs(sum_double / n - 0.5) < 5 * sqrt(1. / 12 / n));
    OK(curandDestroyGenerator(g));
    CUDA_OK(cudaFree(f));
    CUDA_OK(cudaFree(d));
}

int main() {
    numbers();
    distributions();
    return check_done();
}
