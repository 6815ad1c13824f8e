/* What --help and the manual pages tell of the program beside its commands. */
#include "cli/cli.h"

#define SCRIPTS   "--op ops new-op simulate doctor"
#define CACHE     "run pin lookup"
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
    { "NO_COLOR", "If it is set and not empty, a terminal gets no colours", NULL },
    { "TMPDIR", "Where a reference from outside gets its files; /tmp without it", "--reference" },
    { "XDG_DATA_HOME", "In place of ~/.local/share", "--db" },
    { "XDG_CACHE_HOME", "In place of ~/.cache", CACHE },
    { 0 },
};

const struct told program_files[] = {
    { "~/.local/share/cutune/tuned.db", "The database: all that was measured, and the winners. A file of SQLite's", "--db" },
    { "~/.cache/cutune", "What was compiled, and answers of earlier processes. It may be removed at any time", CACHE },
    { "PREFIX/share/cutune", "Ops, templates, strategies, and the tables of default configurations, tables.db", SCRIPTS },
    { "/tmp/cutune-DEVICE-UUID.lock", "Held by whoever measures on a device", "run bench pin" },
    { 0 },
};
