/* What unit tests have in common: cmocka, with what it wants included before it; and a folder of the test's own with files in it. */
#ifndef UNIT_UNIT_H
#define UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

/* A call that returns an error code; for tests with a `struct err err` that it fills. */
#define OK(...)                                                                                                                    \
    do {                                                                                                                           \
        err = (struct err){ 0 };                                                                                                   \
        int rc_ = (__VA_ARGS__);                                                                                                   \
        if (rc_)                                                                                                                   \
            fail_msg("%s: %d %s", #__VA_ARGS__, rc_, err.msg);                                                                     \
    } while (0)

enum { PATH_ROOM = 256 };
static char sample_dir[64];

/* The path of a file in the folder: good until the fourth one after it. */
static inline const char *in_dir(const char *name)
{
    static char path[4][PATH_ROOM];
    static unsigned turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", sample_dir, name);
    return path[turn];
}

static inline int make_dir(void **state)
{
    (void)state;
    strcpy(sample_dir, "/tmp/cutune-test-XXXXXX");
    return mkdtemp(sample_dir) ? 0 : -1;
}

static inline int remove_dir(void **state)
{
    (void)state;
    char command[192];
    snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", sample_dir, sample_dir);
    return system(command);
}

#define in_folder(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

static inline void make_folder(const char *name)
{
    const char *path = in_dir(name);
    assert_true(mkdir(path, 0700) == 0 || access(path, X_OK) == 0);
}

static inline void put_file(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(in_dir(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void write_file(const char *name, const char *text)
{
    put_file(name, text, strlen(text));
}

#endif
