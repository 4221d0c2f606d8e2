#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "act/target.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/host/memgather.h"
#include "cli/jobs/topdata.h"
#include "cli/jobs/topkeys.h"
#include "cli/jobs/topmark.h"
#include "cli/options/commands.h"
#include "cli/screen/screen.h"
#include "tell/jobs/health_json.h"
#include "tell/memory/memory_show.h"
#include "tell/memory/top_show.h"

struct top_options {
	const char *state;
	uint64_t every_ns;
	int sort;
	bool all, tree, once, readonly, json;
};

static const struct top_options top_defaults = {.every_ns = 2 * NS_PER_S, .sort = TOPLIST_OWN};

static const struct option top_table[] = {
	{.name = "once",
	 .type = OPTION_FLAG,
	 .help = "print the table and end; so it is where stdout is no terminal",
	 .offset = offsetof(struct top_options, once)},
	{.name = "every",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "time between two looks; longer where a look takes more than a twentieth of it",
	 .offset = offsetof(struct top_options, every_ns)},
	{.name = "sort",
	 .letter = 's',
	 .type = OPTION_CHOICE,
	 .arg = "COLUMN",
	 .help = "what comes first",
	 .choices = toplist_sorts,
	 .offset = offsetof(struct top_options, sort)},
	{.name = "tree",
	 .letter = 't',
	 .type = OPTION_FLAG,
	 .help = "children under their parents, each job's processes together",
	 .offset = offsetof(struct top_options, tree)},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "also processes that are of no job",
	 .offset = offsetof(struct top_options, all)},
	{.name = "readonly",
	 .type = OPTION_FLAG,
	 .help = "no key ends a process",
	 .offset = offsetof(struct top_options, readonly)},
	OPTION_STATE(top_options),
	OPTION_JSON(top_options),
	OPTION_END,
};

#define EVERY_LEAST_NS (200 * NS_PER_MS)
/* Between the two looks of --once, whose difference is the use of processors. */
#define ONCE_NS (500 * NS_PER_MS)

enum prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_USER, PROMPT_KILL, PROMPT_KEYS };

struct top {
	const struct top_options *o;
	struct topdata data;
	struct toplist_want want;
	struct toplist list;
	char filter[64], user[64];
	struct proc_id chosen; /* the process of the bar; pid 0: the first one */
	struct topmark marks, folds;
	char pid[12]; /* the first digits of a pid that is looked for */
	bool base, still;
	size_t skipped;
	size_t first; /* row at the top of the table */
	enum prompt prompt;
	char message[200];
};

/* ---- once ---- */

/* What the supervisors of running jobs say. */
static struct js *jobs_json(const struct top *t)
{
	struct js *jobs = js_array();
	for (size_t i = 0; i < TOPDATA_LIVES; i++) {
		const struct live_state *s = topdata_live(&t->data, i);
		if (!s)
			continue;
		struct js *o = js_object();
		js_put_text(o, "id", t->data.live[i].job);
		js_put_text(o, "phase", s->phase);
		js_put_u64(o, "job_bytes", s->memory.job_bytes);
		js_put(o, "health", health_json(&s->health));
		js_add(jobs, o);
	}
	return jobs;
}

static void json_print(const struct top *t)
{
	cleanup(js_freep) struct js *all = js_object();
	struct js *rows = js_array();
	js_put_text(all, "schema", "vigil.top/1");
	js_put_i64(all, "time_unix_ms", clock_unix_ms());
	for (size_t i = 0; i < t->list.n; i++) {
		const struct toplist_row *r = &t->list.row[i];
		struct js *j = memory_show_process_json(r->process);
		const char state[2] = {r->state, '\0'};
		js_put_text(j, "state", state);
		if (r->user[0])
			js_put_text(j, "user", r->user);
		if (r->has_cpu)
			js_put_double(j, "cpu_ratio", r->cpu_ratio);
		if (r->has_time)
			js_put_double(j, "cpu_seconds", (double)r->cpu_ns / (double)NS_PER_S);
		js_add(rows, j);
	}
	js_put(all, "processes", rows);
	js_put(all, "jobs", jobs_json(t));
	js_put_u64(all, "hidden", t->list.hidden);
	ignore(js_write(all, stdout, 0), "main looks at stdout in the end");
}

