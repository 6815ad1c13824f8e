/* cutune: the command table. What an exit code means stands in cli.h. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/process.h"
#include "cli/cli.h"
#include "measure/outside.h"
#include "worker/child.h"

const struct command *const commands[] = {
    &run_command,      &bench_command,  &lookup_command, &list_command,    &space_command, &show_command,
    &report_command, &export_command,   &header_command, &tables_command, &devices_command, &ops_command,   &new_op_command,
    &simulate_command, &import_command, &doctor_command, &pin_command,     &cover_command, NULL,
};

const struct command *command_find(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static void put_told(FILE *out, const char *title, const struct told *t)
{
    fprintf(out, "\n%s:\n", title);
    for (; t->name; t++)
        fprintf(out, "  %-31s %s\n", t->name, t->text);
}

static void usage(FILE *out)
{
    fputs("Usage: cutune COMMAND [OPTION...]\n" PROGRAM_DOC "\n\n", out);
    for (const struct command *const *c = commands; *c; c++)
        fprintf(out, "  %-9s %s\n", (*c)->name, (*c)->summary);
    put_told(out, "Options", program_options);
    put_told(out, "Environment", program_environment);
    put_told(out, "Files", program_files);
    fputs("\n" PROGRAM_EXAMPLES "\n\nExit status: " EXIT_STATUS "\n", out);
}

/* Tells what was wrong, unless that was told; returns an exit code. */
static int tell(int rc, const struct err *err)
{
    if (rc < 0)
        complain("%s", err->msg);
    return rc == ERR_USAGE ? USAGE : rc < 0 ? FAILED : rc;
}

static int start(const struct command *c, int argc, char **argv)
{
    struct request r = { .words = argv + 1 };
    struct err err = { 0 };
    argv[0] = messages_name(c->name);
    int rc = args_read(c, argc, argv, &r.args, &err) ?: c->run(&r, &err);
    request_free(&r);
    return tell(rc, &err);
}

static int usage_error(const char *fmt, const char *word)
{
    struct err err = { 0 };
    return tell(err_set(&err, ERR_USAGE, fmt, word), &err);
}

static int help(const char *name)
{
    if (!name || !strcmp(name, "help")) {
        usage(stdout);
        return DONE;
    }
    const struct command *c = command_find(name);
    return c ? start(c, 2, (char *[]){ NULL, "--help", NULL })
             : usage_error("no help for '%s': there is no such command; `cutune help` lists them", name);
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    const struct command *c = word ? command_find(word) : NULL;
    if (c)
        return start(c, argc - 1, argv + 1);
    if (!word) {
        usage(stderr);
        return USAGE;
    }
    if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
        puts(argp_program_version);
        return DONE;
    }
    if (!strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-?") || !strcmp(word, "-h"))
        return argc > 3 ? usage_error("unexpected '%s': help takes the name of one command", argv[3]) : help(argv[2]);
    if (!strcmp(word, "complete") || !strcmp(word, "manual")) { /* neither are these: a shell's, and the build's */
        if (argc != 3)
            return usage_error("%s: one argument is wanted", word);
        return *word == 'c' ? complete_line(argv[2]) : manual_write(argv[2]);
    }
    if (!strcmp(word, "worker")) { /* a process that the tuner starts for itself: not for people, so not in the help */
        messages_name(word);
        if (argc == 5 && !strcmp(argv[2], "reference"))
            return outside_library(argv[3], argv[4]);
        return argc == 3 ? worker_main(argv[2])
                         : usage_error("%s is wanted, the kind of worker; `cutune run` starts these itself", "one argument");
    }
    return usage_error(*word == '-' ? "unknown option '%s': `cutune help` lists the commands"
                                    : "unknown command '%s': `cutune help` lists the commands",
                       word);
}

/* A standard file that is closed would become the next one that is opened, and what is printed would be written into that. What takes
 * its place refuses to be read and written, as it would have. */
static void keep_standard_files(void)
{
    int fd;
    do
        fd = open("/", O_PATH);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

/* Also if argp ends the process itself, with 0, after --help and --version. */
static void check_output(int code, void *nothing)
{
    (void)nothing;
    bool printed = help_print();
    if ((fflush(stdout) || ferror(stdout) || !printed) && code == DONE) {
        complain("could not write the output: %m");
        _exit(FAILED);
    }
}

int main(int argc, char **argv)
{
    keep_standard_files();
    process_begin();
    messages_start();
    on_exit(check_output, NULL);
    argp_program_version = "cutune " CUTUNE_VERSION;
    argp_err_exit_status = USAGE;
    signal(SIGXFSZ, SIG_IGN); /* past `ulimit -f` a write then fails, and whoever wrote says so */
    return dispatch(argc, argv);
}
