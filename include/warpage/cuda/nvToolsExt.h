/* SPDX-License-Identifier: Apache-2.0 */
/** Marks and ranges for profilers, NVTX version 3: accepted and ignored. Names are in parentheses,
 * as programs without a profiler define macros of the same names. */
#ifndef WARPAGE_CUDA_NVTOOLSEXT_H
#define WARPAGE_CUDA_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxResourceAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st nvtxDomainRegistration;
typedef nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st nvtxStringRegistration;
typedef nvtxStringRegistration *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;

typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType; /* nvtxColorType_t */
    uint32_t color;
    int32_t payloadType; /* nvtxPayloadType_t */
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType; /* nvtxMessageType_t */
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2;
typedef struct nvtxEventAttributes_v2 nvtxEventAttributes_t;

#define NVTX_RESOURCE_CLASS_GENERIC 1
#define NVTX_RESOURCE_MAKE_TYPE(class_, index)                                                     \
    ((((uint32_t)(NVTX_RESOURCE_CLASS_##class_)) << 16) | ((uint32_t)(index)))

typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 1),
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 2),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 3),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(GENERIC, 4)
} nvtxResourceGenericType_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version;
    uint16_t size;
    int32_t identifierType; /* nvtxResourceGenericType_t */
    union identifier_t {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType; /* nvtxMessageType_t */
    nvtxMessageValue_t message;
} nvtxResourceAttributes_v0;
typedef struct nvtxResourceAttributes_v0 nvtxResourceAttributes_t;

static __inline__ void(nvtxInitialize)(const void *reserved) {
    (void)reserved;
}
static __inline__ void(nvtxDomainMarkEx)(nvtxDomainHandle_t domain,
                                         const nvtxEventAttributes_t *event) {
    (void)domain;
    (void)event;
}
static __inline__ void(nvtxMarkEx)(const nvtxEventAttributes_t *event) {
    (void)event;
}
static __inline__ nvtxRangeId_t(nvtxDomainRangeStartEx)(nvtxDomainHandle_t domain,
                                                        const nvtxEventAttributes_t *event) {
    (void)domain;
    (void)event;
    return 0;
}
static __inline__ nvtxRangeId_t(nvtxRangeStartEx)(const nvtxEventAttributes_t *event) {
    (void)event;
    return 0;
}
static __inline__ void(nvtxDomainRangeEnd)(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    (void)domain;
    (void)id;
}
static __inline__ void(nvtxRangeEnd)(nvtxRangeId_t id) {
    (void)id;
}
static __inline__ int(nvtxDomainRangePushEx)(nvtxDomainHandle_t domain,
                                             const nvtxEventAttributes_t *event) {
    (void)domain;
    (void)event;
    return 0;
}
static __inline__ int(nvtxRangePushEx)(const nvtxEventAttributes_t *event) {
    (void)event;
    return 0;
}
static __inline__ int(nvtxDomainRangePop)(nvtxDomainHandle_t domain) {
    (void)domain;
    return 0;
}
static __inline__ int(nvtxRangePop)(void) {
    return 0;
}
static __inline__ nvtxResourceHandle_t(nvtxDomainResourceCreate)(
    nvtxDomainHandle_t domain, nvtxResourceAttributes_t *attributes) {
    (void)domain;
    (void)attributes;
    return 0;
}
static __inline__ void(nvtxDomainResourceDestroy)(nvtxResourceHandle_t resource) {
    (void)resource;
}
static __inline__ void(nvtxDomainDestroy)(nvtxDomainHandle_t domain) {
    (void)domain;
}

/* With narrow and wide characters. */
static __inline__ void(nvtxMarkA)(const char *message) {
    (void)message;
}
static __inline__ void(nvtxMarkW)(const wchar_t *message) {
    (void)message;
}
static __inline__ nvtxRangeId_t(nvtxRangeStartA)(const char *message) {
    (void)message;
    return 0;
}
static __inline__ nvtxRangeId_t(nvtxRangeStartW)(const wchar_t *message) {
    (void)message;
    return 0;
}
static __inline__ int(nvtxRangePushA)(const char *message) {
    (void)message;
    return 0;
}
static __inline__ int(nvtxRangePushW)(const wchar_t *message) {
    (void)message;
    return 0;
}
static __inline__ void(nvtxDomainNameCategoryA)(nvtxDomainHandle_t domain, uint32_t category,
                                                const char *name) {
    (void)domain;
    (void)category;
    (void)name;
}
static __inline__ void(nvtxDomainNameCategoryW)(nvtxDomainHandle_t domain, uint32_t category,
                                                const wchar_t *name) {
    (void)domain;
    (void)category;
    (void)name;
}
static __inline__ void(nvtxNameCategoryA)(uint32_t category, const char *name) {
    (void)category;
    (void)name;
}
static __inline__ void(nvtxNameCategoryW)(uint32_t category, const wchar_t *name) {
    (void)category;
    (void)name;
}
static __inline__ void(nvtxNameOsThreadA)(uint32_t thread, const char *name) {
    (void)thread;
    (void)name;
}
static __inline__ void(nvtxNameOsThreadW)(uint32_t thread, const wchar_t *name) {
    (void)thread;
    (void)name;
}
static __inline__ nvtxStringHandle_t(nvtxDomainRegisterStringA)(nvtxDomainHandle_t domain,
                                                                const char *string) {
    (void)domain;
    (void)string;
    return 0;
}
static __inline__ nvtxStringHandle_t(nvtxDomainRegisterStringW)(nvtxDomainHandle_t domain,
                                                                const wchar_t *string) {
    (void)domain;
    (void)string;
    return 0;
}
static __inline__ nvtxDomainHandle_t(nvtxDomainCreateA)(const char *name) {
    (void)name;
    return 0;
}
static __inline__ nvtxDomainHandle_t(nvtxDomainCreateW)(const wchar_t *name) {
    (void)name;
    return 0;
}

#if defined(UNICODE)
#define nvtxMark nvtxMarkW
#define nvtxRangeStart nvtxRangeStartW
#define nvtxRangePush nvtxRangePushW
#define nvtxDomainNameCategory nvtxDomainNameCategoryW
#define nvtxNameCategory nvtxNameCategoryW
#define nvtxNameOsThread nvtxNameOsThreadW
#define nvtxDomainRegisterString nvtxDomainRegisterStringW
#define nvtxDomainCreate nvtxDomainCreateW
#else
#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainCreate nvtxDomainCreateA
#endif

#endif
