#include "tell/store/rowlog.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "tell/store/store_sql.h"

static const char *const names[] = {
	[ROWLOG_JOB] = "job", [ROWLOG_PROCESS] = "process", [ROWLOG_EVENT] = "event", [ROWLOG_INCIDENT] = "incident"};

static const struct table *const tables[] = {
	[ROWLOG_JOB] = &store_job_table,
	[ROWLOG_PROCESS] = &store_process_table,
	[ROWLOG_EVENT] = &store_event_table,
	[ROWLOG_INCIDENT] = NULL,
};

/* ---- writing ---- */

static void column_put(struct js *o, const struct column *c, const char *row)
{
	const void *v = row + c->offset;
	uint32_t u32;
	uint64_t u64;
	if (c->valid && !*(const bool *)(row + c->valid))
		return;
	switch (c->type) {
	case COLUMN_TEXT:
		js_put_text(o, c->name, v);
		break;
	case COLUMN_BOOL:
		js_put_bool(o, c->name, *(const bool *)v);
		break;
	case COLUMN_I32:
		js_put_i64(o, c->name, *(const int32_t *)v);
		break;
	case COLUMN_U32:
		memcpy(&u32, v, sizeof(u32));
		js_put_i64(o, c->name, u32);
		break;
	case COLUMN_I64:
		js_put_i64(o, c->name, *(const int64_t *)v);
		break;
	case COLUMN_U64:
		memcpy(&u64, v, sizeof(u64));
		js_put_i64(o, c->name, (int64_t)MIN(u64, (uint64_t)INT64_MAX));
		break;
	case COLUMN_STATE:
		js_put_text(o, c->name, job_state_name(*(const enum job_state *)v));
		break;
	}
}

static void incident_put(struct js *o, const struct store_incident *i)
{
	js_put_text(o, "id", i->id);
	js_put_text(o, "job", i->job);
	js_put_i64(o, "attempt", i->attempt);
	js_put_text(o, "kind", i->kind);
	js_put_i64(o, "time_unix_ms", i->time_unix_ms);
	js_put_i64(o, "victim_pid", i->victim_pid);
	js_put_text(o, "summary", i->summary);
	js_put_text(o, "json", i->json);
}

int rowlog_write(int fd, const struct rowlog_row *row)
{
	cleanup(js_freep) struct js *o = js_object();
	const struct table *t = tables[row->kind];
	js_put_text(o, "row", names[row->kind]);
	for (size_t i = 0; t && i < t->n; i++)
		column_put(o, &t->columns[i], row->what);
	if (!t)
		incident_put(o, row->what);
	cleanup(freep) char *text = js_text(o, 0);
	if (!text)
		return -ENOMEM;
	size_t len = strlen(text);
	text[len] = '\n'; /* in the place of the NUL: one write, so that a line is there or not */
	return file_write_all(fd, text, len + 1);
}

int rowlog_store(struct store *s, const struct rowlog_row *row)
{
	switch (row->kind) {
	case ROWLOG_JOB:
		return store_put_job(s, row->what);
	case ROWLOG_PROCESS:
		return store_put_process(s, row->what);
	case ROWLOG_EVENT:
		return store_add_event(s, row->what, NULL);
	case ROWLOG_INCIDENT:
		return store_put_incident(s, row->what);
	}
	return -EINVAL;
}

/* ---- reading ---- */

static void column_get(const struct js *o, const struct column *c, char *row)
{
	void *v = row + c->offset;
	int64_t number = js_get_i64(o, c->name, 0);
	if (c->valid)
		*(bool *)(row + c->valid) = js_get(o, c->name) != NULL;
	switch (c->type) {
	case COLUMN_TEXT:
		text_copy(v, c->size, js_get_text(o, c->name, ""));
		break;
	case COLUMN_BOOL:
		*(bool *)v = js_get_bool(o, c->name, false);
		break;
	case COLUMN_I32:
		*(int32_t *)v = (int32_t)number;
		break;
	case COLUMN_U32:
		*(uint32_t *)v = (uint32_t)number;
		break;
	case COLUMN_I64:
		*(int64_t *)v = number;
		break;
	case COLUMN_U64:
		*(uint64_t *)v = number < 0 ? 0 : (uint64_t)number;
		break;
	case COLUMN_STATE:
		*(enum job_state *)v = job_state_of(js_get_text(o, c->name, ""));
		break;
	}
}

/* Room for a row of any kind. */
union any_row {
	struct job job;
	struct job_process process;
	struct job_event event;
	struct store_incident incident;
};

/* False: of a kind that is unknown here. The texts of an incident are borrowed from o. */
static bool row_read(const struct js *o, union any_row *row, enum rowlog_kind *ret_kind)
{
	const char *name = js_get_text(o, "row", "");
	size_t kind = 0;
	while (kind < ARRAY_SIZE(names) && strcmp(name, names[kind]) != 0)
		kind++;
	if (kind == ARRAY_SIZE(names))
		return false;
	*row = (union any_row){.job = {.pid = 0}};
	for (size_t i = 0; tables[kind] && i < tables[kind]->n; i++)
		column_get(o, &tables[kind]->columns[i], (char *)row);
	if (!tables[kind])
		row->incident = (struct store_incident){
			.id = js_get_text(o, "id", ""),
			.job = js_get_text(o, "job", ""),
			.kind = js_get_text(o, "kind", ""),
			.summary = js_get_text(o, "summary", ""),
			.json = js_get_text(o, "json", ""),
			.attempt = (uint32_t)js_get_i64(o, "attempt", 0),
			.time_unix_ms = js_get_i64(o, "time_unix_ms", 0),
			.victim_pid = (pid_t)js_get_i64(o, "victim_pid", 0),
		};
	*ret_kind = (enum rowlog_kind)kind;
	return true;
}

static int line_replay(struct span line, struct store *s, size_t *n)
{
	union any_row any;
	struct rowlog_row row = {.what = &any};
	struct fault f;
	cleanup(js_freep) struct js *o = NULL;
	if (js_parse(line.p, line.len, &o, &f) < 0)
		return -EBADMSG;
	if (!row_read(o, &any, &row.kind) || (row.kind == ROWLOG_EVENT && store_has_event(s, &any.event)))
		return 0;
	int r = rowlog_store(s, &row);
	*n += r == 0;
	return r;
}

int rowlog_replay(struct span text, struct store *s, size_t *ret_n)
{
	int damaged = 0;
	size_t n = 0;
	while (text.len > 0) {
		const char *end = memchr(text.p, '\n', text.len);
		if (!end)
			break; /* the writer was ended in the middle of it */
		size_t len = (size_t)(end - text.p);
		int r = len ? line_replay((struct span){text.p, len}, s, &n) : 0;
		if (r == -EBADMSG)
			damaged = r;
		else if (r < 0)
			return r;
		text.p += len + 1;
		text.len -= len + 1;
	}
	*ret_n = n;
	return damaged;
}
