/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upper: a text in capital letters. A thread goes through a part of it, a byte at a time, and
 * writes each byte to a second array. The second form reads and writes 16 bytes at a time.
 */
#include <stdio.h>

#include "common/kernel.h"
#include "common/letters.h"
#include "common/report.h"

static __host__ __device__ __forceinline__ char upper(char c) {
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

__global__ void upper_bytes(const char *__restrict__ in, char *__restrict__ out, size_t bytes,
                            size_t share) {
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
    app_letters l;
    app_array out;
    app_letters_open(&l, argc, argv, &program, &common, &how, options);
    /* As long as the text, whose last vector may end behind it. */
    app_array_create(&l.device, &out, l.text.size_bytes, 1, "out", APP_ROLE_STATE);

    app_kernels_begin(&l.device);
    if (how.form == 0) {
        upper_bytes<<<l.blocks, l.threads>>>((const char *)l.text.device, (char *)out.device,
                                             l.bytes, l.share);
    } else {
        upper_vectors<<<l.blocks, l.threads>>>((const char *)l.text.device, (char *)out.device,
                                               l.bytes, l.share);
    }
    app_kernels_end(&l.device, "upper", 1);
    app_array_to_host(&l.device, &out);

    const char *made = (const char *)out.host;
    uint64_t capitals = 0;
    for (size_t i = 0; i < l.bytes; i++) {
        capitals += made[i] >= 'A' && made[i] <= 'Z';
    }
    printf("text       %s bytes, %s capital letters\n", app_count(l.bytes), app_count(capitals));
    app_device_report(&l.device, 2.0 * (double)l.bytes, "B");
    const bool is_right = !common.check || check(l.loaded, made, l.bytes);
    app_array_free(&l.device, &out);
    app_letters_close(&l);
    return is_right ? 0 : 1;
}
