/* Export: jansson and the test's own CSV reader read the output back. */
#include "store_sample.h"

#include <jansson.h>

#include "export/export.h"

/* Two winners. */
static struct store *make_store(void)
{
    struct store *s;
    assert_int_equal(store_open(in_dir("a.db"), STORE_WRITE, &s, NULL), 0);
    sample_winner(s, 1111, 113);
    sample_winner(s, 4096, 4096);
    sample_defaults(s); /* are not winners */
    return s;
}

/* The export as text; null where it failed, with the line in err. */
static char *export_text(struct store *s, const char *format, struct err *err)
{
    struct buf text = { 0 };
    int rc = export_rows(s, format, &text, err);
    char *copy = rc ? NULL : strdup(text.data);
    buf_free(&text);
    return copy;
}

static double number(const json_t *row, const char *name)
{
    return json_number_value(json_object_get(row, name));
}

static const char *text_of(const json_t *row, const char *name)
{
    return json_string_value(json_object_get(row, name));
}

static void writes_json(void **state)
{
    (void)state;
    struct store *s = make_store();
    char *text = export_text(s, "json", NULL);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s: %s", error.text, text);
    const json_t *rows = json_object_get(root, "winners"), *row = json_array_get(rows, 0), *config, *problem;
    assert_int_equal(json_array_size(rows), 2);
    assert_string_equal(text_of(row, "device"), "NVIDIA H200");
    assert_string_equal(text_of(row, "driver"), "580.1");
    assert_string_equal(text_of(row, "op"), "transpose");
    assert_string_equal(text_of(row, "dtype"), "f32");
    problem = json_object_get(row, "problem");
    assert_int_equal(json_object_size(problem), 2);
    assert_true(number(problem, "m") == 1111 && number(problem, "n") == 113);
    assert_string_equal(text_of(row, "variant"), "tile");
    config = json_object_get(row, "config");
    assert_int_equal(json_object_size(config), 4);
    assert_true(json_is_integer(json_object_get(config, "TILE")) && number(config, "TILE") == 8);
    assert_string_equal(text_of(config, "GRID"), "xy");
    assert_true(json_is_true(json_object_get(config, "PAD")));
    assert_true(number(config, "SCALE") == 0.5);
    assert_true(number(row, "time_ns") == 1000);
    assert_true(number(row, "gb_per_s") > 1004.34 && number(row, "gb_per_s") < 1004.35); /* 2*1111*113*4 bytes in 1 us */
    assert_true(json_is_null(json_object_get(row, "gflop_per_s")));
    assert_true(number(row, "copy_share") == 0.5);
    assert_true(number(row, "samples") == 3);
    assert_true(json_is_false(json_object_get(row, "stale")));
    assert_int_equal(strlen(text_of(row, "date")), 20);
    json_decref(root);
    free(text);
    store_close(s);
}

static void writes_csv(void **state)
{
    (void)state;
    store_close(make_store());
    meddle("a.db", "UPDATE device SET name = 'a \"quoted\" name'; UPDATE op SET current = 0; UPDATE tuned SET copy_ns = 0");
    struct store *s;
    assert_int_equal(store_open(in_dir("a.db"), STORE_READ, &s, NULL), 0);
    char *text = export_text(s, "csv", NULL), *lines[4], *rest = text;
    for (int i = 0; i < 4; i++)
        lines[i] = strsep(&rest, "\n");
    assert_string_equal(lines[0],
                        "device,backend,arch,driver,op,dtype,problem,cache,variant,config,time_ns,gb_per_s,gflop_per_s,copy_share,"
                        "samples,measured,passed,energy_j,metrics,objective,stale,this_problem_only,pinned,date,tuned_with");
    const char *expect = "\"a \"\"quoted\"\" name\",cuda,sm_90,580.1,transpose,f32,\"m=1111,n=113\",cold,tile,"
                         "\"TILE=8,GRID=xy,PAD=true,SCALE=0.5\",1000,1004.344,,,3,1,1,,,time,true,false,false,20";
    assert_int_equal(strncmp(lines[1], expect, strlen(expect)), 0);
    assert_string_equal(lines[3], "");
    assert_null(rest);
    free(text);
    store_close(s);
}

/* The first cell of the first row if the device has this name. */
static char *first_cell(const char *name)
{
    static char cell[200];
    char sql[300], *text, *end;
    snprintf(sql, sizeof sql, "UPDATE device SET name = %s", name);
    meddle("a.db", sql);
    struct store *s;
    assert_int_equal(store_open(in_dir("a.db"), STORE_READ, &s, NULL), 0);
    text = export_text(s, "csv", NULL);
    assert_non_null(text);
    end = strstr(text, ",cuda,");
    assert_non_null(end);
    *end = 0;
    snprintf(cell, sizeof cell, "%s", strchr(text, '\n') + 1);
    free(text);
    store_close(s);
    return cell;
}

