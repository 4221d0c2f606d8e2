#include "agent/incident/workercase.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonpart.h"
#include "model/jobs/raytitle.h"

struct worker_search {
	const char *name;
	char *json; /* owned */
	int error;
};

/* Ray's own word on a worker that it has ended names the task alone; all others tell the title of the process. */
static bool is_meant(const struct js *report, const char *name)
{
	const struct js *victim = js_get(report, "victim");
	const char *called = js_get_text(victim, "name", "");
	return raytitle_is(span_of(js_get_text(victim, "command", "")), name) || raytitle_is(span_of(called), name) ||
	       (strcmp(js_get_text(report, "killer", ""), "ray") == 0 && called[0] && strcmp(called, name) == 0);
}

static int worker_take(void *ctx, const char *id, const char *json)
{
	static const struct jsonpart parts[] = {{"victim", 0}, {"killer", 0}};
	struct worker_search *s = ctx;
	cleanup(js_freep) struct js *report = NULL;
	(void)id;
	if (jsonpart_parse(json, strlen(json), parts, ARRAY_SIZE(parts), &report) < 0 || !is_meant(report, s->name))
		return 0;
	char *copy = strdup(json);
	if (!copy)
		return s->error = -ENOMEM;
	free(s->json);
	s->json = copy;
	return 0;
}

int workercase_find(struct store *store, const char *name, char **ret_json)
{
	struct worker_search s = {.name = name};
	int r = store_each_incident(store, NULL, worker_take, &s);
	if (r < 0 || s.error < 0) {
		free(s.json);
		return r < 0 ? r : s.error;
	}
	if (!s.json)
		return STORE_NONE;
	*ret_json = s.json;
	return 0;
}
