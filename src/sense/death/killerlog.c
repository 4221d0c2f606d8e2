#include "sense/death/killerlog.h"

#include <signal.h>
#include <string.h>

#include "base/buf.h"
#include "base/signame.h"
#include "sense/death/killerlog_parts.h"
#include "sense/gpu/xid.h"
#include "sense/log/kmsg.h"

static bool killer_earlyoom_line(struct span text, struct killer_line *l)
{
	static const char low[] = "low memory! at or below ";
	l->killer = KILLER_EARLYOOM;
	if (span_starts(text, low)) {
		TEXT_COPY(l->action, "low_memory");
		l->signal = signame_parse(span_before(span_after(text, low), " limits"));
		struct span mem = span_after(text, " limits: mem");
		return mem.p && killer_number(span_trim(mem), &l->value_ratio);
	}
	struct span at = span_after(text, " to process ");
	if (!span_starts(text, "sending SIG") || !at.p || !killer_pid(at, &l->pid) || !span_has(at, " uid "))
		return false;
	l->signal = signame_parse(span_before(span_after(text, "sending "), " "));
	TEXT_COPY(l->action, "kill");
	struct span name = span_after(at, " \"");
	if (name.p)
		span_copy(span_before(name, "\""), l->name, sizeof(l->name));
	struct span rss = span_after(text, "VmRSS ");
	uint64_t mib;
	if (rss.p && span_u64_prefix(rss, &mib) == 0 && mib < UINT64_C(1) << 40)
		l->victim_bytes = mib * MIB;
	return l->signal != 0;
}

static bool killer_meta_line(struct span text, struct killer_line *l)
{
	struct span at = span_after(text, "oomd kill: "), w;
	if (!at.p || !span_has(at, " ruleset:[") || !span_has(at, " killer:"))
		return false;
	l->killer = KILLER_OOMD;
	TEXT_COPY(l->action, "kill");
	l->signal = SIGKILL;
	for (int i = 0; i < 3; i++) {
		double v;
		if (!span_word(&at, &w) || !killer_number(w, &v))
			return false;
		if (i == 0)
			l->value_ratio = v / 100;
	}
	if (!span_word(&at, &w))
		return false;
	struct buf group = BUF_ON(l->group);
	if (w.p[0] != '/')
		buf_add(&group, "/");
	buf_add_n(&group, w.p, w.len);
	uint64_t bytes;
	if (span_word(&at, &w) && span_u64(w, &bytes) == 0)
		l->victim_bytes = bytes;
	return true;
}

static bool killer_fault_line(struct span text, struct killer_line *l)
{
	struct span name;
	if (!kmsg_fault(text, &name, &l->pid))
		return false;
	l->killer = KILLER_NONE;
	TEXT_COPY(l->action, "fault");
	span_copy(name, l->name, sizeof(l->name));
	const char *behind = name.p + name.len;
	(void)faultline_parse(span_after((struct span){behind, (size_t)(text.p + text.len - behind)}, "]"), &l->fault);
	return true;
}

/* Work that is cleaned away (Xid 45) is the end's consequence, so it says nothing. */
static bool killer_xid_line(struct span text, struct killer_line *l)
{
	struct xid x;
	if (!xid_parse(text, &x) || x.pid == 0 || xid_action(&x) == XID_FOLLOWS)
		return false;
	l->killer = KILLER_NONE;
	TEXT_COPY(l->action, "xid");
	l->pid = x.pid;
	TEXT_COPY(l->name, x.process);
	l->meaning = xid_meaning(&x);
	return true;
}

static bool killer_nohang_line(struct killerlog *k, struct span text, struct killer_line *l)
{
	struct span pid = span_after(text, "PID:"), name = span_after(text, ", Name: ");
	if (!name.p)
		name = span_after(text, ", name: "); /* nohang 0.2 */
	if (span_starts(text, "PID:") && name.p && (span_has(name, ", badness: ") || span_has(name, ", state: "))) {
		const char *end = span_find(name, ", badness: ");
		if (!end)
			end = span_find(name, ", state: ");
		if (killer_pid(pid, &k->nohang_pid))
			span_copy((struct span){name.p, (size_t)(end - name.p)}, k->nohang_name,
				  sizeof(k->nohang_name));
		return false;
	}
	if (!span_starts(text, "Sending SIG") || !span_has(text, " to the victim"))
		return false;
	l->killer = KILLER_NOHANG;
	TEXT_COPY(l->action, "kill");
	l->signal = signame_parse(span_before(span_after(text, "Sending "), " "));
	l->pid = k->nohang_pid;
	TEXT_COPY(l->name, k->nohang_name);
	return l->signal != 0;
}

static void result_add(struct killerlog *k, struct killer_line *l, struct span text, int64_t time_unix_ms)
{
	if (k->cap == 0) {
		k->dropped++;
		return;
	}
	if (k->n == k->cap) {
		memmove(k->out, k->out + 1, (k->cap - 1) * sizeof(*k->out));
		k->n--;
		k->dropped++;
	}
	l->time_unix_ms = time_unix_ms;
	TEXT_COPY(l->source, k->source);
	span_copy(text, l->line, sizeof(l->line));
	k->out[k->n++] = *l;
}

typedef bool recogniser(struct span text, struct killer_line *l);

/* idents: the names under which the killer logs. A line without a name is judged by its words alone. */
static const struct {
	recogniser *fn;
	const char *idents[6];
} recognisers[] = {
	{killer_oomd_line, {"systemd-oomd"}},
	{killer_unit_line, {"systemd", "init"}},
	{killer_earlyoom_line, {"earlyoom"}},
	{killer_meta_line, {"oomd", "kernel"}},
	{killer_slurm_line, {"slurmstepd", "slurmd", "srun", "slurmctld"}},
	{killer_fault_line, {"kernel"}},
	{killer_xid_line, {"kernel"}},
	{killer_kube_line, {"kubelet", "containerd", "dockerd", "crio", "k3s", "rke2"}},
};

static bool may_say(struct span ident, const char *const *idents, size_t n)
{
	if (ident.len == 0)
		return true;
	for (size_t i = 0; i < n && idents[i]; i++)
		if (span_eq(ident, idents[i]))
			return true;
	return false;
}

void killerlog_init(struct killerlog *k, const char *source, struct killer_line *out, size_t cap)
{
	*k = (struct killerlog){.out = out, .cap = cap, .source = source};
}

void killerlog_line(struct killerlog *k, struct span ident, struct span text, int64_t time_unix_ms)
{
	struct killer_line l[4];
	static const char *const nohang[] = {"nohang", "nohang-desktop"}, *const ray[] = {"ray", "raylet"};
	text = span_trim(text);
	if (text.len == 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(recognisers); i++) {
		if (!may_say(ident, recognisers[i].idents, ARRAY_SIZE(recognisers[i].idents)))
			continue;
		l[0] = (struct killer_line){0};
		if (recognisers[i].fn(text, &l[0])) {
			result_add(k, &l[0], text, time_unix_ms);
			return;
		}
	}
	l[0] = (struct killer_line){0};
	if (may_say(ident, nohang, ARRAY_SIZE(nohang)) && killer_nohang_line(k, text, &l[0])) {
		result_add(k, &l[0], text, time_unix_ms);
		return;
	}
	if (!may_say(ident, ray, ARRAY_SIZE(ray)))
		return;
	size_t n = killer_ray_lines(k, text, l, ARRAY_SIZE(l));
	for (size_t i = 0; i < n; i++)
		result_add(k, &l[i], text, time_unix_ms);
}
