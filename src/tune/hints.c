/* The warm start: after the op's default a run tries what portfolio.c chooses from what was measured of other problems, then the other
 * defaults. Here these are suggestions only, proved like any other; so stale and unverified winners are among them.
 *
 * A run that goes on where another one stopped has to begin as that one did. So what was measured later than the first configuration of
 * this problem is left out. */
#include <stdio.h>

#include "base/mem.h"
#include "tune/portfolio.h"
#include "tune/run.h"

enum { ENOUGH = 1, MOST_HINTS = 9 /* with the op's default the first ten that are tried */ };

/* ENOUGH: no more are wanted. One that there is none of, or that is there already, is passed over. */
static int enlist(struct run *r, int64_t index)
{
    for (int i = 0; i < r->njobs; i++)
        if (r->jobs[i]->index == index)
            index = -1;
    if (index >= 0 && r->accepted < r->limit) {
        struct job *job = run_enlist(r, index);
        if (job)
            job->hinted = true;
    }
    int hints = r->njobs - (r->deflt ? 1 : 0);
    return r->failed || hints >= MOST_HINTS || r->accepted >= r->limit ? ENOUGH : 0;
}

static int take_default(void *arg, struct tuned *t)
{
    struct run *r = arg;
    struct config c;
    int rc = config_parse(r->op, t->variant, t->config, &c, NULL) ? 0 : enlist(r, space_find(r->space, &c));
    tuned_free(t);
    return rc;
}

static int from_portfolio(struct run *r, const struct source_of_hints *from, int nfrom, struct err *err)
{
    const struct newcomer c = { .op = r->op, .row = r->task.row, .problem = &r->task.problem, .dev = r->dev, .space = r->space };
    int64_t chosen[1 + MOST_HINTS]; /* the op's default may be among them */
    int n, rc = portfolio_choose(&c, from, nfrom, chosen, 1 + MOST_HINTS, &n, err);
    for (int i = 0; !rc && i < n; i++)
        rc = enlist(r, chosen[i]);
    return rc;
}

/* The script's other defaults stand between what is tuned and the tables' defaults. */
static int from_defaults(struct run *r, struct store *tables, struct err *err)
{
    struct buf types = { 0 };
    op_row_print(&types, r->op, r->task.row);
    int rc = buf_check(&types, err);
    for (int i = 0; !rc && i < r->op->ndefaults; i++)
        rc = enlist(r, space_find(r->space, &r->op->defaults[i].config));
    if (!rc && tables)
        rc = store_each_default(tables, r->dev->backend, r->op->name, buf_text(&types), 0, take_default, r, err);
    buf_free(&types);
    return rc;
}

static int know_tables(struct run *r, struct source_of_hints *from, struct knowledge **known, struct err *err)
{
    char *path = NULL;
    int rc = tables_find(NULL, &path, err) ?: path ? store_open(path, STORE_TABLES, &from->store, err) : 0;
    mem_free(path);
    return rc || !from->store ? rc : knowledge_load(from->store, r->op, NULL, known, err);
}

/* The file of the run, and the shipped tables if there are any. What cannot be read of one is no reason to do without the other. */
static int from_files(struct run *r, struct err *err)
{
    struct winner_choice others = { WINNERS_ANY, .device = r->target.device, .problem = r->target.problem, .before = INT64_MAX };
    struct source_of_hints own = { .store = r->store }, tables = { .before = INT64_MAX };
    struct knowledge *known = NULL, *shipped = NULL;
    int rc = r->opt->retune ? 0 : store_first_measured(r->store, &r->target, &others.before, err);
    rc = rc ?: knowledge_load(r->store, r->op, &others, &known, err);
    rc = rc ?: know_tables(r, &tables, &shipped, err);
    own.known = known;
    own.before = others.before;
    tables.known = shipped;
    int done = from_portfolio(r, (const struct source_of_hints[]){ own, tables }, 2, err);
    struct err second = { 0 };
    int last = done == ENOUGH ? 0 : from_defaults(r, tables.store, &second);
    if (!done && last < 0)
        *err = second;
    done = done ?: last;
    knowledge_free(known);
    knowledge_free(shipped);
    store_close(tables.store);
    return rc < 0 ? rc : done;
}

void hints_enlist(struct run *r)
{
    struct err err = { 0 };
    char line[sizeof err.msg + 64];
    int damaged = store_left_out(r->store); /* before */
    int rc = from_files(r, &err);
    store_left_out(r->store); /* what is damaged here is one suggestion less */
    store_leave_out(r->store, damaged);
    snprintf(line, sizeof line, "begun without what look-ups would give: %s", err.msg);
    if (rc < 0 && r->opt->note)
        r->opt->note(r->opt->arg, line);
}

void hints_only(struct run *r)
{
    for (int i = 0; i < r->opt->nonly; i++) {
        int64_t index = space_find(r->space, &r->opt->only[i]);
        if (index >= 0 && !(r->deflt && r->deflt->index == index))
            run_enlist(r, index);
    }
    if (r->opt->only)
        r->limit = r->accepted;
}
