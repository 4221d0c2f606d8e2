/*
 * Server-sent events: `GET /api/v1/stream`. What is new is found once a second for all streams together, and not at all
 * while there are none. Each stream has a short queue of messages that it shares with others; one whose reader is slow
 * misses states, never events, and is given the whole state later.
 *
 * An event's id is its number in the store: a browser that comes back names the last one it saw, and goes on behind it.
 */
#pragma once

#include "agent/web/web.h"

void web_stream(const struct webcall *c);
/* Does a turn if one is due. Milliseconds until the next; -1: nobody listens. */
int webstream_turn(struct web *w);
/* What is new is looked for in the next turn. False: nobody listens. */
bool webstream_look_now(struct web *w);
/* Tells those who watch this job; o is given away. */
void webstream_tell(struct web *w, const char *job, const char *event, struct js *o);
void webstream_free(struct web *w);
