#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/rules/rulefiles.h"
#include "agent/host/world_open.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/foreign_path.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/options/commands.h"
#include "judge/rules/causes.h"
#include "sense/collective/ncclversion.h"
#include "tell/text/textout.h"

/* Maximum number of matches of one rule that are printed; all are counted. */
#define SHOWN_EACH 20

struct rules_options {
	struct option_list rules;
	struct option_list facts;
	int source;
	int engine;
	bool json;
};

static const char *const source_choices[] = {"log", "kmsg", "stack", "env", "counter", NULL};
/* The indices are enum literal_engine. */
static const char *const engine_choices[] = {"best", "own", "hyperscan", NULL};

static const struct option options[] = {
	{.name = "rules",
	 .type = OPTION_LIST,
	 .arg = "FILE,…",
	 .help = "rules of your own, added to vigil's",
	 .offset = offsetof(struct rules_options, rules)},
	{.name = "source",
	 .type = OPTION_CHOICE,
	 .arg = "KIND",
	 .help = "what the files are: log, kmsg, stack, env or counter",
	 .offset = offsetof(struct rules_options, source),
	 .choices = source_choices},
	{.name = "fact",
	 .type = OPTION_LIST,
	 .arg = "NAME[=VALUE],…",
	 .help = "something to take as known: ib_active, NCCL_IB_TIMEOUT=22",
	 .offset = offsetof(struct rules_options, facts)},
	{.name = "engine",
	 .type = OPTION_CHOICE,
	 .arg = "NAME",
	 .help = "how to search: best, own or hyperscan",
	 .offset = offsetof(struct rules_options, engine),
	 .choices = engine_choices},
	OPTION_JSON(rules_options),
	OPTION_END,
};

struct test {
	const struct rules_options *o;
	const struct rulebook *book;
	struct cause_set set;
	uint64_t *shown; /* [rule] */
	char nccl_version[16]; /* as found in the files; "" if not */
	int result;
};

/* What stood in a log may be made to look like something else. */
static void line_print(const char *before, const char *text)
{
	fputs(before, stdout);
	textout_put(stdout, text);
	fputc('\n', stdout);
}

static void match_json(const struct rule_match *m)
{
	struct js *j = js_object(), *values = js_object();
	js_put_text(j, "schema", "vigil.rule_match/1");
	js_put_text(j, "rule", m->rule->id);
	js_put_text(j, "role", rule_role_name(m->rule->role));
	js_put_text(j, "source", rule_source_name(m->rule->source));
	js_put_text(j, "file", m->file);
	js_put_u64(j, "line", m->line);
	if (m->rank != NO_RANK)
		js_put_i64(j, "rank", m->rank);
	if (m->has_time)
		js_put_i64(j, "time_unix_ms", m->time_unix_ms);
	for (size_t i = 0; i < RULE_EXTRACTS; i++)
		js_put_text_if(values, rule_extract_name((enum rule_extract)i), m->value[i]);
	js_put(j, "values", values);
	js_put_text(j, "text", m->text);
	ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	js_free(j);
}

static void rules_match_found(void *data, const struct rule_match *m)
{
	struct test *t = data;
	uint64_t *shown = &t->shown[m->rule - t->book->rules];
	int r = cause_set_add(&t->set, m);
	t->result = t->result < 0 ? t->result : r;
	if (m->event != RULE_MATCH)
		return;
	(*shown)++;
	if (t->o->json) {
		match_json(m);
		return;
	}
	if (*shown > SHOWN_EACH)
		return;
	textout_put(stdout, m->file);
	printf(":%llu: %s (%s)", (unsigned long long)m->line, m->rule->id, rule_role_name(m->rule->role));
	if (m->rank != NO_RANK)
		printf(", rank %d", m->rank);
	char text[201];
	TEXT_COPY(text, m->text);
	line_print("\n    ", text);
}

/* 0, -errno or FOREIGN_OTHER, which foreign_path_why explains. */
static int scan_file(struct test *t, struct rulescan *scan, const char *path)
{
	bool in = strcmp(path, "-") == 0;
	cleanup(closep) int fd = in ? dup(STDIN_FILENO) : -1;
	struct stat st;
	/* opening a pipe without a writer must not block, but reading it must */
	int r = in ? 0 : foreign_path_input(path, O_NONBLOCK, &fd);
	if (r != 0)
		return r;
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!in && fcntl(fd, F_SETFL, 0) < 0)
		return -errno;
	r = rulescan_begin(scan, (enum rule_source)t->o->source, in ? "stdin" : path, NO_RANK);
	while (r == 0 && t->result >= 0) {
		char *at;
		size_t room = rulescan_room(scan, &at);
		ssize_t n = read(fd, at, room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			r = n < 0 ? -errno : rulescan_end(scan);
			break;
		}
		/* a rule needs NCCL's version to judge InfiniBand's time-out, here as in the logs of a running job */
		if (t->o->source == RULE_LOG && !t->nccl_version[0])
			(void)nccl_version_find((struct span){at, (size_t)n}, t->nccl_version);
		r = rulescan_filled(scan, (size_t)n);
	}
	return r < 0 ? r : t->result;
}

