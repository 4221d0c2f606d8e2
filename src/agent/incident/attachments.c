#include "agent/incident/attachments.h"

#include <string.h>

#include "tell/stacks/stack_show.h"

void attachments_stacks(struct attachments *a, struct stackdump *d)
{
	stackdump_done(&a->stacks);
	a->stacks = *d;
	*d = (struct stackdump){.n = 0};
}

void attachments_heap(struct attachments *a, struct js *heap)
{
	js_freep(&a->heap);
	a->heap = heap;
}

void attachments_hang(struct attachments *a, struct js *hang, struct span stacks)
{
	js_freep(&a->hang);
	a->hang = hang;
	free(a->hang_stacks);
	a->hang_stacks = stacks.len ? strndup(stacks.p, stacks.len) : NULL;
}

void attachments_hang_resolved(struct attachments *a, int64_t time_unix_ms)
{
	if (!a->hang)
		return;
	js_put_bool(a->hang, "resolved", true);
	js_put_i64(a->hang, "resolved_unix_ms", time_unix_ms);
}

static void put_parsed(struct js *o, const char *key, const char *text)
{
	struct fault f;
	struct js *value;
	if (text && js_parse(text, strlen(text), &value, &f) == 0)
		js_put(o, key, value);
}

/* A JSON value has one owner, so the report gets a copy. */
static void put_copy(struct js *o, const char *key, const struct js *value)
{
	cleanup(freep) char *text = value ? js_text(value, 0) : NULL;
	put_parsed(o, key, text);
}

void attachments_put(const struct attachments *a, struct js *report)
{
	if (a->stacks.n > 0)
		js_put(report, "stacks", stack_incident_json(&a->stacks, NULL));
	put_copy(report, "heap", a->heap);
	put_copy(report, "hang", a->hang);
	put_parsed(report, "stacks", a->hang_stacks);
}

void attachments_done(struct attachments *a)
{
	stackdump_done(&a->stacks);
	js_freep(&a->heap);
	js_freep(&a->hang);
	free(a->hang_stacks);
	*a = (struct attachments){.heap = NULL};
}
