/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/machine/machine_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compiler/machine/block_lines.h"
#include "compiler/machine/cubin_lines.h"
#include "compiler/machine/opcode.h"
#include "compiler/nvptx/nvptx.h"

#define PTX_ARCH_MIN 70u      /* of what we write */
#define PTXAS_12_ARCH_MIN 50u /* of what that of CUDA 12 knows */

/* ---- counts ---- */

/* What a cubin has of each block, all kernels together. */
typedef struct counting {
    uint32_t arch, block_count;
    /* [block_count + 1] each; `fixed`: accesses and barriers, which no compiler leaves out;
     * `kernels`: in how many kernels it is; `plain`: instructions other than control flow, of which
     * `guarded` have a predicate */
    uint32_t (*counts)[WPI_MACHINE_COUNTS], *fixed, *kernels, *last_kernel, *plain, *guarded;
    const char *kernel;
    uint32_t kernel_number;
} counting;

static void counting_init(counting *c, uint32_t arch, uint32_t block_count) {
    *c = (counting){.arch = arch, .block_count = block_count};
    c->counts = wpi_must_calloc(block_count + 1, sizeof *c->counts);
    c->fixed = wpi_must_calloc(block_count + 1, sizeof *c->fixed);
    c->kernels = wpi_must_calloc(block_count + 1, sizeof *c->kernels);
    c->last_kernel = wpi_must_calloc(block_count + 1, sizeof *c->last_kernel);
    c->plain = wpi_must_calloc(block_count + 1, sizeof *c->plain);
    c->guarded = wpi_must_calloc(block_count + 1, sizeof *c->guarded);
}

static void counting_deinit(counting *c) {
    wpi_free(c->counts);
    wpi_free(c->fixed);
    wpi_free(c->kernels);
    wpi_free(c->last_kernel);
    wpi_free(c->plain);
    wpi_free(c->guarded);
}

static void count(void *context, const char *kernel, const unsigned char *code, size_t offset,
                  size_t size_bytes, uint32_t line) {
    counting *c = context;
    const uint32_t arch = c->arch, block = line <= c->block_count ? line : 0;
    if (c->kernel == NULL || strcmp(c->kernel, kernel) != 0) {
        c->kernel = kernel;
        c->kernel_number++;
    }
    bool is_used = false;
    for (size_t at = offset; at + wpi_opcode_bytes(arch) <= offset + size_bytes;
         at += wpi_opcode_bytes(arch)) {
        const int class = wpi_opcode_class(arch, code, at);
        if (class == WP_OPCODE_NONE) continue;
        is_used = true;
        if (class == WP_OPCODE_ACCESS || class == WP_TRACE_SYNC) c->fixed[block]++;
        if (class < WP_TRACE_CLASS_COUNT) c->counts[block][class]++;
        c->counts[block][WPI_MACHINE_PAIRED] += wpi_opcode_is_paired(arch, code, at);
        if (class == WP_TRACE_CONTROL) continue; /* a branch's predicate is its condition */
        c->plain[block]++;
        c->guarded[block] += wpi_opcode_is_guarded(arch, code, at);
    }
    if (!is_used || c->last_kernel[block] == c->kernel_number) return;
    c->last_kernel[block] = c->kernel_number;
    c->kernels[block]++;
}

static uint32_t sum(const uint32_t *counts) {
    uint32_t all = 0;
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        all += counts[class];
    return all;
}

/* How many copies of a block with accesses an unrolled kernel has for one of the kernel whose loops
 * are as written; 0: it has no accesses. */
static double copies_by_accesses(const counting *unrolled, const counting *rolled, uint32_t block) {
    return rolled->fixed[block] != 0 ? (double)unrolled->fixed[block] / rolled->fixed[block] : 0;
}

/* … of any block: as of others in its loop, else by its size. */
static double copies_of(const counting *unrolled, const counting *rolled, const double *of_loops,
                        uint32_t loop, uint32_t block) {
    double copies = copies_by_accesses(unrolled, rolled, block);
    if (copies == 0) copies = of_loops[loop];
    if (copies == 0)
        copies = (double)sum(unrolled->counts[block]) / (sum(rolled->counts[block]) + 1);
    return copies < 1.5 ? 1 : copies;
}

/* What a block executes: of the code as ptxas writes it, one of the copies that it makes of the
 * block, in unrolled loops and in several kernels. */
static void divide(const counting *unrolled, const counting *rolled, const wpi_block_places *places,
                   wpi_machine_code *out) {
    const uint32_t *loop_of = places->loop_of;
    double *of_loops = wpi_must_calloc(out->block_count + 1, sizeof *of_loops);
    for (uint32_t b = 1; b <= out->block_count; b++) {
        const double copies = copies_by_accesses(unrolled, rolled, b);
        if (loop_of[b] != 0 && copies > of_loops[loop_of[b]]) of_loops[loop_of[b]] = copies;
    }
    for (uint32_t b = 1; b <= out->block_count; b++) {
        out->kernels_of[b] = unrolled->kernels[b];
        if (unrolled->kernels[b] == 0) continue;
        const double parts =
            copies_of(unrolled, rolled, of_loops, loop_of[b], b) * unrolled->kernels[b];
        for (int class = 0; class < WPI_MACHINE_COUNTS; class ++)
            out->counts[b][class] = unrolled->counts[b][class] / parts;
    }
    wpi_free(of_loops);
}

