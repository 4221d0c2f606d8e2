#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/collective/collectives.h"
#include "agent/collective/ncclrun.h"
#include "agent/host/world_open.h"
#include "agent/jobs/jobfolder.h"
#include "base/buf.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "cli/options/state.h"
#include "cli/options/subject.h"
#include "judge/collective/collective.h"
#include "tell/collective/collective_show.h"

struct collectives_options {
	const char *state;
	const char *ras_addr;
	uint64_t wait_ns;
	bool ras, force, dump;
	bool json;
};

static const struct collectives_options collectives_defaults = {.wait_ns = 20 * NS_PER_S, .ras = true};

static const struct option collectives_options[] = {
	{.name = "ras-addr",
	 .type = OPTION_TEXT,
	 .arg = "HOST:PORT",
	 .help = "where NCCL's RAS listens, if not where the job says",
	 .offset = offsetof(struct collectives_options, ras_addr)},
	{.name = "[no-]ras",
	 .type = OPTION_FLAG,
	 .help = "ask NCCL's RAS of a running job, where that is safe",
	 .offset = offsetof(struct collectives_options, ras)},
	{.name = "force",
	 .type = OPTION_FLAG,
	 .help = "ask it though its version is old or unknown, or the job just starts: this can crash the job",
	 .offset = offsetof(struct collectives_options, force)},
	{.name = "dump",
	 .type = OPTION_FLAG,
	 .help = "ask the ranks for a new Flight Recorder dump, if they have a pipe for it",
	 .offset = offsetof(struct collectives_options, dump)},
	{.name = "wait",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "how long to wait for dumps and answers",
	 .offset = offsetof(struct collectives_options, wait_ns)},
	OPTION_STATE(collectives_options),
	OPTION_JSON(collectives_options),
	OPTION_END,
};

static int collectives_show(const struct collectives_options *o, const struct collectives *c, const char *subject)
{
	cleanup(freep) struct collective_verdict *v = calloc(1, sizeof(*v));
	if (!v) {
		log_error("out of memory");
		return EXIT_PROBLEM;
	}
	ignore(collective_judge(c->set, v), "invalid then, and shown as such");
	const struct collective_show s = {
		.set = c->set, .verdict = v, .subject = subject, .notes = c->note, .n_notes = c->n_notes};
	if (o->json) {
		cleanup(js_freep) struct js *j = collective_json(&s);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	} else {
		collective_text_show(&s, stdout);
	}
	if (!v->valid)
		return EXIT_ABSENT;
	return v->kind == COLLECTIVE_NONE ? 0 : EXIT_PROBLEM;
}

static int of_files(const struct collectives_options *o, int argc, char **argv)
{
	cleanup(collectives_done) struct collectives c = {.set = NULL};
	if (collectives_of_files(argv, (size_t)argc, &c) != 0) {
		log_error("out of memory");
		return EXIT_PROBLEM;
	}
	return collectives_show(o, &c, "");
}

static int of_job(const struct world *w, const struct collectives_options *o, const struct subject *s)
{
	const struct members_want members = {.ask = true,
					     .job_id = s->is_job ? s->job.id : NULL,
					     .uid = s->job.uid,
					     .root = s->pid,
					     .group = s->is_job ? s->job.cgroup : NULL};
	const struct collectives_want want = {.members = &members,
					      .ras_address = o->ras_addr,
					      .ras_force = o->force,
					      .no_ras = !o->ras,
					      .ask_dumps = o->dump,
					      .limit_ns = o->wait_ns};
	cleanup(collectives_done) struct collectives c = {.set = NULL};
	int e = collectives_of_job(w, &want, &c);
	if (e) {
		log_error("%s: its processes cannot be read: %s", s->text, strerror(e < 0 ? -e : EACCES));
		return EXIT_PROBLEM;
	}
	return collectives_show(o, &c, s->text);
}

