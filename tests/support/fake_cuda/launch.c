/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: checked when they are queued, executed by the machine in their turn. */
#include "fake.h"

#include <time.h>

typedef struct launch_work {
    const fake_kernel *kernel;
    pm_launch launch;
    uint32_t workspace[4]; /* of a cooperative launch: its size, its barrier */
    unsigned char params[];
} launch_work;

/* ---- memory that kernels may touch ---- */

#define USER_SPACE_BYTES ((uintptr_t)1 << 47)

static bool is_reachable(const fake_object *o) {
    return o->kind == FAKE_MEMORY || o->kind == FAKE_HOST || o->kind == FAKE_REGISTERED;
}

static void collect_variables(const fake_object *o, pm_range *ranges, size_t *count) {
    const pm_variable *v;
    for (unsigned i = 0; (v = pm_module_variable(o->module, i)) != NULL; i++)
        if (v->bytes != 0)
            ranges[(*count)++] = (pm_range){(uintptr_t)v->memory, (uintptr_t)v->memory + v->bytes};
}

static size_t count_of(const fake_object *o) {
    size_t count = 1;
    while (o->module != NULL && pm_module_variable(o->module, (unsigned)count - 1) != NULL)
        count++;
    return count;
}

/* Like a GPU, where an allocation is rounded up to more, the machine lets kernels read what a
 * sector of 32 bytes has beside the allocation's last byte; with FAKE_CUDA_ROUNDED, 256 bytes, to
 * which the driver's own allocations are aligned. */
static uintptr_t reachable_end(const fake_object *o) {
    const bool is_rounded = o->kind == FAKE_MEMORY && fake_env_number("FAKE_CUDA_ROUNDED", 0) != 0;
    const uintptr_t end = (uintptr_t)o->base + o->bytes, unit = is_rounded ? 256 : 32;
    return (uintptr_t)o->base % unit == 0 ? (end + unit - 1) / unit * unit : end;
}

/* The launch's own module's variables are known to the machine. */
static pm_range *collect_ranges(const launch_work *w, size_t *out) {
    enum { PAGE_BYTES = 4096 };
    size_t most = 3, count = 0;
    for (const fake_object *o = fake.live; o != NULL; o = o->next)
        most += count_of(o);
    pm_range *ranges = malloc(most * sizeof *ranges);
    if (ranges == NULL) abort();
    if (fake_env_number("FAKE_CUDA_PAGEABLE", 0) != 0)
        ranges[count++] = (pm_range){PAGE_BYTES, USER_SPACE_BYTES};
    for (const fake_object *o = fake.live; o != NULL; o = o->next) {
        if (is_reachable(o)) ranges[count++] = (pm_range){(uintptr_t)o->base, reachable_end(o)};
        if (o->module != NULL && o != w->kernel->module) collect_variables(o, ranges, &count);
    }
    if (fake_heap_range(&ranges[count])) count++;
    if (w->launch.is_cooperative)
        ranges[count++] =
            (pm_range){(uintptr_t)w->workspace, (uintptr_t)w->workspace + sizeof w->workspace};
    *out = count;
    return ranges;
}

/* ---- work ---- */

static double seconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_in_kernels;

static void note_time(double more) {
    pthread_mutex_lock(&fake.lock);
    seconds_in_kernels += more;
    pthread_mutex_unlock(&fake.lock);
}

/* On stderr, if it is asked for. */
__attribute__((destructor)) static void report_speed(void) {
    const double count = (double)pm_lane_instructions();
    if (getenv("FAKE_CUDA_SPEED") == NULL || count == 0) return;
    (void)fprintf(stderr, "fake_cuda: %.0f lane instructions in %.3f s: %.0f million a second\n",
                  count, seconds_in_kernels, count / seconds_in_kernels * 1e-6);
}

static int run_launch(void *argument) {
    static const pm_services services = {.print = fake_print,
                                         .heap_alloc = fake_heap_alloc,
                                         .heap_free = fake_heap_free,
                                         .texture = fake_texture_read,
                                         .surface = fake_surface_place};
    launch_work *w = argument;
    char report[600];
    pthread_mutex_lock(&fake.lock);
    pm_range *ranges = collect_ranges(w, &w->launch.range_count);
    pthread_mutex_unlock(&fake.lock);
    w->launch.ranges = ranges;
    w->launch.services = &services;
    const double start = seconds();
    const pm_result result = pm_run(w->kernel->module->module, &w->launch, report, sizeof report);
    note_time(seconds() - start);
    if (result != PM_OK && result != PM_ASSERT)
        (void)fprintf(stderr, "fake_cuda: error %d in %s\n", (int)result, report);
    free(ranges);
    free(w);
    return (int)result;
}

/* ---- checks ---- */

