/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/stream_option.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/stream_abi.h"
#include "base/text.h"
#include "compiler/context.h"
#include "compiler/rewrite/stream_argument.h"
#include "compiler/source/kernel_name.h"

enum { LISTED_MAX_BYTES = 300 }; /* a message has 512 */

/* The colon between kernel and parameters, which is not part of "::"; NULL: none. */
static const char *find_colon(const char *value) {
    for (const char *at = value + strlen(value); at > value + 1; at--)
        if (at[-1] == ':' && at[-2] != ':' && *at != ':') return at - 1;
    return NULL;
}

wp_status wpi_stream_check(const char *value, wp_error *err) {
    const char *colon = find_colon(value);
    bool is_right = colon != NULL && colon[1] != '\0' && colon[1] != ',';
    for (const char *at = colon; is_right && *at; at++)
        is_right = *at != ',' || (at[1] != ',' && at[1] != '\0');
    return is_right ? WP_STATUS_OK
                    : WP_FAIL(err, INVALID,
                              "--stream=%s: give a kernel and its mapped parameters, such as "
                              "--stream=assign:points,centres",
                              value);
}

/* Joins as many of the items as fit a message. Caller frees. */
static char *join(const wpi_strings *items) {
    wpi_text text = {0};
    for (size_t i = 0; i < items->count; i++) {
        wpi_text_append(&text, i == 0 ? "" : ", ");
        if (i > 0 && text.length + strlen(items->items[i]) > LISTED_MAX_BYTES) {
            wpi_text_append(&text, "...");
            break;
        }
        wpi_text_append(&text, items->items[i]);
    }
    if (items->count == 0) wpi_text_append(&text, "none");
    return wpi_text_take(&text);
}

/* ---- the kernel ---- */

/* Finds the kernel; `*out` is NULL if the module lacks it. */
static wp_status find_kernel(const wpi_compile *c, const char *value, const char *name,
                             const wpi_kernel_ir **out, wp_error *err) {
    wpi_strings called = {0};
    *out = NULL;
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        if (!wpi_kernel_is_called(c->kernels[k].name, name)) continue;
        wpi_strings_add_take(&called, wpi_kernel_signature(c->kernels[k].name));
        *out = &c->kernels[k];
    }
    wp_status status = WP_STATUS_OK;
    if (called.count > 1) {
        char *listed = join(&called);
        status = WP_FAIL(err, INVALID,
                         "--stream=%s: several kernels are called %s; give one of these in its "
                         "place, or its mangled name: %s",
                         value, name, listed);
        wpi_free(listed);
    }
    wpi_strings_deinit(&called);
    return status;
}

/* ---- its parameters ---- */

static const char *parameter_name(LLVMValueRef function, unsigned index) {
    size_t length;
    return LLVMGetValueName2(LLVMGetParam(function, index), &length);
}

/* "0 points, 2 centres". Caller frees. */
static char *list_parameters(LLVMValueRef function, bool only_pointers) {
    wpi_strings names = {0};
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        if (only_pointers && !wpi_stream_is_pointer(function, i)) continue;
        const char *name = parameter_name(function, i);
        wpi_strings_addf(&names, "%u%s%s", i, name[0] ? " " : "", name);
    }
    char *listed = join(&names);
    wpi_strings_deinit(&names);
    return listed;
}

static unsigned find_parameter(LLVMValueRef function, const char *wanted) {
    const unsigned count = LLVMCountParams(function);
    if (isdigit((unsigned char)wanted[0])) {
        char *end;
        const unsigned long number = strtoul(wanted, &end, 10);
        return *end == '\0' && number < count ? (unsigned)number : count;
    }
    unsigned i = 0;
    while (i < count && strcmp(parameter_name(function, i), wanted) != 0)
        i++;
    return i;
}

static wp_status add_to_mask(LLVMValueRef function, const char *value, const char *kernel,
                             const char *wanted, uint64_t *mask, wp_error *err) {
    const unsigned index = find_parameter(function, wanted);
    const bool is_known = index < LLVMCountParams(function);
    if (is_known && wpi_stream_is_pointer(function, index) && index < WPI_STREAM_PARAMETERS) {
        *mask |= (uint64_t)1 << index;
        return WP_STATUS_OK;
    }
    if (index >= WPI_STREAM_PARAMETERS && is_known)
        return WP_FAIL(err, INVALID,
                       "--stream=%s: parameter %s is number %u; only the first %d can be mapped",
                       value, wanted, index, WPI_STREAM_PARAMETERS);
    char *listed = list_parameters(function, is_known);
    wp_status status =
        is_known
            ? WP_FAIL(err, INVALID,
                      "--stream=%s: parameter %s of %s is not a pointer; those that are: %s", value,
                      wanted, kernel, listed)
            : WP_FAIL(err, INVALID, "--stream=%s: %s has no parameter %s; its parameters are: %s",
                      value, kernel, wanted, listed);
    wpi_free(listed);
    return status;
}

