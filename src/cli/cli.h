/* The commands, and what they share of the way a command ends.
 *
 * Exit codes, the same for every command:
 *   0  done
 *   1  the command line was right but it could not be done: no such device here, a database that cannot be read, a script with an
 *      error in it, no configuration that is right, an interrupt; or it was not done in full: damaged rows of a database were left out
 *   2  the command line was wrong: an unknown command, option, op, type, variant or strategy; a value that is malformed or out of
 *      range
 * Results go to stdout; messages and progress, a line each, to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"
#include "cli/args.h"

enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* The command line was wrong: one more code beside those of base/err.h. */
enum { ERR_USAGE = -100 };

/* Functions of this folder that can fail return 0; or a negative code with a line in err, which main prints; or FAILED, if they have
 * printed already what was wrong. */
struct command {
    const char *name, *summary; /* summary null: not shown in the help */
    const struct argp_option *options;
    const char *doc;
    const char *word; /* what the argument that is no option is, in the help; null: there is none */
    bool needs_op;    /* --op must be there, or --wanted */
    int (*run)(const struct args *args, struct err *err);
};
extern const struct command run_command, lookup_command, list_command, space_command, show_command, export_command, header_command,
    tables_command, devices_command, ops_command, doctor_command, worker_command;

/* Reads a command's options; argv[0] is "cutune NAME". After --help, and if argp finds an error, the process ends here. */
int args_read(const struct command *c, int argc, char **argv, struct args *args, struct err *err);

/* Prints "cutune NAME: ..." on stderr, as one line. Returns FAILED. */
int complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
