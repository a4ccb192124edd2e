/* SPDX-License-Identifier: Apache-2.0 */
/**
 * One kernel over records in host memory that need not fit the GPU, in several ways:
 *
 *     variant           data reach the kernel by
 *     serial, threads   (no GPU) one thread of the host; one for each processor
 *     single            a buffer on the device: copy, kernel, copy back, again
 *     double            two buffers, two streams: one is copied while the other is computed on;
 *                       --stagers: several host threads share the copies into page-locked memory
 *     direct            the same, without staging: all records are page-locked for it
 *     full              warpage/stream.h: one launch over all
 *     volume            the same, with a thread's data side by side, as they are in host memory
 *     overlap           the same, with all data
 *     zerocopy          the kernel reads host memory over the link
 *     managed           cudaMallocManaged: pages move on demand
 *     prefetch          the same, prefetched a buffer's size at a time
 *     auto              one of full, volume, double, direct and zerocopy (auto.h); --explain has
 *                       the reason
 *
 * `single` and `double` stage through page-locked memory. On a simulated GPU what the host copies
 * is declared as host work (warpage/host.h), so that all pay by the same model. All failures end
 * the program with one sentence. Thread rule: one thread.
 */
#ifndef APP_STREAMING_H
#define APP_STREAMING_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/options.h"

#define APP_STREAMING_VARIANTS                                                                     \
    "serial|threads|single|double|direct|full|volume|overlap|zerocopy|managed|prefetch|auto"
enum {
    APP_STREAMING_SERIAL,
    APP_STREAMING_THREADS,
    APP_STREAMING_SINGLE,
    APP_STREAMING_DOUBLE,
    APP_STREAMING_DIRECT,
    APP_STREAMING_FULL,
    APP_STREAMING_VOLUME,
    APP_STREAMING_OVERLAP,
    APP_STREAMING_ZEROCOPY,
    APP_STREAMING_MANAGED,
    APP_STREAMING_PREFETCH,
    APP_STREAMING_AUTO
};

/** Bytes that each of several threads that stage a piece has at least. */
enum { APP_STREAMING_STAGED_LEAST = 128 << 10 };

/** Records that stay on the device from one run of a job to the next; zeros at first. */
typedef struct app_streaming_kept {
    uint64_t bytes; /* of device memory for them */
    void *mapped;   /* full, volume, overlap: the reservation */
    char *device;   /* direct: the first `count` records */
    uint64_t count;
} app_streaming_kept;

typedef struct app_streaming {
    void *records;               /* host memory; may be NULL with a source */
    const char *source, *target; /* files, for full, volume and overlap; NULL: none. All have
                                  * record_bytes */
    uint64_t host_bytes;         /* of host memory for them; 0: default */
    uint64_t count;
    uint32_t record_bytes;
    /** Records of different lengths: record i is bytes [starts[i], starts[i + 1]). NULL: all have
     *  record_bytes. */
    const uint64_t *starts;
    bool is_text;    /* lines: records are single bytes, but pieces end with a newline */
    bool is_written; /* the kernel changes records: they come back */
    /** Starts the kernel over `count` records, of which `first` is the first; it is at `records`,
     *  an address of the device's. */
    void (*launch)(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream);
    /** Does the same on the host for records [first, outer). */
    void (*on_host)(void *object, void *records, uint64_t first, uint64_t outer);
    void *object;
    uint64_t buffer_bytes;    /* of device memory for buffers; not managed, zerocopy */
    uint64_t pinned_bytes;    /* full: of page-locked memory for them, at most; 0: no limit */
    uint64_t slots;           /* full: reads of a thread in a chunk; 0: default */
    bool without_patterns;    /* full */
    bool with_windows;        /* full: even where threads could run ahead */
    bool without_windows;     /* full: only where they cannot */
    bool fetches_addresses;   /* full: they are collected on the device, and fetched by copies */
    bool with_flags;          /* full: in place of a barrier for each chunk */
    unsigned host_threads;    /* full: that serve the launch, at most; 0: default */
    bool is_page_locked;      /* auto: the records may be page-locked as a whole, as for direct */
    unsigned stagers;         /* single, double: threads that stage a piece; 0: 1, auto: 4 */
    bool plans_only;          /* full: the launch does nothing; streamingGetReport has its plan */
    bool explains;            /* auto: prints the reason of its choice to stderr */
    app_streaming_kept *kept; /* direct, full, volume, overlap: NULL: nothing stays */
} app_streaming;

/** What a run took. Times in seconds: of the host's clock, and between two events on the device
 *  (0 for serial and threads). */
typedef struct app_streaming_times {
    double wall_s, device_s;
    uint64_t to_device_bytes, to_host_bytes; /* copies; full: data, addresses, values */
    uint64_t file_read_bytes, file_written_bytes, host_bytes;
} app_streaming_times;

/** The options that all such programs have, with their defaults. */
typedef struct app_streaming_options {
    int variant;
    app_size buffer, pinned, keep;
    uint64_t blocks, threads, slots, stagers, host_threads;
    bool without_patterns, with_windows, without_windows, fetches_addresses, with_flags,
        is_page_locked, explains;
} app_streaming_options;

#define APP_STREAMING_DEFAULTS                                                                     \
    {APP_STREAMING_FULL,                                                                           \
     {UINT64_C(16) << 20, true},                                                                   \
     {0, false},                                                                                   \
     {0, false},                                                                                   \
     64,                                                                                           \
     128,                                                                                          \
     0,                                                                                            \
     0,                                                                                            \
     0,                                                                                            \
     false,                                                                                        \
     false,                                                                                        \
     false,                                                                                        \
     false,                                                                                        \
     false,                                                                                        \
     false,                                                                                        \
     false}
