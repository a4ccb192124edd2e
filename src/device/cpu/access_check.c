/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Calls of checked kernels, and their reports. A finding is a place in a kernel and a kind of
 * error: it is reported on stderr the first time, and then counted for the summary at the end.
 */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr, pthread_getattr_np, mincore */
#include "device/cpu/access_check.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/param.h"

#define DUMMY_BYTES 64u /* no access is wider */
#define LEAKS_SHOWN_MAX 16u
#define NEAR_BYTES ((uint64_t)1 << 30) /* a more distant allocation is not reported */

const wpi_param wpi_check_params[] = {
    {"check", WP_UNIT_FLAG, "off", 0, 1,
     "check kernels for out-of-bounds and misaligned accesses, use of freed memory, divergent "
     "barriers and leaks"},
    {"check-stop", WP_UNIT_FLAG, "off", 0, 1, "stop the kernel at its first finding"},
    {0}};

bool wpi_check_enabled;

typedef enum kind { OUT_OF_BOUNDS, MISALIGNED, FREED, DIVERGENT, DENIED, KIND_COUNT } kind;

static const char *const titles[KIND_COUNT] = {"out-of-bounds access", "misaligned access",
                                               "use of freed memory", "divergent barrier",
                                               "access to another device's memory"};

typedef struct finding {
    struct finding *next;
    kind kind;
    const wp_check_site *site;
    char *kernel;
    uint64_t count;
} finding;

static struct {
    pthread_mutex_t lock;
    finding *findings, **last;
    uint64_t others; /* findings that the device's own messages report */
    bool stops;
    bool has_failed;   /* the device has failed: memory that is not freed is no leak */
    bool is_unchecked; /* there are kernels that could not be checked */
    pid_t owner;       /* forked children report nothing */
    const char *found_path;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &state.findings};

/* ---- start ---- */

wp_status wpi_check_start(wp_error *err) {
    wpi_param_value check, stop;
    WP_TRY(wpi_param_load(&wpi_check_params[0], &check, err));
    WP_TRY(wpi_param_load(&wpi_check_params[1], &stop, err));
    pthread_mutex_lock(&state.lock);
    wpi_check_enabled = check.number != 0;
    state.stops = stop.number != 0;
    state.owner = getpid();
    state.found_path = getenv("WARPAGE_CHECK_FOUND");
    pthread_mutex_unlock(&state.lock);
    return WP_STATUS_OK;
}

