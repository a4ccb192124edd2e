/* SPDX-License-Identifier: Apache-2.0 */
/** What both tables of pvc share: how a line is read, and what is found. */
#ifndef PVC_H
#define PVC_H

#include <stdint.h>

#include "common/memory.h"
#include "common/weblog.h"
#include "sepo/sepo.h"

/** A URL and how often it was asked for. */
typedef struct pvc_view {
    const char *url;
    uint32_t length;
    uint64_t count;
} pvc_view;

/** Counts with the table of warpage/table.h (--table); the log goes to the device in chunks. The
 * URLs that it returns are in the table, which app_sepo_close releases. */
pvc_view *pvc_table_count(app_device *device, const app_weblog *log, bool is_query_cut,
                          const app_sepo_options *options, wp_table **table, uint64_t *view_count,
                          uint64_t *without_url);

#ifdef __CUDACC__
/* The URL of the line text[begin, end); length 0 if it has none. The
 * check has its own. */
static __host__ __device__ uint32_t find_url(const char *text, uint64_t begin, uint64_t end,
                                             int is_table, int is_query_cut, uint64_t *start) {
    uint64_t p = begin;
    char separator = is_table ? '\t' : ' ';
    if (is_table) {
        for (int column = 0; column < 4; column++) {
            while (p < end && text[p] != '\t') {
                p++;
            }
            p++;
        }
    } else {
        while (p < end && text[p] != '"') {
            p++;
        }
        p++;
        while (p < end && text[p] != ' ' && text[p] != '"') { /* the method */
            p++;
        }
        p++;
    }
    *start = p;
    while (p < end && text[p] != separator && text[p] != '"' && text[p] != '\n' &&
           text[p] != '\r' && !(is_query_cut && text[p] == '?')) {
        p++;
    }
    return p > *start ? (uint32_t)(p - *start) : 0u;
}
#endif

#endif
