/*
 * pylines: for each line "MINOR FIRST_LINE HEX" on stdin (a line table as the
 * interpreter holds it; "-" when empty) one line "START:LINE START:LINE …" on stdout.
 */
#include <stdio.h>
#include <string.h>

#include "sense/python/pycode.h"

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t unhex(char *text)
{
	size_t n = 0;
	for (size_t i = 0; digit(text[i]) >= 0 && digit(text[i + 1]) >= 0; i += 2)
		text[n++] = (char)(digit(text[i]) << 4 | digit(text[i + 1]));
	return n;
}

static int answer(unsigned long minor, long first, char *hex)
{
	cleanup(freep) struct pycode_line *rows = NULL;
	size_t n = 0;
	struct span table = {hex, unhex(hex)};
	if (pylines_parse((uint8_t)minor, table, (int32_t)first, &rows, &n) != 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		printf("%s%u:%d", i ? " " : "", rows[i].start, rows[i].line);
	putchar('\n');
	return 0;
}

int main(void)
{
	cleanup(freep) char *line = NULL;
	size_t cap = 0;
	while (getline(&line, &cap, stdin) > 0) {
		char *rest = line;
		unsigned long minor = strtoul(rest, &rest, 10);
		long first = strtol(rest, &rest, 10);
		rest += strspn(rest, " ");
		if (answer(minor, first, rest) != 0)
			return 1;
	}
	return 0;
}
