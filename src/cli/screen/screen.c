#include "cli/screen/screen.h"

#include <locale.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/foreign_path.h"

#define KEY_ESCAPE 27
#define KEY_CTRL_C 3
#define KEY_DELETE 127

static SCREEN *screen;

int screen_open(struct fault *f)
{
	const char *term = getenv("TERM");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fault_set(f, -ENOTTY, "no terminal to draw on; --once prints the table and ends");
	if (term && strcmp(term, "dumb") == 0)
		return fault_set(f, -ENOTTY, "a terminal that is 'dumb' (TERM) cannot be drawn on; --once prints the "
					     "table and ends");
	foreign_environ_clean(); /* a language may be a library */
	(void)setlocale(LC_CTYPE, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return fault_set(f, -ENOTTY,
				 "the terminal '%s' (TERM) is not known here; --once prints the table and ends",
				 term ? term : "");
	(void)raw();
	(void)noecho();
	(void)keypad(stdscr, TRUE);
	(void)set_escdelay(50);
	(void)curs_set(0);
	if (!getenv("NO_COLOR") && has_colors()) {
		(void)start_color();
		(void)use_default_colors();
		(void)init_pair(1, COLOR_RED, -1);
	}
	return 0;
}

void screen_close(void)
{
	if (!screen)
		return;
	(void)endwin();
	delscreen(screen);
	screen = NULL;
}

size_t screen_width(void)
{
	return (size_t)MAX(getmaxx(stdscr), 1);
}

size_t screen_height(void)
{
	return (size_t)MAX(getmaxy(stdscr), 1);
}

void screen_clear(void)
{
	(void)erase();
}

void screen_line(size_t y, enum screen_look look, const char *text)
{
	attr_t how = look == SCREEN_BOLD     ? A_BOLD
		     : look == SCREEN_MARKED ? A_REVERSE
		     : look == SCREEN_ALARM  ? A_BOLD | (has_colors() ? COLOR_PAIR(1) : A_NORMAL)
					     : A_NORMAL;
	if (y >= screen_height())
		return;
	(void)attrset((int)how);
	(void)mvaddnstr((int)y, 0, text, -1);
	if (look == SCREEN_MARKED)
		(void)chgat(-1, how, 0, NULL);
	(void)attrset(A_NORMAL);
}

void screen_show(void)
{
	(void)refresh();
}

int screen_key(int timeout_ms)
{
	timeout(timeout_ms);
	errno = 0;
	int c = getch();
	switch (c) {
	case ERR:
		return errno != 0 && errno != EINTR && errno != EAGAIN ? SCREEN_CLOSED : SCREEN_NONE;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_END:
		return SCREEN_END;
	case KEY_BACKSPACE:
	case KEY_DELETE:
	case '\b':
		return SCREEN_ERASE;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return SCREEN_ENTER;
	case KEY_ESCAPE:
		return SCREEN_ESCAPE;
	case KEY_F(10):
	case KEY_CTRL_C:
		return SCREEN_QUIT;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	default:
		return c >= KEY_F(1) && c <= KEY_F(12) ? SCREEN_FUNCTION + (c - KEY_F(0)) : c;
	}
}