/* Marks a finding for `warpage run`, which checks the size of a file. */
static void leave_mark(void) {
    if (state.found_path == NULL || state.found_path[0] == '\0') return;
    const int file = open(state.found_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (write(file, "1", 1) != 1)
        fprintf(stderr, "warpage check: %s cannot be written\n", state.found_path);
    close(file);
}

wp_status wpi_check_load(const wp_image_header *image, const wpi_cpu_code *code, uint32_t instance,
                         void *const *variables, wpi_variant_library *out, wp_error *err) {
    const wpi_variant check = {.kind = WP_VARIANT_CHECK};
    wp_status status =
        wpi_variant_open(image, &check, (wp_cpu_isa)code->best->isa, instance, out, err);
    if (status == WP_STATUS_OK) status = wpi_variant_bind(out, code->baseline, variables, err);
    if (status == WP_STATUS_OK) return status;
    pthread_mutex_lock(&state.lock);
    state.is_unchecked = true; /* requested, but not done */
    leave_mark();
    pthread_mutex_unlock(&state.lock);
    return status;
}

const wp_check_site *wpi_check_sites(const wpi_variant_library *variant, uint32_t *count) {
    const uint32_t *number = dlsym(variant->library, "wp_check_site_count");
    *count = number != NULL ? *number : 0;
    return dlsym(variant->library, "wp_check_sites");
}

/* ---- storage of blocks ---- */

/* Whether guards of allocations, which blocks share, are valid: nothing was freed since. */
static bool are_current(const wpi_block *block, uint64_t removals) {
    return block->guard_sites == block->launch->kernel->sites && !block->has_own_guards &&
           block->guard_removals == removals;
}

bool wpi_check_prepare(wpi_block *block) {
    const uint32_t sites = block->launch->kernel->site_count, threads = block->launch->thread_count;
    if (block->guard_capacity < sites) {
        wpi_free(block->pub.guards);
        block->pub.guards = wpi_malloc(sites * sizeof *block->pub.guards);
        block->guard_capacity = block->pub.guards != NULL ? sites : 0;
        block->guard_sites = NULL;
    }
    if (block->barrier_site_capacity < threads) {
        wpi_free(block->pub.barrier_sites);
        block->pub.barrier_sites = wpi_calloc(threads, sizeof *block->pub.barrier_sites);
        block->barrier_site_capacity = block->pub.barrier_sites != NULL ? threads : 0;
    }
    if (block->pub.guards == NULL || block->pub.barrier_sites == NULL) return false;
    const uint64_t removals = wpi_memory_map_removals(wpi_memory_map_global());
    if (are_current(block, removals)) return true;
    memset(block->pub.guards, 0, sites * sizeof *block->pub.guards);
    block->guard_sites = block->launch->kernel->sites;
    block->guard_removals = removals;
    block->has_own_guards = false;
    return true;
}

void wpi_check_release(wpi_block *block) {
    wpi_free(block->pub.guards);
    wpi_free(block->pub.barrier_sites);
}

/* ---- saying it ---- */

static bool is_same_line(const wp_check_site *a, const wp_check_site *b) {
    return a == b || (a->line == b->line && a->file != NULL && b->file != NULL &&
                      strcmp(a->file, b->file) == 0);
}

static bool is_same_barrier(const wp_check_site *a, const wp_check_site *b) {
    return a == b || (a->place != 0 && a->place == b->place);
}

/* Counts; true the first time. */
static bool note(const wpi_cpu_kernel *kernel, const wp_check_site *site, kind what) {
    bool is_first = true;
    pthread_mutex_lock(&state.lock);
    for (finding *f = state.findings; f != NULL && is_first; f = f->next) {
        const bool is_same =
            f->site == site || (f->site->access == site->access && is_same_line(f->site, site));
        if (!is_same || f->kind != what || strcmp(f->kernel, kernel->display_name) != 0) continue;
        f->count++;
        is_first = false;
    }
    finding *made = is_first ? wpi_calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        *made = (finding){
            .kind = what, .site = site, .kernel = wpi_strdup(kernel->display_name), .count = 1};
        WP_CHECK(made->kernel != NULL);
        *state.last = made;
        state.last = &made->next;
    }
    if (is_first) leave_mark();
    pthread_mutex_unlock(&state.lock);
    return is_first;
}

static void say_place(wpi_text *text, const char *kernel, const wp_check_site *site) {
    wpi_text_appendf(text, "kernel %s", kernel);
    if (site->file != NULL) wpi_text_appendf(text, ", %s:%" PRIu32, site->file, site->line);
}

static void say_caller(wpi_text *text, const wpi_memory_entry *entry) {
    Dl_info info;
    if (entry->number == 0) return;
    wpi_text_appendf(text, ", number %" PRIu64, entry->number);
    if (entry->caller == NULL || dladdr((const char *)entry->caller - 1, &info) == 0) return;
    char *file = wpi_path_base(info.dli_fname);
    const char *name = info.dli_sname;
    const void *from = name != NULL ? info.dli_saddr : info.dli_fbase;
    wpi_text_appendf(text, ", allocated by %s+0x%zx", name != NULL ? name : file,
                     (size_t)((uintptr_t)entry->caller - 1 - (uintptr_t)from));
    if (name != NULL) wpi_text_appendf(text, " in %s", file);
    wpi_free(file);
}

static const char *allocation_kind(const wpi_check_place *place) {
    switch (place->entry.allocation.kind) {
    case WP_MEMORY_DEVICE: return "allocation";
    case WP_MEMORY_MANAGED: return "managed allocation";
    case WP_MEMORY_PINNED: return "pinned host allocation";
    case WP_MEMORY_REGISTERED: return "registered host range";
    default: return "variable";
    }
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static bool is_mapped(const void *address) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    return mincore((void *)((uintptr_t)address / page * page), page, &resident) == 0; // NOLINT
}

