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
    const char *set = getenv("CUTUNE_HOME");
    if (set && *set) {
        if (strlen(set) >= sizeof home || !is_home(set))
            return err_set(err, ERR_NOTFOUND,
                           "CUTUNE_HOME is '%s', but there is no tuner/lib/op.lua in it: unset it, or set it to cutune's folder",
                           set);
        memmove(home, set, strlen(set) + 1);
        *out = home;
        return 0;
    }
    char tree[PATH_MAX] = "", installed[PATH_MAX] = "";
    bool found = (beside_program(2, "", tree) && is_home(tree));
    if (!found && beside_program(1, "/share/cutune", installed))
        found = is_home(installed);
    if (!found)
        return err_set(err, ERR_NOTFOUND,
                       "cutune's files (tuner/lib/op.lua) are not in '%s'%s%s%s: set CUTUNE_HOME to their folder", installed,
                       *tree ? " nor in '" : "", tree, *tree ? "'" : "");
    snprintf(home, sizeof home, "%s", *installed ? installed : tree);
    *out = home;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The op's name where the file is an op script, else 0. */
static size_t script_stem(const char *file)
{
    size_t n = strlen(file);
    return n > 4 && file[0] != '.' && strcmp(file + n - 4, ".lua") == 0 ? n - 4 : 0;
}

int op_names(char ***out, int *n, struct err *err)
{
    const char *home;
    int rc = home_find(&home, err);
    if (rc)
        return rc;
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/tuner/ops", home);
    DIR *dir = opendir(path);
    if (!dir)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    char **names = NULL;
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        size_t stem = script_stem(entry->d_name);
        if (!stem)
            continue;
        char **grown = mem_resize(names, (size_t)count + 1, sizeof *names);
        if (grown)
            names = grown;
        if (!grown || !(names[count] = mem_strndup(entry->d_name, stem))) {
            rc = err_nomem(err);
            goto out;
        }
        count++;
    }
    if (count)
        qsort(names, (size_t)count, sizeof *names, by_name);
    *out = names;
    *n = count;
out:
    closedir(dir);
    if (rc) {
        while (count)
            mem_free(names[--count]);
        mem_free(names);
    }
    return rc;
}
