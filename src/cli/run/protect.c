#include <stdio.h>
#include <stdlib.h>

#include "agent/memory/protectjob.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/private.h"
#include "cli/options/commands.h"
#include "cli/options/subject.h"
#include "cli/screen/view.h"
#include "tell/memory/protection_show.h"

struct protect_options {
	const char *state;
	int level;
	bool restore, dry_run, json;
};

static const char *const level_choices[] = {"low", "normal", "high", "max", NULL};

static const struct option protect_options[] = {
	{.name = "level",
	 .letter = 'l',
	 .type = OPTION_CHOICE,
	 .arg = "LEVEL",
	 .choices = level_choices,
	 .help = "how far to go: low (-300), normal (-900, memory kept), high (-999), max (-1000: the machine may lock "
		 "up instead)",
	 .offset = offsetof(struct protect_options, level)},
	{.name = "restore",
	 .type = OPTION_FLAG,
	 .help = "put the values back that were there before",
	 .offset = offsetof(struct protect_options, restore)},
	{.name = "dry-run",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .help = "say what would be done and what could still end the job",
	 .offset = offsetof(struct protect_options, dry_run)},
	OPTION_STATE(protect_options),
	OPTION_JSON(protect_options),
	OPTION_END,
};

static const struct protect_options protect_defaults = {.level = PROTECT_NORMAL};

static const char *result_name(enum protect_result r)
{
	static const char *const names[] = {"done", "already", "partly", "raised", "refused", "gone"};
	return names[MIN((size_t)r, ARRAY_SIZE(names) - 1)];
}

static void value_take(struct protection_show *s, const char *name, bool bytes, const struct protect_value *v)
{
	if (!v->tried && !v->why_not[0])
		return;
	s->value[s->n_values++] = (struct protection_show_value){
		.name = name,
		.how = v->how,
		.why_not = v->why_not,
		.done = v->done,
		.bytes = bytes,
		.before = v->before,
		.after = v->after,
	};
}

static const char *missing_privilege(const struct protectjob *s)
{
	if (s->facts.n_adj_refused == 0)
		return "";
	return s->probe.user_namespace ? "CAP_SYS_RESOURCE in the host's user namespace: this process is in a nested "
					 "one, where the capability does not count for oom_score_adj"
				       : "CAP_SYS_RESOURCE in the first user namespace: without it the kernel lets "
					 "nobody lower oom_score_adj, not even root";
}

static int protect_show(const struct protectjob *s, const struct protect_options *o, const char *subject)
{
	cleanup(freep) struct protection_show_process *rows = calloc(s->outcome.n, sizeof(*rows));
	if (!rows) {
		log_error("out of memory");
		return EXIT_PROBLEM;
	}
	for (size_t i = 0; i < s->outcome.n; i++)
		rows[i] = (struct protection_show_process){
			.pid = s->outcome.row[i].id.pid,
			.before = s->outcome.row[i].before,
			.after = s->outcome.row[i].after,
			.result = result_name(s->outcome.row[i].result),
		};
	struct protection_show view = {
		.subject = subject,
		.level = protect_level_name((enum protect_level)o->level),
		.group = s->outcome.group_name,
		.dry_run = o->dry_run,
		.wanted_adj = s->wish.oom_score_adj,
		.process = rows,
		.n_processes = s->outcome.n,
		.n_done = s->outcome.n_done,
		.n_refused = s->outcome.n_refused,
		.n_raised = s->outcome.n_raised,
		.missing = missing_privilege(s),
		.notes_lost = s->notes_lost,
		.threats = &s->threats,
	};
	value_take(&view, "memory.low", true, &s->outcome.low);
	value_take(&view, "memory.min", true, &s->outcome.min);
	value_take(&view, "oomd avoid", false, &s->outcome.avoid);
	value_take(&view, "oomd omit", false, &s->outcome.omit);
	if (o->json) {
		struct js *j = protection_json(&view);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		protection_text(&view, view_colour(), stdout);
	}
	return s->facts.n_adj_refused > 0 ? EXIT_DENIED : 0;
}

