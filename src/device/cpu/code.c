/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A list, because registration happens in constructors, before anything else is initialised.
 */
#include "device/cpu/code.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cpu_isa.h"
#include "base/fail.h"
#include "device/device.h"

typedef struct registration {
    const wp_cpu_code *code;
    struct registration *next;
} registration;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static registration *registrations;

void wp_cpu_code_register(const wp_cpu_code *code) {
    registration *r = wpi_malloc(sizeof *r);
    WP_CHECK(r != NULL);
    r->code = code;
    pthread_mutex_lock(&lock);
    r->next = registrations;
    registrations = r;
    pthread_mutex_unlock(&lock);
}

wp_status wpi_cpu_code_find(uint64_t image_id, wpi_cpu_code *out, wp_error *err) {
    *out = (wpi_cpu_code){0};
    uint32_t foreign_version = WP_ABI_VERSION;
    bool is_known = false;
    pthread_mutex_lock(&lock);
    for (const registration *r = registrations; r != NULL; r = r->next) {
        const wp_cpu_code *code = r->code;
        if (code->image_id != image_id) continue;
        is_known = true;
        if (code->abi_version != WP_ABI_VERSION) {
            foreign_version = code->abi_version;
            continue;
        }
        if (code->isa == WP_CPU_ISA_BASELINE) out->baseline = code;
        if (wpi_cpu_isa_runs(code->isa) && (out->best == NULL || code->isa > out->best->isa)) {
            out->best = code;
        }
    }
    pthread_mutex_unlock(&lock);
    if (out->best != NULL) {
        if (out->baseline == NULL) out->baseline = out->best;
        return WP_STATUS_OK;
    }
    if (!is_known) {
        return WP_FAIL(err, NOT_FOUND,
                       "the program has no CPU code for image %016" PRIx64
                       ": link the object that wpcc made as a whole",
                       image_id);
    }
    if (foreign_version != WP_ABI_VERSION) {
        return WP_FAIL(err, UNSUPPORTED,
                       "the program's CPU code has format %" PRIu32
                       ", this library runs %u: compile the program again",
                       foreign_version, WP_ABI_VERSION);
    }
    return WP_FAIL(
        err, UNSUPPORTED,
        "the program's CPU code needs instructions that this processor lacks: compile it "
        "with --cpu-isa=baseline, or all, wpcc's default");
}

const wp_cpu_variable *wpi_code_find_variable(uint64_t image_id, const char *name) {
    wpi_cpu_code code;
    if (wpi_cpu_code_find(image_id, &code, NULL) != WP_STATUS_OK) return NULL;
    for (uint32_t i = 0; i < code.baseline->variable_count; i++) {
        if (strcmp(code.baseline->variables[i].name, name) == 0) {
            return &code.baseline->variables[i];
        }
    }
    return NULL;
}
