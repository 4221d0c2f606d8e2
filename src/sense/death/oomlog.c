#include "sense/death/oomlog.h"

#include <string.h>

#include "base/buf.h"
#include "base/mask/mask.h"

static uint64_t scaled(uint64_t v, uint64_t unit)
{
	uint64_t r;
	return __builtin_mul_overflow(v, unit, &r) ? UINT64_MAX : r;
}

/* "anon-rss:65272kB" anywhere in s. */
static bool kb_field(struct span s, const char *key, uint64_t *ret_bytes)
{
	struct span v = span_after(s, key);
	uint64_t kb;
	if (!v.p || span_u64_prefix(v, &kb) < 0)
		return false;
	*ret_bytes = scaled(kb, KIB);
	return true;
}

static bool i32_field(struct span s, const char *key, int32_t *ret)
{
	struct span v = span_after(s, key);
	if (!v.p)
		return false;
	size_t n = v.len > 0 && v.p[0] == '-' ? 1 : 0;
	while (n < v.len && v.p[n] >= '0' && v.p[n] <= '9')
		n++;
	int64_t i;
	if (span_i64((struct span){v.p, n}, &i) < 0 || i < INT32_MIN || i > INT32_MAX)
		return false;
	*ret = (int32_t)i;
	return true;
}

static bool pid_prefix(struct span s, pid_t *ret)
{
	uint64_t v;
	if (span_u64_prefix(s, &v) < 0 || v == 0 || v > INT32_MAX)
		return false;
	*ret = (pid_t)v;
	return true;
}

void oomlog_init(struct oomlog *o, uint64_t page_bytes, struct kernel_kill *out, size_t cap)
{
	*o = (struct oomlog){.out = out, .cap = cap, .page_bytes = page_bytes};
}

static void report_open(struct oomlog *o)
{
	o->cur = (struct kernel_kill){0};
	o->open = true;
	o->used = o->announced = o->group = false;
	o->chosen = 0;
	o->n_columns = 0;
}

/* Opens a report for a line that precedes the kill line, as the earlier lines of the report may be lost. */
static void report_want(struct oomlog *o)
{
	if (!o->open || o->used)
		report_open(o);
}

/* "7 (c)" of "Killed process 7 (c)" or "Kill process 7 (c)". The comm may contain any byte, also ')'. */
static bool pid_and_comm(struct span s, const char *stop, pid_t *ret_pid, char *comm, size_t cap, struct span *ret_rest)
{
	const char *open = span_find(s, " (");
	const char *limit = stop ? span_rfind(s, stop) : NULL;
	if (!pid_prefix(s, ret_pid) || !open)
		return false;
	struct span in = {open + 2, (size_t)((limit ? limit : s.p + s.len) - open)};
	if (in.len < 2 || (limit && limit < open + 2))
		return false;
	in.len -= 2;
	const char *close = span_rfind(in, ")");
	if (!close)
		return false;
	span_copy((struct span){in.p, (size_t)(close - in.p)}, comm, cap);
	mask_name(comm);
	*ret_rest = (struct span){close + 1, (size_t)(s.p + s.len - close - 1)};
	return true;
}

