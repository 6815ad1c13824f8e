/* cutune: the command table. What an exit code means stands in cli.h. */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child/process.h"
#include "cli/cli.h"
#include "cli/messages.h"

static const struct command commands[] = {
    { "run", "tune an op on a device and store every measurement", cmd_run },
    { "lookup", "the fastest known configuration for a problem", cmd_lookup },
    { "list", "what is tuned so far", cmd_list },
    { "space", "an op's configurations: how many, and what removed the others", cmd_space },
    { "show", "the source, PTX or resources of one configuration", cmd_show },
    { "export", "the tuned results as JSON or CSV", cmd_export },
    { "header", "a C header with a typed call for each op", cmd_header },
    { "tables", "the database of default configurations that is installed", cmd_tables },
    { "devices", "the devices that are present", cmd_devices },
    { "ops", "the ops that are known", cmd_ops },
    { "doctor", "what is present, what is missing, and what would mend it", cmd_doctor },
    { "worker", NULL, cmd_worker },
};

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void usage(FILE *out)
{
    fputs("Usage: cutune COMMAND [OPTION...]\n"
          "Tunes compute kernels for the devices at hand and remembers what was fastest.\n\n",
          out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (commands[i].summary)
            fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    fputs("\nExamples:\n"
          "  cutune run --op NAME\n"
          "  cutune lookup --op NAME --shape m=4096,n=4096 --dtype f32\n"
          "  cutune help run\n\n"
          "Exit status: 0 done, 1 failed, 2 the command line was wrong.\n",
          out);
}

static int start(const struct command *c, int argc, char **argv)
{
    argv[0] = messages_name(c->name);
    return c->run(argc, argv);
}

static int help(const char *name)
{
    const struct command *c = name ? find(name) : NULL;
    if (name && !c)
        return complain(USAGE, "no help for '%s': there is no such command; `cutune help` lists them", name);
    if (c && c->summary)
        return start(c, 2, (char *[]){ NULL, "--help", NULL });
    usage(stdout);
    return DONE;
}

static int dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : NULL;
    if (!word) {
        usage(stderr);
        return USAGE;
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts(argp_program_version);
        return DONE;
    }
    if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "-h") == 0)
        return argc > 3 ? complain(USAGE, "unexpected '%s': help takes the name of one command", argv[3])
                        : help(argc > 2 ? argv[2] : NULL);
    const struct command *c = find(word);
    if (!c)
        return complain(USAGE, "unknown %s '%s': `cutune help` lists the commands", word[0] == '-' ? "option" : "command", word);
    return start(c, argc - 1, argv + 1);
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

static bool output_checked;

static bool output_failed(void)
{
    output_checked = true;
    return fflush(stdout) != 0 || ferror(stdout);
}

/* argp ends the process itself, with 0, after --help and --version. */
static void check_at_exit(void)
{
    if (!output_checked && output_failed()) {
        complain(FAILED, "could not write the output: %m");
        _exit(FAILED);
    }
}

int main(int argc, char **argv)
{
    keep_standard_files();
    process_begin();
    messages_start();
    atexit(check_at_exit);
    argp_program_version = "cutune " CUTUNE_VERSION;
    argp_err_exit_status = USAGE;
    setenv("ARGP_HELP_FMT", "rmargin=99", 0); /* so that no example is broken into lines; the user's own wish goes first */
    signal(SIGXFSZ, SIG_IGN);                 /* past `ulimit -f` a write then fails, and whoever wrote says so */
    int code = dispatch(argc, argv);
    return output_failed() && code == DONE ? complain(FAILED, "could not write the output: %m") : code;
}