static size_t stdout_width(void)
{
	struct winsize size;
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Of so many jobs there is a line. */
#define JOB_LINES 4

/* False: there is none. */
static bool job_line(const struct top *t, const struct top_show *s, size_t i, char line[static TOP_SHOW_LINE])
{
	const struct live_state *live = topdata_live(&t->data, i);
	if (!live || i >= JOB_LINES)
		return false;
	top_show_job(s, t->data.live[i].job, live->health.sentence, line);
	return true;
}

static void table_print(const struct top *t)
{
	char line[TOP_SHOW_LINE];
	struct top_show s;
	const struct footprint *f = &t->data.footprint;
	top_show_begin(&s, stdout_width(), &t->list);
	for (size_t i = 0; i < top_show_levels(f); i++) {
		top_show_level(&s, f, i, line);
		puts(line);
	}
	for (size_t i = 0; i < TOPDATA_LIVES; i++)
		if (job_line(t, &s, i, line))
			puts(line);
	top_show_sum(&s, f, &t->list, line);
	printf("%s\n\n", line);
	top_show_titles(&s, line);
	puts(line);
	for (size_t i = 0; i < t->list.n; i++) {
		top_show_row(&s, &t->list.row[i], line);
		puts(line);
	}
}

static int top_once(struct top *t, struct fault *f)
{
	int r = topdata_look(&t->data, f);
	if (r == 0) {
		(void)poll(NULL, 0, (int)(ONCE_NS / NS_PER_MS));
		r = topdata_look(&t->data, f);
	}
	if (r == 0)
		r = topdata_list(&t->data, &t->want, &t->list);
	if (r == 0 && t->o->json)
		json_print(t);
	else if (r == 0)
		table_print(t);
	return r;
}

/* ---- the screen ---- */

static size_t chosen_row(const struct top *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		if (t->list.row[i].process->pid == t->chosen.pid &&
		    t->list.row[i].process->start_ticks == t->chosen.start_ticks)
			return i;
	return 0;
}

static void row_choose(struct top *t, size_t row)
{
	if (t->list.n == 0)
		return;
	const struct footprint_row *p = t->list.row[MIN(row, t->list.n - 1)].process;
	t->chosen = (struct proc_id){p->pid, p->start_ticks};
}

static struct proc_id id_of(const struct toplist_row *r)
{
	return (struct proc_id){r->process->pid, r->process->start_ticks};
}

static size_t marked_count(const struct top *t)
{
	size_t n = 0;
	for (size_t i = 0; i < t->list.n; i++)
		n += t->list.row[i].marked;
	return n;
}

static void last_line(const struct top *t, size_t y)
{
	char text[300];
	switch (t->prompt) {
	case PROMPT_SEARCH:
		TEXT_FORMAT(text, "/%s_   (Enter keeps it, Escape shows all)", t->filter);
		break;
	case PROMPT_USER:
		TEXT_FORMAT(text, "user: %s_   (Enter shows that user's, of no name everybody's)", t->user);
		break;
	case PROMPT_KEYS:
		TEXT_COPY(text, "any key goes on");
		break;
	case PROMPT_KILL:
		if (marked_count(t) > 1)
			TEXT_FORMAT(text, "send SIGTERM to %zu process%s? y or n", marked_count(t),
				    marked_count(t) == 1 ? "" : "es");
		else
			TEXT_FORMAT(text, "send SIGTERM to pid %ld? y or n", (long)t->chosen.pid);
		break;
	default:
		TEXT_COPY(text, t->message);
		if (!text[0])
			topkeys_hints(text, sizeof(text), screen_width());
	}
	screen_line(y, t->prompt == PROMPT_NONE && !t->message[0] ? SCREEN_PLAIN : SCREEN_BOLD, text);
}

/* The rows of the table that fit. */
static size_t page_of(const struct top *t)
{
	size_t used = top_show_levels(&t->data.footprint) + 3;
	for (size_t i = 0; i < JOB_LINES; i++)
		used += topdata_live(&t->data, i) != NULL;
	return screen_height() > used + 1 ? screen_height() - used : 1;
}

static void keys_draw(const struct top *t)
{
	screen_clear();
	for (size_t i = 0; topkeys_line(i) && i + 1 < screen_height(); i++)
		screen_line(i, i == 0 ? SCREEN_BOLD : SCREEN_PLAIN, topkeys_line(i));
	last_line(t, screen_height() - 1);
	screen_show();
}

static void draw(struct top *t)
{
	char line[TOP_SHOW_LINE];
	struct top_show s;
	const struct footprint *f = &t->data.footprint;
	size_t y = 0, row = chosen_row(t), page = page_of(t);
	screen_clear();
	top_show_begin(&s, screen_width(), &t->list);
	s.base = t->base;
	s.skipped = t->skipped;
	for (size_t i = 0; i < top_show_levels(f); i++) {
		top_show_level(&s, f, i, line);
		screen_line(y++, ledger_ratio(&f->ledger.level[i]) >= 0.9 ? SCREEN_ALARM : SCREEN_PLAIN, line);
	}
	for (size_t i = 0; i < TOPDATA_LIVES; i++)
		if (job_line(t, &s, i, line))
			screen_line(y++, SCREEN_PLAIN, line);
	top_show_sum(&s, f, &t->list, line);
	screen_line(y++, SCREEN_PLAIN, line);
	top_show_titles(&s, line);
	screen_line(y++, SCREEN_BOLD, line);
	t->first = row < t->first ? row : row >= t->first + page ? row + 1 - page : t->first;
	for (size_t i = t->first; i < t->list.n && i < t->first + page; i++) {
		top_show_row(&s, &t->list.row[i], line);
		screen_line(y++, i == row ? SCREEN_MARKED : SCREEN_PLAIN, line);
	}
	last_line(t, screen_height() - 1);
	screen_show();
}

static int process_end(const struct top *t, struct proc_id id)
{
	struct target x = {.id = id, .pidfd = -1};
	int r = target_open(&t->data.w, &x, true);
	if (r == 0)
		r = target_signal(&t->data.w, &x, SIGTERM);
	target_close(&x);
	return r;
}

static void chosen_end(struct top *t)
{
	int r = process_end(t, t->chosen);
	if (r == 0)
		TEXT_FORMAT(t->message, "SIGTERM was sent to pid %ld", (long)t->chosen.pid);
	else
		TEXT_FORMAT(t->message, "pid %ld was not signalled: %s", (long)t->chosen.pid,
			    r == WORLD_GONE	? "it has ended"
			    : r == WORLD_DENIED ? "it is not yours"
						: strerror(-r));
}

static void marked_end(struct top *t)
{
	size_t sent = 0, all = 0;
	for (size_t i = 0; i < t->list.n; i++) {
		if (!t->list.row[i].marked)
			continue;
		all++;
		sent += process_end(t, id_of(&t->list.row[i])) == 0;
	}
	TEXT_FORMAT(t->message, "SIGTERM was sent to %zu of %zu process%s", sent, all, all == 1 ? "" : "es");
}

/* Returns whether the text is finished; Escape empties it. */
static bool text_typed(char *text, size_t cap, int key)
{
	size_t len = strlen(text);
	if (key == SCREEN_ESCAPE)
		text[0] = '\0';
	else if (key == SCREEN_ERASE && len > 0)
		text[len - 1] = '\0';
	else if (key >= ' ' && key < 127 && len + 1 < cap)
		text[len] = (char)key, text[len + 1] = '\0';
	return key == SCREEN_ENTER || key == SCREEN_ESCAPE;
}

/* By name or number. */
static void user_take(struct top *t)
{
	char *end;
	errno = 0;
	const struct passwd *p = t->user[0] ? getpwnam(t->user) : NULL;
	unsigned long number = strtoul(t->user, &end, 10);
	t->want.has_uid = p || (t->user[0] >= '0' && t->user[0] <= '9' && !*end && errno == 0);
	t->want.uid = p ? p->pw_uid : (uid_t)number;
	if (t->user[0] && !t->want.has_uid)
		TEXT_FORMAT(t->message, "there is no user '%s'", t->user);
}

static void key_in_prompt(struct top *t, int key)
{
	const enum prompt was = t->prompt;
	if (was == PROMPT_SEARCH) {
		if (text_typed(t->filter, sizeof(t->filter), key))
			t->prompt = PROMPT_NONE;
		return;
	}
	if (was == PROMPT_USER) {
		if (!text_typed(t->user, sizeof(t->user), key))
			return;
		t->prompt = PROMPT_NONE;
		user_take(t);
		return;
	}
	t->prompt = PROMPT_NONE;
	if (was == PROMPT_KILL && (key == 'y' || key == 'Y')) {
		if (marked_count(t) > 1)
			marked_end(t);
		else
			chosen_end(t);
	}
}

/* As one types a number the bar goes to the first pid that begins with it. */
static void pid_typed(struct top *t, int key)
{
	char pid[16];
	size_t len = strlen(t->pid);
	if (len + 1 == sizeof(t->pid))
		len = 0;
	t->pid[len] = (char)key;
	t->pid[len + 1] = '\0';
	for (size_t i = 0; i < t->list.n; i++) {
		TEXT_FORMAT(pid, "%ld", (long)t->list.row[i].process->pid);
		if (strncmp(pid, t->pid, len + 1) == 0) {
			row_choose(t, i);
			return;
		}
	}
	TEXT_FORMAT(t->message, "no pid here begins with %s", t->pid);
	t->pid[0] = '\0';
}

/* ---- marks and branches ---- */

static void mark_next(struct top *t)
{
	const size_t row = chosen_row(t);
	if (t->list.n == 0)
		return;
	topmark_set(&t->marks, id_of(&t->list.row[row]), !t->list.row[row].marked);
	row_choose(t, row + 1);
}

static bool parent_is_marked(const struct top *t, pid_t ppid)
{
	for (size_t k = 0; k < t->list.n; k++)
		if (t->list.row[k].process->pid == ppid)
			return topmark_has(&t->marks, id_of(&t->list.row[k]));
	return false;
}

/* The process and what it has started, as far as that is shown. */
static void mark_family(struct top *t)
{
	const size_t chosen = chosen_row(t);
	if (t->list.n == 0)
		return;
	topmark_set(&t->marks, id_of(&t->list.row[chosen]), true);
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < t->list.n; i++) {
			const struct proc_id id = id_of(&t->list.row[i]);
			if (topmark_has(&t->marks, id) || !parent_is_marked(t, t->list.row[i].process->ppid))
				continue;
			topmark_set(&t->marks, id, true);
			more |= topmark_has(&t->marks, id);
		}
	}
}