bool oomlog_kill_parse(struct span text, struct kernel_kill *ret)
{
	struct kernel_kill k = {0};
	struct span at = span_after(text, "Killed process "), rest;
	if (!at.p)
		return false;
	struct span before = {text.p, (size_t)(at.p - text.p) - strlen("Killed process ")};
	bool global = span_starts(before, "Out of memory");
	k.memcg = span_starts(before, "Memory cgroup out of memory");
	if (before.len > 0 && !global && !k.memcg)
		return false;
	if (!pid_and_comm(at, span_has(at, " total-vm:") ? " total-vm:" : NULL, &k.pid, k.comm, sizeof(k.comm), &rest))
		return false;
	k.allocating_task = span_has(before, "oom_kill_allocating_task");
	k.has_rss = kb_field(rest, "anon-rss:", &k.anon_rss_bytes);
	if (!kb_field(rest, "total-vm:", &k.total_vm_bytes) && before.len == 0)
		return false; /* a bare "Killed process 7 (c)" is not from the kernel */
	ignore(kb_field(rest, "file-rss:", &k.file_rss_bytes), "left 0 by kernels that do not print it");
	ignore(kb_field(rest, "shmem-rss:", &k.shmem_rss_bytes), "printed since 4.5");
	k.has_adj = i32_field(rest, "oom_score_adj:", &k.oom_score_adj);
	struct span uid = span_after(rest, "UID:");
	if (!uid.p)
		uid = span_after(rest, "UID ");
	uint64_t u;
	if (uid.p && span_u64_prefix(uid, &u) == 0 && u <= UINT32_MAX) {
		k.uid = (uid_t)u;
		k.has_uid = true;
	}
	span_copy(text, k.line, sizeof(k.line));
	*ret = k;
	return true;
}

static void push(struct oomlog *o, const struct kernel_kill *k)
{
	if (o->cap == 0) {
		o->dropped++;
		return;
	}
	if (o->n == o->cap) {
		memmove(o->out, o->out + 1, (o->cap - 1) * sizeof(*o->out));
		o->n--;
		o->dropped++;
	}
	o->out[o->n++] = *k;
}

/* Stores a kill record: the numbers of the kill line, and the rest from earlier lines of its report. */
static void kill_seen(struct oomlog *o, const struct kernel_kill *k, int64_t time_unix_ms)
{
	bool mine = o->open && (o->group || (!o->used && (o->announced || o->chosen == 0 || o->chosen == k->pid)));
	struct kernel_kill full = *k;
	if (mine) {
		struct kernel_kill r = o->cur;
		bool memcg = k->memcg || r.oom_memcg[0];
		full = r;
		full.pid = k->pid;
		TEXT_COPY(full.comm, k->comm);
		TEXT_COPY(full.line, k->line);
		full.memcg = memcg;
		full.total_vm_bytes = k->total_vm_bytes;
		full.anon_rss_bytes = k->anon_rss_bytes;
		full.file_rss_bytes = k->file_rss_bytes;
		full.shmem_rss_bytes = k->shmem_rss_bytes;
		full.has_rss = k->has_rss;
		full.oom_score_adj = k->oom_score_adj;
		full.has_adj = k->has_adj;
		full.uid = k->uid;
		full.has_uid = k->has_uid;
		full.allocating_task = k->allocating_task;
		full.group_kill = o->group;
		if (o->announced && o->chosen != k->pid)
			full.sacrificed_for = o->chosen;
		o->used = true;
	} else {
		o->open = false;
	}
	full.bare = !mine || (!full.invoker[0] && !full.oom_memcg[0] && !full.constraint[0]);
	full.time_unix_ms = time_unix_ms;
	push(o, &full);
}

static void copy_between(char *dst, size_t cap, const char *from, const char *to)
{
	span_copy((struct span){from, (size_t)(to - from)}, dst, cap);
}

/*
 * oom-kill:constraint=…,oom_memcg=/a,task_memcg=/b,task=c,pid=7,uid=0; parsed from the right, as names may contain
 * commas.
 */
static void summary_line(struct oomlog *o, struct span text)
{
	report_want(o);
	struct kernel_kill *k = &o->cur;
	struct span c = span_after(text, "constraint=");
	span_copy(span_before(c, ","), k->constraint, sizeof(k->constraint));
	const char *pid = span_rfind(text, ",pid=");
	if (!pid || !pid_prefix((struct span){pid + 5, (size_t)(text.p + text.len - pid - 5)}, &o->chosen))
		o->chosen = 0;
	struct span head = {text.p, pid ? (size_t)(pid - text.p) : text.len};
	const char *task = span_rfind(head, ",task="), *group = span_find(head, ",task_memcg=");
	const char *limit = span_find(head, ",oom_memcg=");
	if (task && group && group < task)
		copy_between(k->task_memcg, sizeof(k->task_memcg), group + strlen(",task_memcg="), task);
	if (limit && group && limit < group)
		copy_between(k->oom_memcg, sizeof(k->oom_memcg), limit + strlen(",oom_memcg="), group);
}

