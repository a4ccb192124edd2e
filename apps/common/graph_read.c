/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph files. The format is recognized by the first lines:
 *
 *     p sp N M, a FROM TO LENGTH      DIMACS shortest paths, vertices from 1, directed
 *     p tw N M, FROM TO               vertices from 1, every edge leads both ways
 *     Package: ...                    a Debian package list
 *     one number alone                Rodinia's bfs graph: N; N x (first, degree); source; M;
 *                                     M x (target, weight)
 *     FROM TO [WEIGHT]                edge list (SNAP), # and % start comments, any labels
 */
#include "common/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "common/text.h"

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static uint64_t need_number(const app_text *text, char **cursor, const char *what, uint64_t max) {
    uint64_t value;
    char *start = *cursor;
    if (*start == '\0') {
        app_text_fail(text, "expected %s, found the end of the line", what);
    }
    if (!app_parse_number(cursor, &value)) {
        app_text_fail(text, "expected %s, found '%.40s'", what, start);
    }
    if (value > max) {
        app_text_fail(text, "%s is %llu, more than %llu", what, (unsigned long long)value,
                      (unsigned long long)max);
    }
    return value;
}

static char *skip_blanks(char *p) {
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* ---- DIMACS --------------------------------------------------------------------------------- */

static void read_dimacs(app_graph *graph, app_text *text, char *line) {
    app_edges edges = {0};
    size_t length;
    bool is_both_ways = strncmp(line, "p tw", 4) == 0;
    if (!is_both_ways && strncmp(line, "p sp", 4) != 0) {
        app_text_fail(text, "only 'p sp' and 'p tw' graphs are known, found '%.40s'", line);
    }
    char *cursor = skip_blanks(line + 4);
    uint64_t vertices = need_number(text, &cursor, "the number of vertices", UINT32_MAX - 1u);
    uint64_t declared = need_number(text, &cursor, "the number of edges", UINT64_MAX);
    while (app_text_line(text, &line, &length)) {
        cursor = skip_blanks(line);
        if (*cursor == '\0' || *cursor == 'c') {
            continue;
        }
        if (!is_both_ways) {
            if (*cursor != 'a') {
                app_text_fail(text, "expected an arc (a FROM TO LENGTH), found '%.40s'", line);
            }
            cursor = skip_blanks(cursor + 1);
        }
        uint64_t from = need_number(text, &cursor, "a vertex number", vertices);
        uint64_t to = need_number(text, &cursor, "a vertex number", vertices);
        if (from == 0 || to == 0) {
            app_text_fail(text, "vertices are numbered from 1, found 0");
        }
        if (is_both_ways) {
            app_edges_add(&edges, (uint32_t)from - 1u, (uint32_t)to - 1u);
        } else {
            uint64_t weight = need_number(text, &cursor, "a length", UINT32_MAX);
            app_edges_add_weighted(&edges, (uint32_t)from - 1u, (uint32_t)to - 1u,
                                   (uint32_t)weight);
        }
    }
    if (edges.count != declared) {
        app_fail("%s says it has %s edges, but holds %s; get the file again", app_text_path(text),
                 app_count(declared), app_count(edges.count));
    }
    graph->vertex_count = (uint32_t)vertices;
    graph->label = app_allocate(vertices, sizeof *graph->label, "labels");
    for (uint32_t v = 0; v < graph->vertex_count; v++) {
        graph->label[v] = v + 1u;
    }
    app_graph_build(graph, &edges, is_both_ways);
}

/* ---- Rodinia -------------------------------------------------------------------------------- */

/* Numbers across lines, blank lines skipped. */
typedef struct number_stream {
    app_text *text;
    char *cursor;
} number_stream;

static uint64_t next_number(number_stream *numbers, const char *what, uint64_t max) {
    size_t length;
    while (*numbers->cursor == '\0') {
        char *line;
        if (!app_text_line(numbers->text, &line, &length)) {
            app_fail("%s ends where %s should be; get the file again", app_text_path(numbers->text),
                     what);
        }
        numbers->cursor = skip_blanks(line);
    }
    return need_number(numbers->text, &numbers->cursor, what, max);
}

static void read_rodinia(app_graph *graph, app_text *text, char *line) {
    number_stream numbers = {text, skip_blanks(line)};
    uint64_t vertices = next_number(&numbers, "the number of vertices", UINT32_MAX - 1u);
    graph->vertex_count = (uint32_t)vertices;
    graph->first = app_allocate(vertices + 1, sizeof *graph->first, "vertices");
    graph->first[0] = 0;
    for (uint64_t v = 0; v < vertices; v++) {
        uint64_t first = next_number(&numbers, "a first edge", UINT64_MAX);
        uint64_t degree = next_number(&numbers, "a number of edges", UINT32_MAX);
        if (first != graph->first[v]) {
            app_text_fail(text, "the edges of vertex %llu start at %llu, expected %llu",
                          (unsigned long long)v, (unsigned long long)first,
                          (unsigned long long)graph->first[v]);
        }
        graph->first[v + 1] = first + degree;
    }
    graph->source = (uint32_t)next_number(&numbers, "the source", vertices - 1);
    graph->edge_count = next_number(&numbers, "the number of edges", graph->first[vertices]);
    if (graph->edge_count != graph->first[vertices]) {
        app_text_fail(text, "the vertices have %s edges, but %s are announced",
                      app_count(graph->first[vertices]), app_count(graph->edge_count));
    }
    graph->target = app_allocate(graph->edge_count, sizeof *graph->target, "edges");
    graph->weight = app_allocate(graph->edge_count, sizeof *graph->weight, "weights");
    for (uint64_t e = 0; e < graph->edge_count; e++) {
        graph->target[e] = (uint32_t)next_number(&numbers, "a target", vertices - 1);
        graph->weight[e] = (uint32_t)next_number(&numbers, "a weight", UINT32_MAX);
    }
}

/* ---- edge lists ----------------------------------------------------------------------------- */

static int compare_labels(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Renumbers the ends from 0 in the order of their labels. Dense labels go through a table, others
 * (paper numbers, say) through sorting and binary search; the numbering is the same. */
static void number_vertices(app_graph *graph, app_edges *edges) {
    uint64_t end_count = 2 * edges->count;
    uint32_t largest = 0;
    for (uint64_t e = 0; e < edges->count; e++) {
        uint32_t larger = edges->from[e] > edges->to[e] ? edges->from[e] : edges->to[e];
        largest = larger > largest ? larger : largest;
    }
    uint32_t *labels;
    uint64_t label_count = 0;
    if (largest / 8u < end_count + 1024u) {
        uint32_t *number = app_allocate((size_t)largest + 1, sizeof *number, "labels");
        memset(number, 0, ((size_t)largest + 1) * sizeof *number);
        for (uint64_t e = 0; e < edges->count; e++) {
            number[edges->from[e]] = 1;
            number[edges->to[e]] = 1;
        }
        for (uint64_t label = 0; label <= largest; label++) {
            label_count += number[label];
        }
        labels = app_allocate(label_count, sizeof *labels, "labels");
        label_count = 0;
        for (uint64_t label = 0; label <= largest; label++) {
            if (number[label] != 0) {
                labels[label_count] = (uint32_t)label;
                number[label] = (uint32_t)label_count++;
            }
        }
        for (uint64_t e = 0; e < edges->count; e++) {
            edges->from[e] = number[edges->from[e]];
            edges->to[e] = number[edges->to[e]];
        }
        free(number);
    } else {
        labels = app_allocate(end_count, sizeof *labels, "labels");
        memcpy(labels, edges->from, edges->count * sizeof *labels);
        memcpy(labels + edges->count, edges->to, edges->count * sizeof *labels);
        qsort(labels, end_count, sizeof *labels, compare_labels);
        for (uint64_t i = 0; i < end_count; i++) {
            if (label_count == 0 || labels[label_count - 1] != labels[i]) {
                labels[label_count++] = labels[i];
            }
        }
        for (uint64_t e = 0; e < edges->count; e++) {
            uint32_t *from =
                bsearch(&edges->from[e], labels, label_count, sizeof *labels, compare_labels);
            uint32_t *to =
                bsearch(&edges->to[e], labels, label_count, sizeof *labels, compare_labels);
            edges->from[e] = (uint32_t)(from - labels);
            edges->to[e] = (uint32_t)(to - labels);
        }
    }
    graph->vertex_count = (uint32_t)label_count;
    graph->label = app_allocate(label_count, sizeof *graph->label, "labels");
    for (uint64_t v = 0; v < label_count; v++) {
        graph->label[v] = labels[v];
    }
    free(labels);
}

static void read_edge_list(app_graph *graph, app_text *text, char *line, bool is_undirected) {
    app_edges edges = {0};
    size_t length;
    bool has_weights = false;
    do {
        char *cursor = skip_blanks(line);
        if (*cursor == '\0' || *cursor == '#' || *cursor == '%') {
            continue;
        }
        uint32_t from = (uint32_t)need_number(text, &cursor, "a vertex number", UINT32_MAX - 1u);
        uint32_t to =
            (uint32_t)need_number(text, &cursor, "a second vertex number", UINT32_MAX - 1u);
        bool has_weight = *cursor != '\0';
        if (edges.count == 0) {
            has_weights = has_weight;
        } else if (has_weight != has_weights) {
            app_text_fail(text, "expected %s numbers as in the first edge, found '%.40s'",
                          has_weights ? "three" : "two", line);
        }
        if (has_weight) {
            uint32_t weight = (uint32_t)need_number(text, &cursor, "a weight", UINT32_MAX);
            app_edges_add_weighted(&edges, from, to, weight);
        } else {
            app_edges_add(&edges, from, to);
        }
    } while (app_text_line(text, &line, &length));
    if (edges.count == 0) {
        app_fail("%s holds no edges", app_text_path(text));
    }
    number_vertices(graph, &edges);
    app_graph_build(graph, &edges, is_undirected);
}

void app_graph_read(app_graph *graph, const char *path, bool is_undirected) {
    app_text *text = app_text_open(path);
    char *line;
    size_t length;
    bool is_dimacs = false;
    bool has_line;
    for (;;) {
        has_line = app_text_line(text, &line, &length);
        if (!has_line) {
            app_fail("%s holds no graph: no line other than comments", path);
        }
        char *cursor = skip_blanks(line);
        is_dimacs = *cursor == 'p';
        if (*cursor != '\0' && *cursor != '#' && *cursor != '%' && *cursor != 'c') {
            break;
        }
    }
    if (strncmp(line, "Package:", 8) == 0) {
        app_text_close(text);
        app_graph_read_packages(graph, path);
        return;
    }
    if (is_dimacs) {
        read_dimacs(graph, text, line);
    } else {
        char *cursor = skip_blanks(line);
        uint64_t number;
        if (app_parse_number(&cursor, &number) && *cursor == '\0') {
            read_rodinia(graph, text, line);
        } else {
            read_edge_list(graph, text, line, is_undirected);
        }
    }
    snprintf(graph->title, sizeof graph->title, "%s", base_name(path));
    app_text_close(text);
}