static void say_where(wpi_text *text, const void *address, uint64_t size_bytes,
                      const wpi_check_place *place) {
    const int64_t away = place->distance_bytes;
    const uint64_t far = away < 0 ? (uint64_t)-away : (uint64_t)away;
    const wp_allocation *a = &place->entry.allocation;
    if ((uintptr_t)address < 4096) {
        wpi_text_append(text, "which is NULL or a small offset from NULL");
        return;
    }
    if (!place->is_known || far > NEAR_BYTES) {
        wpi_text_append(
            text, is_mapped(address)
                      ? "which is host memory that is not registered with CUDA: copy it, or use "
                        "cudaMallocManaged, cudaMallocHost or cudaHostRegister"
                      : "which is a wild pointer: no allocation is near it");
        return;
    }
    if (away == 0) {
        const uint64_t offset = (uintptr_t)address - (uintptr_t)a->base,
                       left = a->size_bytes - offset;
        if (place->is_freed) {
            wpi_text_appendf(text, "at byte %" PRIu64 " of the freed", offset);
        } else {
            const uint64_t past = size_bytes - left;
            wpi_text_appendf(text, "%" PRIu64 " of them past the end of the", past);
        }
    } else {
        const uint64_t between = away < 0 ? far : far - 1;
        if (between == 0) {
            wpi_text_append(text, "immediately past the end of the nearest");
        } else {
            wpi_text_appendf(text, "%" PRIu64 " byte%s %s the nearest", between, plural(between),
                             away < 0 ? "before" : "past the end of");
        }
    }
    wpi_text_appendf(text, " %s%s: %zu bytes at %p", allocation_kind(place),
                     away != 0 && place->is_freed ? ", since freed" : "", a->size_bytes, a->base);
    say_caller(text, &place->entry);
}

static void say_object(wpi_text *text, const wp_check_site *site, int64_t offset,
                       uint64_t object_bytes) {
    static const char *const names[] = {
        "object",           "shared memory",         "dynamic shared memory", "local array",
        "kernel parameter", "__constant__ variable", "__device__ variable"};
    const char *what = names[site->object];
    if (site->object == WP_CHECK_SHARED && site->name != NULL) what = "__shared__ variable";
    if (offset < 0) {
        wpi_text_appendf(text, "%" PRIu64 " byte%s before the %s", (uint64_t)-offset,
                         plural((uint64_t)-offset), what);
    } else if ((uint64_t)offset >= object_bytes) {
        const uint64_t past = (uint64_t)offset - object_bytes;
        if (past == 0) {
            wpi_text_appendf(text, "immediately past the end of the %s", what);
        } else {
            wpi_text_appendf(text, "%" PRIu64 " byte%s past the end of the %s", past, plural(past),
                             what);
        }
    } else {
        wpi_text_appendf(text, "partly past the end of the %s", what);
    }
    if (site->name != NULL && site->object != WP_CHECK_DYNAMIC)
        wpi_text_appendf(text, " %s", site->name);
    wpi_text_appendf(text, ", which has %" PRIu64 " bytes", object_bytes);
}

static void say_access(wpi_text *text, const wp_check_site *site, const void *address,
                       uint64_t size_bytes) {
    static const char *const verbs[] = {"reads", "writes", "atomically updates", "waits"};
    const wp_cpu_block *b = wp_rt_block;
    wpi_text_appendf(text,
                     "    thread (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") of block (%" PRIu32
                     ",%" PRIu32 ",%" PRIu32 ") %s %" PRIu64 " byte%s at 0x%zx,\n    ",
                     b->tid[0], b->tid[1], b->tid[2], b->block_idx[0], b->block_idx[1],
                     b->block_idx[2], verbs[site->access], size_bytes, plural(size_bytes),
                     (size_t)(uintptr_t)address);
}

static void begin(wpi_text *text, const wpi_cpu_kernel *kernel, const wp_check_site *site,
                  kind what) {
    wpi_text_append(text, "warpage check: ");
    say_place(text, kernel->display_name, site);
    wpi_text_appendf(text, ": %s\n", titles[what]);
}

