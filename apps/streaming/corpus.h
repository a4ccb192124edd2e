/* SPDX-License-Identifier: Apache-2.0 */
/** Texts of words for programs that count or look for them. */
#ifndef APP_STREAMING_CORPUS_H
#define APP_STREAMING_CORPUS_H

#include <stdint.h>

typedef struct app_corpus {
    char *bytes; /* a room (common/room.h) */
    uint64_t count;
    char title[160];
} app_corpus;

/** Reads a text, or the files of a tar archive, plain or `.zst`. */
void app_corpus_read(app_corpus *text, const char *path);
/** A plain text that stays in its file: pages of it are read when they are accessed. */
void app_corpus_map(app_corpus *text, const char *path);
/** Lines of words, common ones and rare ones: `count` bytes, seeded. */
void app_corpus_generate(app_corpus *text, uint64_t count, uint64_t seed);
/** A text of `count` bytes: the beginning, or copies with a vocabulary that grows. */
void app_corpus_enlarge(app_corpus *text, uint64_t count, uint64_t seed);

/** Puts random words of eight letters between those of the text, so that they are `pct` % of all
 *  words; the text's end is left out, so that its length stays. */
void app_corpus_mix(app_corpus *text, double pct, uint64_t seed);
void app_corpus_free(app_corpus *text);

/** The files of an archive. */
typedef struct app_archive_file {
    char name[256];
    const char *bytes;
    uint64_t count;
} app_archive_file;
typedef struct app_archive {
    app_archive_file *file;
    uint64_t count;
    char title[160];
    char *text; /* a room that holds the files */
} app_archive;

/** Reads the files of a tar archive whose names end with `ending`, or a single file; plain or
 *  `.zst`. Empty files are left out. */
void app_archive_read(app_archive *files, const char *path, const char *ending);
void app_archive_free(app_archive *files);

#endif
