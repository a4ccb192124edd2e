/* SPDX-License-Identifier: Apache-2.0 */
/** The layout that programs of this WP_ABI_VERSION were compiled for. Numbers are written out on
 * purpose: who has to change one raises the version, or old programs run with the wrong fields.
 * Fields may be added at the end of wp_cpu_block, which only the runtime allocates. */
#include "base/abi.h"

#include "wp_test.h"

#define AT(type, field, offset) assert_u64(offsetof(type, field), offset)

static void version_1_is_what_is_tested(void **state) {
    (void)state;
    assert_u64(WP_ABI_VERSION, 1);
}

static void blocks_keep_their_fields(void **state) {
    (void)state;
    AT(wp_cpu_block, grid_dim, 0);
    AT(wp_cpu_block, block_dim, 12);
    AT(wp_cpu_block, block_idx, 24);
    AT(wp_cpu_block, thread_count, 36);
    AT(wp_cpu_block, args, 40);
    AT(wp_cpu_block, shared, 48);
    AT(wp_cpu_block, frame, 56);
    AT(wp_cpu_block, states, 64);
    AT(wp_cpu_block, requests, 72);
    AT(wp_cpu_block, shared_bytes, 80);
    AT(wp_cpu_block, shared_dynamic_bytes, 84);
    AT(wp_cpu_block, sm_id, 88);
    AT(wp_cpu_block, sm_count, 92);
    AT(wp_cpu_block, grid_id, 96);
    AT(wp_cpu_block, thread, 104);
    AT(wp_cpu_block, tid, 108);
    AT(wp_cpu_block, is_cooperative, 120);
    AT(wp_cpu_block, cluster_dim, 144);
    AT(wp_cpu_block, cluster_rank, 192);
    AT(wp_cpu_block, cluster_shared, 208);
    AT(wp_cpu_block, cluster_stride_bytes, 216);
    AT(wp_cpu_block, words, 224);
    AT(wp_cpu_block, lane_words, 232);
    AT(wp_cpu_request, op, 0);
    AT(wp_cpu_request, mask, 4);
    AT(wp_cpu_request, a, 8);
    AT(wp_cpu_request, b, 16);
    AT(wp_cpu_request, result, 24);
    assert_u64(sizeof(wp_cpu_request), 32);
}

static void tables_of_a_program_keep_their_fields(void **state) {
    (void)state;
    AT(wp_cpu_code, abi_version, 0);
    AT(wp_cpu_code, isa, 4);
    AT(wp_cpu_code, image_id, 8);
    AT(wp_cpu_code, kernels, 16);
    AT(wp_cpu_code, variables, 24);
    AT(wp_cpu_code, kernel_count, 32);
    AT(wp_cpu_code, variable_count, 36);
    AT(wp_cpu_kernel, name, 0);
    AT(wp_cpu_kernel, regions, 8);
    AT(wp_cpu_kernel, thread, 16);
    AT(wp_cpu_kernel, params, 24);
    AT(wp_cpu_kernel, region_count, 32);
    AT(wp_cpu_kernel, param_count, 36);
    AT(wp_cpu_kernel, shared_static_bytes, 40);
    AT(wp_cpu_kernel, frame_bytes, 44);
    AT(wp_cpu_kernel, local_bytes, 48);
    AT(wp_cpu_kernel, register_estimate, 52);
    AT(wp_cpu_kernel, max_threads, 56);
    AT(wp_cpu_kernel, flags, 60);
    AT(wp_cpu_kernel, cluster_dim, 64);
    assert_u64(sizeof(wp_cpu_kernel), 80);
    AT(wp_cpu_region, run, 0);
    AT(wp_cpu_region, stop, 8);
    AT(wp_cpu_region, flags, 12);
    AT(wp_cpu_region, b, 16);
    assert_u64(sizeof(wp_cpu_region), 24);
    assert_u64(sizeof(wp_cpu_param), 8);
    AT(wp_cpu_variable, name, 0);
    AT(wp_cpu_variable, address, 8);
    AT(wp_cpu_variable, size_bytes, 16);
    AT(wp_cpu_variable, kind, 24);
    assert_u64(sizeof(wp_cpu_variable), 32);
}

static void images_keep_their_fields(void **state) {
    (void)state;
    AT(wp_image_header, abi_version, 8);
    AT(wp_image_header, section_count, 12);
    AT(wp_image_header, id, 16);
    AT(wp_image_header, size_bytes, 24);
    assert_u64(sizeof(wp_image_header), 32);
    AT(wp_image_section, arch, 4);
    AT(wp_image_section, offset, 8);
    AT(wp_image_section, size_bytes, 16);
    AT(wp_image_section, raw_size_bytes, 24);
    assert_u64(sizeof(wp_image_section), 32);
}

static void numbers_keep_their_meaning(void **state) {
    (void)state;
    const struct {
        int value, expected;
    } rows[] = {{WP_STOP_BARRIER, 1},
                {WP_STOP_BARRIER_ARRIVE, 5},
                {WP_STOP_WARP_SYNC, 6},
                {WP_STOP_SHFL_BFLY, 10},
                {WP_STOP_VOTE_BALLOT, 14},
                {WP_STOP_MATCH_ALL, 16},
                {WP_STOP_REDUX_XOR, 24},
                {WP_STOP_ACTIVE_MASK, 25},
                {WP_STOP_STEP, 26},
                {WP_STOP_YIELD, 27},
                {WP_STOP_GRID, 28},
                {WP_VARIABLE_MANAGED, 2},
                {WP_VARIABLE_SURFACE, 4},
                {WP_CPU_ISA_X86_64_V3, 3},
                {WP_TEX_3D, 3},
                {WP_TEX_2D_GATHER, 8},
                {WP_SURF_TRAP, 2},
                {WP_SECTION_BITCODE, 1},
                {WP_SECTION_PTX, 2},
                {WP_STOP_CLUSTER_ARRIVE, 32},
                {WP_STOP_CLUSTER_WAIT, 33}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rows[i].value, rows[i].expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_what_is_tested),
        cmocka_unit_test(blocks_keep_their_fields),
        cmocka_unit_test(tables_of_a_program_keep_their_fields),
        cmocka_unit_test(images_keep_their_fields),
        cmocka_unit_test(numbers_keep_their_meaning),
    };
    return wp_test_main(tests);
}
