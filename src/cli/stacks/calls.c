#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/host/world_open.h"
#include "agent/jobs/jobfolder.h"
#include "agent/stacks/callfiles.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options/commands.h"
#include "cli/screen/pager.h"
#include "agent/jobs/logfiles.h"
#include "cli/screen/view.h"
#include "cli/stacks/recording.h"
#include "model/stacks/calls_stackset.h"
#include "sense/rank.h"
#include "sense/proc/proc.h"
#include "tell/stacks/calls_show.h"
#include "tell/stacks/flame.h"

enum calls_format { CALLS_TABLE, CALLS_HTML, CALLS_JSON, CALLS_PSTATS };

#define NOT_GIVEN UINT32_MAX
#define JSON_MAX (256 * MIB)
/* What fits a screen; the rest is a click away in HTML. */
#define ROWS_ON_TERMINAL 30

struct calls_options {
	int sort, format;
	uint32_t limit, attempt, rank;
	uint64_t duration_ns;
	bool ranks, per_rank, json;
	const char *output, *state;
};

static const char *const sort_choices[] = {"tottime", "cumtime", "ncalls", NULL};
static const char *const format_choices[] = {"table", "html", "json", "pstats", NULL};

static const struct calls_options defaults = {
	.limit = NOT_GIVEN, .attempt = NOT_GIVEN, .rank = NOT_GIVEN, .duration_ns = 5 * NS_PER_S};

static const struct option options[] = {
	{.name = "sort",
	 .type = OPTION_CHOICE,
	 .arg = "BY",
	 .help = "what comes first",
	 .choices = sort_choices,
	 .offset = offsetof(struct calls_options, sort)},
	{.name = "format",
	 .letter = 'f',
	 .type = OPTION_CHOICE,
	 .arg = "F",
	 .help = "what to write",
	 .choices = format_choices,
	 .offset = offsetof(struct calls_options, format)},
	{.name = "limit",
	 .letter = 'n',
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "at most N functions; 0 all, which is the default but for a table on a terminal",
	 .offset = offsetof(struct calls_options, limit)},
	{.name = "ranks",
	 .type = OPTION_FLAG,
	 .help = "columns over ranks: least, mean and most cumulative time, and whose the most is",
	 .offset = offsetof(struct calls_options, ranks)},
	{.name = "rank",
	 .type = OPTION_U32,
	 .arg = "R",
	 .help = "of this rank only",
	 .offset = offsetof(struct calls_options, rank)},
	{.name = "per-rank",
	 .type = OPTION_FLAG,
	 .help = "one table for each rank",
	 .offset = offsetof(struct calls_options, per_rank)},
	{.name = "attempt",
	 .type = OPTION_U32,
	 .arg = "N",
	 .help = "of attempt N, counted from 0, instead of the newest",
	 .offset = offsetof(struct calls_options, attempt)},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "write into FILE instead of stdout",
	 .offset = offsetof(struct calls_options, output)},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "SECONDS",
	 .help = "how long a process is looked at whose calls were not counted",
	 .offset = offsetof(struct calls_options, duration_ns)},
	OPTION_JSON(calls_options),
	OPTION_STATE(calls_options),
	OPTION_END,
};

struct showing {
	const struct calls_options *options;
	enum calls_format format;
	struct call_sources sources;
	struct calls *samples; /* of what nobody counted, or of a file of JSON; NULL */
	char title[256];
	char where[512]; /* directory of a job's profiles; "" */
};

static void showing_done(struct showing *s)
{
	call_sources_done(&s->sources);
	s->samples = calls_free(s->samples);
}

