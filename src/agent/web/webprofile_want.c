#include "agent/web/webprofile_want.h"

#include <string.h>

#include "agent/web/weburl.h"
#include "base/buf.h"

static const char *const kind_names[] = {"stack", "flame", "heap", "calls", NULL};
static const char *const heap_whats[] = {"peak", "live", "leaks", "temporary", "growth", "lifetime", NULL};

/* Stacks, whatever they weigh: the forms of `vigil flame`. */
static const char *const stack_formats[] = {"json", "speedscope", "folded", "svg", "pprof", "html", NULL};
static const struct webprofile_form stack_forms[] = {
	{"json", "application/json", "json"},
	{"speedscope", "application/json", "speedscope.json"},
	{"folded", "text/plain; charset=utf-8", "folded"},
	{"svg", "image/svg+xml", "svg"},
	{"pprof", "application/octet-stream", "pb.gz"},
	{"html", "text/html; charset=utf-8", "html"},
};
static const char *const calls_formats[] = {"json", "pstats", "html", "table", NULL};
static const struct webprofile_form calls_forms[] = {
	{"json", "application/json", "json"},
	{"pstats", "application/octet-stream", "prof"},
	{"html", "text/html; charset=utf-8", "html"},
	{"table", "text/plain; charset=utf-8", "txt"},
};

const char *webprofile_kind_name(enum webprofile_kind k)
{
	return k >= 0 && k < PROFILE_KIND_MAX ? kind_names[k] : "unknown";
}

enum webprofile_kind webprofile_kind_of(const char *name)
{
	int k = 0;
	while (k < PROFILE_KIND_MAX && strcmp(kind_names[k], name) != 0)
		k++;
	return (enum webprofile_kind)k;
}

bool webprofile_of_the_dead(enum webprofile_kind k)
{
	return k == PROFILE_HEAP || k == PROFILE_CALLS;
}

const char *const *webprofile_format_names(enum webprofile_kind k)
{
	return k == PROFILE_CALLS ? calls_formats : stack_formats;
}

const struct webprofile_form *webprofile_form(enum webprofile_kind k, size_t format)
{
	if (k == PROFILE_CALLS)
		return &calls_forms[format < ARRAY_SIZE(calls_forms) ? format : 0];
	return &stack_forms[format < ARRAY_SIZE(stack_forms) ? format : 0];
}

const char *webprofile_converter(enum webprofile_kind k)
{
	return k == PROFILE_CALLS ? "calls" : "flame";
}

struct js *webprofile_formats(enum webprofile_kind k)
{
	struct js *list = js_array();
	for (const char *const *f = webprofile_format_names(k); *f; f++)
		js_add_text(list, *f);
	return list;
}

static int number(const struct js *o, const char *name, int64_t fallback, int64_t least, int64_t most, int64_t *ret,
		  struct fault *f)
{
	if (js_get(o, name)) {
		int64_t v = js_get_i64(o, name, INT64_MIN);
		if (v < least || v > most)
			return fault_set(f, -EINVAL, "%s: a whole number from %lld to %lld is expected", name,
					 (long long)least, (long long)most);
		fallback = v;
	}
	*ret = fallback;
	return 0;
}

struct known {
	const char *bad;
};

static int name_check(void *ctx, const char *key, const struct js *value)
{
	static const char *const known[] = {"kind", "job",    "rank", "pid", "seconds",
					    "rate", "native", "idle", "gil", "what"};
	struct known *k = ctx;
	(void)value;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i], key) == 0)
			return 0;
	k->bad = key;
	return 1;
}

static int choices_parse(const struct js *o, struct webprofile_want *w, char job[static 130], struct fault *f)
{
	struct known known = {NULL};
	const char *what = js_get_text(o, "what", NULL), *id = js_get_text(o, "job", "");
	if (js_each(o, name_check, &known) != 0)
		return fault_set(f, -EINVAL, "'%.40s' is not known here; docs/formats/api.md lists what is", known.bad);
	w->kind = webprofile_kind_of(js_get_text(o, "kind", ""));
	if (w->kind == PROFILE_KIND_MAX)
		return fault_set(f, -EINVAL, "kind: one of stack, flame, heap, calls is expected");
	if (!weburl_is_id(id) || *id == '-')
		return fault_set(f, -EINVAL, "job: the id of a job is expected");
	text_copy(job, 130, id);
	w->what = -1;
	for (int i = 0; what && heap_whats[i]; i++)
		if (strcmp(heap_whats[i], what) == 0)
			w->what = i;
	if (what && (w->what < 0 || w->kind != PROFILE_HEAP))
		return fault_set(f, -EINVAL,
				 "what: of a heap profile, one of peak, live, leaks, temporary, growth, lifetime is "
				 "expected");
	return 0;
}

