/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upper: a text in capital letters. A thread goes through a part of it, a byte at a time, and
 * writes each byte to a second array. The second form reads and writes 16 bytes at a time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/kernel.h"
#include "common/letters.h"
#include "common/memory.h"
#include "common/report.h"

static __host__ __device__ __forceinline__ char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

__global__ void upper_bytes(const char *in, char *out, size_t bytes, size_t share) {
    const size_t first = app_thread() * share;
    const size_t outer = first + share < bytes ? first + share : bytes;
    for (size_t i = first; i < outer; i++) {
        out[i] = upper(in[i]);
    }
}

static __device__ __forceinline__ unsigned upper_four(unsigned four) {
    unsigned made = 0;
#pragma unroll
    for (unsigned b = 0; b < 32; b += 8) {
        made |= (unsigned)(unsigned char)upper((char)(four >> b)) << b;
    }
    return made;
}

__global__ void upper_vectors(const char *in, char *out, size_t bytes, size_t share) {
    const size_t first = app_thread() * share;
    const size_t outer = first + share < bytes ? first + share : bytes;
    for (size_t i = first; i < outer; i += 16) {
        const uint4 v = *(const uint4 *)(in + i);
        *(uint4 *)(out + i) =
            make_uint4(upper_four(v.x), upper_four(v.y), upper_four(v.z), upper_four(v.w));
    }
}

static bool check(const char *text, const char *made, size_t bytes) {
    size_t different = 0;
    for (size_t i = 0; i < bytes; i++) {
        different += made[i] != upper(text[i]);
    }
    printf("check      %s bytes against a serial loop: %s, %s differ\n", app_count(bytes),
           different == 0 ? "equal" : "DIFFERENT", app_count(different));
    return different == 0;
}

int main(int argc, char **argv) {
    const app_program program = {"cache-upper", "a text in capital letters, a byte at a time",
                                 "bytes of the generated text", "any file (also .zst)",
                                 "cache-upper --size 8MiB --threads 512 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_letters_options how = APP_LETTERS_OPTIONS_DEFAULT;
    const app_option options[] = {APP_LETTERS_OPTIONS(how),
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    size_t bytes;
    char *loaded = app_letters_load(&common, (size_t)4 << 20, &bytes);

    app_device device;
    app_array in, out;
    app_device_open(&device, common.memory);
    cudaDeviceProp properties;
    app_cuda_check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "", 0);
    const unsigned blocks = (unsigned)how.blocks_per_sm * (unsigned)properties.multiProcessorCount;
    const unsigned threads = (unsigned)how.threads;
    const size_t share = app_letters_share(bytes, (size_t)blocks * threads);
    const size_t padded_bytes = (bytes + 15) / 16 * 16; /* the last vector may end behind the text */
    app_array_create(&device, &in, padded_bytes, 1, "in", APP_ROLE_INPUT);
    app_array_create(&device, &out, padded_bytes, 1, "out", APP_ROLE_STATE);
    for (size_t i = 0; i < padded_bytes; i++) {
        ((char *)in.host)[i] = i < bytes ? loaded[i] : ' ';
    }
    app_array_to_device(&device, &in);

    app_kernels_begin(&device);
    if (how.form == 0) {
        upper_bytes<<<blocks, threads>>>((const char *)in.device, (char *)out.device, bytes, share);
    } else {
        upper_vectors<<<blocks, threads>>>((const char *)in.device, (char *)out.device, bytes,
                                           share);
    }
    app_kernels_end(&device, "upper", 1);
    app_array_to_host(&device, &out);

    const char *made = (const char *)out.host;
    uint64_t capitals = 0;
    for (size_t i = 0; i < bytes; i++) {
        capitals += made[i] >= 'A' && made[i] <= 'Z';
    }
    printf("text       %s bytes, %s capital letters\n", app_count(bytes), app_count(capitals));
    app_device_report(&device, 2.0 * (double)bytes, "B");
    const bool is_right = !common.check || check(loaded, made, bytes);
    app_array_free(&device, &in);
    app_array_free(&device, &out);
    app_device_close(&device);
    free(loaded);
    return is_right ? 0 : 1;
}
