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

void topkeys_hints(char *dst, size_t cap, size_t columns)
{
	static const char *const hints[] = {
		"q ends",  "h keys",     "/ search", "k end a process (SIGTERM)", "t tree", "a all",
		"s order", "M P N sort", "arrows",   "space look now",
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
		"s F6 >      sort by the next column",
		"M P N       by memory, CPU%, pid",
		"t F5        tree or list",
		"a           processes of no job too",
		"/ F3 F4     search",
		"k F9        end the process (SIGTERM)",
		"space       look now",
	};
	return i < ARRAY_SIZE(lines) ? lines[i] : NULL;
}
