/*
 * What belongs to one incident beside its record of fixed size: stacks, a heap profile, the object "hang". Filled by
 * whoever makes the report, handed to the recorder as often as the report is written, freed by its owner. All zero:
 * nothing.
 */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "model/stacks/stackdump.h"

struct attachments {
	struct stackdump stacks; /* n 0: none */
	struct js *heap; /* the heap profile of the victim (agent/heap/heapcase); NULL: none */
	struct js *hang; /* the object "hang" of vigil.incident/1; NULL: none */
	char *hang_stacks; /* JSON text of the array "stacks", as the hang watcher made it; NULL: none */
};

/* Take *d over, which is empty afterwards. */
void attachments_stacks(struct attachments *a, struct stackdump *d);
/* Take over; NULL removes it. */
void attachments_heap(struct attachments *a, struct js *heap);
/* Take `hang` over and copy the text. */
void attachments_hang(struct attachments *a, struct js *hang, struct span stacks);
/* Mark the hang as over. */
void attachments_hang_resolved(struct attachments *a, int64_t time_unix_ms);
/* Add everything to the report's JSON object. */
void attachments_put(const struct attachments *a, struct js *report);
/* Free everything; a is empty afterwards. */
void attachments_done(struct attachments *a);