static void verdict_json(const struct test *t, const struct cause_verdict *v)
{
	struct js *j = js_object(), *advice = js_array(), *ranks = js_array(), *evidence = js_array(),
		  *others = js_array();
	js_put_text(j, "schema", "vigil.rule_verdict/1");
	js_put_u64(j, "matches", t->set.n_matches);
	js_put_text_if(j, "cause", v->id);
	if (v->valid) {
		js_put_text(j, "role", rule_role_name(v->role));
		js_put_text(j, "confidence", rule_confidence_name(v->confidence));
		js_put_text(j, "text", v->text);
	}
	for (size_t i = 0; i < v->n_culprits; i++)
		js_add_i64(ranks, v->culprits[i]);
	for (size_t i = 0; i < v->n_advice; i++)
		js_add_text(advice, v->advice[i]);
	for (size_t i = 0; i < v->n_evidence; i++) {
		struct js *e = js_object();
		js_put_text(e, "source", v->evidence[i].source);
		js_put_text(e, "text", v->evidence[i].text);
		js_add(evidence, e);
	}
	for (size_t i = 0; i < v->n_others; i++)
		js_add_text(others, v->others[i]);
	js_put(j, "culprit_ranks", ranks);
	js_put(j, "advice", advice);
	js_put(j, "evidence", evidence);
	js_put(j, "also", others);
	ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
	js_free(j);
}

static void verdict_print(const struct test *t, const struct cause_verdict *v)
{
	if (!v->valid) {
		printf("verdict: none; %llu matches%s\n", (unsigned long long)t->set.n_matches,
		       t->set.n_matches ? ", but none that stands as a cause" : "");
		return;
	}
	printf("verdict: %s (%s, confidence %s)\n", v->id, rule_role_name(v->role),
	       rule_confidence_name(v->confidence));
	line_print("  ", v->text);
	for (size_t i = 0; i < v->n_culprits; i++)
		printf("%s%d", i ? ", " : "  culprit ranks: ", v->culprits[i]);
	if (v->n_culprits)
		puts("");
	for (size_t i = 0; i < v->n_advice; i++)
		line_print("  advice: ", v->advice[i]);
	for (size_t i = 0; i < v->n_evidence; i++) {
		printf("  evidence: ");
		textout_put(stdout, v->evidence[i].source);
		line_print(": ", v->evidence[i].text);
	}
}

static int facts_set(struct test *t)
{
	for (size_t i = 0; i < t->o->facts.n; i++) {
		char name[64];
		struct span s = span_of(t->o->facts.item[i]), value = span_after(s, "=");
		span_copy(span_before(s, "="), name, sizeof(name));
		if (!cause_set_fact(&t->set, name, value.p ? value.p : "")) {
			log_error("--fact: more than %d facts", CAUSE_FACTS);
			return -E2BIG;
		}
	}
	return 0;
}

static int rules_status(int r)
{
	const bool denied = r == -EACCES || r == -EPERM;
	return r == -ENOENT ? EXIT_ABSENT : denied ? EXIT_DENIED : r == -EISDIR ? EXIT_USAGE : EXIT_PROBLEM;
}

static int test_files(struct test *t, struct rulescan *scan, int argc, char **argv)
{
	struct cause_verdict v = {.valid = false};
	int status = 0, read = 0;
	for (int i = 0; i < argc; i++) {
		int r = scan_file(t, scan, argv[i]);
		read += r == 0;
		if (r == 0)
			continue;
		if (r == -EISDIR)
			log_error("%s: this is a folder; files were expected, for example %s/*.log", argv[i], argv[i]);
		else
			log_error("%s: %s", argv[i], foreign_path_why(r));
		status = rules_status(r);
	}
	if (read == 0) /* without any file there is no verdict */
		return status;
	for (size_t i = 0; i < t->book->n && !t->o->json; i++)
		if (t->shown[i] > SHOWN_EACH)
			printf("%s: %llu more places\n", t->book->rules[i].id,
			       (unsigned long long)(t->shown[i] - SHOWN_EACH));
	if (t->nccl_version[0] && !cause_set_find_fact(&t->set, "NCCL_VERSION") &&
	    !cause_set_fact(&t->set, "NCCL_VERSION", t->nccl_version))
		log_warning("NCCL's version %s is left out: there are too many facts", t->nccl_version);
	if (causes_judge(&t->set, &v) == CAUSES_NONE)
		v.valid = false;
	if (t->o->json)
		verdict_json(t, &v);
	else
		verdict_print(t, &v);
	return status;
}