static wp_status parse_mask(const wpi_kernel_ir *kernel, const char *value, const char *parameters,
                            uint64_t *mask, wp_error *err) {
    char *copy = wpi_must_strdup(parameters), *rest = copy, *wanted;
    char *name = wpi_kernel_source_name(kernel->name);
    wp_status status = WP_STATUS_OK;
    *mask = 0;
    while (status == WP_STATUS_OK && (wanted = strtok_r(rest, ",", &rest)))
        status = add_to_mask(kernel->function, value, name, wanted, mask, err);
    wpi_free(name);
    wpi_free(copy);
    return status;
}

/* ---- all of them ---- */

static void add_form(wpi_strings *rewrites, const char *kernel, uint64_t mask) {
    char *rewrite = wpi_format("stream:%s:%" PRIx64, kernel, mask);
    if (wpi_strings_contains(rewrites, rewrite))
        wpi_free(rewrite);
    else
        wpi_strings_add_take(rewrites, rewrite);
}

/* --cache: the streamed form has a cached one, too. */
static bool has_cache(const wpi_strings *rewrites) {
    for (size_t i = 0; i < rewrites->count; i++)
        if (strncmp(rewrites->items[i], "cache", strlen("cache")) == 0) return true;
    return false;
}

static wp_status add_rewrite(wpi_compile_job *job, const wpi_compile *c, const char *value,
                             wpi_strings *rewrites, wp_error *err) {
    const char *colon = find_colon(value);
    const wpi_kernel_ir *kernel;
    uint64_t mask;
    char *name = wpi_must_strndup(value, (size_t)(colon - value));
    wp_status status = find_kernel(c, value, name, &kernel, err);
    wpi_free(name);
    if (status != WP_STATUS_OK || !kernel) return status;
    if (!wpi_strings_contains(&job->streams_found, value))
        wpi_strings_add(&job->streams_found, value);
    WP_TRY(parse_mask(kernel, value, colon + 1, &mask, err));
    add_form(rewrites, kernel->name, mask);
    if (has_cache(rewrites)) add_form(rewrites, kernel->name, mask | WPI_STREAM_LINES);
    return WP_STATUS_OK;
}

wp_status wpi_stream_rewrites(wpi_compile_job *job, const char *bitcode_path, wpi_strings *rewrites,
                              wp_error *err) {
    const wpi_strings *streams = &job->options->streams;
    wpi_strings_add_all(rewrites, &job->options->rewrites);
    if (streams->count == 0) return WP_STATUS_OK;
    char *bitcode = NULL;
    size_t size_bytes = 0;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err));
    WP_TRY_GOTO(wpi_compile_create(bitcode, size_bytes, &c, err), done);
    job->has_device_code = true;
    for (uint32_t k = 0; k < c->kernel_count; k++)
        wpi_strings_add_take(&job->kernels, wpi_kernel_source_name(c->kernels[k].name));
    for (size_t i = 0; i < streams->count; i++)
        WP_TRY_GOTO(add_rewrite(job, c, streams->items[i], rewrites, err), done);
done:
    wpi_compile_destroy(c);
    wpi_free(bitcode);
    return status;
}

wp_status wpi_stream_check_found(wpi_compile_job *job, bool may_be_elsewhere, wp_error *err) {
    const wpi_options *o = job->options;
    for (size_t i = 0; i < o->streams.count && job->has_device_code; i++) {
        const char *value = o->streams.items[i];
        if (wpi_strings_contains(&job->streams_found, value)) continue;
        wp_error error = {0};
        char *listed = join(&job->kernels);
        char *name = wpi_must_strndup(value, (size_t)(find_colon(value) - value));
        const wp_status status =
            WP_FAIL(&error, NOT_FOUND, "--stream=%s: there is no kernel %s; the kernels are: %s",
                    value, name, listed);
        wpi_free(name);
        wpi_free(listed);
        if (!may_be_elsewhere) {
            if (err) *err = error;
            return status;
        }
        if (!o->quiet_warnings) fprintf(stderr, "wpcc: warning: %s\n", error.message);
    }
    return WP_STATUS_OK;
}
