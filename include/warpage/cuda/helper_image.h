/* SPDX-License-Identifier: Apache-2.0 */
/** PGM and PPM pictures, raw files, and comparison of results with a tolerance. */
#ifndef WARPAGE_CUDA_HELPER_IMAGE_H
#define WARPAGE_CUDA_HELPER_IMAGE_H

#ifndef COMMON_HELPER_IMAGE_H_
#define COMMON_HELPER_IMAGE_H_
#endif

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

/* ---- pictures -------------------------------------------------------------------------------- */

/* The next number of a PNM header, past white space and comments. */
inline bool wp_pnm_number(FILE *file, unsigned int *out) {
    int c = fgetc(file);
    while (c == '#' || c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        if (c == '#') {
            while (c != '\n' && c != EOF) {
                c = fgetc(file);
            }
        }
        c = fgetc(file);
    }
    unsigned int value = 0;
    bool has_digit = false;
    for (; c >= '0' && c <= '9'; c = fgetc(file)) {
        value = value * 10 + (unsigned int)(c - '0');
        has_digit = true;
    }
    *out = value;
    return has_digit;
}

/** Reads a binary PGM (1 channel) or PPM (3). Allocates *data if it is NULL. */
inline bool __loadPPM(const char *file, unsigned char **data, unsigned int *w, unsigned int *h,
                      unsigned int *channels) {
    FILE *in = fopen(file, "rb");
    if (in == NULL) {
        std::cerr << "__LoadPPM() : Failed to open file: " << file << std::endl;
        return false;
    }
    const int p = fgetc(in), kind = fgetc(in);
    unsigned int width = 0, height = 0, largest = 0;
    bool ok = p == 'P' && (kind == '5' || kind == '6') && wp_pnm_number(in, &width) &&
              wp_pnm_number(in, &height) && wp_pnm_number(in, &largest) && largest < 256;
    if (!ok) {
        std::cerr << "__LoadPPM() : File is not a PPM or PGM image" << std::endl;
    }
    const unsigned int count = kind == '5' ? 1 : 3;
    const size_t bytes = (size_t)width * height * count;
    if (ok && *data != NULL && (*w != width || *h != height)) {
        std::cerr << "__LoadPPM() : Invalid image dimensions." << std::endl;
        ok = false;
    }
    if (ok) {
        unsigned char *const own = *data == NULL ? (unsigned char *)malloc(bytes) : NULL;
        unsigned char *const to = *data == NULL ? own : *data;
        if (to == NULL || fread(to, 1, bytes, in) != bytes) {
            std::cerr << "__LoadPPM() read data returned error." << std::endl;
            free(own);
            ok = false;
        } else {
            *data = to;
            *w = width;
            *h = height;
            *channels = count;
        }
    }
    fclose(in);
    return ok;
}

inline bool __savePPM(const char *file, unsigned char *data, unsigned int w, unsigned int h,
                      unsigned int channels) {
    FILE *out = fopen(file, "wb");
    if (out == NULL) {
        std::cerr << "__savePPM() : Opening file failed: " << file << std::endl;
        return false;
    }
    const size_t bytes = (size_t)w * h * channels;
    fprintf(out, "P%c\n%u\n%u\n255\n", channels == 1 ? '5' : '6', w, h);
    const bool is_written = fwrite(data, 1, bytes, out) == bytes;
    return (fclose(out) == 0) && is_written;
}

