/* The commands, and what they share of the way a command ends.
 *
 * Exit codes, the same for every command:
 *   0  done
 *   1  the command line was right but it could not be done: no such device here, a database that cannot be read, a script with an
 *      error in it, no configuration that is right, an interrupt; or not in full: damaged rows of a database were left out
 *   2  the command line was wrong: an unknown command, option, op, type, variant or strategy; a value that is malformed or out of
 *      range
 * Results go to stdout; messages and progress, a line each, to stderr. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

enum { DONE = 0, FAILED = 1, USAGE = 2 };

struct command {
    const char *name, *summary;        /* summary null: not shown in the help */
    int (*run)(int argc, char **argv); /* argv[0] is "cutune NAME"; returns an exit code */
};

int cmd_run(int argc, char **argv);
int cmd_lookup(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_space(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_header(int argc, char **argv);
int cmd_tables(int argc, char **argv);
int cmd_devices(int argc, char **argv);
int cmd_ops(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_worker(int argc, char **argv);

/* Prints "cutune NAME: ..." on stderr, as one line, and returns the exit code it was given. */
int complain(int exit_code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