/* Of one rank; CALLFILES_ALL: all. Their texts stay those of `all`. */
static int sources_of(const struct call_sources *all, int32_t rank, struct call_sources *ret)
{
	ret->items = calloc(all->n + 1, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	ret->n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (rank == CALLFILES_ALL || all->items[i].rank == rank)
			ret->items[ret->n++] = all->items[i];
	return 0;
}

static int write_calls(const struct showing *s, const struct calls *c, const struct call_sources *sources,
		       const char *title, FILE *to)
{
	const struct calls_options *o = s->options;
	bool screen = s->format == CALLS_TABLE && !o->output && isatty(STDOUT_FILENO);
	const struct calls_want want = {
		.sort = (enum calls_sort)o->sort,
		.limit = o->limit != NOT_GIVEN ? o->limit
			 : screen	       ? ROWS_ON_TERMINAL
					       : 0,
		.ranks = o->ranks,
		.title = title,
		.sources = sources,
	};
	if (s->format != CALLS_TABLE)
		pager_whole_lines();
	if (s->format == CALLS_HTML)
		return calls_html(c, &want, to);
	if (s->format == CALLS_PSTATS)
		return calls_pstats(c, to);
	if (s->format == CALLS_TABLE)
		return calls_table(c, &want, to);
	cleanup(js_freep) struct js *j = calls_json(c, &want);
	return j ? js_write(j, to, 0) : -ENOMEM;
}

static void say_remarks(const struct calls *c, const struct call_sources *sources)
{
	char text[16][400];
	size_t n = calls_remarks(c, sources, text, ARRAY_SIZE(text));
	for (size_t i = 0; i < n; i++)
		log_warning("%s", text[i]);
	if (n == ARRAY_SIZE(text))
		log_warning("and more; --json names all");
}

static void no_such_rank(const struct showing *s)
{
	int32_t low = INT32_MAX, high = -1;
	for (size_t i = 0; i < s->sources.n; i++) {
		if (s->sources.items[i].rank == NO_RANK)
			continue;
		low = MIN(low, s->sources.items[i].rank);
		high = MAX(high, s->sources.items[i].rank);
	}
	if (high < 0)
		log_error("there is no rank %u: no process of %s had a rank", s->options->rank, s->title);
	else if (low == high)
		log_error("there is no profile of rank %u of %s, only of rank %d", s->options->rank, s->title, low);
	else
		log_error("there is no profile of rank %u of %s, which has some of ranks %d to %d", s->options->rank,
			  s->title, low, high);
}

static int nothing_read(const struct showing *s)
{
	say_remarks(NULL, &s->sources);
	if (s->options->rank != NOT_GIVEN && s->sources.n > 0)
		no_such_rank(s);
	else if (s->where[0])
		log_error("no Python process of %s left a profile in %s: it ran none of CPython 3.8 or later, or only "
			  "with -I, -E or -S "
			  "or a PYTHONPATH of its own, which keep cProfile from being started",
			  s->title, s->where);
	else
		log_error("no profile could be read");
	return EXIT_PROBLEM;
}

/* All of it, or one table a rank. */
static int write_all(struct showing *s, FILE *to)
{
	const struct calls_options *o = s->options;
	int32_t only = o->rank == NOT_GIVEN ? CALLFILES_ALL : (int32_t)MIN(o->rank, (uint32_t)INT32_MAX);
	size_t n = 0;
	int r = 0;
	if (s->samples) {
		say_remarks(s->samples, &s->sources);
		return write_calls(s, s->samples, &s->sources, s->title, to);
	}
	for (size_t i = 0; r == 0 && (o->per_rank ? i < s->sources.n : i < 1); i++) {
		cleanup(calls_freep) struct calls *c = NULL;
		cleanup(call_sources_done) struct call_sources sources = {.items = NULL};
		char title[300];
		if (o->per_rank && i > 0 && s->sources.items[i].rank == s->sources.items[i - 1].rank)
			continue;
		int32_t rank = o->per_rank ? s->sources.items[i].rank : only;
		if (o->per_rank && only != CALLFILES_ALL && rank != only)
			continue;
		r = callfiles_read(&s->sources, rank, &c);
		if (r == CALLFILES_NOTHING) {
			r = 0;
			continue;
		}
		if (r < 0)
			break;
		TEXT_COPY(title, s->title);
		if (rank != CALLFILES_ALL && rank != NO_RANK)
			TEXT_FORMAT(title, "%s, rank %d", s->title, rank);
		if (o->per_rank && s->format == CALLS_TABLE)
			fprintf(to, "%s%s\n\n", title, rank == NO_RANK ? ", processes without a rank" : "");
		r = sources_of(&s->sources, rank, &sources);
		if (r < 0)
			break;
		n++;
		say_remarks(c, &sources);
		r = write_calls(s, c, &sources, title, to);
	}
	return r == 0 && n == 0 ? CALLFILES_NOTHING : r;
}

/* A file is there as a whole or not at all, and what is no plain file (a device, a pipe) is written into. */
static int write_out(struct showing *s)
{
	struct recording_out out;
	struct fault f = {.text = ""};
	int r = recording_out_open(s->options->output, "", "", "", true, &out, &f);
	if (r == 0) {
		r = write_all(s, out.to);
		if (!out.path[0]) /* main looks at stdout in the end, and says why */
			return r == -EIO ? 0 : r;
		int e = recording_out_close(&out, r == 0, &f);
		if (r == CALLFILES_NOTHING)
			return r;
		r = e ? e : r;
	}
	if (!f.text[0])
		return r;
	log_error("%s", f.text);
	return -EIO;
}

static int show(struct showing *s)
{
	callfiles_sort(&s->sources);
	int r = write_out(s);
	if (r == CALLFILES_NOTHING)
		return nothing_read(s);
	if (r < 0 && r != -EIO) /* that has been said */
		log_error("cannot show the calls: %s", strerror(-r));
	return r == 0 ? 0 : EXIT_PROBLEM;
}

static int add_path(struct showing *s, const char *path, const struct stat *st)
{
	int r = S_ISDIR(st->st_mode) ? callfiles_add_dir(&s->sources, path) : callfiles_add_file(&s->sources, path);
	if (r == 0)
		return 0;
	log_error("cannot read %s: %s", path, strerror(-r));
	return r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
}

/* What --json printed before, in another form. -EBADMSG: the file is none such. */
static int json_file_read(struct showing *s, const char *path, struct fault *f)
{
	cleanup(freep) char *text = NULL;
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char first;
	size_t len = 0;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || pread(fd, &first, 1, 0) != 1 || first != '{')
		return -EBADMSG; /* a profile, or what is said of one that cannot be read */
	int r = file_slurp_fd(fd, JSON_MAX, &text, &len);
	if (r == 0)
		r = calls_json_read(text, len, &s->samples, f);
	return r < 0 && !f->text[0] ? fault_set(f, r, "cannot read it: %s", strerror(-r)) : r;
}