/* ---- blocks that became predicates ---- */

/* PTX of LLVM has predicates at branches only, so ptxas made the others of a branch around the
 * block; single ones are of selections. */
static bool is_predicated(const counting *c, uint32_t block) {
    return 2 * c->guarded[block] > c->plain[block];
}

/* Every warp that comes to the branch issues the block behind it. Its accesses stay those of lanes
 * that make them, as do loads of constant memory, which may be recorded as accesses. */
static void issue_predicated(const counting *c, const wpi_block_places *places,
                             wpi_machine_code *out) {
    for (uint32_t b = 1; b <= out->block_count; b++) {
        if (!is_predicated(c, b)) continue;
        uint32_t branch = places->dominator_of[b];
        while (branch != 0 && is_predicated(c, branch))
            branch = places->dominator_of[branch];
        if (branch == 0) continue;
        for (int class = 0; class < WPI_MACHINE_COUNTS; class ++) {
            if (class == WP_TRACE_CONSTANT) continue;
            out->counts[branch][class] += out->counts[b][class];
            out->counts[b][class] = 0;
        }
    }
}

/* ---- registers ---- */

static void add_kernel(wpi_machine_code *code, const char *name, size_t length,
                       uint32_t registers) {
    code->kernels =
        wpi_must_realloc(code->kernels, (code->kernel_count + 1) * sizeof *code->kernels);
    code->kernels[code->kernel_count++] =
        (wpi_machine_kernel){.name = wpi_must_strndup(name, length), .registers = registers};
}

/* From what `ptxas -v` prints: "Compiling entry function 'NAME' …", later "Used N registers". */
static void read_registers(wpi_machine_code *code, const char *text) {
    static const char entry[] = "Compiling entry function '", used[] = "Used ";
    for (const char *at = strstr(text, entry); at != NULL; at = strstr(at, entry)) {
        at += strlen(entry);
        const size_t length = strcspn(at, "'\n");
        const char *next = strstr(at, entry), *number = strstr(at, used);
        if (number != NULL && (next == NULL || number < next))
            add_kernel(code, at, length, (uint32_t)strtoul(number + strlen(used), NULL, 10));
    }
}

uint32_t wpi_machine_code_registers(const wpi_machine_code *code, const char *kernel) {
    for (uint32_t k = 0; k < code->kernel_count; k++)
        if (strcmp(code->kernels[k].name, kernel) == 0) return code->kernels[k].registers;
    return 0;
}

void wpi_machine_code_deinit(wpi_machine_code *code) {
    for (uint32_t k = 0; k < code->kernel_count; k++)
        wpi_free(code->kernels[k].name);
    wpi_free(code->kernels);
    wpi_free(code->kernels_of);
    wpi_free(code->counts);
    *code = (wpi_machine_code){0};
}

/* ---- ptxas ---- */

/* PTX for earlier GPUs is the same, but for its name. `is_rolled`: ptxas must not unroll loops. */
static char *prepare(const char *ptx, uint32_t arch, bool is_rolled) {
    static const char target[] = ".target sm_", label[] = "$L__BB";
    wpi_text made = {0};
    for (const char *at = ptx; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        if (strncmp(at, target, strlen(target)) == 0 && arch < PTX_ARCH_MIN)
            wpi_text_appendf(&made, "%s%u\n", target, arch);
        else
            wpi_text_appendf(&made, "%.*s\n", (int)length, at);
        if (is_rolled && strncmp(at, label, strlen(label)) == 0 && at[length - 1] == ':')
            wpi_text_append(&made, "\t.pragma \"nounroll\";\n");
        at += length + (at[length] == '\n');
    }
    return wpi_text_take(&made);
}

