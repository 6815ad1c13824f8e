/* --reference: a shared library or a command in place of the op's own reference, for one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "cli/cli.h"
#include "measure/outside.h"

enum { MAX_REFERENCE = 1 << 30 }; /* bytes of one of its files */

/* A file's contents, if the word is one's name. */
static int put_file(struct buf *out, const char *word, bool needed, struct err *err)
{
    struct stat st;
    struct buf text = { 0 };
    bool is_file = !stat(word, &st) && S_ISREG(st.st_mode);
    if (!is_file && needed)
        return err_set(err, ERR_USAGE, "--reference '%s': %s", word, access(word, F_OK) ? "there is no such file" : "it is no regular file");
    int rc = is_file ? file_read(word, MAX_REFERENCE, &text, err) : 0;
    if (is_file && !rc) {
        char hash[HASH_HEX];
        hash_hex(buf_text(&text), text.len, hash);
        buf_lstr(out, hash);
    }
    buf_free(&text);
    return rc;
}

/* The text, and the contents of all files that it names. */
static int digest(const char *reference, char out[HASH_HEX], struct err *err)
{
    struct buf all = { 0 };
    char words[MAX_OUTSIDE + 1], *rest = words;
    int rc = 0;
    buf_lstr(&all, reference);
    snprintf(words, sizeof words, "%s", reference);
    if (outside_is_library(reference))
        rc = put_file(&all, reference, true, err);
    else
        for (char *word; !rc && (word = strsep(&rest, " '\"=;&|<>()"));)
            rc = *word ? put_file(&all, word, false, err) : 0;
    return hash_buf(&all, rc, out, err);
}

int request_reference(struct request *r, struct err *err)
{
    const char *reference = r->args.reference;
    struct op *op = r->op;
    char hash[HASH_HEX];
    if (!reference)
        return 0;
    if (!*reference || strspn(reference, " ") == strlen(reference) || !text_ok(reference, MAX_OUTSIDE, false))
        return err_set(
            err, ERR_USAGE,
            "--reference: a shared library (./ref.so) or a command (\"python3 ref.py\") of at most %d bytes in one line is wanted",
            MAX_OUTSIDE);
    int rc = digest(reference, hash, err);
    if (rc)
        return rc;
    op->outside_beside = op_proves(op);
    op->outside = arena_strdup(op->arena, reference);
    op->outside_digest = arena_strdup(op->arena, hash);
    op->reference = (struct variant){ .template_name = op->outside };
    for (int i = 0; i < op->nargs; i++)
        if (op->args[i].kind == ARG_OUTPUT) /* what it should be is the other's to say */
            op->args[i].data.file = (struct data_file){ 0 };
    return op->outside && op->outside_digest ? 0 : err_nomem(err);
}
