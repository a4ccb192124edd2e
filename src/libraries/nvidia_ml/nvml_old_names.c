/* SPDX-License-Identifier: Apache-2.0 */
/* The first versions' names, for binaries and for programs that look them up by dlsym (hashcat). */
#include <stddef.h>
#include <string.h>

#include "warpage/cuda/nvml.h"
#include "warpage/error.h"

#undef nvmlInit
#undef nvmlDeviceGetCount
#undef nvmlDeviceGetHandleByIndex
#undef nvmlDeviceGetHandleByPciBusId
#undef nvmlDeviceGetPciInfo

/* The start of nvmlPciInfo_t, which all versions share. */
#define PCI_INFO_BYTES offsetof(nvmlPciInfo_t, pciSubSystemId)

#define OLD_NAME(name, params, args)                                                               \
    WP_API nvmlReturn_t name params;                                                               \
    WP_API nvmlReturn_t name params {                                                              \
        return name##_v2 args;                                                                     \
    }

OLD_NAME(nvmlInit, (void), ())
OLD_NAME(nvmlDeviceGetCount, (unsigned int *count), (count))
OLD_NAME(nvmlDeviceGetHandleByIndex, (unsigned int index, nvmlDevice_t *device), (index, device))
OLD_NAME(nvmlDeviceGetHandleByPciBusId, (const char *id, nvmlDevice_t *device), (id, device))

WP_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, void *pci);
WP_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, void *pci) {
    nvmlPciInfo_t whole;
    const nvmlReturn_t status = nvmlDeviceGetPciInfo_v3(device, pci == NULL ? NULL : &whole);
    if (status == NVML_SUCCESS) memcpy(pci, &whole, PCI_INFO_BYTES);
    return status;
}
