/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wpcc --policy: compiles C files with policies of simulated GPUs to a policy file, which `warpage
 * run --policy-file` loads. Searches the objects for variables wpi_policy_<kind>_<name>; a
 * generated source lists them in the table that Warpage reads (src/policy/policy_file.h), and is
 * compiled with the same headers, so that the table records the policies' interface.
 */
#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "compiler/driver/job.h"

#define PREFIX "wpi_policy_" /* of the variables' names */

static void add_words(wpi_strings *command, const char *const *words) {
    for (; *words; words++)
        wpi_strings_add(command, *words);
}

/* ---- before compiling ---- */

wp_status wpi_policy_check(const wpi_options *o, const wpi_toolchain *tools, wp_error *err) {
    for (uint32_t i = 0; i < o->input_count; i++)
        if (o->inputs[i].language != WP_LANGUAGE_C)
            return WP_FAIL(err, INVALID, "%s: --policy compiles C: name the file .c",
                           o->inputs[i].path);
    if (!o->output)
        return WP_FAIL(err, INVALID, "--policy: name the result, as in -o %s", "mine.so");
    if (!wpi_dir_exists(tools->policy_dir))
        return WP_FAIL(err, TOOLCHAIN, "%s is missing; the installation of warpage is incomplete",
                       tools->policy_dir);
    return WP_STATUS_OK;
}

void wpi_policy_flags(const wpi_compile_job *job, wpi_strings *command) {
    static const char *const flags[] = {
        "-std=c17",     "-fvisibility=hidden", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow",
        "-Wconversion", "-Wstrict-prototypes", "-Wvla", NULL};
    add_words(command, flags);
    wpi_strings_add(command, "-isystem");
    wpi_strings_addf(command, "%s/include", job->tools->policy_dir);
    wpi_strings_add(command, "-isystem");
    wpi_strings_addf(command, "%s/include", job->tools->prefix);
}

/* ---- what an object defines ---- */

typedef struct object_file {
    const char *path;
    const char *data;
    size_t bytes;
} object_file;

/* Whether `count` items of `item_bytes` at `offset` are in the file, suitably aligned. */
static bool has_range(const object_file *f, uint64_t offset, uint64_t count, size_t item_bytes) {
    return offset <= f->bytes && count <= (f->bytes - offset) / item_bytes && offset % 8 == 0;
}

static bool is_policy(const Elf64_Sym *symbol, const char *name) {
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
           ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL && symbol->st_shndx != SHN_UNDEF &&
           strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* Adds the name and the size of each policy. */
static void add_symbols(const object_file *f, const Elf64_Shdr *table, const Elf64_Shdr *names,
                        wpi_strings *found) {
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    if (!has_range(f, table->sh_offset, count, sizeof(Elf64_Sym)) || names->sh_size == 0 ||
        names->sh_offset > f->bytes || names->sh_size > f->bytes - names->sh_offset ||
        f->data[names->sh_offset + names->sh_size - 1] != '\0')
        return;
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(f->data + table->sh_offset);
    for (uint64_t i = 0; i < count; i++) {
        if (symbols[i].st_name >= names->sh_size) continue;
        const char *name = f->data + names->sh_offset + symbols[i].st_name;
        if (!is_policy(&symbols[i], name)) continue;
        wpi_strings_add(found, name);
        wpi_strings_addf(found, "%llu", (unsigned long long)symbols[i].st_size);
    }
}

static wp_status find_policies(const char *path, wpi_strings *found, wp_error *err) {
    char *data = NULL;
    object_file f = {.path = path};
    WP_TRY(wpi_file_read(path, &data, &f.bytes, err));
    f.data = data;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)data;
    wp_status status = WP_STATUS_OK;
    if (f.bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 ||
        !has_range(&f, head->e_shoff, head->e_shnum, sizeof(Elf64_Shdr)))
        status =
            WP_FAIL(err, TOOLCHAIN, "%s: the compiler did not write a 64-bit ELF object", path);
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(data + head->e_shoff);
    for (uint32_t i = 0; status == WP_STATUS_OK && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < head->e_shnum)
            add_symbols(&f, &sections[i], &sections[sections[i].sh_link], found);
    wpi_free(data);
    return status;
}

