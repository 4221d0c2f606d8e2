#include "agent/heap/heapread_parts.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/mask/mask.h"
#include "base/path.h"
#include "sense/proc/maps.h"
#include "sense/proc/proc.h"

const struct heapread_who *heapread_who_of(const struct heapread *h, int32_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < h->want.n_who; i++)
		if (h->want.who[i].inner_pid == pid && h->want.who[i].start_ticks == start_ticks)
			return &h->want.who[i];
	return NULL;
}

static bool runs(const struct world *w, pid_t pid, uint64_t start_ticks)
{
	struct proc_stat st;
	return !w->recorded && proc_stat_read(w, pid, &st) == 0 && st.start_ticks == start_ticks && st.state != 'Z' &&
	       st.state != 'X';
}

static void command_of(const struct heap_header *h, char *dst, size_t cap)
{
	char words[sizeof(h->command) + 1], name[sizeof(h->comm)];
	struct buf b = {.text = dst, .cap = cap};
	buf_reset(&b);
	memcpy(words, h->command, sizeof(h->command));
	const size_t len = mask_args(words, sizeof(h->command));
	words[len] = '\0';
	for (size_t at = 0; at < len && words[at];) {
		const char *word = &words[at];
		buf_printf(&b, "%s%s", b.len ? " " : "", b.len == 0 ? path_name(word) : word);
		at += strlen(&words[at]) + 1;
	}
	TEXT_COPY(name, h->comm);
	mask_name(name);
	if (b.len == 0)
		buf_add(&b, name);
	for (size_t i = 0; i < b.len; i++)
		if ((unsigned char)dst[i] < ' ' || dst[i] == 127)
			dst[i] = '?';
}

enum mapped { MAPPED_NOT, MAPPED_COPIED, MAPPED };

/*
 * Whether the process has this file mapped. After exec it has no file of this name mapped; if another file of this name
 * is mapped, this one is a copy of it. MAPPED where the maps may not be read.
 */
static enum mapped mapped_as(const struct world *w, pid_t pid, const char *name, uint64_t inode, const char *path)
{
	struct maps maps;
	enum mapped m = MAPPED_NOT;
	if (maps_read(w, pid, &maps) != 0)
		return MAPPED;
	for (size_t i = 0; i < maps.n && m != MAPPED; i++) {
		const struct map_row *row = &maps.rows[i];
		if (strcmp(path_name(row->path), name) == 0)
			m = row->inode == inode || strcmp(row->path, path) == 0 ? MAPPED : MAPPED_COPIED;
	}
	maps_done(&maps);
	return m;
}

static enum mapped is_mapped(const struct heapread_one *rd, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	char generation[16] = "", name[80];
	if (h->generation)
		TEXT_FORMAT(generation, ".%u", h->generation);
	TEXT_FORMAT(name, "%d.%llu%s.heap", h->pid, (unsigned long long)h->start_ticks, generation);
	return mapped_as(rd->h->w, rd->pid, name, rd->inode, path);
}

static enum heapset_life life_of(const struct heapread_one *rd, const struct heapread_who *who, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	bool runs_on = runs(rd->h->w, rd->pid, h->start_ticks);
	if (h->state == HEAP_DETACHED && runs_on)
		return HEAPSET_DETACHED;
	if (h->state != HEAP_RUNNING)
		return HEAPSET_ENDED;
	enum mapped mapped = runs_on && !rd->earlier ? is_mapped(rd, path) : MAPPED_NOT;
	if (rd->earlier || (runs_on && mapped == MAPPED_NOT))
		return HEAPSET_REPLACED;
	if (runs_on)
		return mapped == MAPPED ? HEAPSET_RUNNING : HEAPSET_SAVED;
	if (!who || !who->has_status)
		return HEAPSET_GONE;
	return WIFSIGNALED(who->wait_status) ? HEAPSET_KILLED : HEAPSET_ENDED;
}