/* Writes the report at once, after the kernel's earlier output. */
static void finish(wpi_text *text, const wpi_block *block) {
    wpi_text_append(text, "\n");
    wpi_output_flush(block->launch->device->output);
    (void)fwrite(text->data, 1, text->length, stderr);
    wpi_text_deinit(text);
}

static void stop_if_asked(wpi_block *block, kind what, bool has_thread) {
    static const wp_status statuses[KIND_COUNT] = {
        WP_STATUS_KERNEL_ADDRESS, WP_STATUS_KERNEL_MISALIGNED, WP_STATUS_KERNEL_ADDRESS,
        WP_STATUS_KERNEL_DEADLOCK, WP_STATUS_KERNEL_ADDRESS};
    if (state.stops) wpi_worker_fail(block->worker, statuses[what], has_thread, "%s", titles[what]);
}

/* ---- accesses ---- */

static wpi_block *block_here(void) {
    return (wpi_block *)wp_rt_block; /* its first member */
}

static void *dummy(void) {
    static _Thread_local _Alignas(DUMMY_BYTES) char memory[DUMMY_BYTES];
    memset(memory, 0, sizeof memory);
    return memory;
}

typedef struct range {
    uintptr_t first, outer;
} range;

static bool contains(range r, const void *address, uint64_t size_bytes) {
    const uintptr_t at = (uintptr_t)address;
    return at >= r.first && at < r.outer && size_bytes <= r.outer - at;
}

static range range_at(const void *first, size_t size_bytes) {
    return (range){(uintptr_t)first, (uintptr_t)first + size_bytes};
}

/* The part of the stack that belongs to kernel code: below the scheduler's frames. */
static range stack_here(const wpi_worker *worker) {
    static _Thread_local range own;
    if (worker->fiber != NULL) return range_at(worker->fiber->stack, worker->fiber->stack_bytes);
    if (own.outer == 0) {
        pthread_attr_t attr;
        void *base = NULL;
        size_t bytes = 0;
        if (pthread_getattr_np(pthread_self(), &attr) == 0) {
            pthread_attr_getstack(&attr, &base, &bytes);
            pthread_attr_destroy(&attr);
        }
        own = range_at(base, bytes);
    }
    return (range){own.first, (uintptr_t)worker->check_stack};
}

typedef struct segment_search {
    const void *address;
    const void *own; /* an address in the library of checked kernels */
    range found;
} segment_search;

/* Constants of kernels: read-only data, also of the program, as its variables may point there. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *arg) {
    segment_search *search = arg;
    bool is_own = false;
    (void)size;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *p = &info->dlpi_phdr[i];
            const range r = {info->dlpi_addr + p->p_vaddr,
                             info->dlpi_addr + p->p_vaddr + p->p_memsz};
            if (pass == 0) {
                is_own = is_own || (p->p_type == PT_LOAD && contains(r, search->own, 1));
                continue;
            }
            const bool is_data =
                (p->p_type == PT_LOAD && (is_own || (p->p_flags & (PF_W | PF_X)) == 0)) ||
                p->p_type == PT_GNU_RELRO;
            if (!is_data || !contains(r, search->address, 1)) continue;
            search->found = r;
            return 1;
        }
    }
    return 0;
}

/* Finds memory of the block that contains the access, or else memory of the program that any thread
 * may access. */
