/* Where op scripts and templates are found, and which ops there are. */
#include "op/load.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

static bool is_home(const char *folder)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s/tuner/lib/op.lua", folder);
    return n > 0 && n < (int)sizeof path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The folder `up` levels above the executable, with `below` behind it. */
static bool beside_program(int up, const char *below, char out[PATH_MAX])
{
    char path[PATH_MAX];
    if (!program_path(path, sizeof path))
        return false;
    for (int i = 0; i <= up; i++) { /* the first takes the program's own name off */
        char *slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    int len = snprintf(out, PATH_MAX, "%s%s", path, below);
    return len > 0 && len < PATH_MAX;
}

int home_find(const char **out, struct err *err)
{
    static char home[PATH_MAX]; /* the process's own; found again at each call, as the environment may change */
    char tree[PATH_MAX] = "", installed[PATH_MAX] = "";
    const char *set = getenv("CUTUNE_HOME"), *found = NULL;
    if (set && *set) {
        if (strlen(set) >= sizeof home || !is_home(set))
            return err_set(err, ERR_NOTFOUND,
                           "CUTUNE_HOME is '%s', but there is no tuner/lib/op.lua in it: unset it, or set it to cutune's folder",
                           set);
        found = set;
    } else if (beside_program(2, "", tree) && is_home(tree)) {
        found = tree;
    } else if (beside_program(1, "/share/cutune", installed) && is_home(installed)) {
        found = installed;
    }
    if (!found)
        return err_set(err, ERR_NOTFOUND,
                       "cutune's files (tuner/lib/op.lua) are not in '%s'%s%s%s: set CUTUNE_HOME to their folder", installed,
                       *tree ? " nor in '" : "", tree, *tree ? "'" : "");
    memmove(home, found, strlen(found) + 1); /* it may be there already: somebody set the variable to it */
    *out = home;
    return 0;
}

/* The length of the op's name in a file's; 0 if it is no op script. */
static size_t script_stem(const char *file)
{
    size_t n = strlen(file);
    return n > 4 && file[0] != '.' && strcmp(file + n - 4, ".lua") == 0 ? n - 4 : 0;
}

static int is_script(const struct dirent *entry)
{
    return script_stem(entry->d_name) > 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    size_t n = script_stem((*a)->d_name), m = script_stem((*b)->d_name);
    int order = memcmp((*a)->d_name, (*b)->d_name, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

int script_names(const char *folder, char ***out, int *n, struct err *err)
{
    char path[PATH_MAX + 16];
    const char *home;
    struct dirent **found;
    int rc = home_find(&home, err);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s/tuner/%s", home, folder);
    *n = scandir(path, &found, is_script, by_name);
    if (*n < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    size_t bytes = ((size_t)*n + 1) * sizeof **out;
    for (int i = 0; i < *n; i++)
        bytes += strlen(found[i]->d_name);
    char **names = mem_alloc(bytes), *text = names ? (char *)(names + *n + 1) : NULL;
    for (int i = 0; i < *n; i++) {
        size_t stem = script_stem(found[i]->d_name);
        if (names) {
            names[i] = memcpy(text, found[i]->d_name, stem);
            text[stem] = 0; /* there is room: ".lua" was counted, too */
            text += stem + 1;
        }
        free(found[i]);
    }
    free(found);
    *out = names;
    return names ? 0 : err_nomem(err);
}
