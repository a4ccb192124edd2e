/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c, copy_array.c, fill.c, array.c: what arrives where, and what is refused. */
#include "cuda_program.h"
#include "cudart/cudart.h"

static unsigned char pattern(size_t i) {
    return (unsigned char)(i * 7 + i / 256);
}

static void bytes_travel_to_the_device_and_back(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    unsigned char *host = malloc(SIZE), *back = calloc(1, SIZE);
    void *first, *second;
    for (size_t i = 0; i < SIZE; i++)
        host[i] = pattern(i);
    assert_ok(cudaMalloc(&first, SIZE));
    assert_ok(cudaMalloc(&second, SIZE));
    assert_ok(cudaMemcpy(first, host, SIZE, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy(second, first, SIZE, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpy(back, second, SIZE, cudaMemcpyDeviceToHost));
    assert_memory_equal(host, back, SIZE);
    memset(back, 0, SIZE);
    assert_ok(cudaMemcpy(first, host, SIZE, cudaMemcpyDefault));
    assert_ok(cudaMemcpyPeer(second, 0, first, 0, SIZE));
    assert_ok(cudaMemcpy(back, second, SIZE, cudaMemcpyDefault));
    assert_memory_equal(host, back, SIZE);
    memset(back, 0, SIZE);
    assert_ok(cudaMemcpy(back, host, SIZE, cudaMemcpyHostToHost));
    assert_memory_equal(host, back, SIZE);
    free(host);
    free(back);
}

static void wrong_sides_are_refused(void **state) {
    (void)state;
    int host[4] = {0}, other[4];
    int *device, *managed, *pinned;
    const size_t size = sizeof host;
    assert_ok(cudaMalloc((void **)&device, size));
    assert_ok(cudaMallocManaged((void **)&managed, size, cudaMemAttachGlobal));
    assert_ok(cudaMallocHost((void **)&pinned, size));
    assert_cuda(cudaMemcpy(host, device, size, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy(device, host, size, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy(host, other, size, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy(device, host, size, (enum cudaMemcpyKind)9),
                cudaErrorInvalidMemcpyDirection);
    /* Managed and page-locked memory is both. */
    assert_ok(cudaMemcpy(managed, host, size, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy(host, managed, size, cudaMemcpyHostToHost));
    assert_ok(cudaMemcpy(device, pinned, size, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy(pinned, device, size, cudaMemcpyDeviceToDevice));
}

/* "Host" says less than "device": with unified addressing such a pointer may lead anywhere. */
static void host_may_be_any_memory(void **state) {
    (void)state;
    int host[4] = {1, 2, 3, 4}, back[4] = {0};
    int *first, *second;
    const size_t size = sizeof host;
    assert_ok(cudaMalloc((void **)&first, size));
    assert_ok(cudaMalloc((void **)&second, size));
    assert_ok(cudaMemcpy(first, host, size, cudaMemcpyHostToHost));
    assert_ok(cudaMemcpy(second, first, size, cudaMemcpyHostToHost));
    assert_ok(cudaMemcpyAsync(back, second, size, cudaMemcpyHostToHost, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_memory_equal(host, back, size);
}

static void ranges_stay_in_their_allocation(void **state) {
    (void)state;
    char host[64] = {0}, *device;
    assert_ok(cudaMalloc((void **)&device, 32));
    assert_cuda(cudaMemcpy(device, host, 33, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy(device + 16, host, 17, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_ok(cudaMemcpy(device + 16, host, 16, cudaMemcpyHostToDevice));
    assert_cuda(cudaMemcpy(NULL, host, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy(host, NULL, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_ok(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    assert_cuda(cudaMemset(device, 0, 33), cudaErrorInvalidValue);
    assert_cuda(cudaMemset(host, 0, 1), cudaErrorInvalidValue);
    assert_cuda(cudaMemset(NULL, 0, 1), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpyPeer(device, 1, device, 0, 1), cudaErrorInvalidDevice);
}

static void rows_keep_their_pitches(void **state) {
    (void)state;
    enum { WIDTH = 30, HEIGHT = 5, HOST_PITCH = 40 };
    unsigned char host[HEIGHT * HOST_PITCH], back[HEIGHT * HOST_PITCH];
    void *device;
    size_t pitch;
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = pattern(i);
    memset(back, 0xee, sizeof back);
    assert_ok(cudaMallocPitch(&device, &pitch, WIDTH, HEIGHT));
    assert_ok(cudaMemcpy2D(device, pitch, host, HOST_PITCH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpy2D(back, HOST_PITCH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < HOST_PITCH; x++)
            assert_int_equal(back[y * HOST_PITCH + x], x < WIDTH ? host[y * HOST_PITCH + x] : 0xee);
    assert_cuda(cudaMemcpy2D(device, 8, host, HOST_PITCH, WIDTH, 1, cudaMemcpyHostToDevice),
                cudaErrorInvalidPitchValue);
    assert_cuda(
        cudaMemcpy2D(device, pitch, host, HOST_PITCH, WIDTH, HEIGHT + 1, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
    assert_cuda(
        cudaMemcpy2D(device, SIZE_MAX / 2, host, HOST_PITCH, WIDTH, HEIGHT, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
    assert_ok(cudaMemcpy2D(device, pitch, host, HOST_PITCH, 0, HEIGHT, cudaMemcpyHostToDevice));
}

static void boxes_are_cut_out(void **state) {
    (void)state;
    enum { W = 6, H = 5, D = 4 };
    unsigned char host[D][H][W], back[D][H][W];
    struct cudaPitchedPtr device;
    for (size_t i = 0; i < sizeof host; i++)
        ((unsigned char *)host)[i] = pattern(i);
    memset(back, 0, sizeof back);
    assert_ok(cudaMalloc3D(&device, (struct cudaExtent){W, H, D}));
    struct cudaMemcpy3DParms p = {.srcPtr = make_cudaPitchedPtr(host, W, W, H),
                                  .dstPtr = device,
                                  .extent = {W, H, D},
                                  .kind = cudaMemcpyHostToDevice};
    assert_ok(cudaMemcpy3D(&p));
    p = (struct cudaMemcpy3DParms){.srcPtr = device,
                                   .srcPos = {1, 2, 1},
                                   .dstPtr = make_cudaPitchedPtr(back, W, W, H),
                                   .dstPos = {0, 1, 2},
                                   .extent = {3, 2, 2},
                                   .kind = cudaMemcpyDeviceToHost};
    assert_ok(cudaMemcpy3D(&p));
    for (size_t z = 0; z < 2; z++)
        for (size_t y = 0; y < 2; y++)
            for (size_t x = 0; x < 3; x++)
                assert_int_equal(back[z + 2][y + 1][x], host[z + 1][y + 2][x + 1]);
    assert_int_equal(back[0][0][0], 0);
    p.srcPos.z = 3; /* leaves the memory */
    assert_cuda(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.srcPtr.ptr = NULL;
    assert_cuda(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
}

static void small_async_copies_take_the_source_at_the_call(void **state) {
    (void)state;
    atomic_int *gate;
    int *device, host = 1, back = 0;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMallocHost((void **)&gate, sizeof *gate));
    assert_ok(cudaMalloc((void **)&device, sizeof host));
    atomic_store(gate, 0);
    assert_ok(launch_wait(gate, stream));
    assert_ok(cudaMemcpyAsync(device, &host, sizeof host, cudaMemcpyHostToDevice, stream));
    host = 2;
    atomic_store(gate, 1);
    assert_ok(cudaMemcpyAsync(&back, device, sizeof back, cudaMemcpyDeviceToHost, stream));
    assert_int_equal(back, 1); /* pageable destination: done on return */
    assert_ok(cudaStreamDestroy(stream));
}

static void staged_rows_arrive_in_place(void **state) {
    (void)state;
    unsigned char host[3][16], back[3][16], *device;
    for (size_t i = 0; i < sizeof host; i++)
        ((unsigned char *)host)[i] = pattern(i);
    assert_ok(cudaMalloc((void **)&device, 3 * 64));
    assert_ok(cudaMemcpy2DAsync(device, 64, host, 16, 10, 3, cudaMemcpyHostToDevice, NULL));
    assert_ok(cudaMemcpy2D(back, 16, device, 64, 10, 3, cudaMemcpyDeviceToHost));
    for (size_t y = 0; y < 3; y++)
        assert_memory_equal(back[y], host[y], 10);
}

static void page_locked_async_copies_do_not_wait(void **state) {
    (void)state;
    atomic_int *gate;
    int *device, *host;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMallocHost((void **)&gate, sizeof *gate));
    assert_ok(cudaMallocHost((void **)&host, sizeof *host));
    assert_ok(cudaMalloc((void **)&device, sizeof *device));
    *host = 5;
    atomic_store(gate, 0);
    assert_ok(launch_wait(gate, stream));
    assert_ok(cudaMemcpyAsync(device, host, sizeof *host, cudaMemcpyHostToDevice, stream));
    assert_ok(launch_add(device, 1, 1, stream));
    assert_ok(cudaMemcpyAsync(host, device, sizeof *host, cudaMemcpyDeviceToHost, stream));
    assert_cuda(cudaStreamQuery(stream), cudaErrorNotReady); /* and we are here already */
    atomic_store(gate, 1);
    assert_ok(cudaStreamSynchronize(stream));
    assert_int_equal(*host, 6);
    assert_ok(cudaStreamDestroy(stream));
}

static void fills_set_bytes(void **state) {
    (void)state;
    unsigned char back[4][512];
    void *device;
    size_t pitch;
    assert_ok(cudaMallocPitch(&device, &pitch, 300, 4));
    assert_int_equal(pitch, 512);
    assert_ok(cudaMemset(device, 0xab, pitch * 4));
    assert_ok(cudaMemset2D(device, pitch, 0x1cd, 300, 3));
    assert_ok(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0][0], 0xcd); /* the low byte of the value */
    assert_int_equal(back[2][299], 0xcd);
    assert_int_equal(back[2][300], 0xab);
    assert_int_equal(back[3][0], 0xab);
    assert_ok(cudaMemset2DAsync(device, pitch, 0, pitch, 4, NULL));
    assert_ok(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    assert_int_equal(back[3][511], 0);
    assert_cuda(cudaMemset2D(device, 100, 0, 300, 2), cudaErrorInvalidPitchValue);
    assert_cuda(cudaMemset2D(device, pitch, 0, 300, 5), cudaErrorInvalidValue);
}

static void fills_of_managed_memory_are_done_on_return(void **state) {
    (void)state;
    unsigned char *m;
    assert_ok(cudaMallocManaged((void **)&m, 100000, cudaMemAttachGlobal));
    assert_ok(cudaMemset(m, 3, 100000));
    assert_int_equal(m[99999], 3);
}

static const struct cudaChannelFormatDesc float_format = {32, 0, 0, 0, cudaChannelFormatKindFloat};

static void arrays_describe_themselves(void **state) {
    (void)state;
    cudaArray_t array;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned flags;
    const struct cudaChannelFormatDesc odd = {24, 0, 0, 0, cudaChannelFormatKindUnsigned};
    const struct cudaChannelFormatDesc three = {8, 8, 8, 0, cudaChannelFormatKindUnsigned};
    const struct cudaChannelFormatDesc mixed = {8, 16, 0, 0, cudaChannelFormatKindUnsigned};
    assert_ok(cudaMallocArray(&array, &float_format, 10, 4, cudaArraySurfaceLoadStore));
    assert_ok(cudaArrayGetInfo(&format, &extent, &flags, array));
    assert_int_equal(format.x, 32);
    assert_int_equal(extent.width, 10);
    assert_int_equal(extent.height, 4);
    assert_int_equal(extent.depth, 0);
    assert_int_equal(flags, cudaArraySurfaceLoadStore);
    assert_ok(cudaGetChannelDesc(&format, array));
    assert_int_equal(format.f, cudaChannelFormatKindFloat);
    assert_ok(cudaFreeArray(array));
    assert_cuda(cudaFreeArray(array), cudaErrorInvalidValue);
    assert_ok(cudaFreeArray(NULL));
    assert_cuda(cudaMallocArray(&array, &odd, 10, 4, 0), cudaErrorInvalidChannelDescriptor);
    assert_cuda(cudaMallocArray(&array, &three, 10, 4, 0), cudaErrorInvalidChannelDescriptor);
    assert_cuda(cudaMallocArray(&array, &mixed, 10, 4, 0), cudaErrorInvalidChannelDescriptor);
    assert_cuda(cudaMallocArray(&array, &float_format, 0, 4, 0), cudaErrorInvalidValue);
    assert_cuda(cudaMallocArray(&array, &float_format, SIZE_MAX / 8, 1 << 20, 0),
                cudaErrorMemoryAllocation);
    assert_cuda(cudaMallocArray(&array, &float_format, 4, 4, cudaArrayLayered), /* no layers */
                cudaErrorInvalidValue);
}

static void arrays_take_rows_and_bytes(void **state) {
    (void)state;
    float host[4][10], back[4][10], part[2][3];
    cudaArray_t array, other;
    for (int i = 0; i < 40; i++)
        ((float *)host)[i] = (float)i;
    assert_ok(cudaMallocArray(&array, &float_format, 10, 4, 0));
    assert_ok(cudaMallocArray(&other, &float_format, 10, 4, 0));
    assert_ok(cudaMemcpyToArray(array, 0, 0, host, sizeof host, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyFromArray(back, array, 0, 0, sizeof back, cudaMemcpyDeviceToHost));
    assert_memory_equal(host, back, sizeof host);
    assert_ok(cudaMemcpy2DFromArray(part, sizeof part[0], array, 2 * sizeof(float), 1,
                                    sizeof part[0], 2, cudaMemcpyDeviceToHost));
    assert_true(part[1][2] == host[2][4]);
    assert_ok(
        cudaMemcpyArrayToArray(other, 0, 0, array, 0, 0, sizeof host, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpy2DArrayToArray(other, 0, 0, array, 4, 1, 8, 2, cudaMemcpyDeviceToDevice));
    assert_ok(cudaMemcpyFromArray(back, other, 0, 0, sizeof back, cudaMemcpyDeviceToHost));
    assert_true(back[0][0] == host[1][1] && back[1][1] == host[2][2] && back[3][9] == host[3][9]);

    assert_cuda(cudaMemcpyToArray(array, 0, 3, host, 41, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    assert_cuda(cudaMemcpyToArray(array, 0, 4, host, 4, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    assert_cuda(cudaMemcpy2DToArray(array, 8, 0, host, 40, 40, 2, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    assert_cuda(cudaMemcpyToArray(array, 0, 0, host, 4, cudaMemcpyDeviceToHost),
                cudaErrorInvalidMemcpyDirection);
    assert_cuda(cudaMemcpyToArray(NULL, 0, 0, host, 4, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
}

static void boxes_of_arrays_count_elements(void **state) {
    (void)state;
    float host[2][3][4], back[2][3][4];
    cudaArray_t array;
    for (int i = 0; i < 24; i++)
        ((float *)host)[i] = (float)i;
    memset(back, 0, sizeof back);
    assert_ok(cudaMalloc3DArray(&array, &float_format, (struct cudaExtent){4, 3, 2}, 0));
    struct cudaMemcpy3DParms p = {.srcPtr = make_cudaPitchedPtr(host, 16, 4, 3),
                                  .dstArray = array,
                                  .extent = {4, 3, 2},
                                  .kind = cudaMemcpyHostToDevice};
    assert_ok(cudaMemcpy3D(&p));
    p = (struct cudaMemcpy3DParms){.srcArray = array,
                                   .srcPos = {1, 1, 1},
                                   .dstPtr = make_cudaPitchedPtr(back, 16, 4, 3),
                                   .extent = {2, 2, 1},
                                   .kind = cudaMemcpyDeviceToHost};
    assert_ok(cudaMemcpy3D(&p));
    assert_true(back[0][0][0] == host[1][1][1] && back[0][1][1] == host[1][2][2]);
    assert_true(back[0][0][2] == 0);
    p.extent.width = 4; /* 1 + 4 > 4 */
    assert_cuda(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.extent = (struct cudaExtent){2, 3, 1}; /* 1 + 3 > 3: into the next slice */
    p.srcPos.z = 0;
    assert_cuda(cudaMemcpy3D(&p), cudaErrorInvalidValue);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(bytes_travel_to_the_device_and_back),
        TEST(wrong_sides_are_refused),
        TEST(host_may_be_any_memory),
        TEST(ranges_stay_in_their_allocation),
        TEST(rows_keep_their_pitches),
        TEST(boxes_are_cut_out),
        TEST(small_async_copies_take_the_source_at_the_call),
        TEST(staged_rows_arrive_in_place),
        TEST(page_locked_async_copies_do_not_wait),
        TEST(fills_set_bytes),
        TEST(fills_of_managed_memory_are_done_on_return),
        TEST(arrays_describe_themselves),
        TEST(arrays_take_rows_and_bytes),
        TEST(boxes_of_arrays_count_elements),
    };
    return wp_test_main(tests);
}