static void branch_fold(struct top *t, int key)
{
	if (!t->want.tree)
		TEXT_COPY(t->message, "branches are of the tree: t");
	else if (key == '*')
		t->folds.n = 0;
	else if (t->list.n > 0)
		topmark_set(&t->folds, id_of(&t->list.row[chosen_row(t)]), key == '-');
}

static void key_moves(struct top *t, int key)
{
	size_t row = chosen_row(t), page = page_of(t);
	if (key == SCREEN_UP || key == SCREEN_PAGE_UP)
		row_choose(t, sub_floor(row, key == SCREEN_UP ? 1 : page));
	else if (key == SCREEN_DOWN || key == SCREEN_PAGE_DOWN)
		row_choose(t, row + (key == SCREEN_DOWN ? 1 : page));
	else if (key == SCREEN_HOME)
		row_choose(t, 0);
	else if (key == SCREEN_END)
		row_choose(t, SIZE_MAX);
	else if (key == SCREEN_LEFT)
		t->skipped = sub_floor(t->skipped, 8);
	else if (key == SCREEN_RIGHT && t->skipped < sizeof(((struct footprint_row *)0)->command))
		t->skipped += 8;
}

static void key_kills(struct top *t)
{
	if (t->o->readonly || t->list.n == 0) {
		TEXT_FORMAT(t->message, "%s",
			    t->o->readonly ? "no process is ended: --readonly" : "no process is shown");
		return;
	}
	row_choose(t, chosen_row(t));
	for (size_t i = 0; marked_count(t) == 1 && i < t->list.n; i++)
		if (t->list.row[i].marked)
			row_choose(t, i);
	t->prompt = PROMPT_KILL;
}

