/*
 * What a reading command prints to a terminal is kept, and shown by the user's pager if the terminal has not enough
 * lines for it: VIGIL_PAGER, else PAGER, else less; empty or "cat": none. Nothing changes where stdout is no terminal.
 */
#pragma once

#include <stdbool.h>

/* From now on stdout is kept, if there is a terminal with somebody at it. */
void pager_begin(void);
/* What is kept is written, and what follows is no longer kept: for output that goes on. */
void pager_leave(void);
/* What is kept is shown. False: it could not be written; errno is set. */
bool pager_end(void);
