#include "cli/jobs/topkeys.h"

#include <string.h>

#include "base/buf.h"
#include "cli/screen/screen.h"

int topkeys_meaning(int key)
{
	static const struct {
		int key, letter;
	} same[] = {
		{'?', 'h'},  {SCREEN_FUNCTION + 1, 'h'}, {SCREEN_FUNCTION + 3, '/'}, {SCREEN_FUNCTION + 4, '/'},
		{'\\', '/'}, {SCREEN_FUNCTION + 5, 't'}, {SCREEN_FUNCTION + 6, 's'}, {SCREEN_FUNCTION + 9, 'k'},
		{'>', 's'},
	};
	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		if (same[i].key == key)
			return same[i].letter;
	return key;
}

const char *topkeys_absent(int key)
{
	static const struct {
		int key;
		const char *why;
	} absent[] = {
		{SCREEN_FUNCTION + 2, "nothing to set up: columns go by the terminal's width"},
		{'S', "nothing to set up: columns go by the terminal's width"},
		{'C', "nothing to set up: columns go by the terminal's width"},
		{SCREEN_FUNCTION + 7, "no priorities here: renice(1)"},
		{SCREEN_FUNCTION + 8, "no priorities here: renice(1)"},
		{']', "no priorities here: renice(1)"},
		{'[', "no priorities here: renice(1)"},
		{'i', "no priorities here: ionice(1)"},
		{'H', "no threads here: vigil stack PID shows them"},
		{'K', "no threads here: vigil stack PID shows them"},
		{'l', "no open files here: lsof -p PID"},
		{'e', "no environment here: it may hold secrets"},
		{'w', "commands are cut: arrows right and left show the rest"},
		{'x', "no locks here: vigil waits JOB says who holds them"},
		{'F', "the bar stays with its process in any case"},
		{'m', "commands are shown as they were given"},
		{'#', "the lines above stay: they say what runs out"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		if (absent[i].key == key)
			return absent[i].why;
	return NULL;
}

void topkeys_hints(char *dst, size_t cap, size_t columns)
{
	static const char *const hints[] = {
		"q ends",  "h keys",     "/ search", "k end a process (SIGTERM)", "t tree", "a all",
		"s order", "M P T N sort", "arrows", "u user", "space marks",
	};
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (b.len + strlen(hints[i]) + (b.len ? 2 : 0) <= columns)
			buf_printf(&b, "%s%s", b.len ? "  " : "", hints[i]);
}

const char *topkeys_line(size_t i)
{
	static const char *const lines[] = {
		"Keys of vigil top",
		"",
		"h ? F1      this list",
		"q F10 ^C    end",
		"arrows      choose a process",
		"k F9        end the process (SIGTERM)",
		"digits      choose by pid",
		"right left  more of the command",
		"s F6 >      sort by the next column",
		"M P T N I   memory CPU% TIME pid, turned",
		"t F5        tree or list",
		"- + *       fold, unfold, unfold all",
		"a           processes of no job too",
		"u           those of one user",
		"/ \\ F3 F4   search",
		"space c U   mark, with children, unmark",
		"p           programs without folder",
		"Z ^L        stand still, look now",
	};
	return i < ARRAY_SIZE(lines) ? lines[i] : NULL;
}
