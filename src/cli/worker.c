/* `cutune worker KIND`: a process that the tuner starts for itself. Not for people, so not in the help. */
#include "cli/cli.h"
#include "worker/child.h"

static int work(const struct args *args, struct err *err)
{
    if (!args->word)
        return err_set(err, ERR_USAGE, "one argument is wanted, the kind of worker; `cutune run` starts these itself");
    return worker_main(args->word);
}

static const struct argp_option options[] = { { OPT_HELP }, { 0 } };

const struct command worker_command = { .name = "worker", .options = options, .word = "KIND", .run = work };
