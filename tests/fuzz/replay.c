/* Runs a target on the files and folders in its arguments. So a corpus is a test, with any compiler. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/util.h"
#include "fuzz.h"

static int replay_file(const char *path)
{
    struct buf bytes = { 0 };
    struct err err = { 0 };
    if (file_read(path, (size_t)64 << 20, &bytes, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        return -1;
    }
    uint8_t *exact = malloc(bytes.len ? bytes.len : 1); /* reading past it shows under a sanitizer */
    must(exact);
    if (bytes.len)
        memcpy(exact, bytes.data, bytes.len);
    fprintf(stderr, "%s\n", path); /* the last one named is the one that failed */
    LLVMFuzzerTestOneInput(exact, bytes.len);
    free(exact);
    buf_free(&bytes);
    return 1;
}

/* How many files were run; -1 for one that cannot be read. */
static int replay(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return replay_file(path);
    struct dirent **entries;
    int n = scandir(path, &entries, NULL, alphasort), done = 0;
    if (n < 0) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char inner[PATH_MAX];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        int ran = entries[i]->d_name[0] == '.' || done < 0 ? 0 : replay(inner);
        done = ran < 0 ? -1 : done + ran;
        free(entries[i]);
    }
    free(entries);
    return done;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int ran = replay(argv[i]);
        if (ran < 0)
            return 1;
        total += ran;
    }
    printf("%d inputs\n", total);
    return total ? 0 : 1;
}
