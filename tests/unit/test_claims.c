/* SPDX-License-Identifier: Apache-2.0 */
/** Claims of papers: what is read, how values become verdicts, what is refused. */
#include "study/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "study/agreement.h"
#include "study/claims_value.h"
#include "wp_test.h"

static char *root;

static void write_text(const char *dir, const char *name, const char *text) {
    wp_error err = {0};
    assert_status_ok(wpi_dir_create(dir, &err), &err);
    char *path = wpi_path_join(dir, name);
    assert_status_ok(wpi_file_write(path, text, strlen(text), &err), &err);
    wpi_free(path);
}

static void write_claims(const char *text) {
    char *dir = wpi_path_join(root, "paper/figure");
    write_text(dir, "claims.json", text);
    wpi_free(dir);
}

#define HEAD                                                                                       \
    "{\"title\": \"t\", \"source\": \"s\", \"program\": \"p.cu\","                                 \
    "\"runs\": {\"one\": {\"device\": \"cpu\", \"arguments\": [\"x\"]}}, \"claims\": ["

/* A compiler whose programs print what the test says. */
static char *make_compiler(const char *printed) {
    char *text = wpi_format(
        "#!/bin/sh\n# -O2 -IHEADERS SOURCE -o PROGRAM\nprintf '#!/bin/sh\\nprintf \"%s\"\\n' "
        ">\"$5\"\nchmod +x \"$5\"\n",
        printed);
    write_text(root, "compiler", text);
    wpi_free(text);
    char *path = wpi_path_join(root, "compiler");
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static wp_status run(wpi_figure *figure, const char *printed, wp_error *err) {
    char *compiler = make_compiler(printed);
    assert_status_ok(wpi_figure_load(root, "paper", "figure", figure, err), err);
    const wp_status status = wpi_figure_run(figure, compiler, NULL, err);
    wpi_free(compiler);
    return status;
}

static void values_become_verdicts(void **state) {
    (void)state;
    write_claims(
        HEAD
        "{\"claim\": \"a\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"x\"], \"published\": "
        "100},"
        "{\"claim\": \"b\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"y\", \"-x\"], "
        "\"published\": 100},"
        "{\"claim\": \"c\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"y\"], \"published\": "
        "120,"
        " \"calibrated\": \"key\"},"
        "{\"claim\": \"d\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"y\"]},"
        "{\"claim\": \"e\", \"unit\": \"ns\", \"run\": \"one\", \"ascending\": [\"x\", \"y\"]},"
        "{\"claim\": \"f\", \"unit\": \"ns\", \"run\": \"one\", \"ascending\": [\"y\", \"x\"]},"
        "{\"claim\": \"g\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"x\"], \"published\": "
        "100,"
        " \"tolerance\": 5}]}");
    static const wpi_verdict expected[] = {WPI_VERDICT_REPRODUCED, WPI_VERDICT_DIFFERS,
                                           WPI_VERDICT_CALIBRATED, WPI_VERDICT_UNPUBLISHED,
                                           WPI_VERDICT_ORDER,      WPI_VERDICT_DIFFERS,
                                           WPI_VERDICT_DIFFERS};
    wpi_figure figure;
    wp_error err = {0};
    assert_status_ok(run(&figure, "x 109\\\\ny 129\\\\n", &err), &err);
    assert_int_equal(figure.claim_count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(figure.claims[i].verdict, expected[i]);
    assert_true(figure.claims[1].ours == 20.0);
    assert_status_ok(wpi_figure_record(&figure, &err), &err);
    wpi_figure_deinit(&figure);

    assert_status_ok(wpi_figure_load(root, "paper", "figure", &figure, &err), &err);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(figure.claims[i].verdict, expected[i]);
    assert_true(figure.claims[1].has_ours && figure.claims[1].ours == 20.0);
    wpi_figure_deinit(&figure);
}

/* Ours are 1.1, 0.9 and 1.2 times what was measured; one row has another unit. */
static void rows_of_a_unit_are_compared_with_measurements(void **state) {
    (void)state;
    write_claims(
        "{\"title\": \"t\", \"source\": \"s\", \"program\": \"p.cu\", \"agreement\": [\"us\"],"
        "\"runs\": {\"one\": {\"device\": \"cpu\", \"arguments\": [\"x\"]}}, \"claims\": ["
        "{\"claim\": \"a\", \"unit\": \"us\", \"run\": \"one\", \"value\": 110, \"published\": "
        "100},"
        "{\"claim\": \"b\", \"unit\": \"us\", \"run\": \"one\", \"value\": 9, \"published\": 10},"
        "{\"claim\": \"c\", \"unit\": \"us\", \"run\": \"one\", \"value\": 1.2, \"published\": 1},"
        "{\"claim\": \"d\", \"unit\": \"ns\", \"run\": \"one\", \"value\": 5, \"published\": 1}]}");
    wpi_figure figure;
    wp_error err = {0};
    wpi_agreement found;
    assert_status_ok(wpi_figure_load(root, "paper", "figure", &figure, &err), &err);
    assert_false(wpi_agreement_find(&figure, 0, &found)); /* before a run */
    wpi_figure_deinit(&figure);
    assert_status_ok(run(&figure, "x 1", &err), &err);
    assert_true(wpi_agreement_find(&figure, 0, &found));
    assert_u64(found.rows, 3);
    assert_near(found.mean_error, 0.4 / 3, 1e-9);
    assert_near(found.geometric_mean, cbrt(1.1 * 0.9 * 1.2), 1e-9);
    assert_true(found.correlation > 0.99 && found.correlation < 1.0);
    assert_false(wpi_agreement_find(&figure, 1, &found));
    assert_true(wpi_agreement_find(&figure, 0, &found));
    wpi_text text = {0};
    wpi_agreement_describe(&found, " ", &text);
    assert_contains(wpi_text_string(&text), "3 rows in us: mean error 13 %");
    wpi_text_clear(&text);
    wpi_agreement_draw(&figure, &found, &text);
    assert_contains(wpi_text_string(&text), "<title>b: 9, measured 10</title>");
    wpi_text_deinit(&text);
    wpi_figure_deinit(&figure);
}

static void programs_of_others_are_asked_for(void **state) {
    (void)state;
    write_claims("{\"title\": \"t\", \"source\": \"s\", \"program\": \"programs\","
                 "\"runs\": {\"one\": {\"device\": \"cpu\", \"arguments\": [\"x\"]}}, \"claims\": ["
                 "{\"claim\": \"a\", \"unit\": \"us\", \"value\": \"one:k.time_ns\"}]}");
    wpi_figure figure;
    wp_error err = {0};
    assert_status_ok(wpi_figure_load(root, "paper", "figure", &figure, &err), &err);
    unsetenv("WARPAGE_PROGRAMS");
    assert_true(wpi_figure_lacks_programs(&figure));
    assert_status_fails(wpi_figure_run(&figure, "/nowhere/wpcc", NULL, &err), WP_STATUS_NOT_FOUND,
                        &err, "set WARPAGE_PROGRAMS");
    setenv("WARPAGE_PROGRAMS", root, 1);
    assert_false(wpi_figure_lacks_programs(&figure));
    assert_status_fails(wpi_figure_run(&figure, "/nowhere/wpcc", NULL, &err), WP_STATUS_NOT_FOUND,
                        &err, "programs.sh makes");
    unsetenv("WARPAGE_PROGRAMS");
    wpi_figure_deinit(&figure);
}

static void what_programs_print_is_checked(void **state) {
    (void)state;
    wpi_figure figure;
    wp_error err = {0};
    write_claims(HEAD "{\"claim\": \"a\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"x\"], "
                      "\"published\": 1}]}");
    const char *const lines[] = {"x is one\\\\n", "x\\\\n", " one\\\\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_status_fails(run(&figure, lines[i], &err), WP_STATUS_PARSE, &err, "not NAME VALUE");
        wpi_figure_deinit(&figure);
    }
    assert_status_fails(run(&figure, "x one\\\\n", &err), WP_STATUS_PARSE, &err, "'a'");
    wpi_figure_deinit(&figure); /* a word is no value */
    assert_status_fails(run(&figure, "z 1\\\\n", &err), WP_STATUS_PARSE, &err, "'a'");
    wpi_figure_deinit(&figure);
}

static void expect_refusal(const char *text, wp_status status, const char *part) {
    wpi_figure figure;
    wp_error err = {0};
    write_claims(text);
    assert_status_fails(wpi_figure_load(root, "paper", "figure", &figure, &err), status, &err,
                        part);
}

static void broken_claims_are_refused(void **state) {
    (void)state;
    wpi_figure figure;
    wp_error err = {0};
    assert_status_fails(wpi_figure_load(root, "paper", "none", &figure, &err), WP_STATUS_NOT_FOUND,
                        &err, "claims.json");
    expect_refusal("{", WP_STATUS_PARSE, "claims.json:1");
    expect_refusal("{\"claims\": []}", WP_STATUS_PARSE, "title");
    expect_refusal(HEAD
                   "{\"claim\": \"a\", \"unit\": \"ns\", \"run\": \"two\", \"value\": [\"x\"]}]}",
                   WP_STATUS_PARSE, "claim 1");
    expect_refusal(HEAD "{\"claim\": \"a\", \"unit\": \"ns\", \"run\": \"one\"}]}", WP_STATUS_PARSE,
                   "claim 1");
    expect_refusal(HEAD "{\"claim\": \"a\", \"unit\": \"ns\", \"value\": {\"over\": [\"x\"]}}]}",
                   WP_STATUS_PARSE, "claim 1");
}

/* ---- sweeps ---- */

#define SWEEP(over, runs, claims)                                                                  \
    "{\"title\": \"t\", \"source\": \"s\", \"program\": \"p.cu\", \"sweep\": [{\"over\": " over    \
    ", \"runs\": " runs ", \"claims\": " claims "}]}"
#define RUN "{\"{n}\": {\"device\": \"cpu\", \"arguments\": [\"{n}\"]}}"
#define CLAIM "[{\"claim\": \"{n}\", \"unit\": \"ns\", \"run\": \"{n}\", \"value\": [\"x\"]}]"

static void a_sweep_is_a_product(void **state) {
    (void)state;
    wpi_figure figure;
    wp_error err = {0};
    write_claims(
        SWEEP("{\"app\": [{\"name\": \"p\", \"gain\": 2.5}, {\"name\": \"q\", \"gain\": 7}], "
              "\"n\": [1, 20]}",
              "{\"{app.name}-{n}\": {\"device\": \"cpu\", \"arguments\": [\"{app.name}\", "
              "\"--size={n}K\"]}}",
              "[{\"claim\": \"{app.name} of {n}\", \"unit\": \"x\", \"run\": \"{app.name}-{n}\","
              " \"value\": [\"x\"], \"published\": \"{app.gain}\","
              " \"also_true_for\": [\"no {app.name}\", \"nothing\"]}]"));
    assert_status_ok(wpi_figure_load(root, "paper", "figure", &figure, &err), &err);
    static const char *const texts[] = {"p of 1", "p of 20", "q of 1", "q of 20"};
    assert_int_equal(figure.claim_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(figure.claims[i].text, texts[i]);
        assert_true(figure.claims[i].published == (i < 2 ? 2.5 : 7.0));
    }
    const json_t *run = json_object_get(json_object_get(figure.json, "runs"), "q-20");
    assert_string_equal(json_string_value(json_array_get(json_object_get(run, "arguments"), 1)),
                        "--size=20K");
    char *others = wpi_claim_also_true_for(&figure.claims[3]);
    assert_string_equal(others, "no q; nothing");
    wpi_free(others);
    wpi_figure_deinit(&figure);
}

static void broken_sweeps_are_refused(void **state) {
    (void)state;
    expect_refusal(SWEEP("{\"n\": []}", RUN, CLAIM), WP_STATUS_PARSE, "'n' is not a list");
    expect_refusal(SWEEP("{}", RUN, CLAIM), WP_STATUS_PARSE, "sweep 1 has nothing to go over");
    expect_refusal(SWEEP("{\"m\": [1]}", RUN, CLAIM), WP_STATUS_PARSE, "there is no {n}");
    expect_refusal(SWEEP("{\"n\": [1, 1]}", RUN, CLAIM), WP_STATUS_PARSE,
                   "the run '1' is made twice");
    expect_refusal(SWEEP("{\"n\": [1], \"m\": [1]}", "{}", "[{\"claim\": \"{n\"}]"),
                   WP_STATUS_PARSE, "without its '}'");
    expect_refusal(SWEEP("{\"n\": [{\"a\": 1}]}", "{}", "[{\"claim\": \"x {n}\"}]"),
                   WP_STATUS_PARSE, "neither text nor a number");
    expect_refusal("{\"title\": \"t\", \"source\": \"s\", \"program\": \"p\", \"sweep\": {}}",
                   WP_STATUS_PARSE, "must be a list");
    expect_refusal(HEAD "{\"claim\": \"a\", \"unit\": \"ns\", \"run\": \"one\", \"value\": [\"x\"],"
                        " \"also_true_for\": \"all\"}]}",
                   WP_STATUS_PARSE, "also_true_for");
}

/* ---- studies of a figure's runs ---- */

static void write_file(const char *folder, const char *name, const char *text) {
    char *dir = wpi_path_join(root, folder);
    write_text(dir, name, text);
    wpi_free(dir);
}

#define STUDY(members)                                                                             \
    "{\"title\": \"t\", \"source\": \"s\", \"runs_of\": \"paper/figure\", " members                \
    "\"claims\": [{\"claim\": \"x of b\", \"unit\": \"ns\", \"value\": \"b:x\"}]}"

static wp_status load_from(const char *group, wpi_figure *figure, wp_error *err) {
    char *dir = wpi_path_join(root, group);
    const wp_status status = wpi_figure_load(dir, "paper", "figure", figure, err);
    wpi_free(dir);
    return status;
}

/* The figure has the runs a, b and c, and claims on a; the study has one on b. */
static void write_figure_and_study(const char *study) {
    write_file("repro/paper/figure", "claims.json",
               "{\"title\": \"t\", \"source\": \"s\", \"program\": \"p.cu\", \"sweep\": [{\"over\":"
               " {\"n\": [\"a\", \"b\", \"c\"]}, \"runs\": {\"{n}\": {\"device\": \"{n}\", "
               "\"arguments\": []}}}], \"claims\": [{\"claim\": \"x of a\", \"unit\": \"ns\", "
               "\"value\": \"a:x\", \"published\": 9}]}");
    write_file("repro/paper/figure", "results.json",
               "{\"x of a\": {\"ours\": 9, \"verdict\": \"reproduced\"}}");
    write_file("studies/paper/figure", "claims.json", study);
    write_file("studies/paper/figure", "results.json",
               "{\"x of b\": {\"ours\": 9.5, \"verdict\": \"no published value\"}}");
}

static int runs_said;

static void count_runs(const char *text) {
    (void)text;
    runs_said++;
}

static void a_study_has_the_runs_of_a_figure(void **state) {
    (void)state;
    wpi_figure figure;
    wp_error err = {0};
    write_figure_and_study(STUDY(""));
    assert_status_ok(load_from("repro", &figure, &err), &err);
    char *others = wpi_claim_also_true_for(&figure.claims[0]);
    assert_string_equal(others, "run b (9.5)"); /* which the study has */
    wpi_free(others);
    wpi_figure_deinit(&figure);

    char *compiler = make_compiler("x 7\\\\n");
    assert_status_ok(load_from("studies", &figure, &err), &err);
    runs_said = 0;
    assert_status_ok(wpi_figure_run(&figure, compiler, count_runs, &err), &err);
    assert_int_equal(runs_said, 1); /* neither a nor c */
    assert_true(figure.claims[0].ours == 7.0);
    wpi_figure_deinit(&figure);
    wpi_free(compiler);
}

static void broken_studies_of_runs_are_refused(void **state) {
    (void)state;
    wpi_figure figure;
    wp_error err = {0};
    write_figure_and_study(STUDY("\"runs\": {\"c\": {\"device\": \"cpu\", \"arguments\": []}}, "));
    assert_status_fails(load_from("studies", &figure, &err), WP_STATUS_PARSE, &err,
                        "the run 'c' is one of runs_of, too");
    write_file(
        "studies/paper/figure", "claims.json",
        "{\"title\": \"t\", \"source\": \"s\", \"runs_of\": \"paper/none\", \"claims\": []}");
    assert_status_fails(load_from("studies", &figure, &err), WP_STATUS_NOT_FOUND, &err,
                        "repro/paper/none/claims.json");
}

/* ---- power ---- */

typedef struct weighed {
    const char *claim;    /* the rest of it */
    const char *recorded; /* its result */
    const char *others;   /* what it does not exclude */
} weighed;

#define REPRODUCED(ours) "{\"ours\": " ours ", \"verdict\": \"reproduced\"}"

static void claims_are_weighed_by_what_would_also_meet_them(void **state) {
    (void)state;
    static const weighed cases[] = {
        {"\"value\": {\"over\": [\"a:t\", \"b:t\"]}, \"published\": 1.05", REPRODUCED("1.02"),
         "all runs alike (1)"},
        {"\"value\": {\"over\": [\"a:t\", \"b:t\"]}, \"published\": 1.05, \"also_true_for\": "
         "[\"any\"]",
         REPRODUCED("1.02"), "any; all runs alike (1)"},
        {"\"value\": {\"over\": [\"a:t\", \"b:t\"]}, \"published\": 1.05",
         "{\"ours\": 3, \"verdict\": \"differs\"}", "all runs alike (1)"},
        {"\"value\": {\"over\": [\"a:t\", \"b:t\"]}, \"published\": 1.05, \"tolerance\": 0.04",
         REPRODUCED("1.02"), ""},
        {"\"value\": {\"over\": [\"a:t\", \"b:t\"]}, \"published\": 1.05, \"calibrated\": \"k\"",
         "{\"ours\": 1.02, \"verdict\": \"calibrated\"}", ""},
        {"\"value\": [\"a:t\", \"-b:t\"], \"published\": -3, \"tolerance\": 3.5", REPRODUCED("-2"),
         "all runs alike (0)"},
        /* Of one run, and of different values: being alike says nothing about them. */
        {"\"value\": {\"over\": [\"a:h\", \"a:t\"]}, \"published\": 3", REPRODUCED("3"), ""},
        {"\"value\": {\"over\": [\"a:h\", \"b:u\"]}, \"published\": 3", REPRODUCED("3"), ""},
        /* Nothing, and all of it. */
        {"\"value\": {\"over\": [\"a:h\", \"a:t\"]}, \"published\": 0.95", REPRODUCED("0.9"),
         "the constant 1"},
        {"\"value\": \"a:z\", \"published\": 0.5, \"tolerance\": 0.6", REPRODUCED("0.9"),
         "the constant 0; the constant 1"},
        {"\"ascending\": [0.5, {\"over\": [\"a:t\", \"b:t\"]}]", "{\"verdict\": \"same shape\"}",
         "all runs alike"},
        {"\"ascending\": [\"a:t\", \"b:t\"]", "{\"verdict\": \"same shape\"}", ""},
        /* Another run: b is close enough, c is not, d is another input. */
        {"\"run\": \"a\", \"value\": [\"n\"], \"published\": 100", REPRODUCED("101"),
         "run b (108)"},
        {"\"value\": [\"b:n\"], \"published\": 94", "{\"ours\": 108, \"verdict\": \"differs\"}",
         "run a (101)"},
        {"\"value\": [\"c:n\"], \"published\": 120", REPRODUCED("120"), "run b (108)"},
        {"\"value\": [\"d:n\"], \"published\": 100", REPRODUCED("100"), ""},
        {"\"value\": {\"over\": [[\"a:p\", \"b:p\"], \"d:p\"]}, \"published\": 9", REPRODUCED("9"),
         "runs b, … (9.5)"},
        {"\"value\": {\"over\": [[\"b:p\", \"c:p\"], \"d:p\"]}, \"published\": 20",
         "{\"ours\": 9.5, \"verdict\": \"differs\"}", ""},
    };
    enum { COUNT = sizeof cases / sizeof cases[0] };
    wpi_text claims = {0}, results = {0};
    wpi_text_append(&claims,
                    "{\"title\": \"t\", \"source\": \"s\", \"program\": \"p.cu\", \"runs\": {");
    for (const char *run = "abcd"; *run != '\0'; run++)
        wpi_text_appendf(
            &claims, "%s\"%c\": {\"device\": \"cpu\", \"set\": \"k=%c\", \"arguments\": [\"%s\"]}",
            *run == 'a' ? "" : ", ", *run, *run, *run == 'd' ? "y" : "x");
    wpi_text_append(&claims, "}, \"claims\": [");
    for (size_t i = 0; i < COUNT; i++) {
        const char *comma = i == 0 ? "" : ", ";
        wpi_text_appendf(&claims, "%s{\"claim\": \"%zu\", \"unit\": \"x\", %s}", comma, i,
                         cases[i].claim);
        wpi_text_appendf(&results, "%s\"%zu\": %s", i == 0 ? "{" : ", ", i, cases[i].recorded);
    }
    wpi_text_append(&claims, "]}");
    wpi_text_append(&results, "}");
    write_claims(wpi_text_string(&claims));
    char *dir = wpi_path_join(root, "paper/figure");
    write_text(dir, "results.json", wpi_text_string(&results));
    wpi_free(dir);
    wpi_figure figure;
    wp_error err = {0};
    assert_status_ok(wpi_figure_load(root, "paper", "figure", &figure, &err), &err);
    for (size_t i = 0; i < COUNT; i++) {
        char *others = wpi_claim_also_true_for(&figure.claims[i]);
        if (strcmp(others, cases[i].others) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].claim, others, cases[i].others);
        wpi_free(others);
    }
    const wpi_verdict_sums sums = wpi_figures_sum(&figure, 1);
    assert_u64(sums.claims[WPI_VERDICT_REPRODUCED], 12);
    assert_u64(sums.discriminating[WPI_VERDICT_REPRODUCED], 4);
    assert_u64(sums.claims[WPI_VERDICT_ORDER], 2);
    assert_u64(sums.discriminating[WPI_VERDICT_ORDER], 1);
    assert_u64(sums.claims[WPI_VERDICT_DIFFERS], 3);
    assert_u64(sums.discriminating[WPI_VERDICT_DIFFERS], 1);
    assert_u64(sums.discriminating[WPI_VERDICT_CALIBRATED], 0);
    wpi_figure_deinit(&figure);
    wpi_text_deinit(&claims);
    wpi_text_deinit(&results);
}

/* ---- values ---- */

/* Of runs "one", where x is 8 and y is 2, and "two", where x is 32. */
static wp_status value_of(const char *text, double *out, wp_error *err) {
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    json_t *values =
        json_pack("{s:{s:f,s:f},s:{s:f}}", "one", "x", 8.0, "y", 2.0, "two", "x", 32.0);
    assert_true(wpi_claims_value_is_valid(value, values));
    const wp_status status = wpi_claims_value(value, &(wpi_outcome){values, "one"}, out, err);
    json_decref(value);
    json_decref(values);
    return status;
}

static void values_are_computed_from_several_runs(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"\"x\"", 8},
        {"[\"two:x\", \"-x\", \"-one:y\", 1.5]", 23.5},
        {"{\"over\": [\"two:x\", \"x\"]}", 4},
        {"{\"over\": [[\"x\", \"y\"], {\"over\": [\"two:x\", 16]}]}", 5},
        {"{\"mean\": [\"x\", \"y\", \"two:x\"]}", 14},
        {"{\"geomean\": [\"x\", \"y\", \"two:x\"]}", 8},
        {"{\"min\": [\"x\", \"y\", \"two:x\"]}", 2},
        {"{\"max\": [\"x\", \"y\", \"two:x\"]}", 32},
        {"{\"share\": [\"x\", \"y\", \"two:x\", 9], \"from\": 8}", 0.75},
        {"{\"share\": [\"x\", \"y\", \"two:x\", 9], \"from\": 8, \"to\": 9}", 0.5},
        {"{\"share\": [\"x\", \"y\", \"two:x\", 9], \"to\": 2}", 0.25},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double value = 0;
        wp_error err = {0};
        assert_status_ok(value_of(cases[i].text, &value, &err), &err);
        assert_near(value, cases[i].value, 1e-12);
    }
}