static int show_files(struct showing *s, int argc, char **argv)
{
	struct fault f = {.text = ""};
	if (argc == 1 && json_file_read(s, argv[0], &f) == 0) {
		TEXT_COPY(s->title, argv[0]);
		return show(s);
	}
	if (f.text[0]) {
		log_error("%s: %s", argv[0], f.text);
		return EXIT_PROBLEM;
	}
	for (int i = 0; i < argc; i++) {
		struct stat st;
		if (stat(argv[i], &st) < 0) {
			log_error("cannot read %s: %s", argv[i], strerror(errno));
			return errno == EACCES ? EXIT_DENIED : EXIT_ABSENT;
		}
		int status = add_path(s, argv[i], &st);
		if (status != 0)
			return status;
	}
	if (argc == 1)
		TEXT_COPY(s->title, argv[0]);
	else
		TEXT_FORMAT(s->title, "%d files", argc);
	return show(s);
}

static int samples_of(struct showing *s, const struct stackset *set, struct fault *f)
{
	cleanup(stackset_freep) struct stackset *part = NULL;
	const struct stack_want want = {.idle = true,
					.lines = true,
					.has_rank = true,
					.rank = (int32_t)MIN(s->options->rank, (uint32_t)INT32_MAX)};
	bool only_idle = false, there = false;
	size_t n;
	const struct stack_lane *lanes = stackset_lanes(set, &n);
	if (s->options->rank == NOT_GIVEN)
		return calls_from_stackset(set, &s->samples);
	for (size_t i = 0; i < n; i++)
		there |= lanes[i].rank == want.rank;
	if (!there)
		return fault_set(f, EXIT_PROBLEM, "there is no rank %u in %s", s->options->rank, s->title);
	int r = stackset_view(set, &want, &part, &only_idle);
	return r < 0 ? r : calls_from_stackset(part, &s->samples);
}

/*
 * A process or job that nobody counted: it is looked at for some seconds instead, and the table says that it holds
 * samples.
 */