/** Rows of a program's table of options. */
#define APP_STREAMING_ROWS(o)                                                                      \
    {"--variant", APP_OPTION_CHOICE,          &(o).variant, APP_STREAMING_VARIANTS, 0,             \
     0,           "how data reach the kernel"},                                                    \
        {"--buffer",                                                                               \
         APP_OPTION_SIZE,                                                                          \
         &(o).buffer,                                                                              \
         "BYTES",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "device memory for buffers of single, double, direct and full"},                          \
        {"--pinned-memory",                                                                        \
         APP_OPTION_SIZE,                                                                          \
         &(o).pinned,                                                                              \
         "BYTES",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "full: page-locked host memory for buffers, at most (default: no limit)"},                \
        {"--blocks", APP_OPTION_COUNT,           &(o).blocks, "N", 1,                              \
         2147483647, "thread blocks of a launch"},                                                 \
        {"--threads", APP_OPTION_COUNT, &(o).threads, "N", 1, 1024, "threads of a block"},         \
        {"--slots",                                                                                \
         APP_OPTION_COUNT,                                                                         \
         &(o).slots,                                                                               \
         "N",                                                                                      \
         1,                                                                                        \
         4096,                                                                                     \
         "full: reads of a thread in a chunk, at most"},                                           \
        {"--stagers",                                                                              \
         APP_OPTION_COUNT,                                                                         \
         &(o).stagers,                                                                             \
         "N",                                                                                      \
         1,                                                                                        \
         64,                                                                                       \
         "single, double: host threads that stage a piece (default: 1; auto: 4)"},                 \
        {"--without-patterns",         APP_OPTION_FLAG, &(o).without_patterns, NULL, 0, 0,         \
         "full: every address is sent"},                                                           \
        {"--windows",                                                                              \
         APP_OPTION_FLAG,                                                                          \
         &(o).with_windows,                                                                        \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "full: no threads run ahead, even where they could"},                                     \
        {"--addresses",                                                                            \
         APP_OPTION_FLAG,                                                                          \
         &(o).without_windows,                                                                     \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "full: threads run ahead wherever they can, also where windows are faster"},              \
        {"--fetch-addresses",                                                                      \
         APP_OPTION_FLAG,                                                                          \
         &(o).fetches_addresses,                                                                   \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "full: addresses are collected on the device, and fetched by copies"},                    \
        {"--flags",                                                                                \
         APP_OPTION_FLAG,                                                                          \
         &(o).with_flags,                                                                          \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "full: flags of each buffer in place of a barrier for each chunk"},                       \
        {"--host-threads",                                                                         \
         APP_OPTION_COUNT,                                                                         \
         &(o).host_threads,                                                                        \
         "N",                                                                                      \
         1,                                                                                        \
         4096,                                                                                     \
         "full: that serve the launch, at most (default: two a block)"},                           \
        {"--page-locked",                                                                          \
         APP_OPTION_FLAG,                                                                          \
         &(o).is_page_locked,                                                                      \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "auto: the records may be page-locked as a whole, for direct"},                           \
        {"--explain",                                                                              \
         APP_OPTION_FLAG,                                                                          \
         &(o).explains,                                                                            \
         NULL,                                                                                     \
         0,                                                                                        \
         0,                                                                                        \
         "auto: print the reason of the choice"}
/** Hands the options to a job; ends the program if --buffer has no unit. */
void app_streaming_set(app_streaming *job, const app_streaming_options *options);
/** Whether the variant works on the host alone. */
bool app_streaming_is_host(int variant);
/** Whether it can stream from a file. */
bool app_streaming_has_files(int variant);

/** Memory that a kernel or its twin on the host uses beside the records: on the device, or on the
 *  host for variants of the host. */
typedef struct app_state {
    void *data;
    uint64_t bytes;
    const char *name;
    bool is_host;
} app_state;
/** `content` is copied; NULL: zeros. */
void app_state_create(app_state *state, int variant, const void *content, uint64_t bytes,
                      const char *name);
/** What it holds, in host memory for the caller to free. */
void *app_state_copy(const app_state *state);
void app_state_free(app_state *state);

/** Bytes of records [first, outer). */
uint64_t app_streaming_bytes(const app_streaming *job, uint64_t first, uint64_t outer);
/** The end of as many records from `first` on as `bytes` have room for; may be `first`. */
uint64_t app_streaming_end(const app_streaming *job, uint64_t first, uint64_t bytes);
/** Once over all records, which then hold the result. Adds to `times`. */
void app_streaming_run(const app_streaming *job, int variant, app_streaming_times *times);
/** For a program that runs the same records several times: a row for its table of options, and what
 *  has the first `--keep` bytes stay on the device until app_streaming_let_go. Host code must not
 *  change the records between runs. */
#define APP_STREAMING_KEEP_ROW(o)                                                                  \
    {"--keep",                                                                                     \
     APP_OPTION_SIZE,                                                                              \
     &(o).keep,                                                                                    \
     "BYTES",                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     "direct, full, volume, overlap: device memory in which records stay for the next run"}
void app_streaming_keep(app_streaming *job, app_streaming_kept *kept,
                        const app_streaming_options *options);
void app_streaming_let_go(app_streaming *job);
/** Prints times and rates to stderr. */
void app_streaming_report(const app_streaming *job, int variant, const app_streaming_times *times);

#endif
