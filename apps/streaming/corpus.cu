/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "streaming/words.h"

/* The size of the file whose header of a tar archive is at `header`. */
static uint64_t tar_size(const char *header) {
    uint64_t size = 0;
    for (const char *p = header + 124; *p >= '0' && *p <= '7' && p < header + 136; p++) {
        size = size * 8 + (uint64_t)(*p - '0');
    }
    return size;
}

static bool is_tar(const char *bytes, uint64_t count) {
    return count >= 512 && memcmp(bytes + 257, "ustar", 5) == 0;
}

/* Leaves of an archive the content of its files, a line end behind each. */
static void unpack_tar(app_corpus *t) {
    uint64_t kept = 0, p = 0;
    char *files = (char *)app_room_create(t->count, 1, t->title);
    while (t->count - p >= 512 && t->bytes[p] != '\0') {
        const uint64_t size = tar_size(t->bytes + p);
        const bool is_file = t->bytes[p + 156] == '0' || t->bytes[p + 156] == '\0';
        p += 512;
        if (size > t->count - p) {
            app_fail("%s is cut off", t->title);
        }
        if (is_file && size != 0) {
            memcpy(files + kept, t->bytes + p, size);
            kept += size;
            files[kept++] = '\n'; /* the header was longer */
        }
        p += (size + 511) / 512 * 512;
        p = p < t->count ? p : t->count;
    }
    app_room_free(t->bytes);
    t->bytes = files;
    t->count = kept;
}

static void set_title(app_corpus *t, const char *path) {
    const char *slash = strrchr(path, '/');
    snprintf(t->title, sizeof t->title, "%.150s", slash != NULL ? slash + 1 : path);
}

void app_corpus_map(app_corpus *t, const char *path) {
    size_t bytes;
    t->bytes = app_room_map(path, &bytes);
    t->count = bytes;
    set_title(t, path);
}

void app_corpus_read(app_corpus *t, const char *path) {
    size_t bytes;
    t->bytes = app_room_read(path, &bytes);
    t->count = bytes;
    set_title(t, path);
    if (is_tar(t->bytes, bytes)) {
        unpack_tar(t);
    }
    if (t->count == 0) {
        app_fail("%s is empty", path);
    }
}

void app_corpus_generate(app_corpus *t, uint64_t count, uint64_t seed) {
    app_random random = {seed, 0};
    const uint32_t words = 1000 + (uint32_t)fmin((double)count / 50.0, 1e9);
    uint64_t column = 0;
    t->bytes = (char *)app_room_create(count + 32, 1, "the text");
    while (t->count < count) {
        const uint32_t length =
            app_word_spell(t->bytes + t->count, app_word_rank(app_random_next(&random), words));
        if (column == 0) {
            t->bytes[t->count] = (char)(t->bytes[t->count] & ~0x20);
        }
        t->count += length;
        column += length + 1;
        if (column > 70) {
            t->bytes[t->count++] = '.';
            t->bytes[t->count++] = '\n';
            column = 0;
        } else {
            t->bytes[t->count++] = ' ';
        }
    }
    t->count = count;
    snprintf(t->title, sizeof t->title, "generated, seed %llu", (unsigned long long)seed);
}

void app_corpus_enlarge(app_corpus *t, uint64_t count, uint64_t seed) {
    if (count <= t->count) {
        t->count = count;
        return;
    }
    app_vocabulary vocabulary;
    app_vocabulary_create(&vocabulary, t->bytes, t->count, seed);
    char *bytes = (char *)app_room_create(count, 1, "the text");
    uint64_t written = 0;
    for (uint64_t copy = 0; written < count; copy++) {
        written += app_vocabulary_write(&vocabulary, t->bytes, t->count, copy, bytes + written,
                                        count - written);
        if (written < count) {
            bytes[written++] = '\n';
        }
    }
    app_vocabulary_free(&vocabulary);
    app_room_free(t->bytes);
    t->bytes = bytes;
    t->count = count;
}

