/* SPDX-License-Identifier: Apache-2.0 */
/* A finding is a place in a kernel and a kind of error: it is reported on stderr the first time,
 * and then counted for the summary at the end. */
#define _GNU_SOURCE /* dladdr */
#include "device/cpu/check/findings.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/param.h"
#include "device/cpu/check/access_check.h"

#define LEAKS_SHOWN_MAX 16u
#define NAME_COLUMNS 60u

const wpi_param wpi_check_params[] = {
    {"check", WP_UNIT_FLAG, "off", 0, 1,
     "check kernels for out-of-bounds and misaligned accesses, use of freed memory, divergent "
     "barriers, races within blocks and leaks"},
    {"check-races", WP_UNIT_FLAG, "on", 0, 1,
     "with check: look for races between threads of a block, too, which takes most of the time"},
    {"check-stop", WP_UNIT_FLAG, "off", 0, 1, "stop the kernel at its first finding"},
    {0}};

bool wpi_check_enabled;

static const char *const titles[WPI_FINDING_KIND_COUNT] = {"out-of-bounds access",
                                                           "misaligned access",
                                                           "use of freed memory",
                                                           "divergent barrier",
                                                           "access to another device's memory",
                                                           "race between lanes of a warp",
                                                           "race between warps of a block"};

typedef struct finding {
    struct finding *next;
    wpi_finding_kind kind;
    const wp_check_site *site, *other; /* other: of a race, the earlier access */
    char *kernel;
    uint64_t count;
} finding;

static struct {
    pthread_mutex_t lock;
    finding *findings, **last;
    uint64_t others; /* findings that the device's own messages report */
    bool finds_races;
    bool stops;
    bool has_failed;   /* the device has failed: memory that is not freed is no leak */
    bool is_unchecked; /* there are kernels that could not be checked */
    pid_t owner;       /* forked children report nothing */
    const char *found_path;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &state.findings};

/* ---- start ---- */

wp_status wpi_check_start(wp_error *err) {
    wpi_param_value check, races, stop;
    WP_TRY(wpi_param_load(&wpi_check_params[0], &check, err));
    WP_TRY(wpi_param_load(&wpi_check_params[1], &races, err));
    WP_TRY(wpi_param_load(&wpi_check_params[2], &stop, err));
    pthread_mutex_lock(&state.lock);
    wpi_check_enabled = check.number != 0;
    state.finds_races = races.number != 0;
    state.stops = stop.number != 0;
    state.owner = getpid();
    state.found_path = getenv("WARPAGE_CHECK_FOUND");
    pthread_mutex_unlock(&state.lock);
    return WP_STATUS_OK;
}

bool wpi_check_is_wanted(void) {
    wpi_param_value check;
    return wpi_param_load(&wpi_check_params[0], &check, NULL) == WP_STATUS_OK && check.number != 0;
}

