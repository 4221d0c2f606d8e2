/* Processes that start while a job is watched. There may be hundreds a second; a look sees those that it finds. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/speed/speedwatch_parts.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

/* Main processes whose children are looked for: ranks are alike. */
#define CHILDREN_OF 8

void speedwatch_children_begin(struct speedwatch *s)
{
	char path[64];
	size_t n = 0;
	for (size_t i = 0; i < s->f->n_processes && n < CHILDREN_OF; i++) {
		const pid_t pid = s->f->process[i].pid;
		/* Ray's workers are started by its daemon. */
		if (!s->f->process[i].main && strcmp(s->f->process[i].name, "raylet") != 0)
			continue;
		TEXT_FORMAT(path, "%d/task/%d/children", pid, pid);
		s->process[i].children_fd = openat(s->w->proc_fd, path, O_RDONLY | O_CLOEXEC);
		n++;
	}
}

bool speedwatch_has(const struct speedfacts *f, pid_t pid)
{
	for (size_t i = 0; i < f->n_processes; i++)
		if (f->process[i].pid == pid)
			return true;
	return false;
}

static bool was_there(const struct speedwatch_process *p, pid_t pid)
{
	for (size_t i = 0; i < p->n_children; i++)
		if (p->child[i] == pid)
			return true;
	return false;
}

static void children_of(const struct speedwatch *s, struct speedwatch_process *p)
{
	char text[1024];
	size_t len, n = 0;
	pid_t now[SPEEDWATCH_CHILDREN];
	if (file_read_once(p->children_fd, text, sizeof(text), &len) != 0)
		return;
	struct span rest = {text, len}, word;
	while (n < ARRAY_SIZE(now) && span_word(&rest, &word)) {
		uint64_t pid;
		if (span_u64(word, &pid) < 0 || pid > INT32_MAX || speedwatch_has(s->f, (pid_t)pid) ||
		    (pid_t)pid == getpid())
			continue;
		p->children += !was_there(p, (pid_t)pid);
		now[n++] = (pid_t)pid;
	}
	memcpy(p->child, now, n * sizeof(now[0]));
	p->n_children = n;
	p->children_sweeps += n > 0;
}

/* What has ended and was not asked for its status is there as well, but does nothing. */
static bool one_stays(const struct speedwatch *s, const struct speedwatch_process *p)
{
	struct proc_stat st;
	for (size_t i = 0; i < p->n_listed; i++)
		if (was_there(p, p->listed[i]) && proc_stat_read(s->w, p->listed[i], &st) == 0 && !proc_is_over(&st))
			return true;
	return false;
}

bool speedwatch_children_stay(struct speedwatch *s)
{
	bool stays = false;
	for (size_t i = 0; i < s->f->n_processes; i++) {
		struct speedwatch_process *p = &s->process[i];
		stays |= one_stays(s, p);
		memcpy(p->listed, p->child, p->n_children * sizeof(p->child[0]));
		p->n_listed = p->n_children;
	}
	return stays;
}

void speedwatch_children(struct speedwatch *s)
{
	for (size_t i = 0; i < s->f->n_processes; i++)
		if (s->process[i].children_fd >= 0)
			children_of(s, &s->process[i]);
}
