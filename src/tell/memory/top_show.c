#include "tell/memory/top_show.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "model/jobs/role.h"
#include "tell/text/textout.h"

enum column {
	COL_PID,
	COL_JOB,
	COL_USER,
	COL_RANK,
	COL_ROLE,
	COL_RES,
	COL_SHR,
	COL_OWN,
	COL_PSS,
	COL_GPU,
	COL_CPU,
	COL_TIME,
	COL_STATE,
	COL_MAX
};

static const struct {
	const char *title;
	int width; /* negative: to the left */
} columns[COL_MAX] = {
	[COL_PID] = {"PID", 8},	   [COL_JOB] = {"JOB", -16}, [COL_USER] = {"USER", -9}, [COL_RANK] = {"RANK", 4},
	[COL_ROLE] = {"ROLE", -8}, [COL_RES] = {"RES", 8},   [COL_SHR] = {"SHR", 8},	[COL_OWN] = {"OWN", 8},
	[COL_PSS] = {"PSS", 8},	   [COL_GPU] = {"GPU", 8},   [COL_CPU] = {"CPU%", 6},	[COL_TIME] = {"TIME", 9},
	[COL_STATE] = {"S", 1},
};
/* Who goes first where there is no room. */
static const enum column first_to_go[] = {COL_TIME, COL_PSS, COL_SHR, COL_ROLE, COL_USER,
					  COL_JOB,  COL_RES, COL_GPU, COL_RANK};
#define COMMAND_LEAST 12

static size_t width_of(unsigned shown)
{
	size_t sum = 0;
	for (unsigned c = 0; c < COL_MAX; c++)
		if (shown & 1u << c)
			sum += (size_t)(columns[c].width < 0 ? -columns[c].width : columns[c].width) + 1;
	return sum;
}

void top_show_begin(struct top_show *s, size_t width, const struct toplist *l)
{
	*s = (struct top_show){.width = width ? MAX(width, (size_t)TOP_SHOW_NARROWEST) : 0,
			       .columns = (1u << COL_MAX) - 1};
	const char *user = NULL; /* of who ended meanwhile it is not known */
	for (size_t i = 0; i < l->n; i++) {
		s->gpu = s->gpu || l->row[i].process->has_gpu;
		if (l->row[i].user[0])
			s->users = s->users || (user && strcmp(l->row[i].user, user) != 0);
		user = l->row[i].user[0] ? l->row[i].user : user;
	}
	if (!s->gpu)
		s->columns &= ~(1u << COL_GPU);
	if (!s->users)
		s->columns &= ~(1u << COL_USER);
	for (size_t i = 0; s->width && i < ARRAY_SIZE(first_to_go); i++)
		if (width_of(s->columns) + COMMAND_LEAST > s->width)
			s->columns &= ~(1u << first_to_go[i]);
}

/* Cuts a line after so many columns: one a code point. */
static void cut(const struct top_show *s, char *text)
{
	size_t n = 0;
	if (s->width == 0 || textout_columns(text, strlen(text)) <= s->width)
		return;
	for (char *p = text; *p; p++) {
		if (((unsigned char)*p & 0xc0) == 0x80 || n++ < s->width - 1)
			continue;
		(void)snprintf(p, TOP_SHOW_LINE - (size_t)(p - text), "…");
		return;
	}
}

size_t top_show_levels(const struct footprint *f)
{
	return f->ledger.n;
}

void top_show_level(const struct top_show *s, const struct footprint *f, size_t i, char dst[static TOP_SHOW_LINE])
{
	const struct ledger_level *l = &f->ledger.level[i];
	char bar[24], total[16], left[16], swap[16], rest[64] = "";
	size_t full = (size_t)(MIN(ledger_ratio(l), 1.0) * 20 + 0.5);
	for (size_t k = 0; k < 20; k++)
		bar[k] = k < full ? '#' : ' ';
	bar[20] = '\0';
	if (l->swap_total_bytes > 0)
		TEXT_FORMAT(rest, "; swap %s used",
			    size_format(sub_floor(l->swap_total_bytes, l->swap_free_bytes), swap));
	(void)snprintf(dst, TOP_SHOW_LINE, "%-9s [%s] %5.1f %% of %s, %s left%s", ledger_scope_name(l->scope), bar,
		       ledger_ratio(l) * 100, size_format(l->total_bytes, total), size_format(l->available_bytes, left),
		       rest);
	cut(s, dst);
}

