/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels that do what they must not: the device says what, where, and lives on. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu_program.h"

/* What the kernel does to its argument is the sanitizers' business as well: not here. */
#define UNCHECKED __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

UNCHECKED static uint32_t store(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    volatile int *to = ARG(b, 0, volatile int *);
    *to = 1;
    return WP_STATE_EXIT;
}

UNCHECKED static uint32_t divide(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    volatile int one = 1, zero = 0;
    (void)b, (void)first, (void)outer;
    one /= zero;
    return WP_STATE_EXIT;
}

static uint32_t trap(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)b, (void)first, (void)outer;
    wp_rt_trap();
    return WP_STATE_EXIT;
}

static uint32_t illegal(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)b, (void)first, (void)outer;
    __builtin_trap();
}

static uint32_t assert_positive(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    b->thread = 33;
    b->tid[0] = 1;
    b->tid[1] = 1;
    wp_rt_assert_fail("x > 0", "kernel.cu", 12, "void check(int)");
    return WP_STATE_EXIT;
}

static uint32_t free_it(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    wp_rt_free(ARG(b, 0, void *));
    return WP_STATE_EXIT;
}

/* Counts blocks; the first one fails. */
static uint32_t count_blocks(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    atomic_fetch_add(ARG(b, 0, atomic_uint *), 1);
    if (b->block_idx[0] == 0) wp_rt_trap();
    return WP_STATE_EXIT;
}

/* What compiled code does with a float4: an instruction that insists on alignment. */
UNCHECKED static uint32_t store_vector(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    __asm__ volatile("movaps %%xmm0, 4(%0,%1,4)" ::"r"(ARG(b, 0, char *)), "r"((uint64_t)3)
                     : "memory");
    return WP_STATE_EXIT;
}

#define ONE_REGION(name)                                                                           \
    static const wp_cpu_region name##_regions[] = {REGION(name, WP_STOP_NONE, 0)}
ONE_REGION(store);
ONE_REGION(store_vector);
ONE_REGION(divide);
ONE_REGION(trap);
ONE_REGION(illegal);
ONE_REGION(assert_positive);
ONE_REGION(free_it);
ONE_REGION(count_blocks);

static const wp_cpu_kernel kernels[] = {
    REGION_KERNEL("_Z5storePi", store_regions, 1, 0, 0),
    REGION_KERNEL("vector", store_vector_regions, 1, 0, 0),
    REGION_KERNEL("divide", divide_regions, 1, 0, 0),
    REGION_KERNEL("trap", trap_regions, 1, 0, 0),
    REGION_KERNEL("illegal", illegal_regions, 1, 0, 0),
    REGION_KERNEL("assert", assert_positive_regions, 1, 0, 0),
    REGION_KERNEL("free", free_it_regions, 1, 0, 0),
    REGION_KERNEL("count", count_blocks_regions, 1, 0, 0),
};

typedef struct fixture {
    wp_device *device;
    wp_module *module;
    wp_error err;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->device = open_device("2");
    f->module = load_kernels(f->device, kernels, COUNT_OF(kernels));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    wp_module_unload(f->module);
    wp_device_close(f->device);
    free(f);
    return 0;
}

/* Runs a kernel on `argument` and waits. */
static wp_status run(fixture *f, const char *name, uint32_t blocks, const void *argument) {
    wp_status status = launch(wp_device_default_queue(f->device), find_kernel(f->module, name),
                              blocks, 32, (void *[]){&argument}, &f->err);
    if (status == WP_STATUS_OK) status = wp_device_wait(f->device, &f->err);
    return status;
}

static void an_address_behind_an_allocation_is_named_with_its_distance(void **state) {
    fixture *f = *state;
    /* A page that is surely not there, right behind an allocation. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | 0x20 /* MAP_ANONYMOUS */, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_status_ok(wp_memory_register(f->device, pages, page, 0, &f->err), &f->err);
    assert_status_fails(run(f, "_Z5storePi", 1, pages + 2 * page + 3), WP_STATUS_KERNEL_ADDRESS,
                        &f->err, "kernel store, block (0,0,0): accessed address");
    char part[120];
    snprintf(part, sizeof part, "%zu bytes past the end of the nearest registered host range (%zu",
             page + 4, page);
    assert_contains(f->err.message, part);
    assert_status_ok(wp_device_reset(f->device, &f->err), &f->err);
    munmap(pages, 4 * page);
}

static void a_null_pointer_is_named(void **state) {
    fixture *f = *state;
    assert_status_fails(run(f, "_Z5storePi", 4, (void *)(uintptr_t)16), WP_STATUS_KERNEL_ADDRESS,
                        &f->err, "a NULL pointer or close to one");
}

static void an_address_that_no_pointer_can_be_is_named(void **state) {
    fixture *f = *state;
    assert_status_fails(run(f, "_Z5storePi", 1, (void *)(uintptr_t)0x4000000000000010u),
                        WP_STATUS_KERNEL_ADDRESS, &f->err, "accessed address 0x4000000000000010");
}

