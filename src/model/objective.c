#include "model/objective.h"

#include <string.h>

#include "model/pairs.h"

static const char *const words[] = { [BY_TIME] = "time", [BY_ENERGY] = "energy", [BY_EDP] = "edp" };

static int word_at(const char *name)
{
    return name_find(NAMED(words, BY_METRIC), name);
}

bool objective_word(const char *name)
{
    return word_at(name) >= 0;
}

int objective_find(const struct op *op, const char *name, struct objective *out, struct err *err)
{
    struct word_list known = { 0 };
    name = name ?: op->objective ?: words[BY_TIME];
    int word = word_at(name), metric = name_find(NAMED(op->metrics, op->nmetrics), name);
    *out = (struct objective){ word >= 0 ? (enum objective_by)word : BY_METRIC, metric >= 0 ? metric : 0 };
    if (word >= 0 || metric >= 0)
        return 0;
    for (int i = 0; i < BY_METRIC; i++)
        word_add(&known, words[i], "");
    for (int i = 0; i < op->nmetrics; i++)
        word_add(&known, op->metrics[i].name, "");
    return err_set(err, ERR_INVALID, "objective: %s has no '%.63s': it has %s", op->name, name, known.text);
}

const char *objective_name(const struct op *op, const struct objective *o)
{
    return o->by == BY_METRIC ? op->metrics[o->metric].name : words[o->by];
}

void objective_print(struct buf *out, const struct op *op, const struct objective *o)
{
    if (o->by == BY_METRIC)
        buf_fmt(out, "%s %s", op->metrics[o->metric].minimize ? "min" : "max", op->metrics[o->metric].value);
    else
        buf_str(out, words[o->by]);
}
