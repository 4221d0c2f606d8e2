#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/jobs/follow.h"
#include "cli/options/commands.h"
#include "agent/jobs/logfiles.h"
#include "cli/screen/view.h"
#include "sense/rank.h"

struct logs_options {
	uint32_t rank, attempt, tail;
	bool follow, out, err, json;
	const char *state;
};

#define NOT_GIVEN UINT32_MAX

static const struct logs_options defaults = {.rank = NOT_GIVEN, .attempt = NOT_GIVEN, .tail = NOT_GIVEN};

static const struct option options[] = {
	{.name = "rank",
	 .type = OPTION_U32,
	 .arg = "R",
	 .help = "of this rank only",
	 .offset = offsetof(struct logs_options, rank)},
	{.name = "attempt",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "of attempt N, counted from 0, instead of the newest",
	 .offset = offsetof(struct logs_options, attempt)},
	{.name = "tail",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "begin with the last N lines of each file",
	 .offset = offsetof(struct logs_options, tail)},
	{.name = "follow",
	 .letter = 'f',
	 .type = OPTION_FLAG,
	 .help = "go on with what is printed from now on",
	 .offset = offsetof(struct logs_options, follow)},
	{.name = "stdout",
	 .type = OPTION_FLAG,
	 .help = "standard output only",
	 .offset = offsetof(struct logs_options, out)},
	{.name = "stderr",
	 .type = OPTION_FLAG,
	 .help = "standard error only",
	 .offset = offsetof(struct logs_options, err)},
	OPTION_JSON(logs_options),
	OPTION_STATE(logs_options),
	OPTION_END,
};

struct logs {
	struct view *view;
	const struct logs_options *options;
	struct job job;
	char id[64];
	char log_dir[300];
	struct logfiles files;
	bool several_ranks, both_streams;
	bool reader_gone;
};

static unsigned streams_of(const struct logs_options *o)
{
	unsigned s = (o->out ? LOGFILES_OUT : 0) | (o->err ? LOGFILES_ERR : 0);
	return s ? s : LOGFILES_OUT | LOGFILES_ERR;
}

static bool is_empty(const struct logfile *f)
{
	struct stat st;
	return fstat(f->fd, &st) == 0 && st.st_size == 0;
}

/* Lines get a mark only where several ranks or both streams are shown. */
static void decide_marks(struct logs *l)
{
	bool out = false, err = false;
	for (size_t i = 0; i < l->files.n; i++) {
		l->several_ranks |= l->files.files[i].rank != l->files.files[0].rank;
		if (l->options->follow || !is_empty(&l->files.files[i]))
			*(l->files.files[i].err ? &err : &out) = true;
	}
	l->both_streams = out && err;
}

/* "vigil.log/1", without the line's end. */
static void print_json(struct logs *l, const struct logfile *f, const char *text, size_t len)
{
	cleanup(js_freep) struct js *o = js_object();
	bool ended = len > 0 && text[len - 1] == '\n';
	cleanup(freep) char *line = strndup(text, ended ? len - 1 : len);
	js_put_text(o, "schema", "vigil.log/1");
	js_put_text(o, "job", l->id);
	js_put_u64(o, "attempt", l->files.attempt);
	if (f->rank != NO_RANK)
		js_put_i64(o, "rank", f->rank);
	js_put_text(o, "stream", f->err ? "stderr" : "stdout");
	js_put_text(o, "line", line ? line : "");
	l->reader_gone |= js_write(o, stdout, 0) < 0;
}

static int print_line(void *ctx, const struct logfile *f, const char *text, size_t len)
{
	struct logs *l = ctx;
	if (l->options->json) {
		print_json(l, f, text, len);
		return l->reader_gone;
	}
	bool mark_err = l->both_streams && f->err;
	if (l->several_ranks)
		printf("[rank %d%s] ", f->rank, mark_err ? " err" : "");
	else if (mark_err)
		fputs("[err] ", stdout);
	if (fwrite(text, 1, len, stdout) < len || (l->several_ranks && text[len - 1] != '\n' && putchar('\n') == EOF))
		l->reader_gone = true;
	return l->reader_gone;
}

static int print_new(struct logs *l, bool last)
{
	bool raw = !l->options->json && !l->several_ranks && !l->both_streams;
	for (size_t i = 0; i < l->files.n; i++) {
		int r = logfiles_read(&l->files.files[i], raw, last, print_line, l);
		if (r < 0 && r != -ECANCELED) {
			log_error("cannot read the log of rank %d in %s: %s", l->files.files[i].rank, l->files.dir,
				  strerror(-r));
			return EXIT_PROBLEM;
		}
	}
	if (fflush(stdout) == EOF)
		l->reader_gone = true;
	return 0;
}

static int no_logs(const struct logs *l, int r)
{
	if (l->job.adopted)
		log_error("job %s was not started by vigil, so its output is not kept", l->id);
	else if (r == -ENOENT)
		log_error("no output is kept, or no longer, for %s%s in %s: that of jobs that ended longest ago is "
			  "removed when there is too much in all (--keep-output-all)",
			  l->id, l->options->attempt == NOT_GIVEN ? "" : " in that attempt", l->log_dir);
	else
		log_error("cannot read the logs in %s: %s", l->log_dir, strerror(-r));
	return r == -EACCES ? EXIT_DENIED : r == -ENOENT ? EXIT_ABSENT : EXIT_PROBLEM;
}

