/* Numbers with their units, as people read them. */
#ifndef EXPORT_UNITS_H
#define EXPORT_UNITS_H

/* "4.92 ms", three digits that matter. A text is overwritten by the fourth call after. */
const char *text_time(double ns);
const char *text_bytes(double bytes); /* "7.8 GiB" */
/* "42.9 GB/s"; if the bytes are not known "1234 GFLOP/s"; "" if neither is. */
const char *text_speed(double gb_per_s, double gflop_per_s);

#endif