static int check_shape(const fake_kernel *k, const unsigned grid[3], const unsigned block[3],
                       unsigned shared_bytes) {
    const unsigned long long threads = (unsigned long long)block[0] * block[1] * block[2];
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0 || grid[0] > 0x7fffffff || grid[1] > 65535 ||
        grid[2] > 65535 || threads == 0 || threads > 1024 || block[2] > 64)
        return fake_misuse("cuLaunchKernel: a shape that no GPU takes");
    if (k->info->threads_max != 0 && threads > k->info->threads_max) return WPI_CU_INVALID_VALUE;
    if (shared_bytes > (unsigned)k->shared_dynamic_max)
        return fake_misuse("cuLaunchKernel: %u bytes of shared memory were not asked for",
                           shared_bytes);
    return 0;
}

static void note_launch(const fake_kernel *k, const pm_launch *l, void **args) {
    fake_cuda_launch *last = &fake.last_launch;
    *last = (fake_cuda_launch){.grid = {l->grid[0], l->grid[1], l->grid[2]},
                               .block = {l->block[0], l->block[1], l->block[2]},
                               .shared_bytes = l->shared_dynamic_bytes,
                               .is_cooperative = l->is_cooperative,
                               .param_count = k->info->param_count};
    (void)snprintf(last->kernel, sizeof last->kernel, "%s", k->info->name);
    for (unsigned i = 0; i < k->info->param_count; i++) {
        const size_t bytes = k->info->params[i].bytes;
        if (last->param_bytes + bytes > sizeof last->params) break;
        memcpy(last->params + last->param_bytes, args[i], bytes);
        last->param_bytes += (bytes + 15) / 16 * 16;
    }
    fake.launch_count++;
}

static int launch(wpi_cu_function function, const unsigned grid[3], const unsigned block[3],
                  unsigned shared_bytes, wpi_cu_stream stream, void **args, bool is_cooperative) {
    enum { COOPERATIVE_LAUNCH_TOO_LARGE = 720 };
    const fake_kernel *k = fake_check_function(function, "cuLaunchKernel");
    if (k == NULL || !fake_check_stream(stream, "cuLaunchKernel")) return 400;
    const int error = check_shape(k, grid, block, shared_bytes);
    if (error != 0) return error;
    const unsigned threads = block[0] * block[1] * block[2];
    const unsigned together =
        (unsigned)fake_blocks_per_sm(k, threads, shared_bytes) * FAKE_SM_COUNT;
    if (is_cooperative && (unsigned long long)grid[0] * grid[1] * grid[2] > together)
        return COOPERATIVE_LAUNCH_TOO_LARGE;
    if (k->info->param_count != 0 && args == NULL)
        return fake_misuse("cuLaunchKernel: no arguments");
    launch_work *w = calloc(1, sizeof *w + k->info->param_bytes + 1);
    if (w == NULL) abort();
    w->kernel = k;
    w->workspace[0] = sizeof w->workspace;
    w->launch = (pm_launch){.kernel = k->info,
                            .grid = {grid[0], grid[1], grid[2]},
                            .block = {block[0], block[1], block[2]},
                            .shared_dynamic_bytes = shared_bytes,
                            .params = w->params,
                            .stack_bytes = fake.limits[WPI_CU_LIMIT_STACK],
                            .resident_max = together,
                            .sm_count = FAKE_SM_COUNT,
                            .is_cooperative = is_cooperative,
                            .workspace = is_cooperative ? w->workspace : NULL};
    for (unsigned i = 0; i < k->info->param_count; i++) {
        if (args[i] == NULL) {
            free(w);
            return fake_misuse("cuLaunchKernel: argument %u is missing", i);
        }
        memcpy(w->params + k->info->params[i].offset, args[i], k->info->params[i].bytes);
    }
    note_launch(k, &w->launch, args);
    (void)fake_enqueue(stream, run_launch, w, NULL);
    return 0;
}

EXPORT wpi_cu_result cuLaunchKernel(wpi_cu_function function, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
                                    wpi_cu_stream stream, void **args, void **extra) {
    CALL_IN_CONTEXT("cuLaunchKernel");
    if (result == 0 && extra != NULL) result = fake_misuse("cuLaunchKernel: extra");
    if (result == 0)
        result = launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes,
                        stream, args, false);
    RETURN;
}

EXPORT wpi_cu_result cuLaunchCooperativeKernel(wpi_cu_function function, unsigned gx, unsigned gy,
                                               unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                               unsigned shared_bytes, wpi_cu_stream stream,
                                               void **args) {
    CALL_IN_CONTEXT("cuLaunchCooperativeKernel");
    if (result == 0)
        result = launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared_bytes,
                        stream, args, true);
    RETURN;
}
