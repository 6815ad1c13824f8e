/* Lines for people, on either stream, with nothing in them that could harm a terminal: names of devices, ops and files are strangers'. */
#ifndef CLI_MESSAGES_H
#define CLI_MESSAGES_H

/* A line on the standard output. */
void text_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* From now on whatever this process prints on stderr, also a library's words or a strategy's, is made harmless line by line (err_line).
 * To be called before anything is printed. */
void messages_start(void);
/* The command that complains from now on: "cutune NAME", which is returned. */
char *messages_name(const char *command);

#endif