void top_show_job(const struct top_show *s, const char *job, const char *sentence, char dst[static TOP_SHOW_LINE])
{
	(void)snprintf(dst, TOP_SHOW_LINE, "%s: %s", job, sentence);
	for (char *p = dst; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	cut(s, dst);
}

void top_show_sum(const struct top_show *s, const struct footprint *f, const struct toplist *l,
		  char dst[static TOP_SHOW_LINE])
{
	uint64_t own = 0;
	char size[16], hidden[64] = "";
	for (size_t i = 0; i < l->n; i++)
		own = add_cap(own, l->row[i].process->own_bytes);
	if (l->hidden > 0)
		TEXT_FORMAT(hidden, "; %zu of no job are hidden (a)", l->hidden);
	(void)snprintf(dst, TOP_SHOW_LINE, "%zu process%s, %s of their own; %zu job%s%s", l->n, l->n == 1 ? "" : "es",
		       size_format(own, size), f->n_jobs, f->n_jobs == 1 ? "" : "s", hidden);
	cut(s, dst);
}

struct line {
	char *dst;
	size_t len;
};

static void cell(const struct top_show *s, struct line *l, enum column c, const char *text)
{
	int wide = columns[c].width;
	size_t room = (size_t)(wide < 0 ? -wide : wide), used;
	char fit[128];
	if (!(s->columns & 1u << c))
		return;
	textout_clean(text, fit, sizeof(fit));
	used = textout_columns(fit, strlen(fit));
	if (used > room) {
		cut(&(struct top_show){.width = room}, fit);
		used = room;
	}
	int blank = (int)(room - used);
	(void)snprintf(l->dst + l->len, TOP_SHOW_LINE - l->len, "%*s%s%*s ", wide < 0 ? 0 : blank, "", fit,
		       wide < 0 ? blank : 0, "");
	l->len += strlen(l->dst + l->len);
}

void top_show_titles(const struct top_show *s, char dst[static TOP_SHOW_LINE])
{
	struct line l = {.dst = dst};
	dst[0] = '\0';
	for (unsigned c = 0; c < COL_MAX; c++)
		cell(s, &l, (enum column)c, columns[c].title);
	(void)snprintf(dst + l.len, TOP_SHOW_LINE - l.len, "COMMAND");
	cut(s, dst);
}

static void bytes_cell(const struct top_show *s, struct line *l, enum column c, bool known, uint64_t bytes)
{
	char size[16];
	cell(s, l, c, known ? size_format(bytes, size) : "-");
}

/* The command as it is seen: without its folder, and from a column on. */
static const char *command_seen(const struct top_show *s, const char *command)
{
	const char *end = strchrnul(command, ' '), *slash = memrchr(command, '/', (size_t)(end - command));
	if (s->base && slash && command[0] == '/')
		command = slash + 1;
	for (size_t i = 0; i < s->skipped && *command; i++)
		for (command++; ((unsigned char)*command & 0xc0) == 0x80;)
			command++;
	return command;
}

void top_show_row(const struct top_show *s, const struct toplist_row *r, char dst[static TOP_SHOW_LINE])
{
	const struct footprint_row *p = r->process;
	struct line l = {.dst = dst};
	char text[24], command[560];
	const char *fold = r->folded ? "[+] " : "";
	dst[0] = '\0';
	TEXT_FORMAT(text, "%ld", (long)p->pid);
	cell(s, &l, COL_PID, text);
	if (r->marked)
		dst[l.len - 1] = '*';
	cell(s, &l, COL_JOB, p->job[0] ? p->job : "-");
	cell(s, &l, COL_USER, r->user[0] ? r->user : "-");
	TEXT_FORMAT(text, "%d", p->who.rank);
	cell(s, &l, COL_RANK, p->has_role && p->who.rank != NO_RANK ? text : "-");
	cell(s, &l, COL_ROLE, p->has_role ? role_name(p->who.role) : "-");
	bytes_cell(s, &l, COL_RES, true, p->rss_bytes);
	bytes_cell(s, &l, COL_SHR, true, p->shared_bytes);
	bytes_cell(s, &l, COL_OWN, true, p->own_bytes);
	bytes_cell(s, &l, COL_PSS, p->pss == PSS_KNOWN, p->pss_bytes);
	bytes_cell(s, &l, COL_GPU, p->has_gpu, p->gpu_bytes);
	TEXT_FORMAT(text, "%.1f", r->cpu_ratio * 100);
	cell(s, &l, COL_CPU, r->has_cpu ? text : "-");
	cell(s, &l, COL_TIME, r->has_time ? duration_format(r->cpu_ns, text) : "-");
	TEXT_FORMAT(text, "%c", r->state);
	cell(s, &l, COL_STATE, text);
	textout_clean(p->command[0] ? p->command : p->comm, command, sizeof(command));
	(void)snprintf(dst + l.len, TOP_SHOW_LINE - l.len, "%*s%s%s", (int)r->depth * 2, "", fold,
		       command_seen(s, command));
	cut(s, dst);
}
