/* What --help and cutune(1) tell of the program beside its commands. */
#include "cli/cli.h"

const struct told program_options[] = {
    { "--help", "This list; also `cutune help`, and of a command `cutune help COMMAND`" },
    { "--version", "The version of cutune" },
    { 0 },
};

const struct told program_environment[] = {
    { "CUTUNE_DB", "The database, where --db names none" },
    { "CUTUNE_HOME", "The folder of ops, templates and strategies, in place of what was installed" },
    { "CUTUNE_TABLES", "The tables that look-ups fall back on, in place of what was installed" },
    { "CUTUNE_STRICT", "`log` or `error`: what look-ups do where a problem was not tuned for exactly" },
    { "CUDA_PATH, CUDA_HOME", "Where CUDA's toolkit is, with NVRTC; else in /usr/local/cuda" },
    { "NO_COLOR", "If it is set, a terminal gets no colours" },
    { "TMPDIR", "Where a reference from outside gets its files; /tmp without it" },
    { "XDG_DATA_HOME, XDG_CACHE_HOME", "In place of ~/.local/share and ~/.cache" },
    { 0 },
};

const struct told program_files[] = {
    { "~/.local/share/cutune/tuned.db", "The database: all that was measured, and the winners. A file of SQLite's" },
    { "~/.cache/cutune", "What was compiled, and answers of earlier processes. It may be removed at any time" },
    { "PREFIX/share/cutune", "Ops, templates, strategies, and the tables of default configurations, tables.db" },
    { "/tmp/cutune-DEVICE-UUID.lock", "Held by whoever measures on a device" },
    { 0 },
};
