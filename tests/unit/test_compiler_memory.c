/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a compilation fails in turn, in a process of its own: one sentence, exit
 * status 1, no output file and no temporary file. `wpcc` itself is part of this program, whose name
 * stands where the compiler's would: beside the build's lib. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "test_folder.h"
#include "wp_test.h"

#define main wpcc_main
int wpcc_main(int argc, char **argv);
#include "compiler/driver/wpcc_main.c"
#undef main

static const char source[] =
    "__managed__ int total;\n"
    "__global__ void sum(const float *x, float *y, int n) {\n"
    "    __shared__ float part[64];\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;\n"
    "    unsigned lane;\n"
    "    asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n"
    "    part[t] = i < n ? x[i] : 0;\n"
    "    __syncthreads();\n"
    "    for (int d = 32; d > 0; d /= 2) {\n"
    "        if (t < d) part[t] += part[t + d];\n"
    "        __syncthreads();\n"
    "    }\n"
    "    float w = __shfl_xor_sync(~0u, part[0], 1);\n"
    "    if (t == 0) y[blockIdx.x] = w + (lane ? 1 : 0), atomicAdd(&total, 1);\n"
    "}\n";

typedef struct outcome {
    int exit_code; /* 128 + signal */
    char said[4096];
} outcome;

/* wpcc in a child whose n-th allocation fails (0: none). */
static outcome run_wpcc(uint64_t n, char **argv) {
    outcome o = {0};
    int argc = 0, state = 0;
    while (argv[argc])
        argc++;
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open("said", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0) _exit(99);
        wpi_alloc_fail_at(n);
        const int code = wpcc_main(argc, argv);
        (void)fflush(NULL);
        _exit(code);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &state, 0), pid);
    o.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    FILE *file = fopen("said", "r");
    assert_non_null(file);
    o.said[fread(o.said, 1, sizeof o.said - 1, file)] = '\0';
    (void)fclose(file);
    return o;
}

static unsigned files_in(const char *path) {
    unsigned count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        count += e->d_name[0] != '.';
    (void)closedir(dir);
    return count;
}

static unsigned lines_in(const char *text) {
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* The n-th allocation fails, for n = 1 and on, until no run is reached by it: each of the first,
 * then in steps that grow with n. With the argument "all" each of all, which takes an hour. */
static bool is_dense;
enum { GAP = 1000 }; /* more than a compilation can do without in a row */

static void fail_each(char **argv, const char *output, double growth) {
    uint64_t failed = 0, last = 0;
    assert_int_equal(run_wpcc(0, argv).exit_code, 0); /* the header cache is filled */
    for (uint64_t n = 1; n < 64 + (is_dense ? last + GAP : 2 * last);
         n += is_dense ? 1 : (uint64_t)((double)n * growth) + 1) {
        (void)unlink(output);
        const outcome o = run_wpcc(n, argv);
        if (o.exit_code == 0) {
            /* A part that a compilation can do without, as the header cache, or none is left. */
            assert_true(wpi_file_exists(output));
            assert_string_equal(o.said, "");
            continue;
        }
        failed++;
        last = n;
        if (o.exit_code != 1 || lines_in(o.said) != 1 || !strstr(o.said, "memory"))
            fail_msg("allocation %llu: exit status %d, said: %s", (unsigned long long)n,
                     o.exit_code, o.said);
        if (wpi_file_exists(output)) fail_msg("allocation %llu: an output", (unsigned long long)n);
        if (files_in("tmp")) fail_msg("allocation %llu: temporary files", (unsigned long long)n);
    }
    printf("%llu allocations failed, the last was number %llu\n", (unsigned long long)failed,
           (unsigned long long)last);
    assert_true(failed > 20);
}

static void every_allocation_of_a_command_fails_with_one_sentence(void **state) {
    (void)state;
    char *argv[] = {"wpcc", "-c", "a.cu", "-o", "a.o", NULL};
    fail_each(argv, "a.o", 0.15);
}

static void every_allocation_of_a_pipeline_fails_with_one_sentence(void **state) {
    (void)state;
    char *device[] = {"wpcc", "-emit-llvm", "a.cu", "-o", "a.bc", NULL};
    assert_int_equal(run_wpcc(0, device).exit_code, 0);
    char *argv[] = {"wpcc", "--variant=trace", "a.bc", "-o", "a.so", NULL};
    fail_each(argv, "a.so", 0.05);
}

int main(int argc, char **argv) {
    const char *folder = test_folder();
    is_dense = argc > 1 && strcmp(argv[1], "all") == 0;
    char *cache = wpi_path_join(folder, "cache"), *temp = wpi_path_join(folder, "tmp");
    if (chdir(folder) != 0 || mkdir("tmp", 0700) != 0 || setenv("WARPAGE_CACHE", cache, 1) != 0 ||
        setenv("TMPDIR", temp, 1) != 0 ||
        wpi_file_write("a.cu", source, sizeof source - 1, NULL) != WP_STATUS_OK)
        return 1;
    wpi_free(cache);
    wpi_free(temp);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_of_a_command_fails_with_one_sentence),
        cmocka_unit_test(every_allocation_of_a_pipeline_fails_with_one_sentence),
    };
    return wp_test_main(tests);
}
