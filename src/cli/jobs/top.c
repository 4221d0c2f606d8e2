#include <poll.h>
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
	 .help = "children under their parents",
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

enum prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_KILL, PROMPT_KEYS };

struct top {
	const struct top_options *o;
	struct topdata data;
	struct toplist_want want;
	struct toplist list;
	char filter[64];
	struct proc_id chosen; /* the marked process; pid 0: the first one */
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
		if (r->has_cpu)
			js_put_double(j, "cpu_ratio", r->cpu_ratio);
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

static void last_line(const struct top *t, size_t y)
{
	char text[300];
	switch (t->prompt) {
	case PROMPT_SEARCH:
		TEXT_FORMAT(text, "/%s_   (Enter keeps it, Escape shows all)", t->filter);
		break;
	case PROMPT_KEYS:
		TEXT_COPY(text, "any key goes on");
		break;
	case PROMPT_KILL:
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

static void chosen_end(struct top *t)
{
	struct target x = {.id = t->chosen, .pidfd = -1};
	int r = target_open(&t->data.w, &x, true);
	if (r == 0)
		r = target_signal(&t->data.w, &x, SIGTERM);
	target_close(&x);
	if (r == 0)
		TEXT_FORMAT(t->message, "SIGTERM was sent to pid %ld", (long)t->chosen.pid);
	else
		TEXT_FORMAT(t->message, "pid %ld was not signalled: %s", (long)t->chosen.pid,
			    r == WORLD_GONE	? "it has ended"
			    : r == WORLD_DENIED ? "it is not yours"
						: strerror(-r));
}

static void key_in_search(struct top *t, int key)
{
	size_t len = strlen(t->filter);
	if (key == SCREEN_ENTER)
		t->prompt = PROMPT_NONE;
	else if (key == SCREEN_ESCAPE)
		t->prompt = PROMPT_NONE, t->filter[0] = '\0';
	else if (key == SCREEN_ERASE && len > 0)
		t->filter[len - 1] = '\0';
	else if (key >= ' ' && key < 127 && len + 1 < sizeof(t->filter))
		t->filter[len] = (char)key, t->filter[len + 1] = '\0';
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
}

static void key_kills(struct top *t)
{
	if (t->o->readonly || t->list.n == 0) {
		TEXT_FORMAT(t->message, "%s",
			    t->o->readonly ? "no process is ended: --readonly" : "no process is shown");
		return;
	}
	row_choose(t, chosen_row(t));
	t->prompt = PROMPT_KILL;
}

/* Returns whether to go on. */
static bool key_take(struct top *t, int key)
{
	if (key == SCREEN_QUIT || key == SCREEN_CLOSED)
		return false;
	if (t->prompt == PROMPT_SEARCH) {
		key_in_search(t, key);
		return true;
	}
	if (t->prompt == PROMPT_KILL) {
		t->prompt = PROMPT_NONE;
		if (key == 'y' || key == 'Y')
			chosen_end(t);
		return true;
	}
	if (t->prompt == PROMPT_KEYS) {
		t->prompt = PROMPT_NONE;
		return true;
	}
	t->message[0] = '\0';
	switch (topkeys_meaning(key)) {
	case 'h':
		t->prompt = PROMPT_KEYS;
		break;
	case 'q':
		return false;
	case 's':
		t->want.sort = (t->want.sort + 1) % TOPLIST_SORT_MAX;
		TEXT_FORMAT(t->message, "sorted by %s", toplist_sorts[t->want.sort]);
		break;
	case 'M':
		t->want.sort = TOPLIST_OWN;
		break;
	case 'P':
		t->want.sort = TOPLIST_CPU;
		break;
	case 'N':
		t->want.sort = TOPLIST_PID;
		break;
	case 't':
		t->want.tree = !t->want.tree;
		break;
	case 'a':
		t->want.all = !t->want.all;
		break;
	case '/':
		t->prompt = PROMPT_SEARCH;
		break;
	case 'k':
		key_kills(t);
		break;
	default:
		key_moves(t, key);
	}
	return true;
}

static int relist(struct top *t)
{
	toplist_done(&t->list);
	return topdata_list(&t->data, &t->want, &t->list);
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
		if (now >= due || key == ' ')
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
		key = screen_key((int)(sub_floor(due, clock_mono_ns()) / NS_PER_MS) + 1);
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
		 "has it. A narrow terminal leaves out PSS, SHR, ROLE and JOB first.\n"
		 "\n"
		 "Keys: " TOPKEYS_ABOUT ".",
	.examples = "vigil top\nvigil top last --sort cpu\nvigil top --once --json",
	.options = top_table,
	.options_size = sizeof(struct top_options),
	.defaults = &top_defaults,
	.run = top_run,
	.usage_status = EXIT_USAGE,
};
