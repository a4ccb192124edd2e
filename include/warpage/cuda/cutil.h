/* SPDX-License-Identifier: Apache-2.0 */
/** The helpers of the first sample suites (before CUDA 5), for C and C++: timers by number, checked
 *  calls as macros, command line options of the form --name=value. */
#ifndef WARPAGE_CUDA_CUTIL_H
#define WARPAGE_CUDA_CUTIL_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>

#include "cuda_runtime.h"

typedef enum CUTBoolean { CUTFalse = 0, CUTTrue = 1 } CUTBoolean;

/* ---- checked calls --------------------------------------------------------------------------- */

static __inline__ void wp_cutil_check(cudaError_t error, const char *what, const char *file,
                                      int line) {
    if (error != cudaSuccess) {
        fprintf(stderr, "Cuda error in file '%s' in line %i : %s%s%s.\n", file, line, what,
                what[0] != '\0' ? ": " : "", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

#define CUDA_SAFE_CALL_NO_SYNC(call) wp_cutil_check((call), "", __FILE__, __LINE__)
#define CUDA_SAFE_CALL(call) CUDA_SAFE_CALL_NO_SYNC(call)
#define CUT_CHECK_ERROR(message)                                                                   \
    do {                                                                                           \
        wp_cutil_check(cudaGetLastError(), message, __FILE__, __LINE__);                           \
        wp_cutil_check(cudaDeviceSynchronize(), message, __FILE__, __LINE__);                      \
    } while (0)
#define CUT_SAFE_CALL(call)                                                                        \
    do {                                                                                           \
        if (CUTTrue != (call)) {                                                                   \
            fprintf(stderr, "Cut error in file '%s' in line %i.\n", __FILE__, __LINE__);           \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define CUT_SAFE_MALLOC(call)                                                                      \
    do {                                                                                           \
        if ((call) == NULL) {                                                                      \
            fprintf(stderr, "Host malloc failure in file '%s' in line %i\n", __FILE__, __LINE__);  \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define CUT_CONDITION(value) CUT_SAFE_CALL((value) ? CUTTrue : CUTFalse)
#define CUT_DEVICE_INIT(...) CUDA_SAFE_CALL(cudaSetDevice(0))
#define CUT_EXIT(...) exit(EXIT_SUCCESS)

#define CUT_BANK_CHECKER(array, index) array[index]

#define cutilSafeCall(call) wp_cutil_check((call), "", __FILE__, __LINE__)
#define cutilSafeCallNoSync(call) cutilSafeCall(call)
#define cutilSafeThreadSync() cutilSafeCall(cudaDeviceSynchronize())
#define cutilCheckError(call) CUT_SAFE_CALL(call)
#define cutilCheckMsg(message) wp_cutil_check(cudaGetLastError(), message, __FILE__, __LINE__)
#define cutilCheckMsgAndSync(message) CUT_CHECK_ERROR(message)
#define cutilSafeMalloc(call) CUT_SAFE_MALLOC(call)
#define cutilCondition(value) CUT_CONDITION(value)
#define cutilDeviceInit(...) CUT_DEVICE_INIT(__VA_ARGS__)
#define cutilExit(...) CUT_EXIT(__VA_ARGS__)
#define cutilDeviceSynchronize() cudaDeviceSynchronize()
#define cutGetMaxGflopsDeviceId() 0

/* ---- timers, in milliseconds ----------------------------------------------------------------- */

#define WP_CUTIL_TIMERS 64

typedef struct wp_cutil_timer {
    double total_ms;
    double started_ms;
    int sessions;
    int is_running;
} wp_cutil_timer;

static __inline__ wp_cutil_timer *wp_cutil_timers(unsigned int **count) {
    static wp_cutil_timer timers[WP_CUTIL_TIMERS];
    static unsigned int used;
    if (count != NULL) {
        *count = &used;
    }
    return timers;
}
static __inline__ double wp_cutil_now_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return 1e3 * (double)now.tv_sec + 1e-3 * (double)now.tv_usec;
}

static __inline__ CUTBoolean cutCreateTimer(unsigned int *name) {
    unsigned int *count;
    wp_cutil_timer *timers = wp_cutil_timers(&count);
    if (*count == WP_CUTIL_TIMERS) {
        return CUTFalse;
    }
    memset(&timers[*count], 0, sizeof(timers[0]));
    *name = (*count)++;
    return CUTTrue;
}
static __inline__ CUTBoolean cutDeleteTimer(unsigned int name) {
    return name < WP_CUTIL_TIMERS ? CUTTrue : CUTFalse;
}
static __inline__ CUTBoolean cutStartTimer(const unsigned int name) {
    wp_cutil_timer *timer = &wp_cutil_timers(NULL)[name % WP_CUTIL_TIMERS];
    timer->started_ms = wp_cutil_now_ms();
    timer->is_running = 1;
    return CUTTrue;
}
static __inline__ CUTBoolean cutStopTimer(const unsigned int name) {
    wp_cutil_timer *timer = &wp_cutil_timers(NULL)[name % WP_CUTIL_TIMERS];
    timer->total_ms += wp_cutil_now_ms() - timer->started_ms;
    timer->sessions++;
    timer->is_running = 0;
    return CUTTrue;
}
static __inline__ CUTBoolean cutResetTimer(const unsigned int name) {
    wp_cutil_timer *timer = &wp_cutil_timers(NULL)[name % WP_CUTIL_TIMERS];
    timer->total_ms = 0;
    timer->sessions = 0;
    timer->started_ms = wp_cutil_now_ms();
    return CUTTrue;
}
static __inline__ float cutGetTimerValue(const unsigned int name) {
    const wp_cutil_timer *timer = &wp_cutil_timers(NULL)[name % WP_CUTIL_TIMERS];
    return (float)(timer->total_ms +
                   (timer->is_running ? wp_cutil_now_ms() - timer->started_ms : 0));
}
static __inline__ float cutGetAverageTimerValue(const unsigned int name) {
    const wp_cutil_timer *timer = &wp_cutil_timers(NULL)[name % WP_CUTIL_TIMERS];
    return timer->sessions > 0 ? (float)(timer->total_ms / timer->sessions) : 0.0f;
}

/* ---- command line ---------------------------------------------------------------------------- */

/* The value of the option `name`: "" if it has no '=', NULL if the option is absent. */
static __inline__ const char *wp_cutil_option(int argc, const char **argv, const char *name) {
    const size_t length = strlen(name);
    int i;
    for (i = 1; i < argc; i++) {
        const char *text = argv[i];
        while (*text == '-') {
            text++;
        }
        if (text != argv[i] && strncasecmp(text, name, length) == 0) {
            if (text[length] == '\0') {
                return text + length;
            }
            if (text[length] == '=') {
                return text + length + 1;
            }
        }
    }
    return NULL;
}
static __inline__ CUTBoolean cutCheckCmdLineFlag(const int argc, const char **argv,
                                                 const char *name) {
    return wp_cutil_option(argc, argv, name) != NULL ? CUTTrue : CUTFalse;
}
static __inline__ CUTBoolean cutGetCmdLineArgumenti(const int argc, const char **argv,
                                                    const char *name, int *value) {
    const char *text = wp_cutil_option(argc, argv, name);
    if (text == NULL) {
        return CUTFalse;
    }
    *value = atoi(text);
    return CUTTrue;
}
static __inline__ CUTBoolean cutGetCmdLineArgumentf(const int argc, const char **argv,
                                                    const char *name, float *value) {
    const char *text = wp_cutil_option(argc, argv, name);
    if (text == NULL) {
        return CUTFalse;
    }
    *value = (float)atof(text);
    return CUTTrue;
}
/** *value is allocated; the caller frees it. */
static __inline__ CUTBoolean cutGetCmdLineArgumentstr(const int argc, const char **argv,
                                                      const char *name, char **value) {
    const char *text = wp_cutil_option(argc, argv, name);
    if (text == NULL) {
        return CUTFalse;
    }
    *value = (char *)malloc(strlen(text) + 1);
    if (*value == NULL) {
        return CUTFalse;
    }
    strcpy(*value, text);
    return CUTTrue;
}
/** The path of a data file: as given, or in the folder data/ beside it or above; NULL if it
 *  is not found. The caller frees it. */
static __inline__ char *cutFindFilePath(const char *filename, const char *executable_path) {
    static const char *const places[] = {"", "data/", "../data/", "../../data/", "../../../data/"};
    const char *slash = executable_path != NULL ? strrchr(executable_path, '/') : NULL;
    const size_t folder_bytes = slash != NULL ? (size_t)(slash - executable_path) + 1 : 0;
    char *path = (char *)malloc(folder_bytes + strlen(filename) + 32);
    size_t i;
    for (i = 0; path != NULL && i < 2 * sizeof(places) / sizeof(places[0]); i++) {
        const size_t prefix_bytes = i % 2 == 0 ? 0 : folder_bytes;
        FILE *file;
        memcpy(path, executable_path != NULL ? executable_path : "", prefix_bytes);
        strcpy(path + prefix_bytes, places[i / 2]);
        strcat(path, filename);
        file = fopen(path, "rb");
        if (file != NULL) {
            fclose(file);
            return path;
        }
    }
    free(path);
    return NULL;
}
static __inline__ void cutFree(void *pointer) {
    free(pointer);
}

/* ---- comparison ------------------------------------------------------------------------------ */

static __inline__ CUTBoolean cutComparefe(const float *reference, const float *data,
                                          const unsigned int len, const float epsilon) {
    unsigned int i;
    for (i = 0; i < len; i++) {
        const double difference = fabs((double)reference[i] - (double)data[i]);
        if (!(difference <= (double)epsilon)) {
            return CUTFalse;
        }
    }
    return CUTTrue;
}
static __inline__ CUTBoolean cutComparef(const float *reference, const float *data,
                                         const unsigned int len) {
    return cutComparefe(reference, data, len, 0.0f);
}
static __inline__ CUTBoolean cutCompareub(const unsigned char *reference, const unsigned char *data,
                                          const unsigned int len) {
    return memcmp(reference, data, len) == 0 ? CUTTrue : CUTFalse;
}
static __inline__ CUTBoolean cutCompareube(const unsigned char *reference,
                                           const unsigned char *data, const unsigned int len,
                                           const float epsilon) {
    unsigned int i;
    for (i = 0; i < len; i++) {
        if (fabs((double)reference[i] - (double)data[i]) > (double)epsilon) {
            return CUTFalse;
        }
    }
    return CUTTrue;
}
static __inline__ CUTBoolean cutComparei(const int *reference, const int *data,
                                         const unsigned int len) {
    return memcmp(reference, data, sizeof(int) * len) == 0 ? CUTTrue : CUTFalse;
}
/** Whether the norm of the difference is below epsilon times the norm of the reference. */
static __inline__ CUTBoolean cutCompareL2fe(const float *reference, const float *data,
                                            const unsigned int len, const float epsilon) {
    double error = 0, norm = 0;
    unsigned int i;
    for (i = 0; i < len; i++) {
        const double difference = (double)reference[i] - (double)data[i];
        error += difference * difference;
        norm += (double)reference[i] * (double)reference[i];
    }
    return norm > 1e-7 && sqrt(error) < (double)epsilon * sqrt(norm) ? CUTTrue : CUTFalse;
}

#endif
