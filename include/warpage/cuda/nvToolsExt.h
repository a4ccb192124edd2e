/* SPDX-License-Identifier: Apache-2.0 */
/** Marks and ranges for profilers: accepted and ignored. */
#ifndef WARPAGE_CUDA_NVTOOLSEXT_H
#define WARPAGE_CUDA_NVTOOLSEXT_H

#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_COLOR_UNKNOWN 0
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_UNKNOWN 0
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_UNICODE 2
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;

typedef struct nvtxEventAttributes {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
        const void *unicode;
    } message;
} nvtxEventAttributes_t;

static __inline__ void nvtxInitialize(const void *reserved) {
    (void)reserved;
}
static __inline__ void nvtxMarkA(const char *message) {
    (void)message;
}
static __inline__ void nvtxMarkEx(const nvtxEventAttributes_t *event) {
    (void)event;
}
static __inline__ int nvtxRangePushA(const char *message) {
    (void)message;
    return 0;
}
static __inline__ int nvtxRangePushEx(const nvtxEventAttributes_t *event) {
    (void)event;
    return 0;
}
static __inline__ int nvtxRangePop(void) {
    return 0;
}
static __inline__ nvtxRangeId_t nvtxRangeStartA(const char *message) {
    (void)message;
    return 0;
}
static __inline__ nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event) {
    (void)event;
    return 0;
}
static __inline__ void nvtxRangeEnd(nvtxRangeId_t id) {
    (void)id;
}
static __inline__ void nvtxNameOsThreadA(uint32_t thread, const char *name) {
    (void)thread;
    (void)name;
}
static __inline__ nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
    (void)name;
    return 0;
}
static __inline__ void nvtxDomainDestroy(nvtxDomainHandle_t domain) {
    (void)domain;
}
static __inline__ int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                            const nvtxEventAttributes_t *event) {
    (void)domain;
    (void)event;
    return 0;
}
static __inline__ int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
    (void)domain;
    return 0;
}

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA

#endif
