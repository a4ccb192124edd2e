/* SPDX-License-Identifier: Apache-2.0 */
#include "device/stream_library.h"

#include <dlfcn.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "base/cpu_isa.h"
#include "base/fail.h"
#include "base/stream_abi.h"
#include "base/text.h"
#include "device/image.h"
#include "device/made_library.h"

static bool is_stream(void *library, const wp_image_header *image) {
    (void)image;
    const void *own = dlsym(library, WP_STREAM_IMAGE_SYMBOL);
    const wp_image_header *header;
    return own != NULL && wpi_image_check(own, &header, NULL) == WP_STATUS_OK;
}

/* The option of wpcc, or of the launch, with which the program needs no such library. Caller frees.
 */
static char *advise(const char *kernel, uint64_t mask) {
    wpi_text text = {0};
    if ((mask & WPI_STREAM_AHEAD) != 0)
        return wpi_strdup("leave streamingOptions.without_windows at 0");
    if ((mask & WPI_STREAM_ALIASES) != 0)
        wpi_text_append(&text, "reserve by itself what each parameter is for, and ");
    wpi_text_appendf(&text, "compile the program with --stream=%s", kernel);
    bool is_first = true;
    for (unsigned i = 0; i < WPI_STREAM_PARAMETERS; i++) {
        if ((mask >> i & 1) == 0) continue;
        wpi_text_appendf(&text, "%s%u", is_first ? ":" : ",", i);
        is_first = false;
    }
    return wpi_text_take(&text);
}

wp_status wpi_stream_library_open(const void *image, const char *kernel, uint64_t mask,
                                  const void **new_image, wp_error *err) {
    const wp_image_header *header;
    *new_image = NULL;
    WP_TRY(wpi_image_check(image, &header, err));
    char *option = wpi_format("--stream-library=%s:%" PRIx64, kernel, mask);
    char *what = wpi_format("the streamed form of %s", kernel);
    char *instead = advise(kernel, mask);
    const char *const options[] = {option, wpi_cpu_isa_option(wpi_cpu_isa_best()), NULL};
    const wpi_made_library wanted = {.image = header,
                                     .options = options,
                                     .name = "stream",
                                     .what = what,
                                     .who = "launches with mapped data",
                                     .instead = instead,
                                     .may_be_refused = true,
                                     .is_right = is_stream};
    void *library;
    const wp_status status = wpi_made_library_open(&wanted, &library, err);
    if (status == WP_STATUS_OK) *new_image = dlsym(library, WP_STREAM_IMAGE_SYMBOL);
    wpi_free(instead);
    wpi_free(what);
    wpi_free(option);
    return status;
}