static const struct {
	const char *name;
	enum oomlog_column column;
} column_names[] = {
	{"tgid", OOMLOG_TGID},
	{"rss", OOMLOG_RSS},
	{"oom_score_adj", OOMLOG_ADJ},
	{"name", OOMLOG_NAME},
};

static void table_head(struct oomlog *o, struct span text)
{
	struct span rest = span_after(text, "]"), w;
	report_want(o);
	o->n_columns = 0;
	while (o->n_columns < OOMLOG_COLUMNS && span_word(&rest, &w)) {
		enum oomlog_column c = OOMLOG_OTHER;
		for (size_t i = 0; i < ARRAY_SIZE(column_names); i++)
			if (span_eq(w, column_names[i].name))
				c = column_names[i].column;
		o->columns[o->n_columns++] = c;
	}
}

static void task_keep(struct kernel_kill *k, const struct kernel_task *t)
{
	k->n_tasks_all++;
	size_t at = k->n_tasks;
	while (at > 0 && k->tasks[at - 1].rss_bytes < t->rss_bytes)
		at--;
	if (at >= KERNEL_KILL_TASKS)
		return;
	size_t last = MIN(k->n_tasks, (size_t)KERNEL_KILL_TASKS - 1);
	for (size_t i = last; i > at; i--)
		k->tasks[i] = k->tasks[i - 1];
	k->tasks[at] = *t;
	k->n_tasks = MIN(k->n_tasks + 1, (size_t)KERNEL_KILL_TASKS);
}

/* "[  20178]     0 20178    19361 …": a row of the task table, with the columns that its header named. */
static void table_row(struct oomlog *o, struct span text)
{
	struct kernel_task t = {0};
	struct span in = span_trim(span_before((struct span){text.p + 1, text.len - 1}, "]"));
	struct span rest = span_after(text, "]"), w;
	uint64_t rss = 0;
	bool has_rss = false;
	if (!rest.p || span_u64(in, &(uint64_t){0}) < 0 || !pid_prefix(in, &t.pid))
		return;
	for (size_t i = 0; i < o->n_columns; i++) {
		int64_t adj;
		if (o->columns[i] == OOMLOG_NAME) {
			span_copy(span_trim(rest), t.comm, sizeof(t.comm));
			mask_name(t.comm);
			break;
		}
		if (!span_word(&rest, &w))
			return;
		if (o->columns[i] == OOMLOG_RSS)
			has_rss = span_u64(w, &rss) == 0;
		else if (o->columns[i] == OOMLOG_TGID)
			ignore(pid_prefix(w, &t.pid), "the bracket's pid stands when the column is odd");
		else if (o->columns[i] == OOMLOG_ADJ && span_i64(w, &adj) == 0)
			t.oom_score_adj = (int32_t)MAX(INT32_MIN, MIN(INT32_MAX, adj));
	}
	if (!has_rss)
		return;
	t.rss_bytes = scaled(rss, o->page_bytes);
	task_keep(&o->cur, &t);
}

static void invoked_line(struct oomlog *o, struct span text)
{
	report_open(o);
	span_copy(span_before(text, " invoked oom-killer:"), o->cur.invoker, sizeof(o->cur.invoker));
	o->cur.by_hand = span_has(text, " order=-1,") || span_has(text, " order=-1 ");
}

/* Kernels before 5.0: "Task in /a/b killed as a result of limit of /a" */
static bool limit_of_line(struct oomlog *o, struct span text)
{
	const char *mid = span_rfind(text, " killed as a result of limit of ");
	if (!mid || !span_starts(text, "Task in "))
		return false;
	report_want(o);
	const char *group = mid + strlen(" killed as a result of limit of ");
	copy_between(o->cur.task_memcg, sizeof(o->cur.task_memcg), text.p + strlen("Task in "), mid);
	span_copy(span_trim((struct span){group, (size_t)(text.p + text.len - group)}), o->cur.oom_memcg,
		  sizeof(o->cur.oom_memcg));
	o->cur.memcg = true;
	return true;
}

