/*
 * storetool DIR: fills a store from lines of JSON on stdin, for tests of the
 * commands that read one. {"put": "job", "id": …}, "process", "event" take the
 * fields of vigil.job/1 and so on (plus supervisor_start_ticks, start_ticks,
 * wait_status); {"put": "incident", "report": {…}} takes a vigil.incident/1.
 */
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/json.h"
#include "model/incident/incident.h"
#include "tell/store/store.h"

#define GET_TEXT(array, o, key) TEXT_COPY(array, js_get_text((o), (key), ""))

static int put_job(struct store *s, const struct js *o)
{
	struct job j = {
		.uid = (uid_t)js_get_i64(o, "uid", 0),
		.adopted = js_get_bool(o, "adopted", false),
		.pid = (pid_t)js_get_i64(o, "pid", 0),
		.supervisor_pid = (pid_t)js_get_i64(o, "supervisor_pid", 0),
		.supervisor_start_ticks = (uint64_t)js_get_i64(o, "supervisor_start_ticks", 0),
		.nproc = (uint32_t)js_get_i64(o, "nproc", 1),
		.attempt = (uint32_t)js_get_i64(o, "attempt", 0),
		.max_retries = (uint32_t)js_get_i64(o, "max_retries", 0),
		.state = job_state_of(js_get_text(o, "state", "done")),
		.started_unix_ms = js_get_i64(o, "started_unix_ms", 0),
		.ended_unix_ms = js_get_i64(o, "ended_unix_ms", 0),
		.has_exit = js_get(o, "exit_status") != NULL,
		.exit_status = (int32_t)js_get_i64(o, "exit_status", 0),
		.peak_bytes = (uint64_t)js_get_i64(o, "peak_bytes", 0),
		.memory_kills = (uint32_t)js_get_i64(o, "memory_kills", 0),
		.other_deaths = (uint32_t)js_get_i64(o, "other_deaths", 0),
	};
	GET_TEXT(j.id, o, "id");
	GET_TEXT(j.name, o, "name");
	GET_TEXT(j.command, o, "command");
	GET_TEXT(j.cwd, o, "cwd");
	GET_TEXT(j.node, o, "node");
	GET_TEXT(j.user, o, "user");
	GET_TEXT(j.last_incident, o, "last_incident");
	GET_TEXT(j.log_dir, o, "log_dir");
	return store_put_job(s, &j);
}

static int put_process(struct store *s, const struct js *o)
{
	struct job_process p = {
		.attempt = (uint32_t)js_get_i64(o, "attempt", 0),
		.pid = (pid_t)js_get_i64(o, "pid", 0),
		.ppid = (pid_t)js_get_i64(o, "ppid", 0),
		.start_ticks = (uint64_t)js_get_i64(o, "start_ticks", 0),
		.rank = (int32_t)js_get_i64(o, "rank", NO_RANK),
		.own_bytes = (uint64_t)js_get_i64(o, "own_bytes", 0),
		.rss_bytes = (uint64_t)js_get_i64(o, "rss_bytes", 0),
		.started_unix_ms = js_get_i64(o, "started_unix_ms", 0),
		.ended_unix_ms = js_get_i64(o, "ended_unix_ms", 0),
		.has_status = js_get(o, "wait_status") != NULL,
		.wait_status = (int32_t)js_get_i64(o, "wait_status", 0),
	};
	GET_TEXT(p.job, o, "job");
	GET_TEXT(p.role, o, "role");
	GET_TEXT(p.name, o, "name");
	GET_TEXT(p.command, o, "command");
	return store_put_process(s, &p);
}

static int put_event(struct store *s, const struct js *o)
{
	struct job_event e = {
		.attempt = (uint32_t)js_get_i64(o, "attempt", 0),
		.time_unix_ms = js_get_i64(o, "time_unix_ms", 0),
	};
	GET_TEXT(e.job, o, "job");
	GET_TEXT(e.kind, o, "kind");
	GET_TEXT(e.text, o, "text");
	GET_TEXT(e.incident, o, "incident");
	return store_add_event(s, &e, NULL);
}

static int put_incident(struct store *s, const struct js *o)
{
	const struct js *report = js_get(o, "report");
	cleanup(freep) char *json = js_text(report, 0);
	const char *text = json ? json : js_get_text(o, "text", ""); /* "text": a damaged one */
	const struct store_incident i = {
		.id = js_get_text(report, "id", js_get_text(o, "id", "i")),
		.job = js_get_text(report, "job", js_get_text(o, "job", "")),
		.attempt = (uint32_t)js_get_i64(report, "attempt", 0),
		.kind = js_get_text(report, "kind", "none"),
		.time_unix_ms = js_get_i64(report, "time_unix_ms", 0),
		.victim_pid = (pid_t)js_get_i64(js_get(report, "victim"), "pid", 0),
		.summary = js_get_text(report, "summary", ""),
		.json = text,
	};
	return store_put_incident(s, &i);
}

static int put_line(struct store *s, const char *line, size_t len)
{
	static const struct {
		const char *what;
		int (*put)(struct store *, const struct js *);
	} kinds[] = {{"job", put_job}, {"process", put_process}, {"event", put_event}, {"incident", put_incident}};
	cleanup(js_freep) struct js *o = NULL;
	int r = js_parse(line, len, &o, NULL);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
		if (strcmp(js_get_text(o, "put", ""), kinds[i].what) == 0)
			return kinds[i].put(s, o);
	return r < 0 ? r : -EINVAL;
}

int main(int argc, char **argv)
{
	char note[256];
	struct fault f = {.text = ""};
	cleanup(store_closep) struct store *s = NULL;
	if (argc != 2 || store_open(argv[1], STORE_WRITE, &s, note, &f) != 0) {
		fprintf(stderr, "storetool: %s\n", f.text);
		return 1;
	}
	cleanup(freep) char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	while ((n = getline(&line, &cap, stdin)) > 0) {
		int r = put_line(s, line, (size_t)n);
		if (r < 0) {
			fprintf(stderr, "storetool: %s: %s", strerror(-r), line);
			return 1;
		}
	}
	return 0;
}
