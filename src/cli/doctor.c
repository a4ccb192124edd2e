/* SPDX-License-Identifier: Apache-2.0 */
/* warpage doctor: one line per finding, with the feature that needs it or the remedy. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cache_dir.h"
#include "base/cccl_dir.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/install_cccl.h"
#include "cli/print/listing.h"
#include "warpage/device.h"

enum option_index { FORMAT, INSTALL };

const wpi_cli_option wpi_doctor_options[] = {
    [FORMAT] = {"format", "text|json", "print one line a finding (default), or JSON"},
    [INSTALL] = {"install", "cccl",
                 "download NVIDIA's C++ libraries (Thrust, CUB, libcu++) by pip into the user's "
                 "folder, where wpcc finds them"},
    {0}};

/* The findings as JSON, written at the end; text is printed as each check ends. */
static struct {
    bool is_wanted;
    wpi_text findings;
} json;

/* Whether Warpage works without it. */
typedef enum need { REQUIRED, OPTIONAL } need;

static void add_json(const char *state, need required, const char *what, const char *note) {
    wpi_text *out = &json.findings;
    wpi_text_append(out, out->length > 0 ? ",\n {\"finding\": " : "\n {\"finding\": ");
    wpi_listing_json_string(out, what);
    wpi_text_appendf(out, ", \"state\": \"%s\", \"is_required\": %s, \"note\": ", state,
                     required == REQUIRED ? "true" : "false");
    wpi_listing_json_string(out, note);
    wpi_text_append(out, "}");
}

static bool tell(bool is_found, need required, const char *what, const char *enables,
                 const char *remedy) {
    const char *state = is_found ? "ok" : required == REQUIRED ? "MISSING" : "absent";
    const char *note = is_found ? enables : remedy;
    if (json.is_wanted)
        add_json(is_found || required != REQUIRED ? state : "missing", required, what, note);
    else
        (void)printf("%-7s  %-44s  %s\n", state, what, note);
    return is_found || required == OPTIONAL;
}

/* Runs a command quietly; its first line of output is kept in `out`. */
static bool runs(const char *const argv[], wpi_text *out) {
    int exit_code = 1;
    const wpi_subprocess_options options = {
        .stdin_path = "/dev/null", .stdout_text = out, .stderr_text = out};
    if (wpi_subprocess_run(argv, &options, &exit_code, NULL) != WP_STATUS_OK) return false;
    if (out->data != NULL) out->data[strcspn(out->data, "\n")] = '\0';
    return exit_code == 0;
}

/* A file beside this program: "../lib/…". NULL when this program's place is unknown. */
static char *beside(const char *relative) {
    char *self = NULL;
    if (wpi_self_path(&self, NULL) != WP_STATUS_OK) return NULL;
    char *dir = wpi_path_dir(self);
    char *path = wpi_path_join(dir, relative);
    wpi_free(dir);
    wpi_free(self);
    return path;
}

static bool check_clang(void) {
    wpi_text version = {0};
    const bool is_found =
        runs((const char *const[]){WARPAGE_CLANG_PATH, "--version", NULL}, &version);
    const bool ok =
        tell(is_found, REQUIRED, is_found ? wpi_text_string(&version) : WARPAGE_CLANG_PATH,
             "wpcc compiles CUDA sources", "install the package clang-19");
    wpi_text_deinit(&version);
    return ok;
}

static bool check_host_headers(void) {
    static const char source[] = "#include <cmath>\n#include <cstdio>\nint main() { return 0; }\n";
    char *dir = NULL;
    bool works = false;
    if (wpi_temp_dir_create(&dir, NULL) == WP_STATUS_OK) {
        char *input = wpi_path_join(dir, "try.cpp");
        char *output = wpi_path_join(dir, "try");
        wpi_text talk = {0};
        works = wpi_file_write(input, source, sizeof source - 1, NULL) == WP_STATUS_OK &&
                runs((const char *const[]){WARPAGE_CLANG_PATH, "--driver-mode=g++", input, "-o",
                                           output, NULL},
                     &talk);
        wpi_text_deinit(&talk);
        wpi_free(input);
        wpi_free(output);
    }
    wpi_temp_dir_remove(dir);
    wpi_free(dir);
    return tell(works, REQUIRED, "C++ headers, libraries and linker", "wpcc links programs",
                "install the package g++");
}

static bool check_file(const char *relative, const char *what, const char *enables) {
    char *path = beside(relative);
    const bool is_found = path != NULL && wpi_file_exists(path);
    wpi_free(path);
    return tell(is_found, REQUIRED, what, enables, "missing beside this command: install again");
}

static bool check_cpu_device(void) {
    wp_device *device = NULL;
    wp_error err = {0};
    const bool ok = wp_device_open("cpu", &device, &err) == WP_STATUS_OK;
    wp_device_close(device);
    return tell(ok, REQUIRED, "device cpu", "programs run on this processor", err.message);
}

