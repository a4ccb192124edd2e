/* SPDX-License-Identifier: Apache-2.0 */
/* A child that creates files and is ended by a signal at any moment leaves none. */
#include "base/leftovers.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "table_io/output.h"
#include "wp_test.h"

enum { ROUNDS = 200, THREADS = 4 };

static char *dir;

static int make_dir(void **state) {
    (void)state;
    if (wpi_temp_dir_create(&dir, NULL) != WP_STATUS_OK) return -1;
    wpi_leftover_drop(dir); /* not the children's */
    return 0;
}

static int remove_dir(void **state) {
    (void)state;
    wpi_temp_dir_remove(dir);
    wpi_free(dir);
    return 0;
}

static int count_in(const char *path) {
    int count = 0;
    DIR *open = opendir(path);
    assert_non_null(open);
    for (const struct dirent *e; (e = readdir(open)) != NULL;)
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    (void)closedir(open);
    return count;
}

static void create_one(void) {
    char *path = wpi_path_join(dir, "file.XXXXXX");
    const int fd = wpi_leftover_file(path);
    if (fd >= 0) {
        (void)close(fd);
        (void)unlink(path);
    }
    wpi_leftover_drop(path);
    (void)strcpy(path + strlen(path) - 6, "XXXXXX");
    if (wpi_leftover_folder(path)) wpi_temp_dir_remove(path);
    wpi_free(path);
}

static void *create_always(void *ready) {
    create_one();
    if (ready != NULL && write(*(int *)ready, "r", 1) != 1) _exit(1);
    for (;;)
        create_one();
    return NULL;
}

static pid_t start_child(int thread_count) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wpi_leftovers_remove_on_signals();
        for (int i = 1; i < thread_count; i++) {
            pthread_t thread;
            if (pthread_create(&thread, NULL, create_always, NULL) != 0) _exit(1);
        }
        create_always(&ends[1]);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return child;
}

static void a_signal_leaves_nothing(void **state) {
    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        const pid_t child = start_child(round % 2 == 0 ? 1 : THREADS);
        const struct timespec moment = {.tv_nsec = rand() % 500000};
        int status;
        (void)nanosleep(&moment, NULL);
        assert_int_equal(kill(child, SIGINT), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGINT);
        assert_int_equal(count_in(dir), 0);
    }
}

/* `create` in a child that a signal then ends: how many files are there. */
static int left_by(void (*create)(void), int number) {
    int status;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        wpi_leftovers_remove_on_signals();
        create();
        (void)raise(number);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
    return count_in(dir);
}

static void create_result(void) {
    char *kept = wpi_path_join(dir, "kept.XXXXXX"), *lost = wpi_path_join(dir, "lost.XXXXXX");
    if (wpi_leftover_file(kept) < 0 || wpi_leftover_file(lost) < 0) _exit(1);
    wpi_leftover_drop(kept);
}

static void a_result_stays(void **state) {
    (void)state;
    assert_int_equal(left_by(create_result, SIGTERM), 1);
}

static void begin_table(void) {
    char *path = wpi_path_join(dir, "table.csv");
    wpi_output *output;
    if (wpi_output_open(path, &output, NULL) != WP_STATUS_OK) _exit(1);
    wpi_output_text(output, "a,b\n");
}

static void an_unfinished_table_goes(void **state) {
    (void)state;
    assert_int_equal(left_by(begin_table, SIGINT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_signal_leaves_nothing, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_result_stays, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(an_unfinished_table_goes, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