/* ---- the table ---- */

/* `policies`: alternating names and sizes. */
static wp_status write_table(const char *path, const wpi_strings *policies, wp_error *err) {
    wpi_text text = {0};
    wpi_text_append(&text, "#include \"policy/policy_file.h\"\n"
                           "#include \"warpage/version.h\"\n");
    for (size_t i = 0; i < policies->count; i += 2)
        wpi_text_appendf(&text,
                         "extern const wpi_policy %s;\n"
                         "_Static_assert(sizeof(wpi_policy) == %s, \"%s is not a wpi_policy\");\n",
                         policies->items[i], policies->items[i + 1], policies->items[i]);
    wpi_text_append(&text, "static const wpi_policy *const policies[] = {");
    for (size_t i = 0; i < policies->count; i += 2)
        wpi_text_appendf(&text, "&%s, ", policies->items[i]);
    wpi_text_append(&text,
                    "0};\n"
                    "static const uint32_t sizes[] = WPI_POLICY_SIZES;\n"
                    "__attribute__((visibility(\"default\"))) extern const wpi_policy_file "
                    "wpi_policy_file_table;\n"
                    "const wpi_policy_file wpi_policy_file_table = {\n"
                    "    WPI_POLICY_ABI, sizeof sizes / sizeof sizes[0], WP_VERSION_STRING, sizes, "
                    "policies};\n");
    wp_status status = wpi_file_write(path, wpi_text_string(&text), text.length, err);
    wpi_text_deinit(&text);
    return status;
}

static wp_status compile_table(wpi_compile_job *job, const char *source, const char *object,
                               wp_error *err) {
    wpi_strings command = {0};
    wpi_strings_add(&command, job->tools->clang);
    wpi_policy_flags(job, &command);
    add_words(&command, (const char *const[]){"-fPIC", "-O2", "-c", source, "-o", object, NULL});
    wp_status status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    return status;
}

/* ---- the file ---- */

static wp_status link_objects(wpi_compile_job *job, const wpi_strings *objects, const char *table,
                              const char *temp, wp_error *err) {
    wpi_strings command = {0};
    add_words(&command, (const char *const[]){job->tools->clang, "-shared", "-Wl,-z,defs", NULL});
    wpi_strings_add_all(&command, &job->options->host_args);
    wpi_strings_add_all(&command, &job->compiler_args);
    wpi_strings_add_all(&command, objects);
    wpi_strings_add(&command, table);
    wpi_strings_addf(&command, "%s/libwarpage_policy.a", job->tools->policy_dir);
    wpi_strings_add_all(&command, &job->options->link_args);
    add_words(&command,
              (const char *const[]){"-lm", "-Wno-unused-command-line-argument", "-o", temp, NULL});
    wp_status status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    return status;
}

static wp_status fail_without(const wpi_options *o, wp_error *err) {
    return WP_FAIL(err, NOT_FOUND,
                   "%s defines no policy: there is no variable `const wpi_policy " PREFIX
                   "<kind>_<name>` that is not static",
                   o->inputs[0].path);
}

wp_status wpi_policy_link(wpi_compile_job *job, const wpi_strings *objects, const char *temp,
                          wp_error *err) {
    wpi_strings policies = {0};
    char *source = wpi_job_temp(job, "table.c", ".c"), *object = wpi_job_temp(job, "table.c", ".o");
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < objects->count && !job->options->print_only; i++)
        WP_TRY_GOTO(find_policies(objects->items[i], &policies, err), done);
    if (policies.count == 0 && !job->options->print_only) {
        status = fail_without(job->options, err);
        goto done;
    }
    WP_TRY_GOTO(write_table(source, &policies, err), done);
    WP_TRY_GOTO(compile_table(job, source, object, err), done);
    status = link_objects(job, objects, object, temp, err);
done:
    wpi_strings_deinit(&policies);
    wpi_free(source);
    wpi_free(object);
    return status;
}
