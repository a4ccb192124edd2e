/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c, register.c, texture.c: variables by their host name, managed ones, textures. */
#include "cuda_program.h"
#include "cudart/cudart.h"
#include "device/texture.h"

static int managed_at_start;

static void managed_variable_has_its_initial_value_from_the_start(void **state) {
    (void)state;
    assert_int_equal(managed_at_start, 5);
}

static void host_and_kernels_share_a_managed_variable(void **state) {
    (void)state;
    int *out, value = -3;
    void *read_args[] = {&out}, *set_args[] = {&value};
    assert_ok(cudaMallocManaged((void **)&out, 16, cudaMemAttachGlobal));
    host_managed = 1234;
    assert_ok(cudaLaunchKernel(&stub_read, dim(1), dim(1), read_args, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(out[0], 1234);
    assert_ok(cudaLaunchKernel(&stub_set_managed, dim(1), dim(1), set_args, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(host_managed, -3);
    void *address;
    assert_ok(cudaGetSymbolAddress(&address, &host_managed));
    assert_ptr_equal(address, &host_managed);
    host_managed = 5;
}

static void symbols_have_an_address_and_a_size(void **state) {
    (void)state;
    void *address;
    size_t size;
    static int unknown;
    assert_ok(cudaGetSymbolAddress(&address, &host_counter));
    assert_ptr_equal(address, &device_counter);
    assert_ok(cudaGetSymbolSize(&size, host_table));
    assert_int_equal(size, sizeof host_table);
    assert_cuda(cudaGetSymbolAddress(&address, &unknown), cudaErrorInvalidSymbol);
    assert_cuda(cudaGetSymbolSize(&size, NULL), cudaErrorInvalidSymbol);
    assert_cuda(cudaGetSymbolAddress(&address, &host_missing), cudaErrorInvalidSymbol);
    assert_cuda(cudaGetSymbolAddress(&address, &host_texture), cudaErrorInvalidSymbol);
    assert_cuda(cudaGetSymbolAddress(NULL, &host_counter), cudaErrorInvalidValue);
}

static void symbols_are_copied_by_part(void **state) {
    (void)state;
    const int values[2] = {100, 101};
    int back[4], *out;
    void *args[] = {&out};
    assert_ok(cudaMemcpyToSymbol(host_table, values, sizeof values, 4, cudaMemcpyHostToDevice));
    assert_ok(cudaMemcpyFromSymbol(back, host_table, sizeof back, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0], 10);
    assert_int_equal(back[1], 100);
    assert_int_equal(back[3], 13);
    assert_ok(cudaMallocManaged((void **)&out, 16, cudaMemAttachGlobal));
    assert_ok(cudaMemcpyToSymbolAsync(&host_counter, values, 4, 0, cudaMemcpyHostToDevice, NULL));
    assert_ok(cudaLaunchKernel(&stub_read, dim(1), dim(1), args, 0, NULL));
    assert_ok(cudaMemcpyFromSymbolAsync(back, &host_counter, 4, 0, cudaMemcpyDeviceToHost, NULL));
    assert_int_equal(back[0], 100);
    assert_int_equal(out[2], 100);
    assert_int_equal(out[3], 100);
    assert_cuda(cudaMemcpyToSymbol(host_table, values, 8, 9, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    assert_cuda(cudaMemcpyToSymbol(host_table, values, 8, SIZE_MAX - 3, cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    assert_cuda(cudaMemcpyToSymbol(host_table, values, 8, 0, cudaMemcpyDeviceToHost),
                cudaErrorInvalidMemcpyDirection);
    assert_cuda(cudaMemcpyFromSymbol(back, host_table, 8, 0, cudaMemcpyHostToDevice),
                cudaErrorInvalidMemcpyDirection);
    assert_cuda(cudaMemcpyToSymbol(values, values, 8, 0, cudaMemcpyHostToDevice),
                cudaErrorInvalidSymbol);
}

/* ---- textures ---- */

static const struct cudaChannelFormatDesc float_format = {32, 0, 0, 0, cudaChannelFormatKindFloat};
static const struct cudaChannelFormatDesc byte_format = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
static const struct cudaChannelFormatDesc word_format = {32, 0, 0, 0,
                                                         cudaChannelFormatKindUnsigned};

/* The first `count` texels that kernels see through the reference. */
static void fetch(float *out, int count) {
    void *args[] = {&out, &count};
    assert_ok(cudaLaunchKernel(&stub_fetch, dim(1), dim((unsigned)count), args, 0, NULL));
}

static void bound_references_reach_kernels(void **state) {
    (void)state;
    float *memory, *other, *out;
    size_t offset = 1;
    assert_ok(cudaMallocManaged((void **)&memory, 64, cudaMemAttachGlobal));
    assert_ok(cudaMallocManaged((void **)&other, 64, cudaMemAttachGlobal));
    assert_ok(cudaMallocManaged((void **)&out, 64, cudaMemAttachGlobal));
    for (int i = 0; i < 16; i++) {
        memory[i] = (float)i * 2;
        other[i] = (float)-i;
    }
    assert_cuda(cudaGetTextureAlignmentOffset(&offset, &host_texture),
                cudaErrorInvalidTextureBinding);
    assert_ok(cudaBindTexture(&offset, &host_texture, memory, &float_format, 64));
    assert_int_equal(offset, 0);
    assert_ok(cudaGetTextureAlignmentOffset(&offset, &host_texture));
    fetch(out, 8);
    const uint64_t handle = device_texture;
    assert_ok(cudaBindTexture(NULL, &host_texture, memory, &float_format, 64));
    assert_true(device_texture == handle); /* the same again is kept */
    assert_ok(cudaBindTexture(NULL, &host_texture, other, &float_format, UINT32_MAX));
    fetch(out + 8, 8);
    assert_ok(cudaDeviceSynchronize());
    assert_true(out[7] == 14 && out[8 + 7] == -7);
    assert_int_equal(wpi_texture_get(device_texture)->width, 16); /* no size given: all of it */
    assert_ok(cudaUnbindTexture(&host_texture));
    assert_true(device_texture == 0);
    assert_ok(cudaBindTexture(NULL, &host_texture, memory, &float_format, 64));
    assert_ok(cudaDeviceReset());
    assert_true(device_texture == 0);
}

static void references_take_arrays_and_rows(void **state) {
    (void)state;
    const float host[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    cudaArray_t array;
    void *rows;
    size_t pitch;
    const struct textureReference *found;
    assert_ok(cudaMallocArray(&array, &float_format, 4, 2, 0));
    assert_ok(cudaMemcpyToArray(array, 0, 0, host, sizeof host, cudaMemcpyHostToDevice));
    host_texture.filterMode = cudaFilterModeLinear;
    host_texture.addressMode[1] = cudaAddressModeBorder;
    host_texture.normalized = 1;
    assert_ok(cudaBindTextureToArray(&host_texture, array, &float_format));
    const wpi_texture *t = wpi_texture_get(device_texture);
    assert_int_equal(t->width, 4);
    assert_int_equal(t->height, 2);
    assert_int_equal(t->pitch_bytes, 16);
    assert_true(t->is_linear && t->is_normalized && !t->reads_floats);
    assert_int_equal(t->address[1], WPI_TEX_ADDRESS_BORDER);
    assert_ok(cudaMallocPitch(&rows, &pitch, 16, 2));
    assert_ok(cudaBindTexture2D(NULL, &host_texture, rows, &float_format, 4, 2, pitch));
    t = wpi_texture_get(device_texture);
    assert_ptr_equal(t->data, rows);
    assert_int_equal(t->pitch_bytes, pitch);
    assert_ok(cudaGetTextureReference(&found, &host_texture));
    assert_ptr_equal(found, &host_texture);
    host_texture = (struct textureReference){0};
}

static void impossible_bindings_are_refused(void **state) {
    (void)state;
    static struct textureReference unknown;
    char *memory;
    cudaArray_t array;
    const struct cudaChannelFormatDesc odd = {12, 0, 0, 0, cudaChannelFormatKindFloat};
    assert_ok(cudaMalloc((void **)&memory, 64));
    assert_ok(cudaMallocArray(&array, &float_format, 4, 2, 0));
    assert_cuda(cudaBindTexture(NULL, &unknown, memory, &float_format, 64),
                cudaErrorInvalidTexture);
    assert_cuda(cudaBindTexture(NULL, &host_texture, NULL, &float_format, 64),
                cudaErrorInvalidValue);
    assert_cuda(cudaBindTexture(NULL, &host_texture, &unknown, &float_format, 64),
                cudaErrorInvalidValue);
    assert_cuda(cudaBindTexture(NULL, &host_texture, memory, &odd, 64),
                cudaErrorInvalidChannelDescriptor);
    assert_cuda(cudaBindTexture2D(NULL, &host_texture, memory, &float_format, 4, 8, 16),
                cudaErrorInvalidValue);
    assert_cuda(cudaBindTextureToArray(&host_texture, array, &byte_format),
                cudaErrorInvalidChannelDescriptor);
    assert_cuda(cudaBindTextureToArray(&host_texture, NULL, &byte_format),
                cudaErrorInvalidResourceHandle);
    host_texture.filterMode = cudaFilterModeLinear;
    assert_cuda(cudaBindTexture(NULL, &host_texture, memory, &word_format, 64),
                cudaErrorInvalidFilterSetting);
    host_texture = (struct textureReference){0};
}

static void texture_objects_describe_themselves(void **state) {
    (void)state;
    cudaTextureObject_t object;
    struct cudaResourceDesc r = {.resType = cudaResourceTypeLinear}, r_back;
    struct cudaTextureDesc m = {.readMode = cudaReadModeNormalizedFloat,
                                .addressMode = {cudaAddressModeMirror, cudaAddressModeClamp,
                                                cudaAddressModeClamp},
                                .borderColor = {1, 2, 3, 4}},
                           m_back;
    struct cudaResourceViewDesc view;
    assert_ok(cudaMalloc(&r.res.linear.devPtr, 100));
    r.res.linear.desc = byte_format;
    r.res.linear.sizeInBytes = 100;
    assert_ok(cudaCreateTextureObject(&object, &r, &m, NULL));
    const wpi_texture *t = wpi_texture_get(object);
    assert_int_equal(t->width, 100);
    assert_int_equal(t->height, 0);
    assert_true(t->reads_floats && !t->is_linear);
    assert_int_equal(t->address[0], WPI_TEX_ADDRESS_MIRROR);
    assert_true(t->border[2] == 3);
    assert_ok(cudaGetTextureObjectResourceDesc(&r_back, object));
    assert_ptr_equal(r_back.res.linear.devPtr, r.res.linear.devPtr);
    assert_ok(cudaGetTextureObjectTextureDesc(&m_back, object));
    assert_int_equal(m_back.readMode, cudaReadModeNormalizedFloat);
    assert_ok(cudaGetTextureObjectResourceViewDesc(&view, object));
    assert_int_equal(view.format, cudaResViewFormatNone);
    assert_cuda(cudaDestroySurfaceObject(object), cudaErrorInvalidValue);
    assert_ok(cudaDestroyTextureObject(object));
    assert_cuda(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
    assert_ok(cudaDestroyTextureObject(0));

    r.res.linear.desc = word_format;
    assert_cuda(cudaCreateTextureObject(&object, &r, &m, NULL), cudaErrorInvalidNormSetting);
    m.readMode = cudaReadModeElementType;
    r.res.linear.sizeInBytes = 400; /* of 100: what is beyond the allocation is out of range */
    assert_ok(cudaCreateTextureObject(&object, &r, &m, NULL));
    assert_int_equal(wpi_texture_get(object)->width, 25);
    assert_ok(cudaDestroyTextureObject(object));
    r.res.linear.sizeInBytes = 3;
    assert_cuda(cudaCreateTextureObject(&object, &r, &m, NULL), cudaErrorInvalidValue);
    r.resType = cudaResourceTypeMipmappedArray;
    assert_cuda(cudaCreateTextureObject(&object, &r, &m, NULL), cudaErrorNotSupported);
    assert_cuda(cudaCreateTextureObject(&object, NULL, &m, NULL), cudaErrorInvalidValue);
}

static void surfaces_need_arrays_made_for_them(void **state) {
    (void)state;
    cudaSurfaceObject_t object;
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray}, back;
    assert_ok(cudaMallocArray(&r.res.array.array, &float_format, 4, 2, 0));
    assert_cuda(cudaCreateSurfaceObject(&object, &r), cudaErrorInvalidValue);
    assert_ok(cudaMallocArray(&r.res.array.array, &float_format, 4, 2, cudaArraySurfaceLoadStore));
    assert_ok(cudaCreateSurfaceObject(&object, &r));
    assert_int_equal(wpi_texture_get(object)->height, 2);
    assert_ok(cudaGetSurfaceObjectResourceDesc(&back, object));
    assert_ptr_equal(back.res.array.array, r.res.array.array);
    assert_ok(cudaDestroySurfaceObject(object));
    assert_cuda(cudaBindSurfaceToArray(NULL, r.res.array.array, &float_format),
                cudaErrorInvalidSurface);
}

int main(void) {
    managed_at_start = host_managed; /* before any call */
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(managed_variable_has_its_initial_value_from_the_start),
        TEST(host_and_kernels_share_a_managed_variable),
        TEST(symbols_have_an_address_and_a_size),
        TEST(symbols_are_copied_by_part),
        TEST(bound_references_reach_kernels),
        TEST(references_take_arrays_and_rows),
        TEST(impossible_bindings_are_refused),
        TEST(texture_objects_describe_themselves),
        TEST(surfaces_need_arrays_made_for_them),
    };
    return wp_test_main(tests);
}
