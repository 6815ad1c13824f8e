/* What --help and the manual pages tell of the program beside its commands. */
#include "cli/cli.h"

#define SCRIPTS   "run bench lookup space show header tables ops new-op simulate import doctor pin cover"
#define COMPILERS "run bench show tables devices doctor pin"

const struct told program_options[] = {
    { "--help", "This list; also `cutune help`, and of a command `cutune help COMMAND`", NULL },
    { "--version", "The version of cutune", NULL },
    { 0 },
};

const struct told program_environment[] = {
    { "CUTUNE_DB", "The database, where --db names none", "--db" },
    { "CUTUNE_HOME", "The folder of ops, templates and strategies, in place of what was installed", SCRIPTS },
    { "CUTUNE_TABLES", "The tables that look-ups fall back on, in place of what was installed", "run lookup" },
    { "CUTUNE_STRICT", "`log` or `error`: what look-ups do where a problem was not tuned for exactly", "lookup" },
    { "CUDA_PATH, CUDA_HOME", "Where CUDA's toolkit is, with NVRTC; else in /usr/local/cuda", COMPILERS },
    { "NO_COLOR", "If it is set, a terminal gets no colours", NULL },
    { "TMPDIR", "Where a reference from outside gets its files; /tmp without it", "--reference" },
    { "XDG_DATA_HOME, XDG_CACHE_HOME", "In place of ~/.local/share and ~/.cache", "--db" },
    { 0 },
};

const struct told program_files[] = {
    { "~/.local/share/cutune/tuned.db", "The database: all that was measured, and the winners. A file of SQLite's", "--db" },
    { "~/.cache/cutune", "What was compiled, and answers of earlier processes. It may be removed at any time", "run lookup" },
    { "PREFIX/share/cutune", "Ops, templates, strategies, and the tables of default configurations, tables.db", SCRIPTS },
    { "/tmp/cutune-DEVICE-UUID.lock", "Held by whoever measures on a device", "run bench pin" },
    { 0 },
};
