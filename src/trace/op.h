/* SPDX-License-Identifier: Apache-2.0 */
/** Operations of the host on the device, in order: they determine the order and the concurrency of
 *  copies and launches in a replay. */
#ifndef WP_TRACE_OP_H
#define WP_TRACE_OP_H

#include "trace/varint.h"

/** Kinds, with their fields. Queues and events are numbered in order of creation; queue 0 is the
 *  default one. X(name, word, fields, has_text) */
#define WPI_OP_MAP(X)                                                                              \
    X(QUEUE_CREATE, "queue", 2, false) /* queue, is_blocking */                                    \
    X(QUEUE_DESTROY, "destroy", 1, false)                                                          \
    X(QUEUE_WAIT, "wait", 1, false)                                                                \
    X(QUEUE_POLL, "poll", 2, false)   /* queue, was idle */                                        \
    X(QUEUE_AFTER, "after", 2, false) /* queue waits for event */                                  \
    X(COPY, "copy", 5, false)         /* queue, wp_copy_kind, bytes, to, from */                   \
    X(FILL, "fill", 3, false)         /* queue, bytes, to */                                       \
    X(LAUNCH, "launch", 2, false)     /* queue, number of the launch */                            \
    X(HOST_CALL, "call", 1, false)    /* queue */                                                  \
    X(EVENT_CREATE, "event", 1, false)                                                             \
    X(EVENT_DESTROY, "drop", 1, false)                                                             \
    X(EVENT_RECORD, "record", 2, false) /* event, queue */                                         \
    X(EVENT_WAIT, "event wait", 1, false)                                                          \
    X(EVENT_POLL, "event poll", 2, false) /* event, was complete */                                \
    X(DEVICE_WAIT, "device wait", 0, false)                                                        \
    X(RESET, "reset", 0, false)                                                                    \
    X(ALLOC, "alloc", 3, true)         /* wp_memory_kind, bytes, address; name */                  \
    X(FREE, "free", 3, false)          /* wp_memory_kind, bytes, address */                        \
    X(KERNEL_NAME, "name", 2, true)    /* tables, kernel in them; its name for people */           \
    X(QUERY, "query", 1, true)         /* set of WPI_INFO_SET; the call */                         \
    X(OCCUPANCY, "occupancy", 5, true) /* threads, shared: dynamic, static, registers, */          \
    /* answer; kernel */                                                                           \
    X(HOST_TOUCH, "touch", 2, false)  /* address, bytes: of managed memory; whole pages */         \
    X(PREFETCH, "prefetch", 4, false) /* queue, address, bytes, to the device */                   \
    X(ADVICE, "advice", 3, false)     /* address, bytes, set of WPI_ADVICE */                      \
    X(HOST_SEEN, "seen", 0, false)    /* from now on all that the host touches is written down */  \
    X(VARIABLE, "variable", 2, false) /* address, bytes: of managed ones, whole pages */           \
    X(HOST_WORK, "host work", 5, false) /* 0: of a host thread, else queue + 1; bytes read, */     \
    /* written; wp_host_pattern + 2 * access_bytes; threads */

#define WPI_ADVICE_READ_MOSTLY 1u
#define WPI_ADVICE_PREFERS_HOST 2u
#define WPI_ADVICE_ACCESSED_BY 4u
#define WPI_ADVICE_PREFERS_DEVICE 8u

typedef enum wpi_op_kind {
#define WPI_OP_ENUM(name, word, fields, has_text) WPI_OP_##name,
    WPI_OP_MAP(WPI_OP_ENUM)
#undef WPI_OP_ENUM
        WPI_OP_COUNT /* must be last */
} wpi_op_kind;

#define WPI_OP_FIELDS_MAX 5u
#define WPI_OP_TEXT_MAX 4095u /* bytes; longer names are cut */

typedef struct wpi_op {
    wpi_op_kind kind;
    uint64_t fields[WPI_OP_FIELDS_MAX];
    char text[WPI_OP_TEXT_MAX + 1];
} wpi_op;

const char *wpi_op_word(wpi_op_kind kind);
/** `text`: NULL if the kind has none. */
void wpi_op_append(wpi_text *out, wpi_op_kind kind, const uint64_t *fields, const char *text);
/** False: not written by wpi_op_append. */
bool wpi_op_read(wpi_cursor *from, wpi_op *op);

#endif