/* Adds a word's byte; a blank or line end becomes the one that keeps lines short, so that the text
 * has as many bytes a line (a record, for MapReduce) whatever is put into it. */
static uint64_t put_byte(char *out, uint64_t written, char c, uint64_t *column) {
    enum { COLUMNS = 70 };
    if (c == ' ' || (c == '\n' && *column != 0)) {
        c = *column > COLUMNS ? '\n' : ' ';
    }
    *column = c == '\n' ? 0 : *column + 1;
    out[written] = c;
    return written + 1;
}

void app_corpus_mix(app_corpus *t, double pct, uint64_t seed) {
    enum { LETTERS = 8 };
    app_random random = {seed + 29, 0};
    const double each = pct / (100.0 - pct); /* random words for a word of the text */
    char *mixed = (char *)app_room_create(t->count + LETTERS + 1, 1, "the text");
    double due = 0.0;
    uint64_t written = 0, column = 0;
    for (uint64_t at = 0; at < t->count && written < t->count; at++) {
        written = put_byte(mixed, written, t->bytes[at], &column);
        const bool is_end = app_word_has((unsigned char)t->bytes[at]) &&
                            (at + 1 == t->count || (!app_word_has((unsigned char)t->bytes[at + 1]) &&
                                                    t->bytes[at + 1] != '\''));
        for (due += is_end ? each : 0.0; due >= 1.0 && written < t->count; due -= 1.0) {
            uint64_t letters = app_random_next(&random);
            written = put_byte(mixed, written, ' ', &column);
            for (int i = 0; i < LETTERS; i++, letters >>= 8) {
                written = put_byte(mixed, written, (char)('a' + (letters & 255u) % 26u), &column);
            }
        }
    }
    app_room_free(t->bytes);
    t->bytes = mixed;
    t->count = written < t->count ? written : t->count;
}

void app_corpus_free(app_corpus *t) {
    app_room_free(t->bytes);
    *t = {};
}

static app_archive_file *add_file(app_archive *a, const char *bytes, uint64_t count) {
    a->file = (app_archive_file *)app_reallocate(a->file, a->count + 1, sizeof *a->file,
                                                 "the archive");
    app_archive_file *file = &a->file[a->count++];
    file->bytes = bytes;
    file->count = count;
    return file;
}

void app_archive_read(app_archive *a, const char *path, const char *ending) {
    size_t bytes;
    a->text = app_room_read(path, &bytes);
    const char *slash = strrchr(path, '/');
    snprintf(a->title, sizeof a->title, "%.150s", slash != NULL ? slash + 1 : path);
    if (bytes == 0) {
        app_fail("%s is empty", path);
    }
    if (!is_tar(a->text, bytes)) {
        snprintf(add_file(a, a->text, bytes)->name, sizeof a->file->name, "%s", a->title);
        return;
    }
    for (uint64_t p = 0; bytes - p >= 512 && a->text[p] != '\0';) {
        const char *header = a->text + p;
        const uint64_t size = tar_size(header);
        char name[256];
        snprintf(name, sizeof name, "%.155s%s%.100s", header + 345, header[345] != '\0' ? "/" : "",
                 header);
        p += 512;
        if (size > bytes - p) {
            app_fail("%s is cut off", a->title);
        }
        const size_t length = strlen(name), ending_length = strlen(ending);
        const bool is_file = header[156] == '0' || header[156] == '\0';
        if (is_file && size != 0 && length >= ending_length &&
            strcmp(name + length - ending_length, ending) == 0) {
            memcpy(add_file(a, a->text + p, size)->name, name, sizeof name);
        }
        p += (size + 511) / 512 * 512;
        p = p < bytes ? p : bytes;
    }
    if (a->count == 0) {
        app_fail("%s has no file whose name ends with %s", path, ending);
    }
}

void app_archive_free(app_archive *a) {
    free(a->file);
    app_room_free(a->text);
}