static int apply(const struct world *w, const struct protect_options *o, const struct subject *who, struct store *st)
{
	static struct protectjob s; /* too large for the stack */
	const struct members_want members = {
		.job_id = who->is_job ? who->job.id : NULL,
		.uid = who->job.uid,
		.root = who->pid,
		.also = who->also,
		.n_also = who->n_also,
		.group = who->is_job ? who->job.cgroup : NULL,
	};
	const struct protectjob_want want = {
		.members = &members,
		.subject = who->text,
		.key = who->key,
		.level = (enum protect_level)o->level,
		.dry_run = o->dry_run,
		.guarded = who->is_job,
	};
	struct fault f = {.text = ""};
	int r = protectjob_apply(w, &want, st, &s, &f);
	if (r) {
		log_error("%s", f.text);
		return r == PROTECTJOB_NO_PROCESS ? EXIT_ABSENT : EXIT_PROBLEM;
	}
	int status = protect_show(&s, o, who->text);
	protectjob_done(&s);
	return status;
}

static int restore(const struct world *w, const struct protect_options *o, const struct subject *who, struct store *st)
{
	struct protectjob_restored n;
	struct fault f = {.text = ""};
	int r = protectjob_restore(w, st, who->key, &n, &f);
	if (r) {
		log_error("%s", f.text);
		return r == STORE_NONE ? EXIT_ABSENT : EXIT_PROBLEM;
	}
	if (o->json) {
		struct js *j = js_object();
		js_put_text(j, "schema", "vigil.restored/1");
		js_put_text(j, "subject", who->text);
		js_put_u64(j, "restored", n.n_done);
		js_put_u64(j, "gone", n.n_gone);
		js_put_u64(j, "refused", n.n_refused);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	} else {
		printf("%s: %zu of %zu values put back, %zu no longer there, %zu refused\n", who->text, n.n_done, n.n,
		       n.n_gone, n.n_refused);
	}
	return n.n_refused ? EXIT_DENIED : 0;
}

static int protect_run(const void *options, int argc, char **argv)
{
	const struct protect_options *o = options;
	struct world w;
	struct subject who;
	struct fault f = {.text = ""};
	char state[256], note[256] = "";
	cleanup(store_closep) struct store *st = NULL;
	if (argc != 1) {
		log_error("one JOB or PID is expected: vigil protect JOB|PID; see 'vigil help protect'");
		return EXIT_USAGE;
	}
	int r = subject_open(o->state, argv[0], &w, state, sizeof(state), &who);
	if (r)
		return r;
	if (!o->dry_run) {
		r = private_state(state);
		r = r ? r : store_open(state, STORE_WRITE, &st, note, &f);
		if (note[0])
			log_warning("%s", note);
		if (r)
			log_warning("the old values cannot be stored in %s%s%s, so --restore will not find them", state,
				    f.text[0] ? ": " : "", f.text);
	}
	if (!o->restore)
		return apply(&w, o, &who, st);
	if (!st) {
		log_error(o->dry_run ? "--restore and --dry-run do not go together"
				     : "without the store there is nothing to restore from");
		return o->dry_run ? EXIT_USAGE : EXIT_PROBLEM;
	}
	return restore(&w, o, &who, st);
}

const struct command command_protect = {
	.name = "protect",
	.usage = "vigil protect [OPTIONS] JOB|PID",
	.summary = "keep the killers away from a job, and say what can still end it",
	.about = "Lowers oom_score_adj of all processes of the job, keeps its control group's memory (memory.low), and "
		 "asks systemd-oomd to spare the group. Reads every value back, says which privilege is missing where "
		 "something was refused, and lists what can still end the job: oom_score_adj speaks to the kernel's "
		 "own OOM killer alone, not to systemd-oomd, not to a control group's limit, not to people.\n"
		 "\n"
		 "Exit status 3 when oom_score_adj could not be lowered for every process.",
	.examples = "vigil protect last\nvigil protect 4711 --level high\nvigil protect 4711 --restore",
	.options = protect_options,
	.options_size = sizeof(struct protect_options),
	.defaults = &protect_defaults,
	.run = protect_run,
	.usage_status = EXIT_USAGE,
};
