/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of checked kernels that their guards did not pass: where they went, said as a
 * finding. */
#define _GNU_SOURCE /* dl_iterate_phdr, pthread_getattr_np, mincore */
#include "device/cpu/check/access_check.h"

#include <inttypes.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/cpu/check/findings.h"
#include "device/cpu/check/race_check.h"

#define HARMLESS_BYTES 64u             /* no access is wider */
#define NEAR_BYTES ((uint64_t)1 << 30) /* a more distant allocation is not reported */

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
    if (wpi_check_finds_races() && !wpi_races_prepare(block)) return false;
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
    wpi_races_release(block);
}

/* ---- saying it ---- */

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
            wpi_text_appendf(text, "%" PRIu64 " byte%s %s the nearest", between,
                             wpi_finding_plural(between), away < 0 ? "before" : "past the end of");
        }
    }
    wpi_text_appendf(text, " %s%s: %zu bytes at %p", wpi_finding_allocation_kind(&place->entry),
                     away != 0 && place->is_freed ? ", since freed" : "", a->size_bytes, a->base);
    wpi_finding_say_caller(text, &place->entry);
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
                         wpi_finding_plural((uint64_t)-offset), what);
    } else if ((uint64_t)offset >= object_bytes) {
        const uint64_t past = (uint64_t)offset - object_bytes;
        if (past == 0) {
            wpi_text_appendf(text, "immediately past the end of the %s", what);
        } else {
            wpi_text_appendf(text, "%" PRIu64 " byte%s past the end of the %s", past,
                             wpi_finding_plural(past), what);
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
                     b->block_idx[2], verbs[site->access], size_bytes,
                     wpi_finding_plural(size_bytes), (size_t)(uintptr_t)address);
}

/* ---- accesses ---- */

static wpi_block *block_here(void) {
    return (wpi_block *)wp_rt_block; /* its first member */
}

/* The memory that an invalid access is given, so that the kernel goes on: it reads as 0. */
static void *harmless(void) {
    static _Thread_local _Alignas(HARMLESS_BYTES) char memory[HARMLESS_BYTES];
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
    if (wpi_finding_note(block->launch->kernel, site, NULL, WPI_FINDING_MISALIGNED)) {
        wpi_text text = {0};
        wpi_finding_begin(&text, block->launch->kernel, site, WPI_FINDING_MISALIGNED);
        say_access(&text, site, address, site->size_bytes);
        wpi_text_appendf(&text, "which is not a multiple of %" PRIu32, site->align_bytes);
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, WPI_FINDING_MISALIGNED, true);
}

static void report_place(wpi_block *block, const wp_check_site *site, const void *address,
                         uint64_t size_bytes, const wpi_check_place *place) {
    const wpi_finding_kind what = place->is_freed && place->distance_bytes == 0
                                      ? WPI_FINDING_FREED
                                      : WPI_FINDING_OUT_OF_BOUNDS;
    if (wpi_finding_note(block->launch->kernel, site, NULL, what)) {
        wpi_text text = {0};
        wpi_finding_begin(&text, block->launch->kernel, site, what);
        say_access(&text, site, address, size_bytes);
        say_where(&text, address, size_bytes, place);
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, what, true);
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
    if (wpi_finding_note(block->launch->kernel, site, NULL, WPI_FINDING_DENIED)) {
        wpi_text text = {0};
        wpi_finding_begin(&text, block->launch->kernel, site, WPI_FINDING_DENIED);
        say_access(&text, site, address, size_bytes);
        wpi_text_appendf(&text,
                         "which is memory of device %" PRIu32
                         ": cudaDeviceEnablePeerAccess(%" PRIu32 ") on device %" PRIu32
                         " allows it",
                         owner->number, owner->number, block->launch->device->base.number);
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, WPI_FINDING_DENIED, true);
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
        return harmless();
    }
    if (!find_memory(block, site, address, site->size_bytes, &memory)) return harmless();
    block->pub.guards[index] = (wp_check_guard){
        .first = memory.first, .limit = memory.outer - memory.first - site->size_bytes + 1};
    return address;
}

void *wp_rt_check_object(void *address, uint32_t index, void *base, uint64_t object_bytes) {
    wpi_block *block = block_here();
    const wp_check_site *site = &block->launch->kernel->sites[index];
    if (contains(range_at(base, object_bytes), address, site->size_bytes)) {
        report_misaligned(block, site, address);
        return harmless();
    }
    if (wpi_finding_note(block->launch->kernel, site, NULL, WPI_FINDING_OUT_OF_BOUNDS)) {
        wpi_text text = {0};
        wpi_finding_begin(&text, block->launch->kernel, site, WPI_FINDING_OUT_OF_BOUNDS);
        say_access(&text, site, address, site->size_bytes);
        say_object(&text, site, (int64_t)((uintptr_t)address - (uintptr_t)base), object_bytes);
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, WPI_FINDING_OUT_OF_BOUNDS, true);
    return harmless();
}

uint64_t wp_rt_check_range(void *address, uint32_t index, uint64_t size_bytes) {
    wpi_block *block = block_here();
    range memory;
    if (size_bytes == 0) return 0;
    const bool is_good =
        find_memory(block, &block->launch->kernel->sites[index], address, size_bytes, &memory);
    return is_good ? size_bytes : 0;
}