static void values_without_a_number_are_refused(void **state) {
    (void)state;
    double value;
    wp_error err = {0};
    assert_status_fails(value_of("{\"mean\": [\"x\", \"two:y\"]}", &value, &err), WP_STATUS_PARSE,
                        &err, "'two:y'");
    assert_status_fails(value_of("{\"over\": [\"x\", [\"x\", \"-x\"]]}", &value, &err),
                        WP_STATUS_PARSE, &err, "'over'");
}

static void other_forms_are_no_values(void **state) {
    (void)state;
    static const char *const texts[] = {"true",
                                        "[]",
                                        "{}",
                                        "{\"over\": [1]}",
                                        "{\"over\": [1, 2, 3]}",
                                        "{\"mean\": []}",
                                        "{\"mean\": 1}",
                                        "{\"median\": [1]}",
                                        "[{\"max\": [null]}]",
                                        "[1, \"-strange:x\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        json_t *value = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        if (wpi_claims_value_is_valid(value, NULL)) fail_msg("%s is taken", texts[i]);
        json_decref(value);
    }
}

static int open_root(void **state) {
    (void)state;
    return wpi_temp_dir_create(&root, NULL) == WP_STATUS_OK ? 0 : -1;
}

static int close_root(void **state) {
    (void)state;
    wpi_temp_dir_remove(root);
    wpi_free(root);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_become_verdicts, open_root, close_root),
        cmocka_unit_test_setup_teardown(rows_of_a_unit_are_compared_with_measurements, open_root,
                                        close_root),
        cmocka_unit_test_setup_teardown(programs_of_others_are_asked_for, open_root, close_root),
        cmocka_unit_test_setup_teardown(what_programs_print_is_checked, open_root, close_root),
        cmocka_unit_test_setup_teardown(broken_claims_are_refused, open_root, close_root),
        cmocka_unit_test_setup_teardown(a_sweep_is_a_product, open_root, close_root),
        cmocka_unit_test_setup_teardown(broken_sweeps_are_refused, open_root, close_root),
        cmocka_unit_test_setup_teardown(a_study_has_the_runs_of_a_figure, open_root, close_root),
        cmocka_unit_test_setup_teardown(broken_studies_of_runs_are_refused, open_root, close_root),
        cmocka_unit_test_setup_teardown(claims_are_weighed_by_what_would_also_meet_them, open_root,
                                        close_root),
        cmocka_unit_test(values_are_computed_from_several_runs),
        cmocka_unit_test(values_without_a_number_are_refused),
        cmocka_unit_test(other_forms_are_no_values),
    };
    return wp_test_main(tests);
}