/* Opens an attempt's files. first: they begin where --tail says. */
static int open_attempt(struct logs *l, uint32_t attempt, bool first)
{
	const struct logs_options *o = l->options;
	int32_t rank = o->rank == NOT_GIVEN ? -1 : (int32_t)MIN(o->rank, (uint32_t)INT32_MAX);
	int r = logfiles_open(&l->files, l->log_dir, attempt, rank, streams_of(o));
	for (size_t i = 0; first && r == 0 && i < l->files.n && o->tail != NOT_GIVEN; i++)
		r = logfiles_tail(&l->files.files[i], o->tail);
	if (r == 0)
		decide_marks(l);
	return r;
}

static int open_first(struct logs *l)
{
	uint32_t attempt = l->options->attempt;
	int r = attempt == NOT_GIVEN ? logfiles_newest(l->log_dir, &attempt) : 0;
	if (r == 0)
		r = open_attempt(l, attempt, true);
	if (r < 0)
		return no_logs(l, r);
	if (l->files.n == 0 && l->options->rank != NOT_GIVEN && !l->options->follow) {
		log_error("no output of rank %u is kept in %s; 'vigil show %s' lists the ranks", l->options->rank,
			  l->files.dir, l->id);
		return EXIT_ABSENT;
	}
	/* removed to make room (agent/jobs/keptoutput), or it could not be written */
	return l->files.n == 0 && !l->options->follow ? no_logs(l, -ENOENT) : 0;
}

/* More attempts at once are no job's: they are passed over. */
#define ATTEMPTS_AT_ONCE 256

static int open_again(struct logs *l, uint32_t attempt)
{
	int r = open_attempt(l, attempt, false);
	return r < 0 && r != -ENOENT ? no_logs(l, r) : 0;
}

/* The attempt before has ended: all that it printed, also into files that appeared since, then the next one's files. */
static int follow_next(struct logs *l, uint32_t next)
{
	int status = open_again(l, l->files.attempt);
	if (status == 0)
		status = print_new(l, true);
	if (status != 0)
		return status;
	logfiles_done(&l->files);
	log_info("attempt %u begins", next);
	return open_again(l, next);
}

/* Goes on with the files of new attempts, one after the other, and with files that appeared. */
static int follow_attempt(struct logs *l, struct follow *f)
{
	uint32_t newest = l->files.attempt;
	int status = 0;
	if (l->options->attempt == NOT_GIVEN)
		ignore(logfiles_newest(l->log_dir, &newest), "its folder is gone: there is nothing newer");
	while (status == 0 && l->files.attempt < newest) {
		const bool near = newest - l->files.attempt <= ATTEMPTS_AT_ONCE;
		status = follow_next(l, near ? l->files.attempt + 1 : newest);
	}
	if (status == 0)
		status = open_again(l, newest);
	if (status != 0)
		return status;
	char folder[32];
	TEXT_FORMAT(folder, "attempt-%u", newest);
	int r = follow_folder(f, l->log_dir, folder);
	return r < 0 && r != -ENOENT ? no_logs(l, r) : 0;
}

/* Shows output until the job has ended and all it printed has been shown. */
static int logs_follow(struct logs *l)
{
	cleanup(follow_done) struct follow f = {.inotify_fd = -1, .pid_fd = -1};
	int r = follow_open(l->view->state, &f);
	if (r == 0)
		r = follow_folder(&f, l->log_dir, NULL);
	if (r < 0) {
		log_error("cannot watch %s: %s", l->log_dir, strerror(-r));
		return EXIT_PROBLEM;
	}
	follow_process(&f, l->job.supervisor_pid);
	for (;;) {
		unsigned what = 0;
		/* read before the files, so that all output of a job that has ended is shown */
		int status = view_job(l->view, l->id, &l->job);
		bool live = job_is_open(&l->job);
		if (status == 0)
			status = follow_attempt(l, &f);
		if (status == 0)
			status = print_new(l, !live);
		if (status != 0 || !live || l->reader_gone)
			return status;
		if ((r = follow_wait(&f, &what)) < 0) {
			log_error("cannot wait for the logs: %s", strerror(-r));
			return EXIT_PROBLEM;
		}
		if (what & FOLLOW_NO_READER)
			return 0;
	}
}

static void logs_done(struct logs *l)
{
	logfiles_done(&l->files);
}

static int logs_run(const void *opts, int argc, char **argv)
{
	const struct logs_options *o = opts;
	cleanup(view_done) struct view v = {.store = NULL};
	cleanup(logs_done) struct logs l = {.view = &v, .options = o};
	int status = view_words("logs", argc, argv, 1);
	if (status == 0)
		status = view_open(o->state, &v);
	if (status == 0)
		status = view_job(&v, argc == 1 ? argv[0] : NULL, &l.job);
	if (status != 0)
		return status;
	TEXT_COPY(l.id, l.job.id);
	if (l.job.log_dir[0])
		TEXT_COPY(l.log_dir, l.job.log_dir);
	else
		TEXT_FORMAT(l.log_dir, "%.200s/jobs/%.64s", v.state, l.id);
	status = open_first(&l);
	if (status != 0)
		return status;
	return o->follow ? logs_follow(&l) : print_new(&l, true);
}

const struct command command_logs = {
	.name = "logs",
	.usage = "vigil logs [JOB|PID|last] [--rank R] [--attempt N] [--stdout|--stderr] [--tail N] [--follow] "
		 "[--json]",
	.summary = "show what a job printed",
	.about = "The output of the newest attempt, each rank's standard output and then its standard error. Lines "
		 "begin with [rank R] when several ranks are shown, and with err when both streams are. With --follow "
		 "it ends when the job ends, and goes on with the next attempt when the job is started again.",
	.examples = "vigil logs last --tail 20\n"
		    "vigil logs digits --rank 0 --stderr --follow",
	.options = options,
	.options_size = sizeof(struct logs_options),
	.defaults = &defaults,
	.run = logs_run,
	.usage_status = EXIT_USAGE,
};