bool wpi_check_finds_races(void) {
    return state.finds_races;
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
    const wpi_variant check = {.kind = WP_VARIANT_CHECK, .finds_races = state.finds_races};
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

/* ---- saying it ---- */

bool wpi_finding_is_same_line(const wp_check_site *a, const wp_check_site *b) {
    return a == b || (a->line == b->line && a->file != NULL && b->file != NULL &&
                      strcmp(a->file, b->file) == 0);
}

static bool is_same_access(const wp_check_site *a, const wp_check_site *b) {
    return a == b || (a->access == b->access && wpi_finding_is_same_line(a, b));
}

/* Of a race, two lines are one finding, whichever was first, and whatever they do. */
static bool is_same(const finding *f, const wp_check_site *site, const wp_check_site *other) {
    if (other == NULL) return is_same_access(f->site, site);
    return (wpi_finding_is_same_line(f->site, site) && wpi_finding_is_same_line(f->other, other)) ||
           (wpi_finding_is_same_line(f->site, other) && wpi_finding_is_same_line(f->other, site));
}

bool wpi_finding_note(const wpi_cpu_kernel *kernel, const wp_check_site *site,
                      const wp_check_site *other, wpi_finding_kind what) {
    bool is_first = true;
    pthread_mutex_lock(&state.lock);
    for (finding *f = state.findings; f != NULL && is_first; f = f->next) {
        if (f->kind != what || !is_same(f, site, other) ||
            strcmp(f->kernel, kernel->display_name) != 0)
            continue;
        f->count++;
        is_first = false;
    }
    finding *made = is_first ? wpi_calloc(1, sizeof *made) : NULL;
    if (made != NULL) {
        *made = (finding){.kind = what,
                          .site = site,
                          .other = other,
                          .kernel = wpi_strdup(kernel->display_name),
                          .count = 1};
        WP_CHECK(made->kernel != NULL);
        *state.last = made;
        state.last = &made->next;
    }
    if (is_first) leave_mark();
    pthread_mutex_unlock(&state.lock);
    return is_first;
}

/* Templates are demangled here: only names that are said are worth the C++ runtime's time. */
static void say_kernel(wpi_text *text, const char *name) {
    char *whole = wpi_cxx_demangle(name);
    char *brief = whole != NULL ? wpi_cxx_name_short(whole, NAME_COLUMNS) : NULL;
    wpi_text_appendf(text, "kernel %s", brief != NULL ? brief : name);
    wpi_free(brief);
    wpi_free(whole);
}

static void say_place(wpi_text *text, const char *kernel, const wp_check_site *site) {
    say_kernel(text, kernel);
    if (site->file != NULL) wpi_text_appendf(text, ", %s:%" PRIu32, site->file, site->line);
}

void wpi_finding_say_caller(wpi_text *text, const wpi_memory_entry *entry) {
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

const char *wpi_finding_allocation_kind(const wpi_memory_entry *entry) {
    switch (entry->allocation.kind) {
    case WP_MEMORY_DEVICE: return "allocation";
    case WP_MEMORY_MANAGED: return "managed allocation";
    case WP_MEMORY_PINNED: return "pinned host allocation";
    case WP_MEMORY_REGISTERED: return "registered host range";
    default: return "variable";
    }
}

const char *wpi_finding_plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

void wpi_finding_say_thread(wpi_text *text, const wpi_block *block, uint32_t t) {
    const uint32_t *dim = block->pub.block_dim;
    wpi_text_appendf(text, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", t % dim[0], t / dim[0] % dim[1],
                     t / dim[0] / dim[1]);
}

void wpi_finding_begin(wpi_text *text, const wpi_cpu_kernel *kernel, const wp_check_site *site,
                       wpi_finding_kind what) {
    wpi_text_append(text, "warpage check: ");
    say_place(text, kernel->display_name, site);
    wpi_text_appendf(text, ": %s\n", titles[what]);
}

/* Writes the report at once, after the kernel's earlier output. */
void wpi_finding_finish(wpi_text *text, const wpi_block *block) {
    wpi_text_append(text, "\n");
    wpi_output_flush(block->launch->device->output);
    (void)fwrite(text->data, 1, text->length, stderr);
    wpi_text_deinit(text);
}

void wpi_finding_stop(wpi_block *block, wpi_finding_kind what, bool has_thread) {
    static const wp_status statuses[WPI_FINDING_KIND_COUNT] = {
        WP_STATUS_KERNEL_ADDRESS,  WP_STATUS_KERNEL_MISALIGNED, WP_STATUS_KERNEL_ADDRESS,
        WP_STATUS_KERNEL_DEADLOCK, WP_STATUS_KERNEL_ADDRESS,    WP_STATUS_KERNEL_TRAP,
        WP_STATUS_KERNEL_TRAP};
    if (state.stops) wpi_worker_fail(block->worker, statuses[what], has_thread, "%s", titles[what]);
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
        wpi_finding_say_caller(&list, &entry);
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
        wpi_text_appendf(&text, "warpage check: %" PRIu64 " finding%s\n", total,
                         wpi_finding_plural(total));
    }
    (void)fflush(stdout);
    (void)fwrite(text.data, 1, text.length, stderr);
    wpi_text_deinit(&text);
}