static int show_samples(struct showing *s, const struct view *v, const struct subject *what)
{
	cleanup(stackset_freep) struct stackset *set = NULL;
	struct fault f = {.text = ""};
	const struct members_want members = {.ask = true,
					     .job_id = what->is_job ? what->job.id : NULL,
					     .uid = what->job.uid,
					     .root = what->pid,
					     .group = what->is_job ? what->job.cgroup : NULL};
	const struct recording_want want = {.members = &members,
					    .duration_ns = s->options->duration_ns,
					    .rate_hz = 100,
					    .children = true,
					    .subject = what,
					    .state = s->options->state};
	if (s->options->per_rank) {
		log_error("the calls of %s were not counted, and samples make one table: name one rank with --rank R",
			  s->title);
		return EXIT_USAGE;
	}
	if (s->format == CALLS_PSTATS) {
		log_error(
			"the calls of %s were not counted, and samples do not make a .prof file; count with 'vigil run "
			"--calls -- COMMAND'",
			s->title);
		return EXIT_PROBLEM;
	}
	log_info("the calls of %s were not counted (that begins with 'vigil run --calls -- COMMAND'): it is looked at "
		 "for a "
		 "while instead, and these are samples",
		 s->title);
	int r = v->has_world ? recording_make(&v->world, &want, &set, &f) : -ENOENT;
	if (r) {
		log_error("%s: %s", what->text, f.text[0] ? f.text : "the processes of this machine cannot be seen");
		return r == PROFILE_NONE ? EXIT_ABSENT : r == WORLD_DENIED ? EXIT_DENIED : EXIT_PROBLEM;
	}
	r = samples_of(s, set, &f);
	if (r == EXIT_PROBLEM) {
		log_error("%s", f.text);
		return r;
	}
	if (r < 0) {
		log_error("cannot make a table of the samples: %s", strerror(-r));
		return EXIT_PROBLEM;
	}
	r = show(s);
	flame_summary(set, stderr);
	return r ? r : recording_status(set, what);
}

/* Only what a process itself left, when the job was named by it. */
static void keep_pid(struct call_sources *s, pid_t pid)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].pid == pid)
			s->items[n++] = s->items[i];
	if (n > 0)
		s->n = n;
}

static int show_samples_of_pid(struct showing *s, const struct view *v, pid_t pid)
{
	struct subject only = {.pid = pid};
	TEXT_FORMAT(s->title, "process %d", pid);
	TEXT_FORMAT(only.text, "process %d and its descendants", pid);
	TEXT_FORMAT(only.key, "pid-%d", pid);
	return show_samples(s, v, &only);
}

static int no_such_attempt(const struct showing *s, const char *log_dir)
{
	char path[400];
	uint32_t newest = 0;
	TEXT_FORMAT(path, "%.300s/attempt-%u", log_dir, s->options->attempt);
	if (access(path, F_OK) == 0)
		log_error("the calls of attempt %u of %s were not counted", s->options->attempt, s->title);
	else if (logfiles_newest(log_dir, &newest) == 0)
		log_error("there is no attempt %u of %s: the newest is %u, the first 0", s->options->attempt, s->title,
			  newest);
	else
		log_error("there is no attempt %u of %s", s->options->attempt, s->title);
	return EXIT_PROBLEM;
}

/* The profiles of an attempt; ret holds their folder. */
static int kept_add(struct showing *s, const char *log_dir, uint32_t attempt, struct jobfolder *ret)
{
	char folder[48], held[32];
	TEXT_FORMAT(folder, "attempt-%u/calls", attempt);
	TEXT_FORMAT(s->where, "%s/%s", log_dir, folder);
	int r = jobfolder_open(log_dir, folder, ret);
	if (r < 0)
		return r;
	return callfiles_add_dir(&s->sources, ret->anothers ? world_fd_path(getpid(), ret->fd, held) : s->where);
}

static int show_job(struct showing *s, const struct view *v, const struct job *j, pid_t pid)
{
	char log_dir[300];
	uint32_t attempt = s->options->attempt;
	if (j->log_dir[0])
		TEXT_COPY(log_dir, j->log_dir);
	else
		TEXT_FORMAT(log_dir, "%.200s/jobs/%.64s", v->state, j->id);
	TEXT_FORMAT(s->title, "job %s", j->id);
	int r = attempt == NOT_GIVEN ? logfiles_newest(log_dir, &attempt) : 0;
	cleanup(jobfolder_done) struct jobfolder f = {.fd = -1};
	if (r == 0)
		r = kept_add(s, log_dir, attempt, &f);
	if (r == -ENOENT && s->options->attempt != NOT_GIVEN)
		return no_such_attempt(s, log_dir);
	if (r == -ENOENT && pid > 0 && j->pid > 0)
		return show_samples_of_pid(s, v, pid);
	if (r == -ENOENT && j->pid > 0) {
		struct subject what = {.is_job = true, .job = *j, .pid = j->pid};
		TEXT_FORMAT(what.text, "job %s", j->id);
		TEXT_COPY(what.key, j->id);
		return show_samples(s, v, &what);
	}
	if (r == -ENOENT) {
		log_error("the calls of %s were not counted, and it has ended; count them from the start with 'vigil "
			  "run --calls "
			  "-- COMMAND'",
			  s->title);
		return EXIT_ABSENT;
	}
	if (r < 0) {
		log_error("cannot read %s: %s", s->where, strerror(-r));
		return r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	}
	if (pid > 0)
		keep_pid(&s->sources, pid);
	return show(s);
}