static bool find_private(const wpi_block *block, const void *address, uint64_t size_bytes,
                         range *out) {
    const wp_cpu_block *b = &block->pub;
    const wp_cpu_kernel *code = block->launch->kernel->code;
    *out = range_at(b->shared, b->shared_bytes);
    if (contains(*out, address, size_bytes)) return true;
    for (uint32_t rank = 0; b->cluster_stride_bytes != 0 && rank < b->cluster_size; rank++) {
        *out = range_at(b->cluster_shared + rank * b->cluster_stride_bytes, b->shared_bytes);
        if (contains(*out, address, size_bytes)) return true;
    }
    *out = range_at(b->frame, (size_t)code->frame_bytes * b->thread_count);
    if (contains(*out, address, size_bytes)) return true;
    *out = stack_here(block->worker);
    if (contains(*out, address, size_bytes)) return true;
    for (uint32_t p = 0; p < code->param_count; p++) {
        *out = range_at(b->args[p], code->params[p].size_bytes);
        if (contains(*out, address, size_bytes)) return true;
    }
    const wpi_heap *heap = atomic_load(&block->launch->device->heap);
    if (heap != NULL) {
        *out = range_at(wpi_heap_base(heap), wpi_heap_size(heap));
        if (contains(*out, address, size_bytes)) return true;
    }
    segment_search search = {.address = address, .own = block->launch->kernel->sites};
    if (dl_iterate_phdr(visit_object, &search) == 0) return false;
    *out = search.found;
    return contains(*out, address, size_bytes);
}

static bool is_aligned(const void *address, const wp_check_site *site) {
    return site->align_bytes <= 1 || (uintptr_t)address % site->align_bytes == 0;
}

static void report_misaligned(wpi_block *block, const wp_check_site *site, const void *address) {
    if (note(block->launch->kernel, site, MISALIGNED)) {
        wpi_text text = {0};
        begin(&text, block->launch->kernel, site, MISALIGNED);
        say_access(&text, site, address, site->size_bytes);
        wpi_text_appendf(&text, "which is not a multiple of %" PRIu32, site->align_bytes);
        finish(&text, block);
    }
    stop_if_asked(block, MISALIGNED, true);
}

static void report_place(wpi_block *block, const wp_check_site *site, const void *address,
                         uint64_t size_bytes, const wpi_check_place *place) {
    const kind what = place->is_freed && place->distance_bytes == 0 ? FREED : OUT_OF_BOUNDS;
    if (note(block->launch->kernel, site, what)) {
        wpi_text text = {0};
        begin(&text, block->launch->kernel, site, what);
        say_access(&text, site, address, size_bytes);
        say_where(&text, address, size_bytes, place);
        finish(&text, block);
    }
    stop_if_asked(block, what, true);
}

/* Memory of a device to which the kernel's has no access. */
static bool is_denied(const wpi_block *block, const wpi_memory_entry *entry) {
    const wpi_cpu_device *device = block->launch->device;
    const wp_device *owner = entry->device;
    if (owner == &device->base || owner->group != device->base.group) return false;
    if (entry->allocation.kind != WP_MEMORY_DEVICE && entry->allocation.kind != WP_MEMORY_VARIABLE)
        return false;
    return (atomic_load(&device->peers) >> owner->number & 1) == 0;
}

static void report_denied(wpi_block *block, const wp_check_site *site, const void *address,
                          uint64_t size_bytes, const wp_device *owner) {
    if (note(block->launch->kernel, site, DENIED)) {
        wpi_text text = {0};
        begin(&text, block->launch->kernel, site, DENIED);
        say_access(&text, site, address, size_bytes);
        wpi_text_appendf(&text,
                         "which is memory of device %" PRIu32
                         ": cudaDeviceEnablePeerAccess(%" PRIu32 ") on device %" PRIu32
                         " allows it",
                         owner->number, owner->number, block->launch->device->base.number);
        finish(&text, block);
    }
    stop_if_asked(block, DENIED, true);
}

/* Finds the memory of a valid access; false after a report. A denied access is performed. */
static bool find_memory(wpi_block *block, const wp_check_site *site, const void *address,
                        uint64_t size_bytes, range *out) {
    wpi_memory_entry entry;
    if (wpi_memory_map_find(wpi_memory_map_global(), address, &entry)) {
        *out = range_at(entry.allocation.base, entry.allocation.size_bytes);
        if (is_denied(block, &entry)) report_denied(block, site, address, size_bytes, entry.device);
        if (contains(*out, address, size_bytes)) return true;
    } else if (find_private(block, address, size_bytes, out)) {
        block->has_own_guards = true;
        return true;
    }
    const wpi_check_place place =
        wpi_check_locate(wpi_memory_map_global(), wpi_check_freed_map(), address, size_bytes);
    report_place(block, site, address, size_bytes, &place);
    return false;
}

