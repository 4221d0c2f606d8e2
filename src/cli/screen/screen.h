/*
 * A full-screen terminal: lines, and keys with a deadline. The only user of ncurses. One a process; ncurses gives the
 * terminal back when SIGINT or SIGTERM ends the program. Source: ncurses(3X).
 */
#pragma once

#include "base/base.h"
#include "base/fault.h"

/* Keys that are no characters; characters are their codes. */
enum screen_key {
	SCREEN_NONE = -1, /* the time is over */
	SCREEN_UP = 0x10000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_ERASE,
	SCREEN_ENTER,
	SCREEN_ESCAPE,
	SCREEN_QUIT, /* F10, Ctrl-C */
	SCREEN_RESIZED,
	SCREEN_CLOSED, /* the terminal is gone */
	SCREEN_FUNCTION = 0x20000, /* and so many more: F1 to F9, F11, F12 */
};

enum screen_look { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_MARKED, SCREEN_ALARM };

/* -ENOTTY: stdin or stdout is no terminal, or TERM is not known, or "dumb". */
int must_check screen_open(struct fault *f);
void screen_close(void);
size_t screen_width(void);
size_t screen_height(void);
/* Replaces a line; what is too long is cut. Lines that were not written since screen_clear are empty. */
void screen_clear(void);
void screen_line(size_t y, enum screen_look look, const char *text);
void screen_show(void);
/* Waits for a key, at most so many ms. */
int screen_key(int timeout_ms);