/* What a spreadsheet would take for a formula, or a terminal for a command, is a text and nothing else; numbers stay numbers. */
static void writes_harmless_csv(void **state)
{
    (void)state;
    static const char *const cells[][2] = {
        { "'=1+1'", "\"'=1+1\"" },
        { "'+1+1'", "\"'+1+1\"" },
        { "'-1+1'", "\"'-1+1\"" },
        { "'@SUM(A1)'", "\"'@SUM(A1)\"" },
        { "'=cmd|\"/c x\"!A1'", "\"'=cmd|\"\"/c x\"\"!A1\"" },
        { "'  =1'", "\"'  =1\"" },
        { "char(133) || '=1'", "\"' =1\"" },
        { "char(65309) || '1'", "\"'\uff1d1\"" }, /* the wide sign */
        { "'''=1'", "\"''=1\"" },
        { "'a;=1'", "\"a;=1\"" },
        { "'-'", "\"'-\"" },
        { "'-1.5e+3'", "-1.5e+3" },
        { "'-5'", "-5" },
        { "'+5'", "+5" },
        { "'-inf'", "\"'-inf\"" },
        { "'-0x1p3'", "\"'-0x1p3\"" },
        { "'a=b-c@d'", "a=b-c@d" },
        { "'a' || char(155) || '31m' || char(8238) || 'b'", "a 31m b" },
        { "''", "" },
    };
    store_close(make_store());
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        assert_string_equal(first_cell(cells[i][0]), cells[i][1]);
}

static void writes_nothing_well(void **state)
{
    (void)state;
    struct store *s;
    assert_int_equal(store_open(in_dir("a.db"), STORE_WRITE, &s, NULL), 0);
    char *text = export_text(s, "json", NULL);
    json_t *root = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "winners")), 0);
    json_decref(root);
    free(text);
    text = export_text(s, "csv", NULL);
    assert_int_equal(strlen(strchr(text, '\n')), 1);
    free(text);
    store_close(s);
}

static void says_what_went_wrong(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct store *s = make_store();
    assert_null(export_text(s, "xml", &err));
    assert_int_equal(err.code, ERR_INVALID);
    assert_non_null(strstr(err.msg, "json or csv"));
    store_close(s);
}

/* A row that cannot be written as it is costs no other: a problem that is none is null, what is damaged is left out. */
static void writes_the_others(void **state)
{
    (void)state;
    static const char *const nulls[] = { "UPDATE problem SET sizes = 'm' || id", "UPDATE problem SET sizes = 'm=1111,n=x' || id",
                                         "UPDATE problem SET sizes = 'm=1;' || id",
                                         "UPDATE problem SET sizes = 'm=99999999999999999999,n=' || id",
                                         "UPDATE problem SET sizes = printf('%.*c=1', 100, 'm') || id" };
    static const char *const damaged[] = {
        "UPDATE tuned SET variant = CAST(x'ff' AS TEXT) WHERE id = 1",
        "UPDATE tuned SET config = CAST(x'7b2261223a22c3227d' AS TEXT) WHERE id = 1",
        "UPDATE tuned SET config = CAST(x'7b2261223a3100' AS TEXT) WHERE id = 1",
        "UPDATE tuned SET time_ns = 9e999 WHERE id = 1",
        "UPDATE tuned SET config = '{\"SCALE\":Inf}' WHERE id = 1",
        "UPDATE tuned SET config = '{\"SCALE\":-Inf}' WHERE id = 1",
        "UPDATE tuned SET config = '{\"SCALE\":.5}' WHERE id = 1",
        "UPDATE tuned SET config = CAST(x'7b22ff223a317d' AS TEXT) WHERE id = 1",
    };
    struct err err = { 0 };
    store_close(make_store());
    struct buf good = { 0 };
    assert_int_equal(file_read(in_dir("a.db"), 1 << 24, &good, NULL), 0);
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls + sizeof damaged / sizeof *damaged; i++) {
        size_t n = sizeof nulls / sizeof *nulls;
        put_file("bad.db", good.data, good.len);
        int64_t rows = ask_number("bad.db", "SELECT count(*) FROM tuned WHERE role = 'winner'");
        meddle("bad.db", i < n ? nulls[i] : damaged[i - n]);
        for (int csv = 0; csv < 2; csv++) {
            struct store *s = open_at("bad.db", STORE_READ);
            char *text = export_text(s, csv ? "csv" : "json", &err);
            assert_non_null(text);
            int lines = 0;
            for (const char *c = text; *c; c++)
                lines += *c == '\n';
            int left_out = store_left_out(s);
            assert_int_equal(lines + left_out, rows + (csv ? 1 : 2));
            assert_int_equal(left_out, i >= n);
            if (i < n && !csv)
                assert_non_null(strstr(text, "\"problem\":null"));
            free(text);
            store_close(s);
        }
    }
    buf_free(&good);
}

/* So short that nothing follows from it. */
static void writes_the_least_time(void **state)
{
    (void)state;
    struct err err = { 0 };
    store_close(make_store());
    meddle("a.db", "UPDATE tuned SET time_ns = 5e-324; UPDATE problem SET bytes = 1e30, flops = 1e30");
    struct store *s = open_at("a.db", STORE_READ);
    char *json = export_text(s, "json", &err), *csv = export_text(s, "csv", &err);
    assert_true(json && csv && strstr(json, "\"gb_per_s\":null") && !strstr(csv, "inf"));
    free(json);
    free(csv);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_folder(writes_json),           in_folder(writes_csv),           in_folder(writes_harmless_csv),
        in_folder(writes_nothing_well),   in_folder(says_what_went_wrong), in_folder(writes_the_others),
        in_folder(writes_the_least_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