/* Sets when the memory of the process was gone. */
static void heapread_end_fill(const struct heapread_one *rd, const struct heapread_who *who, struct heapset_process *p)
{
	const struct heap_header *h = &rd->r.header;
	if (p->life == HEAPSET_RUNNING || p->life == HEAPSET_SAVED || p->life == HEAPSET_DETACHED)
		return;
	/* older libraries did not write their end, nor does one that was detached before */
	if (h->state == HEAP_ENDED && h->table.stacks.item_bytes >= sizeof(struct heap_stack))
		p->ended_unix_ms = p->begun_unix_ms + (int64_t)(p->seconds * 1000) + 1;
	else if (who && who->ended_unix_ms > 0)
		p->ended_unix_ms = who->ended_unix_ms;
	p->end_unknown = p->ended_unix_ms == 0;
}

void heapread_describe(struct heapread_one *rd, const char *path)
{
	const struct heap_header *h = &rd->r.header;
	struct heapset_process *p = &rd->p;
	const struct heapread_who *who = heapread_who_of(rd->h, h->pid, h->start_ticks);
	*p = (struct heapset_process){.pid = h->pid, .rank = NO_RANK, .rate_bytes = h->rate_bytes};
	rd->pid = who && who->pid ? who->pid : h->pid;
	p->life = life_of(rd, who, path);
	p->earlier = rd->earlier;
	rd->alive = p->life == HEAPSET_RUNNING;
	p->pid = rd->alive ? rd->pid : h->pid;
	command_of(h, p->name, sizeof(p->name));
	if (who) {
		p->rank = who->rank;
		TEXT_COPY(p->role, who->role);
	}
	TEXT_COPY(p->file, path);
	p->seen_by = rd->h->seen_by;
	p->begun_unix_ms = (int64_t)(MIN(h->begun_unix_ns, (uint64_t)INT64_MAX) / NS_PER_MS);
	uint64_t end_ns = MAX(h->last_mono_ns, rd->alive ? rd->h->w->mono_ns() : 0);
	rd->end_mono_ns = end_ns;
	rd->seconds = p->seconds = (double)sub_floor(end_ns, h->begun_mono_ns) / 1e9;
	heapread_end_fill(rd, who, p);
	p->peak_at_s = (double)sub_floor(rd->r.peak_mono_ns, h->begun_mono_ns) / 1e9;
	p->requested_bytes = h->requested_bytes;
	p->peak_torn = rd->r.peak_torn;
	p->skipped_rows = rd->r.skipped.bad + rd->r.skipped.unpublished;
	p->device = -1;
	uint64_t most = 0;
	p->lost_bytes = h->lost_bytes;
	for (size_t i = 0; i < HEAP_LOST_REASONS; i++) {
		/* these samples are in the table, in a row without a stack */
		if (i == HEAP_LOST_STACK_FULL)
			continue;
		p->lost_samples = add_cap(p->lost_samples, h->lost[i]);
		if (h->lost[i] > most) {
			most = h->lost[i];
			TEXT_COPY(p->lost_why, heapregion_lost_words((enum heap_lost)i));
		}
	}
	if (h->python_why == HEAP_WHY_PYTHON_UNKNOWN)
		TEXT_FORMAT(p->note, "no Python frames: the layout of this CPython (%u.%u) is not known",
			    h->python_version >> 24, h->python_version >> 16 & 255);
	else if (h->lost[HEAP_LOST_STACK_FULL] > 0)
		TEXT_FORMAT(p->note, "%llu samples have no stack: it had no room for more different ones",
			    (unsigned long long)h->lost[HEAP_LOST_STACK_FULL]);
	else if (h->rate_bytes == 0 && rd->alive)
		TEXT_COPY(p->note, "it is switched off: nothing is sampled until it is switched on");
}

bool heapread_is_running(const struct heapread *h, const struct heapfile *file, const char *dir)
{
	const struct heapread_who *who = heapread_who_of(h, file->pid, file->start_ticks);
	pid_t pid = who && who->pid ? who->pid : file->pid;
	char path[512];
	if (!file->newest || file->state != HEAP_RUNNING || !runs(h->w, pid, file->start_ticks))
		return false;
	TEXT_FORMAT(path, "%s/%s", dir, file->name);
	return mapped_as(h->w, pid, file->name, file->inode, path) == MAPPED;
}