static void a_misaligned_vector_is_told_from_a_wild_pointer(void **state) {
    fixture *f = *state;
    char *data = allocate(f->device, 100), part[100];
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
    assert_status_fails(run(f, "vector", 1, data + 8), WP_STATUS_KERNEL_MISALIGNED, &f->err,
                        "not aligned");
    snprintf(part, sizeof part, "a vector at address %p", (void *)(data + 24));
    assert_contains(f->err.message, part);
    assert_status_ok(wp_device_reset(f->device, &f->err), &f->err);
    assert_status_fails(run(f, "vector", 1, (void *)(uintptr_t)0x7000000000000000u),
                        WP_STATUS_KERNEL_ADDRESS, &f->err, "0x7000000000000010");
}

static void division_by_zero_is_named(void **state) {
    fixture *f = *state;
    assert_status_fails(run(f, "divide", 1, NULL), WP_STATUS_KERNEL_ADDRESS, &f->err,
                        "divided an integer by zero");
}

static void traps_are_named(void **state) {
    fixture *f = *state;
    assert_status_fails(run(f, "trap", 1, NULL), WP_STATUS_KERNEL_TRAP, &f->err,
                        "kernel trap, block (0,0,0): executed a trap");
    assert_status_ok(wp_device_reset(f->device, &f->err), &f->err);
    assert_status_fails(run(f, "illegal", 1, NULL), WP_STATUS_KERNEL_TRAP, &f->err,
                        "kernel illegal, block (0,0,0): executed a trap");
}

static void assertions_name_place_block_and_thread(void **state) {
    fixture *f = *state;
    assert_status_fails(run(f, "assert", 1, NULL), WP_STATUS_KERNEL_ASSERT, &f->err,
                        "thread (1,1,0): assertion `x > 0` failed at kernel.cu:12");
}

static void freeing_what_was_not_allocated_is_an_error(void **state) {
    fixture *f = *state;
    int local = 0;
    assert_status_fails(run(f, "free", 1, &local), WP_STATUS_KERNEL_ADDRESS, &f->err,
                        "not a live allocation made by malloc in a kernel");
}

static void blocks_after_an_error_are_abandoned(void **state) {
    fixture *f = *state;
    atomic_uint count = 0;
    assert_int_equal(run(f, "count", 1000000, &count), WP_STATUS_KERNEL_TRAP);
    assert_true(atomic_load(&count) < 1000000);
}

static void commands_after_an_error_do_nothing_and_say_why(void **state) {
    fixture *f = *state;
    wp_queue *queue = wp_device_default_queue(f->device);
    char *data = allocate(f->device, 16);
    memset(data, 7, 16);
    assert_int_equal(run(f, "trap", 1, NULL), WP_STATUS_KERNEL_TRAP);
    assert_status_fails(wp_queue_fill(queue, data, 0, 1, 16, &f->err), WP_STATUS_KERNEL_TRAP,
                        &f->err, "kernel trap");
    assert_int_equal(data[0], 7);
    assert_status_ok(wp_device_reset(f->device, &f->err), &f->err);
    data = allocate(f->device, 16);
    assert_status_ok(wp_queue_fill(queue, data, 9, 1, 16, &f->err), &f->err);
    assert_status_ok(wp_queue_wait(queue, &f->err), &f->err);
    assert_int_equal(data[15], 9);
}

static sigjmp_buf passed_on;

static void handler_of_the_program(int number) {
    (void)number;
    siglongjmp(passed_on, 1);
}

static void a_fault_of_the_program_goes_to_its_own_handler(void **state) {
    fixture *f = *state;
    struct sigaction action = {.sa_handler = handler_of_the_program, .sa_flags = SA_NODEFER},
                     before;
    sigaction(SIGSEGV, &action, &before);
    /* A command puts our handler on top of it. */
    assert_int_equal(run(f, "trap", 1, NULL), WP_STATUS_KERNEL_TRAP);
    volatile bool is_back = false;
    if (sigsetjmp(passed_on, 1) == 0) {
        raise(SIGSEGV);
    } else {
        is_back = true;
    }
    assert_true(is_back);
    sigaction(SIGSEGV, &before, NULL);
}

int main(void) {
#define FAULT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FAULT_TEST(an_address_behind_an_allocation_is_named_with_its_distance),
        FAULT_TEST(a_null_pointer_is_named),
        FAULT_TEST(an_address_that_no_pointer_can_be_is_named),
        FAULT_TEST(a_misaligned_vector_is_told_from_a_wild_pointer),
        FAULT_TEST(division_by_zero_is_named),
        FAULT_TEST(traps_are_named),
        FAULT_TEST(assertions_name_place_block_and_thread),
        FAULT_TEST(freeing_what_was_not_allocated_is_an_error),
        FAULT_TEST(blocks_after_an_error_are_abandoned),
        FAULT_TEST(commands_after_an_error_do_nothing_and_say_why),
        FAULT_TEST(a_fault_of_the_program_goes_to_its_own_handler),
    };
    return wp_test_main(tests);
}