static int show_subject(struct showing *s, const char *what)
{
	cleanup(view_done) struct view v = {.store = NULL};
	struct job j;
	struct proc_stat st;
	uint64_t pid = 0;
	int status = view_open(s->options->state, &v);
	if (status != 0)
		return status;
	bool is_pid = what && span_u64(span_of(what), &pid) == 0 && pid > 0 && pid <= INT32_MAX;
	if (is_pid && v.store && store_find_job_of_pid(v.store, (pid_t)pid, &j) == 0)
		return show_job(s, &v, &j, (pid_t)pid);
	if (is_pid && v.has_world && proc_stat_read(&v.world, (pid_t)pid, &st) == 0)
		return show_samples_of_pid(s, &v, (pid_t)pid);
	status = view_job(&v, what, &j);
	return status == 0 ? show_job(s, &v, &j, 0) : status;
}

static bool names_file(const char *word)
{
	return strchr(word, '/') || access(word, F_OK) == 0;
}

static int calls_run(const void *opts, int argc, char **argv)
{
	const struct calls_options *o = opts;
	cleanup(showing_done) struct showing s = {.options = o,
						  .format = o->json ? CALLS_JSON : (enum calls_format)o->format};
	if (s.format == CALLS_PSTATS && !o->output && isatty(STDOUT_FILENO)) {
		log_error("a .prof file is not for a terminal; name a file with -o");
		return EXIT_USAGE;
	}
	if (o->per_rank && s.format != CALLS_TABLE && s.format != CALLS_JSON) {
		log_error("--per-rank gives several tables; for --format %s name one rank with --rank R",
			  format_choices[s.format]);
		return EXIT_USAGE;
	}
	struct fault f = {.text = ""};
	if (recording_out_probe(o->output, &f) != 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	if (argc > 0 && names_file(argv[0]))
		return show_files(&s, argc, argv);
	if (argc > 1) {
		log_error("'%s' is no file: one job, one process or any number of profiles are expected", argv[0]);
		return EXIT_ABSENT;
	}
	int status = view_words("calls", argc, argv, 1);
	return status == 0 ? show_subject(&s, argc == 1 ? argv[0] : NULL) : status;
}

const struct command command_calls = {
	.name = "calls",
	.usage = "vigil calls [OPTIONS] [JOB|PID|last|FILE…]",
	.summary = "show how often each function was called, and for how long",
	.about = "The profiles that `vigil run --calls` let CPython's own cProfile take in every Python process of the "
		 "job, merged "
		 "over ranks and workers; or any .prof files, a directory of them, or one file that --json wrote. "
		 "The table is the one that "
		 "cProfile prints; "
		 "--format pstats writes a file that Python's pstats and its viewers load.\n"
		 "\n"
		 "NCALLS reads \"all/primitive\" where a function called itself. TOTTIME is spent in the function "
		 "itself, CUMTIME "
		 "includes what it called. With --ranks there are four columns more: the least, mean and greatest "
		 "cumulative time "
		 "over the ranks (over the processes, where there are no ranks), and the rank that has the greatest. "
		 "A process that was killed has its profile as it was last written: half a second before, or some "
		 "seconds where there are thousands of functions (PyTorch), since writing takes 1 % of the time at "
		 "most.\n"
		 "\n"
		 "A running process whose calls were not counted is looked at for some seconds instead (-d); the table "
		 "then "
		 "holds samples and says so.",
	.examples = "vigil run --calls -- python train.py\n"
		    "vigil calls last --sort cumtime --limit 20\n"
		    "vigil calls last --ranks\n"
		    "vigil calls last --format html -o calls.html\n"
		    "vigil calls a.prof b.prof --format pstats -o both.prof",
	.options = options,
	.options_size = sizeof(struct calls_options),
	.defaults = &defaults,
	.run = calls_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
