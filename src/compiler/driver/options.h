/* SPDX-License-Identifier: Apache-2.0 */
/** nvcc's command line, as supported by wpcc: docs/guide/wpcc.md lists it. */
#ifndef WP_COMPILER_OPTIONS_H
#define WP_COMPILER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu_isa.h"
#include "base/strings.h"
#include "warpage/error.h"

/** The result of a run. */
typedef enum wpi_goal {
    WP_GOAL_LINK = 0,     /* an executable */
    WP_GOAL_OBJECT,       /* -c */
    WP_GOAL_SHARED,       /* -shared */
    WP_GOAL_LIBRARY,      /* -lib */
    WP_GOAL_DEVICE_LINK,  /* -dlink */
    WP_GOAL_PREPROCESS,   /* -E */
    WP_GOAL_DEPENDENCIES, /* -M, -MM */
    WP_GOAL_PTX,          /* -ptx */
    WP_GOAL_CUBIN,        /* -cubin: the image that a program embeds, as a file */
    WP_GOAL_FATBIN,       /* -fatbin: the same */
    WP_GOAL_BITCODE,      /* -emit-llvm: the device code as it is embedded */
    WP_GOAL_HOST_SOURCE,  /* -cuda: the host side, preprocessed */
    WP_GOAL_POLICY        /* --policy: a policy file of simulated GPUs */
} wpi_goal;

typedef enum wpi_language {
    WP_LANGUAGE_CUDA,
    WP_LANGUAGE_C,
    WP_LANGUAGE_CXX,
    WP_LANGUAGE_PTX,   /* device code without a host side */
    WP_LANGUAGE_OBJECT /* objects, libraries: for the linker */
} wpi_language;

#define WP_CUBINS_MAX 16

typedef struct wpi_input {
    char *path;
    wpi_language language;
} wpi_input;

typedef struct wpi_options {
    wpi_goal goal;
    wpi_input *inputs;
    uint32_t input_count;
    char *output;
    char *output_dir;               /* -odir: folder for outputs without -o */
    wpi_strings source_args;        /* -I -D -U -include …: both sides, and plain C and C++ */
    wpi_strings host_args;          /* -g, -pg: host side and linking */
    wpi_strings compiler_args;      /* -Xcompiler: host side and linking */
    wpi_strings link_args;          /* -l -L -Xlinker and objects, in order */
    wpi_strings depfile_args;       /* -MD -MF x …: given to the host side */
    wpi_strings run_args;           /* --run-args */
    char *standard;                 /* c++17, or NULL */
    char *host_compiler;            /* -ccbin, or NULL: clang */
    char *cuda_path;                /* --cuda-path, or NULL */
    char *keep_dir;                 /* --keep-dir, "." with -keep, NULL: a temporary folder */
    uint32_t arch;                  /* 70 for sm_70: what __CUDA_ARCH__ / 10 says */
    bool arch_is_specific;          /* sm_90a, or sm_90f: what only this architecture has, too */
    uint32_t cubins[WP_CUBINS_MAX]; /* of code=sm_NN: cubins to assemble too */
    uint32_t cubin_count;
    uint32_t registers_max; /* -maxrregcount; 0: no limit */
    char optimization;      /* '0' to '3' of the host side */
    bool debug_device;      /* -G */
    bool is_relocatable;    /* -rdc=true, -dc */
    bool fast_math;
    bool contract;          /* -fmad=true given */
    bool no_contract;       /* -fmad=false given */
    bool per_thread_stream; /* --default-stream per-thread */
    bool keep;              /* --keep-temps, -keep */
    bool print_only;        /* -### */
    bool verbose;           /* -v */
    bool resource_usage;    /* --resource-usage, -Xptxas -v */
    bool quiet_warnings;    /* -w */
    bool user_headers_only; /* -MM */
    bool run;               /* -run: run the program after linking it */
    bool forward_unknown;   /* --forward-unknown-to-host-compiler */
    bool no_header_cache;   /* --no-header-cache */
    bool lockstep;          /* --lockstep */
    bool through_ptx;       /* --through-ptx */
    bool is_nvcc;           /* invoked by the name nvcc */
    wpi_cpu_isas cpu_isas;  /* --cpu-isa; none: all */
    wpi_strings rewrites;   /* --rewrite */
    wpi_strings streams;    /* --stream */
    char *print_after, *stop_after;
    char *lowered_names; /* --lowered-names, of NVRTC: lowered_names.h; or NULL */
} wpi_options;

/** Parses; error messages name the option, and the nearest known one. `*show` is set for --help,
 *  --version and similar options, which only print. Reads NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS and
 *  the files named by @file. */
WP_NODISCARD wp_status wpi_options_parse(int argc, char **argv, wpi_options *out, bool *show,
                                         wp_error *err);
/** An option that --help lists. `doc` begins with the value's name and two spaces where it takes
 * one; `alias` may be NULL. */
typedef void (*wpi_option_visit)(void *object, const char *name, const char *alias,
                                 const char *doc);
void wpi_options_visit(wpi_option_visit visit, void *object);
void wpi_options_deinit(wpi_options *options);

#endif