static bool announce_line(struct oomlog *o, struct span text)
{
	struct span at = span_after(text, "Kill process "), rest;
	char comm[32];
	pid_t pid;
	if (!at.p || !span_has(text, " or sacrifice child") ||
	    !pid_and_comm(at, " score ", &pid, comm, sizeof(comm), &rest))
		return false;
	report_want(o);
	o->announced = true;
	o->chosen = pid;
	if (span_starts(text, "Memory cgroup"))
		o->cur.memcg = true;
	return true;
}

static void group_line(struct oomlog *o, struct span text)
{
	struct span g = span_after(text, "Tasks in ");
	const char *end = span_rfind(g, " are going to be killed due to memory.oom.group set");
	if (!end)
		return;
	char group[256];
	copy_between(group, sizeof(group), g.p, end);
	if (!o->open)
		report_open(o);
	else if (o->used && o->n > 0)
		o->out[o->n - 1].group_kill = true; /* the first kill of the group is printed before this line */
	o->group = true;
	if (!o->cur.oom_memcg[0])
		TEXT_COPY(o->cur.oom_memcg, group);
	o->cur.memcg = true;
}

static void reaper_line(struct oomlog *o, struct span text)
{
	struct span done = span_after(text, "reaped process "), failed = span_after(text, "unable to reap pid:");
	pid_t pid;
	if (!pid_prefix(done.p ? done : failed, &pid))
		return;
	for (size_t i = o->n; i-- > 0;) {
		if (o->out[i].pid != pid)
			continue;
		o->out[i].reaped = done.p != NULL;
		o->out[i].reap_failed = done.p == NULL;
		return;
	}
}

/* Lines before the kill line with numbers of the group or the machine; false: another line. */
static bool numbers_line(struct oomlog *o, struct span text)
{
	struct kernel_kill *k = &o->cur;
	uint64_t v;
	if (span_starts(text, "memory: usage ")) {
		report_want(o);
		ignore(kb_field(text, "usage ", &k->usage_bytes), "0 stands for unknown");
		ignore(kb_field(text, "limit ", &k->limit_bytes), "0 stands for unknown");
		return true;
	}
	if (!o->open || o->used)
		return false;
	if (span_starts(text, "Free swap  = ")) {
		k->has_swap = kb_field(text, "= ", &k->swap_free_bytes);
		return true;
	}
	if (span_starts(text, "Total swap = ")) {
		k->has_swap = kb_field(text, "= ", &k->swap_total_bytes) && k->has_swap;
		return true;
	}
	const char *pages = span_find(text, " pages RAM");
	if (pages && span_u64(span_before(text, " pages RAM"), &v) == 0) {
		k->ram_bytes = scaled(v, o->page_bytes);
		return true;
	}
	return false;
}

void oomlog_line(struct oomlog *o, struct span text, int64_t time_unix_ms)
{
	struct kernel_kill k;
	text = span_trim(text);
	if (text.len == 0)
		return;
	if (text.p[0] == '[') {
		if (span_has(text, "total_vm") && span_has(text, "rss") && span_has(text, "name"))
			table_head(o, text);
		else if (o->open && !o->used && o->n_columns > 0)
			table_row(o, text);
		return;
	}
	if (span_has(text, " invoked oom-killer:"))
		invoked_line(o, text);
	else if (span_starts(text, "oom-kill:constraint="))
		summary_line(o, text);
	else if (span_starts(text, "oom_reaper: "))
		reaper_line(o, text);
	else if (oomlog_kill_parse(text, &k))
		kill_seen(o, &k, time_unix_ms);
	else if (span_starts(text, "Tasks in "))
		group_line(o, text);
	else if (!limit_of_line(o, text) && !announce_line(o, text))
		ignore(numbers_line(o, text), "any other kernel message stands between the lines of a report");
}