/* True if the job has ended and rings of its last attempt were kept; dst: their folder, which ret holds. */
static bool rings_kept(const struct subject *s, struct jobfolder *ret, char *dst, size_t cap)
{
	char folder[48], held[32];
	if (!s->is_job || s->job.ended_unix_ms == 0 || !s->job.log_dir[0])
		return false;
	ncclrun_kept(s->job.log_dir, s->job.attempt, dst, cap);
	TEXT_FORMAT(folder, "attempt-%u/nccl", s->job.attempt);
	if (jobfolder_open(s->job.log_dir, folder, ret) < 0)
		return false;
	if (ret->anothers)
		(void)text_format(dst, cap, "%s", world_fd_path(getpid(), ret->fd, held));
	return true;
}

static int of_ended(const struct collectives_options *o, const struct subject *s, char *folder)
{
	cleanup(collectives_done) struct collectives c = {.set = NULL};
	if (collectives_of_files(&folder, 1, &c) != 0) {
		log_error("out of memory");
		return EXIT_PROBLEM;
	}
	return collectives_show(o, &c, s->text);
}

static bool all_are_files(int argc, char **argv)
{
	struct stat st;
	for (int i = 0; i < argc; i++)
		if (stat(argv[i], &st) != 0 && !strchr(argv[i], '/'))
			return false;
	return true;
}

static int collectives_run(const void *options, int argc, char **argv)
{
	const struct collectives_options *o = options;
	struct world w;
	struct subject s;
	struct fault f = {.text = ""};
	struct ncclras_address address;
	char state[256], folder[320];
	/* a rank that closes its pipe must not end this process */
	(void)signal(SIGPIPE, SIG_IGN);
	if (o->ras_addr && ncclras_address_parse(span_of(o->ras_addr), &address, &f) != 0) {
		log_error("--ras-addr: %s", f.text);
		return EXIT_USAGE;
	}
	if (argc > 0 && all_are_files(argc, argv))
		return of_files(o, argc, argv);
	if (argc > 1) {
		log_error("one JOB or PID is expected, or only files; see 'vigil help collectives'");
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0 || state_dir(o->state, state, sizeof(state), &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	cleanup(jobfolder_done) struct jobfolder kept = {.fd = -1};
	int r = subject_find(&w, state, argc == 1 ? argv[0] : "last", &s, &f);
	int status = r == SUBJECT_NONE ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
	if (r)
		log_error("%s", f.text);
	else
		status = rings_kept(&s, &kept, folder, sizeof(folder)) ? of_ended(o, &s, folder) : of_job(&w, o, &s);
	world_close(&w);
	return status;
}

const struct command command_collectives = {
	.name = "collectives",
	.usage = "vigil collectives [OPTIONS] [FILE…|JOB|PID|last]",
	.summary = "which rank holds up the collectives of a distributed job, and how",
	.about = "Compares what all ranks asked their collective library for, and says who did not join, who called "
		 "something else, which send has no receive, which ranks wait for each other, or that all are in the "
		 "same call and the cause lies below.\n"
		 "\n"
		 "With FILEs (or folders): PyTorch's Flight Recorder dumps, one a rank, as pickle or JSON, of whatever "
		 "versions. Some may be missing or cut off; the rank without a dump is evidence, too. Their names end "
		 "in the number of the rank. Rings of vigil's NCCL plugin and saved reports of ncclras are read as "
		 "well.\n"
		 "\n"
		 "With JOB or PID: the dumps and rings of its ranks on this machine, and NCCL's RAS. Rings are there "
		 "of a job that was started with 'vigil run --collectives', also when it has ended. RAS is asked only "
		 "where that is safe: of NCCL 2.28.9 and later (as the name or the constants of the library say), and "
		 "not in a job's first minute. In a container's network it is asked there, which takes root or a "
		 "container of one's own. --dump asks the ranks for new dumps (TORCH_NCCL_DEBUG_INFO_PIPE_FILE must "
		 "have been set); the training goes on.\n"
		 "\n"
		 "The exit status is 0 when nothing waits, 1 when somebody does, 4 when nothing is known.",
	.examples = "vigil collectives /tmp/nccl_trace_rank_*\nvigil collectives last --dump\nvigil collectives 4711 "
		    "--json",
	.options = collectives_options,
	.options_size = sizeof(struct collectives_options),
	.defaults = &collectives_defaults,
	.run = collectives_run,
	.paged = true,
	.usage_status = EXIT_USAGE,
};
