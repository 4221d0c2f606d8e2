/*
 * pywaits [PID...]: what the threads of each Python process wait for (agent/inspect/pywaits.h), for tests: one line
 * of JSON a process, {"pid", "result", "hints": [{"kind", "tid", "owner", "proof", "text", "owner_text"}], "us"}.
 * Without PID: one line for each process number on stdin, until it ends.
 */
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "agent/inspect/pywaits.h"
#include "base/clock.h"
#include "base/json.h"

static const char *kind_word(enum waithint_kind kind)
{
	static const char *const words[] = {"owner", "nobody", "rank", "text"};
	return words[kind];
}

static struct js *hint_of(const struct waithint *h)
{
	struct js *o = js_object();
	js_put_text(o, "kind", kind_word(h->kind));
	js_put_i64(o, "tid", h->tid);
	js_put_i64(o, "owner", h->owner_tid);
	js_put_bool(o, "proof", h->proof);
	js_put_text(o, "text", h->text);
	js_put_text(o, "owner_text", h->owner_text);
	return o;
}

static struct js *look_at(const struct world *w, pid_t pid)
{
	struct fault f = {};
	struct procview_want want = {.natives = NULL};
	cleanup(procview_closep) struct procview *v = NULL;
	cleanup(freep) struct waithint *hints = NULL;
	struct js *o = js_object(), *all = js_array();
	size_t n = 0;
	int e = procview_open(w, pid, &want, &v, &f);
	uint64_t start = clock_mono_ns(), calls = e ? 0 : v->remote.calls;
	if (e == 0)
		e = pywaits_read(w, v, &hints, &n);
	js_put_i64(o, "pid", pid);
	js_put_i64(o, "result", e);
	js_put_u64(o, "us", (clock_mono_ns() - start) / NS_PER_US);
	js_put_u64(o, "reads", v ? v->remote.calls - calls : 0);
	for (size_t i = 0; i < n; i++)
		js_add(all, hint_of(&hints[i]));
	js_put(o, "hints", all);
	return o;
}

static int answer(const struct world *w, const char *pid)
{
	cleanup(js_freep) struct js *o = look_at(w, (pid_t)strtol(pid, NULL, 10));
	int r = js_write(o, stdout, 0);
	putchar('\n');
	(void)fflush(stdout);
	return r;
}

int main(int argc, char **argv)
{
	struct world w;
	struct fault f = {};
	cleanup(freep) char *line = NULL;
	size_t cap = 0;
	if (world_open(NULL, &w, &f) < 0) {
		fprintf(stderr, "%s\n", f.text);
		return 2;
	}
	int r = 0;
	for (int i = 1; i < argc && r >= 0; i++)
		r = answer(&w, argv[i]);
	while (argc == 1 && r >= 0 && getline(&line, &cap, stdin) > 0)
		r = answer(&w, line);
	world_close(&w);
	return r < 0 ? 2 : 0;
}