/* What is shown, and in what order. False: it is another key. */
static bool key_orders(struct top *t, int key)
{
	static const struct {
		int key;
		enum toplist_sort sort;
	} orders[] = {{'M', TOPLIST_OWN}, {'P', TOPLIST_CPU}, {'T', TOPLIST_TIME}, {'N', TOPLIST_PID}};
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (orders[i].key == key) {
			t->want.sort = orders[i].sort;
			return true;
		}
	switch (key) {
	case 's':
		t->want.sort = (t->want.sort + 1) % TOPLIST_SORT_MAX;
		TEXT_FORMAT(t->message, "sorted by %s", toplist_sorts[t->want.sort]);
		return true;
	case 'I':
		t->want.inverted = !t->want.inverted;
		return true;
	case 't':
		t->want.tree = !t->want.tree;
		return true;
	case 'a':
		t->want.all = !t->want.all;
		return true;
	case 'p':
		t->base = !t->base;
		return true;
	case 'Z':
		t->still = !t->still;
		if (t->still)
			TEXT_COPY(t->message, "stands still until Z");
		return true;
	case '+':
	case '-':
	case '*':
		branch_fold(t, key);
		return true;
	default:
		return false;
	}
}

/* Questions and marks. False: it is another key. */
static bool key_chooses(struct top *t, int key)
{
	switch (key) {
	case 'h':
		t->prompt = PROMPT_KEYS;
		return true;
	case '/':
		t->prompt = PROMPT_SEARCH;
		return true;
	case 'u':
		t->prompt = PROMPT_USER;
		t->user[0] = '\0';
		return true;
	case 'k':
		key_kills(t);
		return true;
	case ' ':
		mark_next(t);
		return true;
	case 'c':
		mark_family(t);
		return true;
	case 'U':
		t->marks.n = 0;
		return true;
	default:
		if (topkeys_absent(key))
			TEXT_FORMAT(t->message, "%s", topkeys_absent(key));
		return topkeys_absent(key) != NULL;
	}
}