int webprofile_parse(const char *body, size_t len, struct webprofile_want *ret, char job[static 130], struct fault *f)
{
	struct webprofile_want w = {.kind = PROFILE_STACK};
	cleanup(js_freep) struct js *o = NULL;
	int64_t rank, pid, seconds, rate;
	if (js_parse(body, len, &o, NULL) < 0)
		return fault_set(f, -EINVAL,
				 "the body must be a JSON object, as {\"kind\": \"flame\", \"job\": \"...\"}");
	int r = choices_parse(o, &w, job, f);
	if (r == 0)
		r = number(o, "rank", -1, 0, INT32_MAX, &rank, f);
	if (r == 0)
		r = number(o, "pid", 0, 1, INT32_MAX, &pid, f);
	if (r == 0)
		r = number(o, "seconds", 5, 1, 600, &seconds, f);
	if (r == 0)
		r = number(o, "rate", 100, 1, 1000, &rate, f);
	if (r < 0)
		return r;
	if (rank >= 0 && (pid > 0 || w.kind == PROFILE_STACK))
		return fault_set(f, -EINVAL,
				 pid > 0 ? "rank and pid: give one of them"
					 : "rank: stacks are of the job or of a pid");
	w.has_rank = rank >= 0;
	w.rank = (int32_t)rank;
	w.pid = (pid_t)pid;
	w.seconds = (uint64_t)seconds;
	w.rate = (uint64_t)rate;
	w.native = js_get_bool(o, "native", false);
	w.idle = js_get_bool(o, "idle", false);
	w.gil = js_get_bool(o, "gil", false);
	*ret = w;
	return 0;
}

static void add(struct webprofile_args *a, size_t *n, const char *text)
{
	if (*n < WEBPROFILE_ARGS - 1)
		a->argv[(*n)++] = text;
}

static void flame_args(const struct webprofile_want *w, struct webprofile_args *a, size_t *n)
{
	add(a, n, "-d");
	add(a, n, a->seconds);
	add(a, n, "-r");
	add(a, n, a->rate);
	if (w->native)
		add(a, n, "--native");
	if (w->idle)
		add(a, n, "--idle");
	if (w->gil)
		add(a, n, "--gil");
	add(a, n, "-f");
	add(a, n, "json");
	add(a, n, "-o");
	add(a, n, "-");
}

void webprofile_args(const struct webprofile_want *w, const char *job, struct webprofile_args *a)
{
	size_t n = 0;
	*a = (struct webprofile_args){.argv = {NULL}};
	TEXT_FORMAT(a->seconds, "%llus", (unsigned long long)w->seconds);
	TEXT_FORMAT(a->rate, "%llu", (unsigned long long)w->rate);
	TEXT_FORMAT(a->rank, "%d", w->rank);
	TEXT_FORMAT(a->pid, "%d", (int)w->pid);
	add(a, &n, webprofile_kind_name(w->kind));
	if (w->kind == PROFILE_FLAME)
		flame_args(w, a, &n);
	else
		add(a, &n, "--json");
	if (w->kind == PROFILE_STACK && w->native)
		add(a, &n, "--native");
	if (w->kind == PROFILE_HEAP && w->what >= 0) {
		add(a, &n, "-w");
		add(a, &n, heap_whats[w->what]);
	}
	if (w->kind == PROFILE_CALLS ||
	    (w->kind == PROFILE_HEAP && w->what >= 0 && strcmp(heap_whats[w->what], "growth") == 0)) {
		add(a, &n, "-d");
		add(a, &n, a->seconds);
	}
	if (w->has_rank) {
		add(a, &n, "--rank");
		add(a, &n, a->rank);
	}
	add(a, &n, w->pid > 0 ? a->pid : job);
}