void *wp_rt_check(void *address, uint32_t index) {
    wpi_block *block = block_here();
    const wp_check_site *site = &block->launch->kernel->sites[index];
    range memory;
    if (!is_aligned(address, site)) {
        report_misaligned(block, site, address);
        return dummy();
    }
    if (!find_memory(block, site, address, site->size_bytes, &memory)) return dummy();
    block->pub.guards[index] = (wp_check_guard){
        .first = memory.first, .limit = memory.outer - memory.first - site->size_bytes + 1};
    return address;
}

void *wp_rt_check_object(void *address, uint32_t index, void *base, uint64_t object_bytes) {
    wpi_block *block = block_here();
    const wp_check_site *site = &block->launch->kernel->sites[index];
    if (contains(range_at(base, object_bytes), address, site->size_bytes)) {
        report_misaligned(block, site, address);
        return dummy();
    }
    if (note(block->launch->kernel, site, OUT_OF_BOUNDS)) {
        wpi_text text = {0};
        begin(&text, block->launch->kernel, site, OUT_OF_BOUNDS);
        say_access(&text, site, address, site->size_bytes);
        say_object(&text, site, (int64_t)((uintptr_t)address - (uintptr_t)base), object_bytes);
        finish(&text, block);
    }
    stop_if_asked(block, OUT_OF_BOUNDS, true);
    return dummy();
}

uint64_t wp_rt_check_range(void *address, uint32_t index, uint64_t size_bytes) {
    wpi_block *block = block_here();
    range memory;
    if (size_bytes == 0) return 0;
    const bool is_good =
        find_memory(block, &block->launch->kernel->sites[index], address, size_bytes, &memory);
    return is_good ? size_bytes : 0;
}

/* ---- barriers ---- */

static bool waits_here(const wpi_block *block, uint32_t t) {
    if (!block->is_mixed) return t >= block->first && t < block->outer;
    return (block->warps[t / WP_WARP_LANES].barrier >> t % WP_WARP_LANES & 1u) != 0;
}

static void say_thread(wpi_text *text, const wpi_block *block, uint32_t t) {
    const uint32_t *dim = block->pub.block_dim;
    wpi_text_appendf(text, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", t % dim[0], t / dim[0] % dim[1],
                     t / dim[0] / dim[1]);
}

/* Threads of a block in the same situation: their number, and the first of them. */
typedef struct crowd {
    uint32_t count, first;
    const wp_check_site *site; /* where they wait */
} crowd;

static void join(crowd *c, uint32_t t, const wp_check_site *site) {
    if (c->count++ != 0) return;
    c->first = t;
    c->site = site;
}

static void say_first(wpi_text *text, const wpi_block *block, const crowd *c) {
    wpi_text_append(text, ", the first is ");
    say_thread(text, block, c->first);
}

static void say_calls(wpi_text *text, const crowd *c) {
    if (c->site->calls != NULL) wpi_text_appendf(text, ", called at %s", c->site->calls);
}

static const char *verb_ending(uint32_t count) {
    return count == 1 ? "s" : "";
}

