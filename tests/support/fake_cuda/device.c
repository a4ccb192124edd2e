/* SPDX-License-Identifier: Apache-2.0 */
/* Start, devices, the context. */
#include "fake.h"

#include <unistd.h>

EXPORT wpi_cu_result cuInit(unsigned flags) {
    CALL_AS("cuInit", false);
    if (flags != 0) result = fake_misuse("cuInit(%u)", flags);
    if (result == 0 && fake_env_number("FAKE_CUDA_DEVICES", 1) == 0) result = 100;
    if (result == 0) fake.is_initialised = true;
    RETURN;
}

EXPORT wpi_cu_result cuDriverGetVersion(int *version) {
    CALL_AS("cuDriverGetVersion", false);
    *version = (int)fake_env_number("FAKE_CUDA_VERSION", 12040);
    RETURN;
}

EXPORT wpi_cu_result cuGetErrorName(wpi_cu_result error, const char **name) {
    *name = error == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : NULL; /* one will do */
    return *name != NULL ? 0 : WPI_CU_INVALID_VALUE;
}

EXPORT wpi_cu_result cuDeviceGetCount(int *count) {
    CALL("cuDeviceGetCount");
    *count = (int)fake_env_number("FAKE_CUDA_DEVICES", 1);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGet(wpi_cu_device *device, int number) {
    CALL("cuDeviceGet");
    if (result == 0 && (number < 0 || number >= (int)fake_env_number("FAKE_CUDA_DEVICES", 1)))
        result = WPI_CU_INVALID_DEVICE;
    *device = number;
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetName(char *name, int bytes, wpi_cu_device device) {
    CALL("cuDeviceGetName");
    (void)snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceTotalMem_v2(size_t *bytes, wpi_cu_device device) {
    CALL("cuDeviceTotalMem_v2");
    (void)device;
    *bytes = fake_env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetPCIBusId(char *id, int bytes, wpi_cu_device device) {
    CALL("cuDeviceGetPCIBusId");
    (void)snprintf(id, (size_t)bytes, "FFFF:%02X:00.0", device);
    RETURN;
}

EXPORT wpi_cu_result cuDeviceGetAttribute(int *value, int attribute, wpi_cu_device device) {
    static const int known[][2] = {
        {1, 1024},       {8, 49152},    {9, 65536},  {12, 65536},    {13, 1410000}, {14, 512},
        {16, 108},       {36, 1215000}, {37, 5120},  {38, 41943040}, {39, 2048},    {41, 1},
        {69, 268435456}, {81, 167936},  {82, 65536}, {83, 1},        {89, 1},       {91, 1},
        {95, 1},         {97, 166912},  {106, 32},   {33, 101}};
    CALL("cuDeviceGetAttribute");
    (void)device;
    const int sm = (int)fake_env_number("FAKE_CUDA_SM", 80);
    bool is_known = attribute == 75 || attribute == 76 || attribute == 88;
    *value = attribute == 75 ? sm / 10 : sm % 10;
    if (attribute == 88) *value = (int)fake_env_number("FAKE_CUDA_PAGEABLE", 0);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i][0] != attribute) continue;
        *value = known[i][1];
        is_known = true;
    }
    if (result == 0 && !is_known) result = WPI_CU_INVALID_VALUE;
    RETURN;
}

EXPORT wpi_cu_result cuDevicePrimaryCtxRetain(wpi_cu_context *context, wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxRetain");
    if (result == 0) {
        fake.retains++;
        *context = fake_context_of(device);
    }
    RETURN;
}

static void end_context(void) {
    fake_streams_stop();
    fake_end_all();
    fake.generation++;
    fake.sticky = 0;
}

EXPORT wpi_cu_result cuDevicePrimaryCtxRelease_v2(wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxRelease_v2");
    (void)device;
    if (result == 0) {
        if (fake.retains == 0) {
            result = 201;
        } else if (--fake.retains == 0) {
            fake.left_at_release = 0;
            for (const fake_object *o = fake.live; o != NULL; o = o->next)
                fake.left_at_release++;
            end_context();
        }
    }
    RETURN;
}

/* By its old name: the table has both. */
EXPORT wpi_cu_result cuDevicePrimaryCtxReset(wpi_cu_device device) {
    CALL("cuDevicePrimaryCtxReset");
    (void)device;
    if (result == 0) end_context();
    RETURN;
}

EXPORT wpi_cu_result cuCtxSetCurrent(wpi_cu_context context) {
    CALL("cuCtxSetCurrent");
    if (result == 0 && context != NULL && (fake.retains == 0 || !fake_is_context(context)))
        result = (fake_misuse("cuCtxSetCurrent: the context is gone"), 201);
    if (result == 0) fake_current = context;
    RETURN;
}

EXPORT wpi_cu_result cuDeviceCanAccessPeer(int *can, wpi_cu_device device, wpi_cu_device peer) {
    CALL("cuDeviceCanAccessPeer");
    *can = device != peer;
    RETURN;
}

/* Kernels can always use it; the calls are counted. */
static int peer_accesses;

EXPORT wpi_cu_result cuCtxEnablePeerAccess(wpi_cu_context peer, unsigned flags) {
    CALL_IN_CONTEXT("cuCtxEnablePeerAccess");
    if (result == 0 && (flags != 0 || !fake_is_context(peer) || peer == fake_current))
        result = WPI_CU_INVALID_VALUE;
    if (result == 0) peer_accesses++;
    RETURN;
}

EXPORT wpi_cu_result cuCtxDisablePeerAccess(wpi_cu_context peer) {
    CALL_IN_CONTEXT("cuCtxDisablePeerAccess");
    if (result == 0 && (!fake_is_context(peer) || peer_accesses == 0)) result = 705;
    if (result == 0) peer_accesses--;
    RETURN;
}

EXPORT wpi_cu_result cuCtxSynchronize(void) {
    CALL_IN_CONTEXT("cuCtxSynchronize");
    if (result == 0 && fake_env_number("FAKE_CUDA_ENDLESS", 0) != 0) (void)pause();
    if (result == 0) result = fake_wait_all();
    RETURN;
}

EXPORT wpi_cu_result cuCtxSetLimit(int limit, size_t value) {
    CALL_IN_CONTEXT("cuCtxSetLimit");
    if (result == 0 && (limit < 0 || limit > 4)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) fake.limits[limit] = value;
    RETURN;
}

EXPORT wpi_cu_result cuCtxGetLimit(size_t *value, int limit) {
    CALL_IN_CONTEXT("cuCtxGetLimit");
    if (result == 0 && (limit < 0 || limit > 4)) result = WPI_CU_INVALID_VALUE;
    if (result == 0) *value = fake.limits[limit];
    RETURN;
}