static wp_status assemble(const char *ptx_path, const char *cubin_path, uint32_t arch,
                          wpi_machine_code *registers, wp_error *err) {
    bool is_named;
    char *ptxas = wpi_ptxas_find(&is_named);
    if (ptxas == NULL)
        return WP_FAIL(err, TOOLCHAIN,
                       "sm.code = ptxas needs NVIDIA's assembler: put ptxas in $PATH, or set "
                       "WARPAGE_PTXAS to it; PyPI's nvidia-cuda-nvcc-cu12 has one");
    char *target = wpi_format("-arch=sm_%u", arch);
    const char *const argv[] = {ptxas, target, "-v", "-lineinfo", ptx_path, "-o", cubin_path, NULL};
    wpi_text talk = {0};
    const wpi_subprocess_options options = {
        .stdin_path = "/dev/null", .stdout_text = &talk, .stderr_text = &talk};
    int exit_code = 1;
    wp_status status = wpi_subprocess_run(argv, &options, &exit_code, err);
    const char *said = wpi_text_string(&talk);
    if (status == WP_STATUS_OK && exit_code != 0)
        status =
            WP_FAIL(err, TOOLCHAIN, "%s sm_%u: %.*s%s", ptxas, arch, (int)strcspn(said, "\n"), said,
                    arch >= PTXAS_12_ARCH_MIN
                        ? ""
                        : "; it has to be of CUDA 11, as PyPI's nvidia-cuda-nvcc-cu11 has it");
    if (status == WP_STATUS_OK && registers != NULL) read_registers(registers, said);
    wpi_text_deinit(&talk);
    wpi_free(target);
    wpi_free(ptxas);
    return status;
}

/* Assembles the PTX, and counts the cubin's instructions. `registers`: receives those of kernels,
 * or NULL. */
static wp_status measure(const wpi_machine_request *r, const char *ptx, bool is_rolled,
                         wpi_machine_code *registers, counting *out, wp_error *err) {
    char *ptx_path = wpi_path_join(r->folder, "blocks.ptx"), *elf = NULL;
    char *cubin_path = wpi_path_join(r->folder, "blocks.cubin");
    char *prepared = prepare(ptx, r->arch, is_rolled);
    size_t size_bytes;
    wp_status status;
    WP_TRY_GOTO(wpi_file_write(ptx_path, prepared, strlen(prepared), err), done);
    WP_TRY_GOTO(assemble(ptx_path, cubin_path, r->arch, registers, err), done);
    WP_TRY_GOTO(wpi_file_read(cubin_path, &elf, &size_bytes, err), done);
    status = wpi_cubin_lines((const unsigned char *)elf, size_bytes, count, out, err);
done:
    wpi_free(elf);
    wpi_free(prepared);
    wpi_free(cubin_path);
    wpi_free(ptx_path);
    return status;
}

/* ---- bitcode ---- */

static wp_status number(const wpi_machine_request *r, const char *numbered_path,
                        wpi_block_places *places, wp_error *err) {
    wpi_compile *c = NULL;
    *places = (wpi_block_places){0};
    WP_TRY(wpi_compile_create(r->bitcode, r->size_bytes, &c, err));
    wpi_blocks_number(c, places);
    wp_status status = wpi_compile_write(c, numbered_path, err);
    wpi_compile_destroy(c);
    if (status != WP_STATUS_OK) wpi_block_places_deinit(places);
    return status;
}

static wp_status make_ptx(const wpi_machine_request *r, const char *numbered_path, char **ptx,
                          wp_error *err) {
    const wpi_ptx_options options = {.arch = r->arch > PTX_ARCH_MIN ? r->arch : PTX_ARCH_MIN,
                                     .has_block_lines = true,
                                     .library_path = r->library_path};
    char *bitcode;
    size_t size_bytes;
    WP_TRY(wpi_file_read(numbered_path, &bitcode, &size_bytes, err));
    const wp_status status = wpi_ptx_compile(bitcode, size_bytes, &options, ptx, err);
    wpi_free(bitcode);
    return status;
}

wp_status wpi_machine_code_make(const wpi_machine_request *request, const char *numbered_path,
                                wpi_machine_code *out, wp_error *err) {
    *out = (wpi_machine_code){.arch = request->arch};
    if (!wpi_opcode_is_known(request->arch))
        return WP_FAIL(err, UNSUPPORTED,
                       "sm.code = ptxas: machine code of sm_%u cannot be read, only that of sm_35 "
                       "and later; use sm.code = estimate",
                       request->arch);
    wpi_block_places places;
    WP_TRY(number(request, numbered_path, &places, err));
    out->block_count = places.count;
    char *ptx = NULL;
    counting unrolled, rolled;
    counting_init(&unrolled, request->arch, out->block_count);
    counting_init(&rolled, request->arch, out->block_count);
    wp_status status;
    WP_TRY_GOTO(make_ptx(request, numbered_path, &ptx, err), done);
    WP_TRY_GOTO(measure(request, ptx, false, out, &unrolled, err), done);
    WP_TRY_GOTO(measure(request, ptx, true, NULL, &rolled, err), done);
    out->counts = wpi_must_calloc(out->block_count + 1, sizeof *out->counts);
    out->kernels_of = wpi_must_calloc(out->block_count + 1, sizeof *out->kernels_of);
    divide(&unrolled, &rolled, &places, out);
    issue_predicated(&unrolled, &places, out);
done:
    counting_deinit(&unrolled);
    counting_deinit(&rolled);
    wpi_block_places_deinit(&places);
    wpi_free(ptx);
    return status;
}