void wpi_check_barrier(wpi_block *block) {
    const wpi_cpu_kernel *kernel = block->launch->kernel;
    const wp_cpu_block *b = &block->pub;
    crowd here = {0}, other = {0}, further = {0}, returned = {0};
    for (uint32_t t = 0; t < b->thread_count; t++) {
        if (!waits_here(block, t)) {
            join(&returned, t, NULL);
            continue;
        }
        const wp_check_site *at = &kernel->sites[b->barrier_sites[t]];
        const bool is_here = here.count == 0 || is_same_barrier(here.site, at);
        const bool is_other = other.count == 0 || is_same_barrier(other.site, at);
        join(is_here ? &here : is_other ? &other : &further, t, at);
    }
    if (here.count == 0 || (other.count == 0 && returned.count == 0)) return;
    if (note(kernel, here.site, DIVERGENT)) {
        wpi_text text = {0};
        begin(&text, kernel, here.site, DIVERGENT);
        wpi_text_appendf(&text,
                         "    %" PRIu32 " thread%s of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32
                         ") wait%s here",
                         here.count, plural(here.count), b->block_idx[0], b->block_idx[1],
                         b->block_idx[2], verb_ending(here.count));
        say_calls(&text, &here);
        say_first(&text, block, &here);
        if (other.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " wait%s at another barrier", other.count,
                             verb_ending(other.count));
            if (is_same_line(here.site, other.site))
                wpi_text_append(&text, " on the same line");
            else if (other.site->file != NULL)
                wpi_text_appendf(&text, ", %s:%" PRIu32, other.site->file, other.site->line);
            say_calls(&text, &other);
            say_first(&text, block, &other);
        }
        if (further.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " wait%s at further barriers", further.count,
                             verb_ending(further.count));
            say_first(&text, block, &further);
        }
        if (returned.count != 0) {
            wpi_text_appendf(&text, ";\n    %" PRIu32 " %s returned", returned.count,
                             returned.count == 1 ? "has" : "have");
            say_first(&text, block, &returned);
        }
        finish(&text, block);
    }
    stop_if_asked(block, DIVERGENT, false);
}

static bool is_mistake(wp_status status) {
    return status == WP_STATUS_KERNEL_ADDRESS || status == WP_STATUS_KERNEL_MISALIGNED ||
           status == WP_STATUS_KERNEL_DEADLOCK;
}

void wpi_check_device_error(const wp_error *error) {
    pthread_mutex_lock(&state.lock);
    state.has_failed = true;
    if (is_mistake(error->status) && !state.stops) {
        state.others++;
        leave_mark();
    }
    pthread_mutex_unlock(&state.lock);
}

/* ---- the end ---- */

static void say_leaks(wpi_text *text, uint64_t *count) {
    wpi_memory_entry entry;
    wpi_text list = {0};
    uint64_t bytes = 0;
    const char *from = NULL;
    while (wpi_memory_map_next(wpi_memory_map_global(), from, &entry)) {
        from = (const char *)entry.allocation.base + 1;
        if (entry.number == 0) continue;
        bytes += entry.allocation.size_bytes;
        if (++*count > LEAKS_SHOWN_MAX) continue;
        wpi_text_appendf(&list, "    %zu bytes at %p", entry.allocation.size_bytes,
                         entry.allocation.base);
        say_caller(&list, &entry);
        wpi_text_append(&list, "\n");
    }
    if (*count == 0) return;
    wpi_text_appendf(text,
                     "warpage check: %" PRIu64 " allocation%s never freed, %" PRIu64 " bytes\n%s",
                     *count, *count == 1 ? " was" : "s were", bytes, list.data);
    if (*count > LEAKS_SHOWN_MAX) wpi_text_append(text, "    …\n");
    wpi_text_deinit(&list);
    leave_mark();
}

/* Runs after the program's static destructors, which may still free memory. */
__attribute__((destructor)) static void summarise(void) {
    if (!wpi_check_is_on() || state.owner != getpid()) return;
    wpi_text text = {0};
    uint64_t total = state.others, leaks = 0;
    pthread_mutex_lock(&state.lock);
    for (const finding *f = state.findings; f != NULL; f = f->next) {
        total++;
        if (f->count == 1) continue;
        wpi_text_append(&text, "warpage check: ");
        say_place(&text, f->kernel, f->site);
        wpi_text_appendf(&text, ": %s, %" PRIu64 " times\n", titles[f->kind], f->count);
    }
    if (!state.has_failed) say_leaks(&text, &leaks);
    pthread_mutex_unlock(&state.lock);
    total += leaks != 0;
    if (state.is_unchecked) {
        wpi_text_append(&text, "warpage check: the kernels could not be checked\n");
    } else if (total == 0) {
        wpi_text_append(&text, "warpage check: nothing found\n");
    } else {
        wpi_text_appendf(&text, "warpage check: %" PRIu64 " finding%s\n", total, plural(total));
    }
    (void)fflush(stdout);
    (void)fwrite(text.data, 1, text.length, stderr);
    wpi_text_deinit(&text);
}