/* Returns whether to go on. */
static bool key_take(struct top *t, int key)
{
	if (key == SCREEN_QUIT || key == SCREEN_CLOSED)
		return false;
	if (t->prompt != PROMPT_NONE) {
		key_in_prompt(t, key);
		return true;
	}
	t->message[0] = '\0';
	key = topkeys_meaning(key);
	if (key >= '0' && key <= '9') {
		pid_typed(t, key);
		return true;
	}
	t->pid[0] = '\0';
	if (!key_orders(t, key) && !key_chooses(t, key))
		key_moves(t, key);
	return key != 'q';
}

static int relist(struct top *t)
{
	toplist_done(&t->list);
	t->want.folded = t->folds.of;
	t->want.n_folded = t->folds.n;
	int r = topdata_list(&t->data, &t->want, &t->list);
	for (size_t i = 0; r == 0 && i < t->list.n; i++)
		t->list.row[i].marked = topmark_has(&t->marks, id_of(&t->list.row[i]));
	return r;
}

static int top_live(struct top *t, struct fault *f)
{
	int r = topdata_look(&t->data, f), key = SCREEN_NONE;
	if (r == 0)
		r = screen_open(f);
	if (r < 0)
		return r;
	bool on = true;
	while (r == 0 && on) {
		uint64_t now = clock_mono_ns(), due = topdata_due_ns(&t->data, t->o->every_ns);
		if ((now >= due && !t->still) || key == TOPKEYS_LOOK)
			r = topdata_look(&t->data, f);
		if (r == 0)
			r = relist(t);
		if (r < 0)
			break;
		if (t->prompt == PROMPT_KEYS)
			keys_draw(t);
		else
			draw(t);
		due = topdata_due_ns(&t->data, t->o->every_ns);
		key = screen_key(t->still ? -1 : (int)(sub_floor(due, clock_mono_ns()) / NS_PER_MS) + 1);
		on = key == SCREEN_NONE || key == SCREEN_RESIZED || key_take(t, key);
	}
	screen_close();
	return r;
}

/* ---- the command ---- */

static int top_options_check(const struct top_options *o, int argc)
{
	if (argc > 1) {
		log_error("one JOB or PID is expected, not %d; see 'vigil help top'", argc);
		return EXIT_USAGE;
	}
	if (o->every_ns < EVERY_LEAST_NS) {
		log_error("--every: at least 200ms");
		return EXIT_USAGE;
	}
	return 0;
}

static int top_run(const void *options, int argc, char **argv)
{
	const struct top_options *o = options;
	/* Static: a thread that reads proportional sizes may outlive this function. */
	static struct top t;
	struct fault f = {.text = ""};
	int status = top_options_check(o, argc);
	if (status != 0)
		return status;
	status = topdata_open(&t.data, o->state, argc == 1 ? argv[0] : NULL);
	if (status != 0)
		return status;
	t.o = o;
	t.want = (struct toplist_want){
		.sort = (enum toplist_sort)o->sort, .tree = o->tree, .all = o->all || argc == 1, .filter = t.filter};
	bool once = o->once || o->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO);
	int r = once ? top_once(&t, &f) : top_live(&t, &f);
	toplist_done(&t.list);
	topdata_done(&t.data);
	if (r == 0)
		return 0;
	log_error("%s", f.text[0] ? f.text : strerror(-r));
	return r == MEMORY_NO_PROCESS ? EXIT_ABSENT : r == -EACCES ? EXIT_DENIED : EXIT_PROBLEM;
}

const struct command command_top = {
	.name = "top",
	.usage = "vigil top [OPTIONS] [JOB|PID]",
	.summary = "watch the processes of running jobs: memory, GPU and processors",
	.about = "Shows what can run out, and below it the processes of all jobs, or of JOB, largest own memory first. "
		 "OWN "
		 "is what ending the process gives back, SHR what it shares with others, PSS its part of all that it "
		 "maps (see vigil mem), CPU% what it used of one processor since the last look, and S its state as ps "
		 "has it; USER where they are of several. A narrow terminal leaves out PSS, SHR, ROLE, USER and JOB "
		 "first.\n"
		 "\n"
		 "Keys: " TOPKEYS_ABOUT ".",
	.examples = "vigil top\nvigil top last --sort cpu\nvigil top --once --json",
	.options = top_table,
	.options_size = sizeof(struct top_options),
	.defaults = &top_defaults,
	.run = top_run,
	.usage_status = EXIT_USAGE,
};
