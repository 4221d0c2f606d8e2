/* Messages of Ray's memory monitor: a paragraph (to 2.55), a block with a list (since 2.56), the periodic summary. */
#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "sense/death/killerlog_parts.h"

/* An id of Ray's after its key; only hexadecimal digits, up to whatever follows. */
static void ray_id(struct span text, const char *key, const char *what, struct killer_line *l)
{
	struct span id = span_after(text, key);
	size_t n = 0;
	char digits[64];
	while (id.p && n < id.len && strchr("0123456789abcdef", id.p[n]) && id.p[n])
		n++;
	if (n == 0 || n >= sizeof(digits))
		return;
	span_copy((struct span){id.p, n}, digits, sizeof(digits));
	TEXT_FORMAT(l->ray_id, "%s %s", what, digits);
}

/* "27.71GB / 28.80GB (0.962273)": used, total and their ratio. */
static bool ray_memory(struct span s, uint64_t *ret_used, uint64_t *ret_total, double *ret_ratio)
{
	struct span total = span_after(s, " / "), frac = span_after(total, "(");
	*ret_used = killer_gb(s);
	*ret_total = killer_gb(total);
	return *ret_total > 0 && frac.p && killer_number(frac, ret_ratio);
}

/*
 * "… where the task (task ID: …, name=f, pid=7, memory used=1.25GB) was running was A / B (f), which exceeds … of
 * T."
 */
static bool ray_paragraph(struct span text, struct killer_line *l)
{
	struct span where = span_after(text, "Memory on the node (IP: ");
	struct span was = span_after(where, " was running was ");
	struct span pid = span_after(where, "pid="), limit = span_after(was, "memory usage threshold of ");
	if (!was.p || !pid.p || pid.p > was.p || !killer_pid(pid, &l->pid))
		return false;
	struct span name = span_after(where, "name=");
	if (name.p && name.p < was.p)
		span_copy(span_before(name, ","), l->name, sizeof(l->name));
	ray_id(where, "task ID: ", "task ID", l);
	l->victim_bytes = killer_gb(span_after(where, "memory used="));
	if (!ray_memory(was, &l->memory_used_bytes, &l->memory_total_bytes, &l->value_ratio))
		return false;
	if (limit.p)
		ignore(killer_number(limit, &l->limit_ratio), "0 stands for absent");
	return true;
}

/* "Selected to kill: (Task: …, task name=f, …, pid=7, actual memory used=0.67GB, …)" */
static bool ray_selected(const struct killerlog *k, struct span one, struct killer_line *l)
{
	struct span name = span_after(one, "task name="), pid = span_after(one, "pid=");
	if (!name.p)
		name = span_after(one, "actor name=");
	if (!pid.p || !killer_pid(pid, &l->pid))
		return false;
	if (name.p)
		span_copy(span_before(name, ","), l->name, sizeof(l->name));
	l->victim_bytes = killer_gb(span_after(one, "memory used="));
	l->memory_used_bytes = k->ray_used_bytes;
	l->memory_total_bytes = k->ray_total_bytes;
	l->value_ratio = k->ray_ratio;
	l->limit_ratio = k->ray_limit_ratio;
	return true;
}

/* "OOM kill reason: Memory usage 4824023040B exceeded threshold of 4797952000B (19.0% of 25276514304B limit)" */
static void ray_reason(struct killerlog *k, struct span text)
{
	struct span limit = span_after(span_after(text, "OOM kill reason: "), " exceeded threshold of ");
	struct span share = span_after(limit, "B (");
	if (k->ray_block && share.p && span_has(share, "% of "))
		ignore(killer_number(share, &k->ray_limit_ratio), "0 stands for absent");
}

static bool ray_summary(struct span text, struct killer_line *l)
{
	const char *at = span_find(text, " Workers (tasks / actors) killed due to memory pressure (OOM)");
	if (!at)
		return false;
	const char *p = at;
	while (p > text.p && p[-1] >= '0' && p[-1] <= '9')
		p--;
	if (span_u64((struct span){p, (size_t)(at - p)}, &l->count) < 0)
		return false;
	TEXT_COPY(l->action, "summary");
	return true;
}

static struct killer_line ray_kill(void)
{
	struct killer_line l = {.killer = KILLER_RAY, .signal = SIGKILL};
	TEXT_COPY(l.action, "kill");
	return l;
}

size_t killer_ray_lines(struct killerlog *k, struct span text, struct killer_line *l, size_t cap)
{
	size_t n = 0;
	struct span block = span_after(text, "worker(s) were killed due to the node running low on memory.");
	if (!block.p) /* the raylet's own words */
		block = span_after(text, " worker(s), kill details: Memory on the node ");
	if (block.p) {
		k->ray_block = true;
		struct span was = span_after(block, ") was ");
		if (!was.p || !ray_memory(was, &k->ray_used_bytes, &k->ray_total_bytes, &k->ray_ratio)) {
			k->ray_used_bytes = k->ray_total_bytes = 0;
			k->ray_ratio = 0;
		}
		k->ray_limit_ratio = 0; /* discards the limit of an earlier block */
	}
	ray_reason(k, text);
	/* The raylet's own log joins the lines of a block with ';', so one line may name several processes. */
	struct span rest = span_after(text, "Selected to kill: (");
	while (k->ray_block && rest.p && n < cap) {
		l[n] = ray_kill();
		struct span next = span_after(rest, "Selected to kill: (");
		struct span one = next.p ? (struct span){rest.p, (size_t)(next.p - rest.p)} : rest;
		ray_id(span_before(one, ")"), "worker ID=", "worker ID", &l[n]);
		n += ray_selected(k, span_before(one, "worker ID="), &l[n]);
		rest = next;
	}
	if (n > 0 || block.p)
		return n;
	l[0] = ray_kill();
	if (ray_paragraph(text, &l[0]))
		return 1;
	l[0] = (struct killer_line){.killer = KILLER_RAY};
	return ray_summary(text, &l[0]) ? 1 : 0;
}
