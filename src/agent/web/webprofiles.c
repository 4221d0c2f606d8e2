#include "agent/web/webprofiles.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/web/webask.h"
#include "agent/web/webchild.h"
#include "agent/web/webprofile_want.h"
#include "agent/web/webstream.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/foreign.h"
#include "base/private.h"

#define RUNNING_MOST 4
#define LISTED_MOST 200
#define ABOUT_MOST 4096

/* One that runs. What has ended is in its files only. */
struct profile {
	struct web *web;
	char id[32]; /* empty: free */
	char dir[400];
	struct webprofile_want want;
	char job[64];
	int64_t started_unix_ms;
	uint64_t started_ns;
	bool cancelled;
	struct webchild *child;
};

struct webprofiles {
	struct profile of[RUNNING_MOST];
};

static struct profile *running_find(const struct web *w, const char *id)
{
	for (size_t i = 0; w->profiles && i < RUNNING_MOST; i++)
		if (strcmp(w->profiles->of[i].id, id) == 0)
			return &w->profiles->of[i];
	return NULL;
}

/* ---- files ---- */

/* Of a job that root's vigil keeps, its user's profiles are in the user's own state directory. */
static void dir_of(const struct web *w, const struct job *j, char dst[static 400])
{
	if (j->log_dir[0] && access(j->log_dir, W_OK) == 0)
		(void)text_format(dst, 400, "%s/profiles", j->log_dir);
	else
		(void)text_format(dst, 400, "%.200s/jobs/%.64s/profiles", w->want->state_dir, j->id);
}

static void path_make(const char *dir, const char *id, const char *suffix, char dst[static 480])
{
	(void)text_format(dst, 480, "%s/%s.%s", dir, id, suffix);
}

static struct js *profile_json(const struct profile *p, const char *state, const char *error)
{
	struct js *o = js_object();
	struct stat st;
	char path[480];
	js_put_text(o, "schema", "vigil.profile/1");
	js_put_text(o, "id", p->id);
	js_put_text(o, "kind", webprofile_kind_name(p->want.kind));
	js_put_text(o, "job", p->job);
	if (p->want.has_rank)
		js_put_i64(o, "rank", p->want.rank);
	if (p->want.pid > 0)
		js_put_i64(o, "pid", p->want.pid);
	js_put_text(o, "state", state);
	js_put_i64(o, "started_unix_ms", p->started_unix_ms);
	js_put_u64(o, "seconds", p->want.seconds);
	double gone = (double)(clock_mono_ns() - p->started_ns) / 1e9;
	bool runs = strcmp(state, "running") == 0;
	js_put_double(o, "progress", runs ? MIN(gone / (double)MAX(p->want.seconds, UINT64_C(1)), 0.99) : 1);
	if (!runs)
		js_put_double(o, "lasted_s", gone);
	path_make(p->dir, p->id, "json", path);
	if (!runs && stat(path, &st) == 0)
		js_put_u64(o, "bytes", (uint64_t)st.st_size);
	js_put_text_if(o, "error", error);
	js_put(o, "formats", webprofile_formats(p->want.kind));
	return o;
}

/* Of one that has ended; NULL: there is none, or it cannot be read. */
static struct js *about_read(const char *dir, const char *id)
{
	char path[480];
	cleanup(freep) char *text = NULL;
	size_t len = 0;
	struct js *o = NULL;
	path_make(dir, id, "about", path);
	cleanup(closep) int fd = -1;
	if (foreign_open_kept(path, &fd) != 0 || file_slurp_fd(fd, ABOUT_MOST, &text, &len) < 0 ||
	    js_parse(text, len, &o, NULL) < 0)
		return NULL;
	return o;
}

static void profile_done(void *ctx, int wait_status, const char *said)
{
	struct profile *p = ctx;
	char path[480];
	struct stat st;
	path_make(p->dir, p->id, "json", path);
	bool some = stat(path, &st) == 0 && st.st_size > 0;
	bool fine = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && some;
	if (!fine || p->cancelled)
		(void)unlink(path);
	const char *error = said[0] ? said : "it ended without a result";
	struct js *o = profile_json(p,
				    p->cancelled ? "cancelled"
				    : fine	 ? "done"
						 : "failed",
				    p->cancelled || fine ? "" : error);
	cleanup(freep) char *text = js_text(o, 0);
	path_make(p->dir, p->id, "about", path);
	if (text)
		ignore(file_replace(path, text, strlen(text), private_file()), "it is told live in any case");
	webstream_tell(p->web, p->job, "profile", o);
	p->id[0] = '\0';
}

/* ---- start ---- */

