/* Op scripts: run in the sandbox, in a child process, and read into the model. */
#ifndef OP_LOAD_H
#define OP_LOAD_H

#include <limits.h>

#include "model/op.h"

/* Where op scripts, templates and strategies are found: $CUTUNE_HOME; else the tree that the executable runs from (build/X/cutune:
 * two folders up); else the installed share/cutune beside its bin. An error says what was tried. The text lasts as long as the
 * process. */
int home_find(const char **out, struct err *err);
/* The path of a script: HOME/tuner/FOLDER/NAME.lua, or the word itself if it has a slash or ends in .lua. Its length: PATH_MAX or more if
 * it is cut, -1 if the word is neither a name nor a file. */
int script_find(const char *home, const char *folder, const char *word, char path[PATH_MAX]);

/* An op by name ("transpose") or by file. Its templates are looked for beside it, then in HOME/templates. The script runs in a forked child
 * with CPU, memory and time limits: whatever it does, this returns within 5 s. Messages begin with the file, and the line or field if
 * there is one. */
int op_load(const char *word, struct op **out, struct err *err);
/* The same with folders of the user's for #include <...>, at most MAX_INCLUDE_DIRS. All that is in them is read, for a hash. */
int op_load_with(const char *word, const char *const *dirs, int ndirs, struct op **out, struct err *err);

/* Names of the scripts in a folder of HOME/tuner, "ops" or "search", sorted; mem_free frees the array with its names. */
int script_names(const char *folder, char ***out, int *n, struct err *err);

#endif