/** A PPM as 4 bytes a pixel, the last 0. */
inline bool sdkLoadPPM4ub(const char *file, unsigned char **data, unsigned int *w,
                          unsigned int *h) {
    unsigned char *rgb = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &rgb, w, h, &channels) || channels != 3) {
        free(rgb);
        return false;
    }
    const size_t pixels = (size_t)*w * *h;
    *data = (unsigned char *)malloc(pixels * 4);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t k = 0; k < 3; k++) {
            (*data)[4 * i + k] = rgb[3 * i + k];
        }
        (*data)[4 * i + 3] = 0;
    }
    free(rgb);
    return true;
}
inline bool sdkLoadPPM4(const char *file, unsigned char **data, unsigned int *w, unsigned int *h) {
    return sdkLoadPPM4ub(file, data, w, h);
}
inline bool sdkSavePPM4ub(const char *file, unsigned char *data, unsigned int w, unsigned int h) {
    std::vector<unsigned char> rgb((size_t)w * h * 3);
    for (size_t i = 0; i < (size_t)w * h; i++) {
        for (size_t k = 0; k < 3; k++) {
            rgb[3 * i + k] = data[4 * i + k];
        }
    }
    return __savePPM(file, rgb.empty() ? NULL : &rgb[0], w, h, 3);
}

/* Storage of a pixel of type T: bytes unchanged, floats in 0 to 1. */
template <class T> inline T wp_pixel_of_byte(unsigned char byte) {
    return (T)byte;
}
template <> inline float wp_pixel_of_byte<float>(unsigned char byte) {
    return byte / 255.0f;
}
template <class T> inline unsigned char wp_byte_of_pixel(T pixel) {
    return (unsigned char)pixel;
}
template <> inline unsigned char wp_byte_of_pixel<float>(float pixel) {
    return (unsigned char)(pixel * 255.0f);
}

template <class T>
inline bool sdkLoadPGM(const char *file, T **data, unsigned int *w, unsigned int *h) {
    unsigned char *bytes = NULL;
    unsigned int channels = 0;
    if (!__loadPPM(file, &bytes, w, h, &channels)) {
        return false;
    }
    const size_t count = (size_t)*w * *h;
    if (*data == NULL) {
        *data = (T *)malloc(sizeof(T) * count);
    }
    for (size_t i = 0; i < count; i++) {
        (*data)[i] = wp_pixel_of_byte<T>(bytes[i]);
    }
    free(bytes);
    return true;
}
template <class T>
inline bool sdkSavePGM(const char *file, T *data, unsigned int w, unsigned int h) {
    std::vector<unsigned char> bytes((size_t)w * h);
    for (size_t i = 0; i < bytes.size(); i++) {
        bytes[i] = wp_byte_of_pixel<T>(data[i]);
    }
    return __savePPM(file, bytes.empty() ? NULL : &bytes[0], w, h, 1);
}

/* ---- raw files ------------------------------------------------------------------------------- */