static struct profile *place_find(struct web *w)
{
	if (!w->profiles)
		w->profiles = calloc(1, sizeof(*w->profiles));
	for (size_t i = 0; w->profiles && i < RUNNING_MOST; i++)
		if (!w->profiles->of[i].id[0])
			return &w->profiles->of[i];
	return NULL;
}

static int child_start(struct profile *p)
{
	char path[480];
	struct webprofile_args args;
	path_make(p->dir, p->id, "json", path);
	cleanup(closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, private_file());
	if (fd < 0)
		return -errno;
	webprofile_args(&p->want, p->job, &args);
	const struct webchild_want how = {.argv = args.argv,
					  .out_fd = fd,
					  .limit_ns = (p->want.seconds + 60) * NS_PER_S,
					  .done = profile_done,
					  .ctx = p};
	int r = webchild_start(p->web, &how, &p->child);
	if (r < 0)
		(void)unlink(path);
	return r;
}

static void profile_begin(const struct webcall *c, const struct job *j, const struct webprofile_want *want)
{
	uint8_t random[6];
	struct profile *p = place_find(c->web);
	if (!p)
		return web_fail(c, 429, "busy", "%d profiles run already; wait for one to end, or cancel it",
				RUNNING_MOST);
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return web_fail(c, 500, "io", "no random number for its name");
	*p = (struct profile){
		.web = c->web, .want = *want, .started_unix_ms = clock_unix_ms(), .started_ns = clock_mono_ns()};
	TEXT_COPY(p->job, j->id);
	dir_of(c->web, j, p->dir);
	TEXT_FORMAT(p->id, "%s-%02x%02x%02x%02x%02x%02x", webprofile_kind_name(want->kind), random[0], random[1],
		    random[2], random[3], random[4], random[5]);
	int r = private_mkdirs(p->dir);
	if (r == 0)
		r = child_start(p);
	if (r < 0) {
		p->id[0] = '\0';
		return web_fail(c, r == -EAGAIN ? 429 : 503, r == -EAGAIN ? "busy" : "io",
				"the profile cannot be begun in %s: %s", p->dir, strerror(-r));
	}
	web_json(c, 202, profile_json(p, "running", ""));
}

void web_profile_start(const struct webcall *c)
{
	struct fault f = {.text = ""};
	struct webprofile_want want;
	struct job j;
	char job[130];
	if (webprofile_parse(c->request->body, c->request->body_len, &want, job, &f) < 0)
		return web_fault(c, &f);
	struct webcall of_job = *c;
	of_job.route.id = job;
	if (!web_job(&of_job, &j))
		return;
	if (!job_is_open(&j) && !webprofile_of_the_dead(want.kind))
		return web_fail(c, 409, "ended", "job %s has ended; there is nothing to look into", j.id);
	if (want.pid > 0 && !web_job_has(c, &j, want.pid))
		return web_fail(c, 404, "absent", "process %d is none of job %s", (int)want.pid, j.id);
	profile_begin(c, &j, &want);
}

/* ---- list, show, drop ---- */

static void dir_list(const char *dir, struct js *list)
{
	DIR *d = opendir(dir);
	if (!d)
		return;
	for (struct dirent *e; js_len(list) < LISTED_MOST && (e = readdir(d));) {
		char id[64];
		size_t len = strlen(e->d_name);
		if (len < 7 || len > 40 || strcmp(e->d_name + len - 6, ".about") != 0)
			continue;
		TEXT_FORMAT(id, "%.*s", (int)(len - 6), e->d_name);
		struct js *o = weburl_is_id(id) ? about_read(dir, id) : NULL;
		if (o)
			js_add(list, o);
	}
	closedir(d);
}

struct listing {
	struct web *web;
	struct js *list;
	size_t jobs;
};

static int job_list(void *ctx, const struct job *j)
{
	struct listing *l = ctx;
	char dir[400];
	dir_of(l->web, j, dir);
	dir_list(dir, l->list);
	return ++l->jobs == 200 || js_len(l->list) >= LISTED_MOST;
}

void web_profiles(const struct webcall *c)
{
	struct listing l = {.web = c->web};
	const char *job = weburl_get(&c->url, "job");
	struct job j = {.id = ""};
	if (job && !weburl_is_id(job))
		return web_fail(c, 400, "bad_request", "job: the id of a job is expected");
	struct webcall of_job = *c;
	of_job.route.id = job;
	if (job && !web_job(&of_job, &j))
		return;
	l.list = js_array();
	for (size_t i = 0; c->web->profiles && i < RUNNING_MOST; i++) {
		const struct profile *p = &c->web->profiles->of[i];
		if (p->id[0] && (!job || strcmp(p->job, j.id) == 0))
			js_add(l.list, profile_json(p, "running", ""));
	}
	struct store *s = web_store(c->web);
	if (job)
		(void)job_list(&l, &j);
	else if (s)
		ignore(store_each_job(s, 0, job_list, &l), "what was found is shown");
	struct js *o = js_object();
	js_put_text(o, "schema", "vigil.profiles/1");
	js_put(o, "profiles", l.list);
	web_json(c, 200, o);
}

