/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lnvToolsExt
/* Marks and ranges for profilers, by both names of the header: accepted, without effect; and the
 * library that older programs link. */
#include "check.h"
#include <nvToolsExt.h>
#include <nvToolsExtCuda.h>
#include <nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

int main()
{
    nvtxDomainHandle_t domain = nvtxDomainCreateW(L"domain");
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.colorType = NVTX_COLOR_ARGB;
    event.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
    event.payload.fValue = 1.5f;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "text");
    CHECK(NVTX_EVENT_ATTRIB_STRUCT_SIZE == 48); /* the published layout */
    nvtxDomainMarkEx(domain, &event);
    CHECK(nvtxDomainRangePushEx(domain, &event) == 0);
    CHECK(nvtxDomainRangePop(domain) == 0);
    nvtxRangeEnd(nvtxRangeStart("range"));
    nvtxNameCategory(1, "category");
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    nvtxNameCudaDevice(0, "device");
    nvtxNameCudaStreamA(stream, "stream");
    nvtxNameCuStreamW((CUstream)stream, L"stream");
    CUDA_OK(cudaStreamDestroy(stream));
    nvtxDomainDestroy(domain);
    return check_done();
}
