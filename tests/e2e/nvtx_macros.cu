/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a profiler defines its calls away, and then includes headers that declare them, as CUB does. */
#define nvtxRangePushA(message)
#define nvtxRangePop()
#define nvtxMarkA(message) 7
#include "check.h"
#include <nvtx3/nvToolsExt.h>

int main()
{
    nvtxRangePushA("range");
    CHECK_EQ(nvtxMarkA("mark"), 7);
    nvtxRangePop();
    CHECK_EQ((nvtxRangePop)(), 0);
    return check_done();
}
