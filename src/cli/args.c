#include <string.h>

#include "cli/cli.h"

/* argp's parser takes one pointer. */
struct option_reader {
    const struct command *command;
    struct args *args;
    struct err *err;
};

static int add_word(const struct option_reader *r, int key, const char *word, struct words *words)
{
    const struct argp_option *option = r->command->options;
    while (option->key != key)
        option++;
    if (words->n && key < KEY_EACH)
        return err_set(r->err, ERR_USAGE, "--%s '%s': this command takes one --%s only", option->name, word, option->name);
    if (words->n == MAX_WORDS)
        return err_set(r->err, ERR_USAGE, "--%s '%s': at most %d of them in one command", option->name, word, MAX_WORDS);
    words->at[words->n++] = word;
    return 0;
}

static int add_file(const struct option_reader *r, const char *word)
{
    struct words *words = &r->args->words;
    if (words->n == MAX_WORDS)
        return err_set(r->err, ERR_USAGE, "'%s': at most %d of them in one command", word, MAX_WORDS);
    words->at[words->n++] = word;
    return 0;
}

static bool has_option(const struct command *c, const char *name)
{
    const struct argp_option *option = c->options;
    while (option->name && strcmp(option->name, name) != 0)
        option++;
    return option->name;
}

static int add_argument(const struct option_reader *r, const char *word)
{
    if (!r->command->word && !r->args->op && has_option(r->command, "op"))
        return err_set(r->err, ERR_USAGE, "unexpected '%s': an op is named by --op %s", word, word);
    if (!r->command->word)
        return err_set(r->err, ERR_USAGE, "unexpected '%s': every argument of this command is an option, see --help", word);
    if (r->command->words)
        return add_file(r, word);
    if (r->args->word)
        return err_set(r->err, ERR_USAGE, "unexpected '%s': this command takes one argument, %s", word, r->command->word);
    r->args->word = word;
    return 0;
}

/* argp passes on what is not 0 or ARGP_ERR_UNKNOWN. */
static error_t parse(int key, char *word, struct argp_state *state)
{
    const struct option_reader *r = state->input;
    void *member = (char *)r->args + (key & 0xffff);
    if (key >= KEY_ONCE && key < KEY_EACH + 0x10000)
        return add_word(r, key, word, member);
    if (key >= KEY_FLAG && key < KEY_ONCE)
        *(bool *)member = true;
    else if (key >= KEY_WORD && key < KEY_FLAG)
        *(const char **)member = word;
    else if (key == 'o')
        r->args->output = word;
    else if (key == 'h')
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    else if (key == ARGP_KEY_INIT)
        state->out_stream = help_stream();
    else if (key == ARGP_KEY_ARG)
        return add_argument(r, word);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static int read_words(const struct command *c, int argc, char **argv, unsigned flags, struct args *args, struct err *err)
{
    const struct argp argp = { .options = c->options, .parser = parse, .args_doc = c->word, .doc = c->doc };
    return argp_parse(&argp, argc, argv, flags, NULL, &(struct option_reader){ c, args, err });
}

void args_glance(const struct command *c, int argc, char **argv, struct args *args)
{
    (void)read_words(c, argc, argv, ARGP_SILENT, args, NULL);
}

int args_read(const struct command *c, int argc, char **argv, struct args *args, struct err *err)
{
    int rc = read_words(c, argc, argv, 0, args, err);
    if (rc)
        return rc < 0 ? rc : err_nomem(err);
    const char *empty = args->db && !*args->db ? "db" : args->output && !*args->output ? "output"
                        : args->trace && !*args->trace                     ? "trace"
                                                                           : NULL;
    return empty ? err_set(err, ERR_USAGE, "--%s '': the name of a file is wanted", empty) : 0;
}
