/*
 * What a fake driver library is told to be: a small text file, read anew at
 * each call, so that a test changes the machine while vigil looks at it.
 *
 *   device N KEY VALUE…       the n-th call gets the n-th value, the last one stays
 *   process N LIST PID BYTES [SM MEMORY]     LIST: compute, graphics, mps
 *   return FUNCTION CODE [N]  that function (of device N only) answers CODE
 *   delay FUNCTION MS         …after so long
 *   crash FUNCTION            …by SIGSEGV
 *   set KEY VALUE             of the library: stride 32, init 18 …
 *   event N TYPE DATA         told once
 *
 * '#' starts a comment. A file that is not there is a machine without devices.
 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_LINES 400
#define SCRIPT_WORDS 24
#define SCRIPT_DEVICES 32

struct script_line {
	char *word[SCRIPT_WORDS];
	int n;
};

static struct {
	char text[65536];
	struct script_line line[SCRIPT_LINES];
	int n;
	/* Across readings. */
	struct {
		char key[64];
		int calls;
	} counter[256];
	int n_counters;
} script;

static void script_read(const char *variable)
{
	const char *path = getenv(variable);
	FILE *f = path ? fopen(path, "re") : NULL;
	script.n = 0;
	if (!f)
		return;
	size_t len = fread(script.text, 1, sizeof(script.text) - 1, f);
	(void)fclose(f);
	script.text[len] = '\0';
	char *save = NULL;
	for (char *l = strtok_r(script.text, "\n", &save); l && script.n < SCRIPT_LINES;
	     l = strtok_r(NULL, "\n", &save)) {
		struct script_line *to = &script.line[script.n];
		char *inner = NULL;
		to->n = 0;
		l[strcspn(l, "#")] = '\0';
		for (char *w = strtok_r(l, " \t", &inner); w && to->n < SCRIPT_WORDS; w = strtok_r(NULL, " \t", &inner))
			to->word[to->n++] = w;
		script.n += to->n > 0 ? 1 : 0;
	}
}

static bool script_is(const struct script_line *l, int at, const char *word)
{
	return l->n > at && strcmp(l->word[at], word) == 0;
}

static long script_number(const struct script_line *l, int at)
{
	return l->n > at ? strtol(l->word[at], NULL, 0) : 0;
}

static int *script_counter(const char *key)
{
	for (int i = 0; i < script.n_counters; i++)
		if (strcmp(script.counter[i].key, key) == 0)
			return &script.counter[i].calls;
	if (script.n_counters == 256)
		abort();
	(void)snprintf(script.counter[script.n_counters].key, 64, "%s", key);
	return &script.counter[script.n_counters++].calls;
}

static int script_devices(void)
{
	int most = 0;
	for (int i = 0; i < script.n; i++)
		if (script_is(&script.line[i], 0, "device") && script_number(&script.line[i], 1) >= most)
			most = (int)script_number(&script.line[i], 1) + 1;
	return most < SCRIPT_DEVICES ? most : SCRIPT_DEVICES;
}

/* "device N key …": the line, or NULL. */
static const struct script_line *script_find(int device, const char *key)
{
	for (int i = 0; i < script.n; i++)
		if (script_is(&script.line[i], 0, "device") && script_number(&script.line[i], 1) == device &&
		    script_is(&script.line[i], 2, key))
			return &script.line[i];
	return NULL;
}

static bool script_value(int device, const char *key, uint64_t *ret)
{
	const struct script_line *l = script_find(device, key);
	char id[64];
	if (!l || l->n < 4)
		return false;
	(void)snprintf(id, sizeof(id), "%d %s", device, key);
	int *calls = script_counter(id), at = 3 + *calls;
	*ret = strtoull(l->word[at < l->n ? at : l->n - 1], NULL, 0);
	++*calls;
	return true;
}

static long script_setting(const char *key, long otherwise)
{
	for (int i = 0; i < script.n; i++)
		if (script_is(&script.line[i], 0, "set") && script_is(&script.line[i], 1, key))
			return script_number(&script.line[i], 2);
	return otherwise;
}

/* What every entry does first: 0, or the code that the script wants. device -1: of the library. */
static int script_enter(const char *variable, const char *function, int device)
{
	int code = 0;
	script_read(variable);
	for (int i = 0; i < script.n; i++) {
		const struct script_line *l = &script.line[i];
		if (!script_is(l, 1, function))
			continue;
		if (script_is(l, 0, "delay"))
			(void)poll(NULL, 0, (int)script_number(l, 2));
		else if (script_is(l, 0, "crash"))
			(void)raise(SIGSEGV);
		else if (script_is(l, 0, "return") && (l->n < 4 || script_number(l, 3) == device))
			code = (int)script_number(l, 2);
	}
	return code;
}
