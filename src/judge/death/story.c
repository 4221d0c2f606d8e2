#include "judge/death/story.h"

#include <string.h>

void story_add(struct story *s, const struct story_part *p)
{
	/* A new attempt is not held by the hang of the one before, nor is a job that moved after a later hang. */
	if (p->attempt != s->hang.attempt || (p->kind == INCIDENT_HANG && p->hang_over))
		s->hang = (struct story_part){.id = ""};
	if (p->kind == INCIDENT_HANG && !p->hang_over)
		s->hang = *p;
	s->newest = *p;
}

static bool newest_is_hang(const struct story *s)
{
	return strcmp(s->hang.id, s->newest.id) == 0;
}

bool story_hang_leads(const struct story *s)
{
	return s->hang.id[0] && (newest_is_hang(s) || s->newest.kind == INCIDENT_KILLED_BY);
}

bool story_hang_before(const struct story *s)
{
	return s->hang.id[0] && !story_hang_leads(s);
}