/** Reads numbers from a text file into *data (at most *len), allocated if NULL. */
template <class T>
inline bool sdkReadFile(const char *filename, T **data, unsigned int *len, bool verbose) {
    std::ifstream in(filename);
    if (!in.good()) {
        if (verbose) {
            std::cerr << "sdkReadFile() : Opening file failed: " << filename << std::endl;
        }
        return false;
    }
    std::vector<T> values;
    T value;
    while (in >> value) {
        values.push_back(value);
    }
    if (*data == NULL) {
        *data = (T *)malloc(sizeof(T) * values.size());
        *len = (unsigned int)values.size();
    } else {
        *len = std::min(*len, (unsigned int)values.size());
    }
    for (unsigned int i = 0; i < *len; i++) {
        (*data)[i] = values[i];
    }
    return true;
}
template <class T, class S>
inline bool sdkWriteFile(const char *filename, const T *data, unsigned int len, const S epsilon,
                         bool verbose, bool append = false) {
    std::ofstream out(filename, append ? std::ios::out | std::ios::app : std::ios::out);
    if (!out.good()) {
        if (verbose) {
            std::cerr << "sdkWriteFile() : Opening file failed: " << filename << std::endl;
        }
        return false;
    }
    out << "# " << epsilon << "\n";
    for (unsigned int i = 0; i < len; i++) {
        out << data[i] << ' ';
    }
    out << std::endl;
    return out.good();
}
inline void sdkDumpBin(void *data, unsigned int bytes, const char *filename) {
    FILE *out = fopen(filename, "wb");
    if (out != NULL) {
        (void)!fwrite(data, 1, bytes, out);
        fclose(out);
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

/** Whether |reference - data| <= epsilon for all values, or for all but the share `threshold`. */
template <class T, class S>
inline bool compareData(const T *reference, const T *data, const unsigned int len, const S epsilon,
                        const float threshold) {
    unsigned int wrong = 0;
    for (unsigned int i = 0; i < len; i++) {
        const float difference = (float)reference[i] - (float)data[i];
        if (!(difference <= (float)epsilon && difference >= -(float)epsilon)) {
            wrong++;
        }
    }
    if (threshold == 0.0f) {
        return wrong == 0;
    }
    if (wrong != 0) {
        printf("%4.2f(%%) of bytes mismatched (count=%u)\n", (float)wrong * 100.0f / (float)len,
               wrong);
    }
    return (float)len * threshold > (float)wrong;
}
template <class T, class S>
inline bool compareDataAsFloatThreshold(const T *reference, const T *data, const unsigned int len,
                                        const S epsilon, const float threshold) {
    return compareData(reference, data, len, epsilon, threshold);
}
/** Whether the norm of the difference is below epsilon times the norm of the reference. */
inline bool sdkCompareL2fe(const float *reference, const float *data, const unsigned int len,
                           const float epsilon) {
    double error = 0, norm = 0;
    for (unsigned int i = 0; i < len; i++) {
        const double difference = (double)reference[i] - (double)data[i];
        error += difference * difference;
        norm += (double)reference[i] * (double)reference[i];
    }
    if (norm < 1e-7) {
        std::cerr << "ERROR, reference l2-norm is 0" << std::endl;
        return false;
    }
    return sqrt(error) / sqrt(norm) < (double)epsilon;
}
template <class T>
inline bool wp_compare_files(const char *src_file, const char *ref_file, unsigned int len,
                             const float epsilon, const float threshold, char *exec_path) {
    std::vector<T> src(len), ref(len);
    char *ref_path = sdkFindFilePath(ref_file, exec_path);
    FILE *a = fopen(src_file, "rb");
    FILE *b = ref_path != NULL ? fopen(ref_path, "rb") : NULL;
    const bool is_read = len > 0 && a != NULL && b != NULL &&
                         fread(&src[0], sizeof(T), len, a) == len &&
                         fread(&ref[0], sizeof(T), len, b) == len;
    if (a != NULL) {
        fclose(a);
    }
    if (b != NULL) {
        fclose(b);
    }
    free(ref_path);
    return is_read && compareData(&ref[0], &src[0], len, epsilon, threshold);
}
inline bool sdkCompareBin2BinUint(const char *src_file, const char *ref_file, unsigned int len,
                                  const float epsilon, const float threshold, char *exec_path) {
    return wp_compare_files<unsigned int>(src_file, ref_file, len, epsilon, threshold, exec_path);
}
inline bool sdkCompareBin2BinFloat(const char *src_file, const char *ref_file, unsigned int len,
                                   const float epsilon, const float threshold, char *exec_path) {
    return wp_compare_files<float>(src_file, ref_file, len, epsilon, threshold, exec_path);
}
inline bool sdkComparePPM(const char *src_file, const char *ref_file, const float epsilon,
                          const float threshold, bool verbose) {
    unsigned char *src = NULL, *ref = NULL;
    unsigned int sw = 0, sh = 0, rw = 0, rh = 0;
    bool is_same = sdkLoadPPM4ub(src_file, &src, &sw, &sh) &&
                   sdkLoadPPM4ub(ref_file, &ref, &rw, &rh) && sw == rw && sh == rh;
    is_same = is_same && compareData(ref, src, sw * sh * 4, epsilon, threshold);
    if (verbose) {
        printf("%s\n", is_same ? "     OK" : "     FAILURE!");
    }
    free(src);
    free(ref);
    return is_same;
}

#endif
