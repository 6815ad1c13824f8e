/* `cutune worker KIND`: a process that the tuner starts for itself. Not for people, so not in the help. */
#include "cli/cli.h"
#include "worker/child.h"

int cmd_worker(int argc, char **argv)
{
    if (argc != 2)
        return complain(USAGE, "one argument is wanted, the kind of worker; `cutune run` starts these itself");
    return worker_main(argv[1]);
}
