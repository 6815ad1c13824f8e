/* Messages: what goes to stderr. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

/* From now on whatever this process prints on stderr, a library's or a strategy's words among it, is made harmless line by line
 * (err_line). To be called before anything is printed. */
void messages_start(void);
/* The command that speaks: "cutune NAME", which is returned. */
char *messages_name(const char *command);

#endif
