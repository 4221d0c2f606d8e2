/*
 * What a reading command prints to a terminal is kept. Lines wider than the terminal are broken by words (JSON is not),
 * and it is shown by the user's pager if the terminal has not enough lines for it: VIGIL_PAGER, else PAGER, else less;
 * empty or "cat": none. JSON is not. Nothing changes where stdout is no terminal.
 */
#pragma once

#include <stdbool.h>

/* From now on stdout is kept, if there is a terminal. folds: lines may be broken. */
void pager_begin(bool folds);
/* What is kept is for a program: its lines stay whole. */
void pager_whole_lines(void);
/* What is kept is written, and what follows is no longer kept: for output that goes on. */
void pager_leave(void);
/* What is kept is shown. False: it could not be written; errno is set. */
bool pager_end(void);