static int test(const struct rules_options *o, const struct rulebook *b, int argc, char **argv)
{
	cleanup(rulescan_freep) struct rulescan *scan = NULL;
	cleanup(freep) uint64_t *shown = calloc(b->n + 1, sizeof(*shown));
	cleanup(cause_set_done) struct cause_set keeps = {.groups = NULL};
	struct test t = {.o = o, .book = b, .shown = shown};
	int r = shown ? rulescan_new(b, (enum literal_engine)o->engine, rules_match_found, &t, &scan) : -ENOMEM;
	if (r != 0) {
		log_error("%s", r == LITERAL_ABSENT
					? "Hyperscan is not installed here (libhs.so.5); --engine own does without"
					: "no memory to search");
		return r == LITERAL_ABSENT ? EXIT_ENGINE : EXIT_PROBLEM;
	}
	int status = facts_set(&t) < 0 ? EXIT_USAGE : test_files(&t, scan, argc, argv);
	keeps = t.set;
	return status;
}

static int rules_list(const struct rules_options *o, const struct rulebook *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct rule *u = &b->rules[i];
		if (!o->json) {
			printf("%-28s %-8s %-13s %-7s %s\n", u->id, rule_source_name(u->source),
			       rule_role_name(u->role), rule_confidence_name(u->confidence), u->cause);
			continue;
		}
		struct js *j = js_object();
		js_put_text(j, "schema", "vigil.rule/1");
		js_put_text(j, "id", u->id);
		js_put_text(j, "source", rule_source_name(u->source));
		js_put_text(j, "role", rule_role_name(u->role));
		js_put_text(j, "confidence", rule_confidence_name(u->confidence));
		js_put_text(j, "cause", u->cause);
		js_put_text(j, "file", u->file);
		js_put_u64(j, "line", u->line);
		ignore(js_write(j, stdout, 0), "main looks at stdout in the end");
		js_free(j);
	}
	return 0;
}

/* Checks each file separately, together with vigil's own rules, which it may refer to. */
static int rules_check_files(int argc, char **argv, const struct world *w)
{
	int status = 0;
	for (int i = 0; i < argc; i++) {
		cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
		struct fault f = {.text = ""};
		int r = rulefiles_own(w, &b, &f);
		size_t own = b.n;
		if (r == 0)
			r = rulefiles_add(&b, argv[i], &f);
		if (r == 0)
			r = rulebook_check(&b, &f);
		if (r == 0) {
			printf("%s: fine, %zu new rules\n", argv[i], b.n - own);
			continue;
		}
		log_error("%s", f.text);
		status = rules_status(r);
	}
	return status;
}

static int book_load(const struct rules_options *o, const struct world *w, struct rulebook *b)
{
	struct fault f = {.text = ""};
	int r = rulefiles_own(w, b, &f);
	for (size_t i = 0; r == 0 && i < o->rules.n; i++)
		r = rulefiles_add(b, o->rules.item[i], &f);
	if (r == 0)
		r = rulebook_check(b, &f);
	if (r < 0)
		log_error("%s", f.text);
	return r;
}

static int rules_run(const void *opts, int argc, char **argv)
{
	const struct rules_options *o = opts;
	cleanup(rulebook_done) struct rulebook b = {.rules = NULL};
	struct fault f = {.text = ""};
	struct world w;
	const char *verb = argc > 0 ? argv[0] : "";
	bool is_test = strcmp(verb, "test") == 0, is_list = strcmp(verb, "list") == 0,
	     is_check = strcmp(verb, "check") == 0;
	if (is_list ? argc != 1 : !(is_test || is_check) || argc < 2) {
		log_error("vigil rules: 'test FILE…', 'check FILE…' or 'list' was expected");
		return EXIT_USAGE;
	}
	if (world_open(NULL, &w, &f) < 0) {
		log_error("%s", f.text);
		return EXIT_PROBLEM;
	}
	int status;
	if (is_check)
		status = rules_check_files(argc - 1, argv + 1, &w);
	else if (book_load(o, &w, &b) < 0)
		status = EXIT_PROBLEM;
	else
		status = is_list ? rules_list(o, &b) : test(o, &b, argc - 1, argv + 1);
	world_close(&w);
	return status;
}

const struct command command_rules = {
	.name = "rules",
	.words = "test check list",
	.usage = "vigil rules test FILE… [--rules FILE] | vigil rules check FILE… | vigil rules list",
	.summary = "try the cause book on logs, or check rules of your own",
	.about =
		"The cause book knows what stands in logs, in the kernel's log and in stacks when a job hangs or dies, "
		"what it means and what to do. 'test' searches files (- is standard input) of any size and prints each "
		"place that matches and the verdict: what began it, which ranks are to blame, how sure that is, and "
		"advice. 'check' finds mistakes in a file of rules, with line and column. 'list' shows the book.\n"
		"\n"
		"Rules of your own: --rules, or 'rules: [FILE, …]' at the top of the configuration. A rule with the "
		"name of one of vigil's takes its place.",
	.examples = "vigil rules test rank-*.err\n"
		    "dmesg | vigil rules test - --source kmsg\n"
		    "vigil rules test run.log --rules mine.rules --fact NCCL_IB_TIMEOUT=22\n"
		    "vigil rules check mine.rules",
	.options = options,
	.options_size = sizeof(struct rules_options),
	.run = rules_run,
	.usage_status = EXIT_USAGE,
};