static bool check_processor(void) {
#if defined(__x86_64__)
    const bool has_v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
#else
    const bool has_v3 = false;
#endif
    return tell(has_v3, OPTIONAL, "processor with AVX2 and FMA (x86-64-v3)",
                "kernels use its vector code", "kernels use baseline code: slower, same results");
}

static bool check_gpu(void) {
    wp_device *device = NULL;
    wp_error err = {0};
    if (wp_device_open("cuda:0", &device, &err) != WP_STATUS_OK)
        return tell(false, OPTIONAL, "device cuda:0", "", err.message);
    const wp_device_info *info = wp_device_get_info(device);
    char bytes[32];
    char *what = wpi_format("device cuda:0: %s, %u SMs, %s", info->name, info->sm_count,
                            wpi_format_bytes(info->memory_bytes, bytes));
    char *enables =
        wpi_format("programs run on it with --device cuda:0; driver for CUDA %u.%u, sm_%u%u",
                   info->driver_version / 1000, info->driver_version % 1000 / 10,
                   info->compute_major, info->compute_minor);
    /* PTX begins at sm_70. */
    const bool is_new = info->compute_major >= 7;
    const bool result = tell(is_new, OPTIONAL, what, enables,
                             "too old: kernels need a GPU of sm_70 (Volta) or later");
    wpi_free(what);
    wpi_free(enables);
    wp_device_close(device);
    return result;
}

static bool check_cache(void) {
    wp_error err = {0};
    char *path = wpi_cache_path(), *opened = NULL;
    const bool ok = wpi_cache_open(&opened, &err) == WP_STATUS_OK;
    char *what = wpi_format("cache folder %s", path);
    char *remedy = err.status == WP_STATUS_INVALID
                       ? wpi_format("%s", err.message)
                       : wpi_format("not writable: variants are compiled anew at each run; set "
                                    "WARPAGE_CACHE");
    const bool result = tell(ok, OPTIONAL, what, "compiled variants are kept between runs", remedy);
    wpi_free(remedy);
    wpi_free(what);
    wpi_free(opened);
    wpi_free(path);
    return result;
}

static bool check_gnuplot(void) {
    char *path = wpi_program_find("gnuplot");
    const bool is_found = path != NULL;
    wpi_free(path);
    return tell(is_found, OPTIONAL, "gnuplot", "run --output draws plots",
                "reports have no plots; install the package gnuplot-nox");
}

static bool check_libraries(void) {
    char *root = wpi_cccl_path(), *include = root != NULL ? wpi_cccl_include(root) : NULL;
    char *version = include != NULL ? wpi_cccl_version(include) : NULL;
    char *what = include == NULL ? wpi_format("Thrust, CUB, libcu++")
                                 : wpi_format("Thrust, CUB, libcu++: CCCL %s in %s",
                                              version != NULL ? version : "?", root);
    const bool result =
        tell(include != NULL, OPTIONAL, what, "sources may include <thrust/…>, <cub/…>, <cuda/…>",
             "run: warpage doctor --install cccl; or use a toolkit's with wpcc --cuda-path");
    wpi_free(what);
    wpi_free(version);
    wpi_free(include);
    wpi_free(root);
    return result;
}

static bool check_all(void) {
    bool ok = check_clang();
    ok = check_host_headers() && ok;
    ok = check_file("wpcc", "wpcc", "the compiler is installed") && ok;
    ok = check_file("../lib/warpage/devicelib.bc", "device library",
                    "kernels can call device functions") &&
         ok;
    ok = check_file("../lib/warpage/cuda/include/cuda_runtime.h", "CUDA headers",
                    "lib/warpage/cuda serves as CUDA_PATH") &&
         ok;
    ok = check_cpu_device() && ok;
    ok = check_processor() && ok;
    ok = check_cache() && ok;
    ok = check_gnuplot() && ok;
    ok = check_libraries() && ok;
    return check_gpu() && ok;
}

int wpi_doctor_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    if (wpi_arguments_parse(wpi_doctor_options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("doctor", "%s", err.message);
    if (format == WPI_LISTING_CSV) return wpi_usage_error("doctor", "--format is text or json");
    if (arguments.operand_count > 0)
        return wpi_usage_error("doctor", "takes no arguments, got '%s'", arguments.operands[0]);
    const char *wanted = arguments.values[INSTALL];
    if (wanted != NULL) {
        if (strcmp(wanted, "cccl") != 0)
            return wpi_usage_error("doctor", "--install %s: only cccl can be installed", wanted);
        if (wpi_install_cccl(&err) != WP_STATUS_OK) return wpi_failure("doctor", "%s", err.message);
        return wpi_finish("doctor");
    }
    json.is_wanted = format == WPI_LISTING_JSON;
    const bool ok = check_all();
    if (json.is_wanted)
        (void)printf("{\"schema\": \"warpage.doctor/1\", \"is_ready\": %s, \"findings\": [%s\n]}\n",
                     ok ? "true" : "false", wpi_text_string(&json.findings));
    wpi_text_deinit(&json.findings);
    const int code = wpi_finish("doctor");
    return ok ? code : WP_EXIT_FAILED;
}