struct search {
	struct web *web;
	const char *id;
	char dir[400];
	struct js *about;
};

static int job_search(void *ctx, const struct job *j)
{
	struct search *s = ctx;
	dir_of(s->web, j, s->dir);
	s->about = about_read(s->dir, s->id);
	return s->about != NULL;
}

/* One that has ended, owned by the caller, and its folder; NULL after an answer. */
static struct js *ended_find(const struct webcall *c, char dir[static 400])
{
	struct search s = {.web = c->web, .id = c->route.id};
	struct store *store = web_store(c->web);
	if (store)
		ignore(store_each_job(store, 0, job_search, &s), "then there is none");
	text_copy(dir, 400, s.dir);
	if (!s.about)
		web_fail(c, 404, "absent", "there is no profile '%s'", c->route.id);
	return s.about;
}

void web_profile(const struct webcall *c)
{
	char dir[400];
	const struct profile *p = running_find(c->web, c->route.id);
	struct js *o = p ? profile_json(p, "running", "") : ended_find(c, dir);
	if (o)
		web_json(c, 200, o);
}

void web_profile_drop(const struct webcall *c)
{
	char dir[400], path[480];
	struct profile *p = running_find(c->web, c->route.id);
	if (p) {
		p->cancelled = true;
		webchild_cancel(p->child);
		return web_done(c);
	}
	cleanup(js_freep) struct js *o = ended_find(c, dir);
	if (!o)
		return;
	path_make(dir, c->route.id, "json", path);
	(void)unlink(path);
	path_make(dir, c->route.id, "about", path);
	if (unlink(path) < 0)
		return web_fail(c, 503, "io", "the profile cannot be removed: %s", strerror(errno));
	web_done(c);
}

/* ---- data ---- */

static void file_send(const struct webcall *c, const char *path)
{
	struct stat st;
	char name[120];
	int fd = -1;
	if (foreign_open_kept(path, &fd) != 0 || fstat(fd, &st) < 0) {
		closep(&fd);
		return web_fail(c, 404, "absent", "the profile's file is gone");
	}
	TEXT_FORMAT(name, "attachment; filename=\"%s.json\"", c->route.id);
	struct httpd_answer a = {.status = 200,
				 .type = "application/json",
				 .fd = fd,
				 .len = (size_t)st.st_size,
				 .header = {{"Content-Disposition", name}, {"Cache-Control", "no-store"}},
				 .n_headers = 2};
	httpd_reply(c->request->call, &a);
}

void web_profile_data(const struct webcall *c)
{
	struct fault f = {.text = ""};
	char dir[400], path[480], key[200], name[120];
	size_t format;
	cleanup(js_freep) struct js *o = running_find(c->web, c->route.id) ? NULL : ended_find(c, dir);
	if (!o && running_find(c->web, c->route.id))
		return web_fail(c, 409, "running", "the profile is still being recorded");
	if (!o)
		return;
	enum webprofile_kind kind = webprofile_kind_of(js_get_text(o, "kind", ""));
	if (weburl_choice(&c->url, "format", webprofile_format_names(kind), 0, &format, &f) < 0)
		return web_fault(c, &f);
	if (strcmp(js_get_text(o, "state", ""), "done") != 0)
		return web_fail(c, 409, "failed", "the profile has no data: %s",
				js_get_text(o, "error", "it was cancelled"));
	path_make(dir, c->route.id, "json", path);
	const struct webprofile_form *form = webprofile_form(kind, format);
	if (format == 0)
		return file_send(c, path);
	TEXT_FORMAT(key, "convert %s %s", c->route.id, form->name);
	TEXT_FORMAT(name, "%s.%s", c->route.id, form->suffix);
	const char *argv[] = {webprofile_converter(kind), path, "-f", form->name, "-o", "-", NULL};
	webask(c, &(struct webask){.key = key,
				   .argv = argv,
				   .type = form->type,
				   .attachment = name,
				   .limit_ns = 60 * NS_PER_S,
				   .keep_ns = 10 * NS_PER_S});
}

void webprofiles_free(struct web *w)
{
	char path[480];
	for (size_t i = 0; w->profiles && i < RUNNING_MOST; i++)
		if (w->profiles->of[i].id[0]) { /* its child is gone: half a recording is none */
			path_make(w->profiles->of[i].dir, w->profiles->of[i].id, "json", path);
			(void)unlink(path);
		}
	free(w->profiles);
	w->profiles = NULL;
}
