/* Launching on the pretend device. */
#include "guest_app.h"

static const char null_image[] = "cutuneN\nadd twice collect turn";
static const char refusing_image[] = "cutuneN\n//null: launch-error\nadd";

static int open_null(void **state)
{
    static struct app app;
    struct app *a = &app;
    *state = a;
    a->backend = backend_find("null");
    OK(guest_open(a->backend, NULL, &a->spec, &a->guest, &err));
    a->format = "null";
    buf_put(&a->image, null_image, sizeof null_image - 1);
    OK(guest_load(a->guest, a->image.data, a->image.len, a->format, &a->code, &err));
    return 0;
}

static int close_null(void **state)
{
    struct app *a = *state;
    guest_close(a->guest);
    buf_free(&a->image);
    return 0;
}

static void pretend_devices_are_two(void **state)
{
    struct app *a = *state;
    struct devspec spec, listed;
    struct guest *g = NULL;
    int one = 1, two = 2;
    assert_null(backend_find("nothing"));
    assert_ptr_equal(backend_find("null"), &null_backend);
    assert_int_equal(a->spec.index, 0);
    OK(guest_open(a->backend, &one, &spec, &g, &err));
    OK(device_find("null:1", &listed, &err));
    assert_memory_equal(&spec, &listed, sizeof spec);
    guest_forget(g); /* frees as much as close */
    guest_forget(NULL);
    guest_close(NULL);
    FAILS(ERR_NOTFOUND, "null:2", guest_open(a->backend, &two, &spec, &g, &err));
}

static void the_pretend_device_checks(void **state)
{
    struct app *a = *state;
    const struct backend *b = a->backend;
    struct guest_code *code = NULL;
    struct job j;
    int room[2];
    void *buffers[] = { &room[0], &room[1] }, *none[] = { &room[0], NULL };
    FAILS(ERR_INVALID, "'cubin'", guest_load(a->guest, null_image, sizeof null_image - 1, "cubin", &code, &err));
    FAILS(ERR_INVALID, "4 bytes", guest_load(a->guest, null_image, 4, "null", &code, &err));
    FAILS(ERR_NOTFOUND, "'absent'", get_function(a->guest, a->code, "absent", 0, NULL, 0));
    FAILS(ERR_UNSUPPORTED, "shared", get_function(a->guest, a->code, "add", a->spec.max_shared + 1, NULL, 0));
    make_sum(a, &j);
    uint64_t before = null_launches();
    OK(b->launch(a->guest, NULL, &j.work, buffers, NULL, &err));
    assert_int_equal(null_launches() - before, 2);

    before = null_launches();
    FAILS(ERR_INVALID, "buffer 1 is null", b->launch(a->guest, NULL, &j.work, none, NULL, &err));
#define WRONG(code, words, place, value)                                                                                           \
    do {                                                                                                                           \
        make_sum(a, &j);                                                                                                           \
        j.place = value;                                                                                                           \
        FAILS(code, words, b->launch(a->guest, NULL, &j.work, buffers, NULL, &err));                                               \
    } while (0)
    WRONG(ERR_INVALID, "buffer 2 of 2", params[0][2].index, 2);
    WRONG(ERR_INVALID, "scalar", params[0][3].bytes, 17);
    WRONG(ERR_INVALID, "multiple", params[0][1].offset, 4);
    WRONG(ERR_INVALID, "buffer has", params[0][1].room, GUEST_ALIGN + 1);
    WRONG(ERR_INVALID, "a clear", clears[0].bytes, GUEST_ALIGN + 1);
    WRONG(ERR_INVALID, "buffer -1", clears[1].index, -1);
    WRONG(ERR_INVALID, "takes 4", launches[0].nparams, 3);
    WRONG(ERR_INVALID, "dynamic", launches[0].geometry.shared, 1);
    WRONG(ERR_UNSUPPORTED, "block", launches[0].geometry.block[0], 1025);
    WRONG(ERR_UNSUPPORTED, "grid", launches[0].geometry.grid[1], 0);
    assert_int_equal(null_launches(), before);
    WRONG(ERR_UNSUPPORTED, "block", launches[1].geometry.block[0], 1025); /* the first has run */
    assert_int_equal(null_launches(), before + 1);

    OK(guest_load(a->guest, refusing_image, sizeof refusing_image - 1, "null", &code, &err));
    struct app refusing = { .backend = b, .guest = a->guest, .code = code };
    make_add(&refusing, 1, 1, 0, &j);
    FAILS(ERR_UNSUPPORTED, "asks for it", b->launch(a->guest, NULL, &j.work, buffers, NULL, &err));
    guest_unload(a->guest, code);
    guest_unload(a->guest, NULL);
}

static void *load_and_launch(void *arg)
{
    struct thread *t = arg;
    struct app own = *t->a;
    int room[2];
    void *buffers[] = { &room[0], &room[1] };
    for (int i = 0; i < 200; i++) {
        struct job j;
        t->failed += guest_load(own.guest, null_image, sizeof null_image - 1, "null", &own.code, NULL) != 0;
        make_sum(&own, &j);
        t->failed += own.backend->launch(own.guest, NULL, &j.work, buffers, NULL, NULL) != 0;
        t->failed += own.backend->launch(own.guest, NULL, &t->job->work, buffers, NULL, NULL) != 0;
        make_sum(t->a, &j);
        guest_unload(own.guest, own.code);
    }
    return NULL;
}

static void sixteen_threads_pretend(void **state)
{
    struct thread threads[16];
    struct job j;
    make_sum(*state, &j);
    uint64_t before = null_launches();
    for (int i = 0; i < 16; i++) {
        threads[i] = (struct thread){ .a = *state, .job = &j, .number = i };
        pthread_create(&threads[i].id, NULL, load_and_launch, &threads[i]);
    }
    for (int i = 0; i < 16; i++) {
        pthread_join(threads[i].id, NULL);
        assert_int_equal(threads[i].failed, 0);
    }
    assert_int_equal(null_launches() - before, 16 * 200 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pretend_devices_are_two),
        cmocka_unit_test(the_pretend_device_checks),
        cmocka_unit_test(sixteen_threads_pretend),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, open_null, close_null);
}
