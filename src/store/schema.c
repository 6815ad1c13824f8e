/* Whether a file's schema is cutune's. A schema can hold code: generated columns, triggers, views, checks that call functions. Nothing
 * of a stranger's is run, so a file with any definition but ours is refused before anything else is asked of it. */
#include <string.h>

#include "schema_sql.h"
#include "store/sql.h"

enum { MAX_OBJECTS = 64 };

const char *const newest_schema = schema_sql;

/* The statements of a text that make something. Each ends with a semicolon of its own. */
struct ours {
    int n;
    const char *sql[MAX_OBJECTS];
    bool found[MAX_OBJECTS];
};

/* Behind blanks and comments. */
static const char *skip(const char *s)
{
    for (;;) {
        s += strspn(s, " \t\n\f\r");
        if (s[0] == '-' && s[1] == '-') {
            s += strcspn(s, "\n");
        } else if (s[0] == '/' && s[1] == '*') {
            const char *end = strstr(s + 2, "*/");
            s = end ? end + 2 : s + strlen(s);
        } else {
            return s;
        }
    }
}

static bool in_word(char c)
{
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* The same but for blanks and comments: those may differ between files of one version, by when they were made and migrated. */
static bool same_sql(const char *a, const char *b)
{
    char quote = 0, last = 0;
    for (;; a++, b++) {
        const char *from_a = a, *from_b = b;
        a = quote ? a : skip(a);
        b = quote ? b : skip(b);
        if (!quote && *a == ';' && !*b)
            return true;
        bool apart = (a == from_a) != (b == from_b) && in_word(last) && in_word(*a); /* one word here, two there */
        if (*a != *b || !*a || apart)
            return false;
        last = *a;
        if (quote)
            quote = *a == quote ? 0 : quote;
        else if (strchr("'\"`[", *a))
            quote = *a == '[' ? ']' : *a;
    }
}

static bool is_ours(struct ours *o, const char *sql, size_t n)
{
    for (int i = 0; i < o->n; i++) {
        bool to_the_byte = !strncmp(o->sql[i], sql, n) && o->sql[i][n] == ';';
        if (!o->found[i] && (to_the_byte || same_sql(o->sql[i], sql)))
            return o->found[i] = true;
    }
    return false;
}

static const char *text(sqlite3_stmt *stmt, int column)
{
    const char *s = (const char *)sqlite3_column_text(stmt, column);
    return s ? s : "";
}

int schema_check(struct store *s, const char *known, struct err *err)
{
    struct ours ours = { 0 };
    sqlite3_stmt *stmt = NULL;
    while (ours.n < MAX_OBJECTS && (known = strstr(known, "\nCREATE ")))
        ours.sql[ours.n++] = ++known;
    int rc = 0, code = sqlite3_prepare_v2(s->db, "SELECT type, name, sql FROM main.sqlite_master", -1, &stmt, NULL);
    while (!code && !rc && (code = sqlite3_step(stmt)) == SQLITE_ROW) {
        code = SQLITE_OK;
        const char *sql = text(stmt, 2);
        /* An index that SQLite made for a constraint of a table has no definition. */
        bool automatic = !strcmp(text(stmt, 0), "index") && sqlite3_column_type(stmt, 2) == SQLITE_NULL;
        if (!automatic && !is_ours(&ours, sql, strlen(sql)))
            rc = store_damaged(s, err, "its %.20s %.63s is not as cutune makes it, and may be a program: none of the file is used",
                               text(stmt, 0), text(stmt, 1));
    }
    if (!rc && (code & 0xff) == SQLITE_INTERRUPT) /* out of steps */
        rc = store_damaged(s, err, "it has more tables than cutune makes: none of the file is used");
    else if (!rc && code && code != SQLITE_DONE)
        rc = store_failed(s, code, err);
    for (int i = 0; !rc && i < ours.n; i++)
        if (!ours.found[i])
            rc = store_damaged(s, err, "it lacks the %.*s", (int)strcspn(ours.sql[i] + 7, "(\n"), ours.sql[i] + 7);
    sqlite3_finalize(stmt);
    return rc;
}
