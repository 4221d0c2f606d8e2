#include "agent/map/mapinputs.h"

#include <string.h>

#include "agent/map/mapblocks.h"
#include "base/vec.h"

_Static_assert((int)MAPINPUTS_END == (int)MAPRECORDS_END && (int)MAPINPUTS_LATER == (int)MAPRECORDS_LATER &&
		       (int)MAPINPUTS_END == (int)MAPBLOCKS_END && (int)MAPINPUTS_LATER == (int)MAPBLOCKS_LATER,
	       "they are handed on");

struct mapinputs {
	const struct map_spec *spec;
	struct maprecords *records;
	struct mapblocks blocks;
	struct map_args *pending; /* records of the next task, and perhaps one more */
	size_t n_pending, pending_cap;
	size_t line_bytes; /* of a command with all of them but the last */
	size_t n_fit; /* of them, those that are known to fit */
	uint64_t spread_records; /* of one task, once the last ones are spread over all slots */
	struct template_words words;
	uint64_t total;
};

static void pending_drop(struct mapinputs *in, size_t n)
{
	for (size_t i = 0; i < n; i++)
		map_args_done(&in->pending[i]);
	in->n_pending -= n;
	memmove(in->pending, in->pending + n, in->n_pending * sizeof(*in->pending));
	in->n_fit = in->line_bytes = 0;
}

struct mapinputs *mapinputs_close(struct mapinputs *in)
{
	if (!in)
		return NULL;
	pending_drop(in, in->n_pending);
	mapblocks_done(&in->blocks);
	template_words_done(&in->words);
	in->records = maprecords_close(in->records);
	free(in->pending);
	free(in);
	return NULL;
}

/* ---- as many as fit ---- */

/* The line of a command with the record so many times over. */
static int filled_bytes(struct mapinputs *in, const struct map_args *record, size_t times, size_t *ret)
{
	const char **arg = calloc(record->n * times + 1, sizeof(*arg));
	if (!arg)
		return -ENOMEM;
	for (size_t i = 0; i < record->n * times; i++)
		arg[i] = record->arg[i % record->n];
	struct template_values v = {.arg = arg,
				    .n_args = record->n * times,
				    .many = in->spec->many == MAP_PARTED ? MANY_PARTED : MANY_WORDS,
				    .seq = 1,
				    .slot = 1,
				    .total = in->total};
	int r = template_fill(in->spec->template, &v, &in->words);
	free(arg);
	*ret = template_words_bytes(&in->words);
	return r;
}

/* So many records as a task has at most. */
static uint64_t most_records(const struct mapinputs *in)
{
	uint64_t most = in->spec->per_task ? in->spec->per_task : in->spec->many == MAP_ONE ? 1 : UINT64_MAX;
	return in->spread_records ? MIN(most, in->spread_records) : most;
}

/* Counts those that fit into a line, one at least. *ret_full: there is one more. */
static int pending_fit(struct mapinputs *in, bool *ret_full)
{
	*ret_full = false;
	while (in->n_fit < MIN((uint64_t)in->n_pending, most_records(in))) {
		const struct map_args *record = &in->pending[in->n_fit];
		size_t once = 0, twice = 0;
		int r = filled_bytes(in, record, 1, &once);
		if (r == 0 && in->n_fit > 0)
			r = filled_bytes(in, record, 2, &twice);
		if (r < 0)
			return r;
		size_t bytes = in->n_fit == 0 ? once : in->line_bytes + (twice - once);
		*ret_full = in->n_fit > 0 && bytes >= in->spec->line_bytes;
		if (*ret_full)
			return 0;
		in->line_bytes = bytes;
		in->n_fit++;
	}
	return 0;
}

/* ---- records to tasks ---- */

static int pending_more(struct mapinputs *in, struct fault *f)
{
	struct map_args record;
	if (vec_room(&in->pending, &in->pending_cap, in->n_pending + 1) < 0)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	int r = maprecords_next(in->records, &record, f);
	if (r == 0)
		in->pending[in->n_pending++] = record;
	return r;
}

/* How many of the records at hand are the next task's; 0 with MAPINPUTS_LATER. */
static int task_records(struct mapinputs *in, size_t *ret, struct fault *f)
{
	bool full = false;
	int r = 0;
	for (;;) {
		if (in->spec->many != MAP_ONE && pending_fit(in, &full) < 0)
			return fault_set(f, -ENOMEM, "no memory for the inputs");
		if (full || in->n_pending >= most_records(in))
			break;
		r = pending_more(in, f);
		if (r == MAPINPUTS_END && in->spec->spread && in->n_pending > 1 && in->spread_records == 0)
			/* as GNU parallel does: what is left when all has been read is for all slots */
			in->spread_records = (in->n_pending + in->spec->slots - 1) / in->spec->slots;
		if (r != 0)
			break;
	}
	if (r < 0 || r == MAPINPUTS_LATER)
		return r;
	*ret = (size_t)MIN((uint64_t)(in->spec->many == MAP_ONE ? in->n_pending : in->n_fit), most_records(in));
	return *ret == 0 ? MAPINPUTS_END : 0;
}

static int records_join(struct mapinputs *in, size_t n, struct map_args *ret)
{
	size_t inputs = 0, bytes = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < in->pending[i].n; k++, inputs++)
			bytes += strlen(in->pending[i].arg[k]) + 1;
	char **arg = malloc((inputs + 1) * sizeof(char *) + bytes);
	if (!arg)
		return -ENOMEM;
	char *at = (char *)(arg + inputs + 1);
	inputs = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < in->pending[i].n; k++) {
			size_t len = strlen(in->pending[i].arg[k]) + 1;
			arg[inputs++] = memcpy(at, in->pending[i].arg[k], len);
			at += len;
		}
	arg[inputs] = NULL;
	*ret = (struct map_args){.arg = arg, .n = inputs};
	return 0;
}

static int joined_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	size_t n = 0;
	int r = task_records(in, &n, f);
	if (r != 0)
		return r;
	if (records_join(in, n, ret) < 0)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	pending_drop(in, n);
	return 0;
}

static int block_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	static char nothing[] = ""; /* that is what {} stands for */
	struct map_args a = {.n = 1, .piped = true};
	int r = mapblocks_next(&in->blocks, maprecords_fd(in->records), &a.in_fd, &a.in_bytes, f);
	if (r != 0)
		return r;
	a.arg = calloc(2, sizeof(*a.arg));
	if (!a.arg) {
		closep(&a.in_fd);
		return fault_set(f, -ENOMEM, "no memory for a task");
	}
	a.arg[0] = nothing;
	*ret = a;
	return 0;
}

int mapinputs_next(struct mapinputs *in, struct map_args *ret, struct fault *f)
{
	if (in->spec->pipe)
		return block_next(in, ret, f);
	if (in->spec->many == MAP_ONE && in->spec->per_task <= 1)
		return maprecords_next(in->records, ret, f);
	return joined_next(in, ret, f);
}

/* ---- the whole ---- */

/* How many tasks the records make, where all are here. */
static int tasks_count(struct mapinputs *in, struct fault *f)
{
	uint64_t records = maprecords_total(in->records), n = 0;
	if (in->spec->many == MAP_ONE || records == 0) {
		in->total = (records + MAX(in->spec->per_task, 1U) - 1) / MAX(in->spec->per_task, 1U);
		return 0;
	}
	for (;;) {
		struct map_args a;
		int r = mapinputs_next(in, &a, f);
		if (r < 0)
			return r;
		if (r != 0)
			break;
		map_args_done(&a);
		n++;
	}
	in->total = n;
	mapinputs_rewind(in);
	return 0;
}

int mapinputs_open(const struct map_spec *spec, bool whole, struct mapinputs **ret, struct fault *f)
{
	cleanup(mapinputs_closep) struct mapinputs *in = calloc(1, sizeof(*in));
	if (!in)
		return fault_set(f, -ENOMEM, "no memory for the inputs");
	in->spec = spec;
	in->blocks = (struct mapblocks){
		.block_bytes = spec->block_bytes, .records = spec->per_task, .end = spec->record_end};
	int r = maprecords_open(spec, whole && !spec->pipe, &in->records, f);
	if (r == 0)
		r = tasks_count(in, f);
	if (r == 0)
		*ret = take(&in);
	return r;
}

int mapinputs_fd(const struct mapinputs *in)
{
	return maprecords_fd(in->records);
}

bool mapinputs_use_stdin(const struct mapinputs *in)
{
	return maprecords_use_stdin(in->records);
}

uint64_t mapinputs_total(const struct mapinputs *in)
{
	return in->total;
}

void mapinputs_rewind(struct mapinputs *in)
{
	pending_drop(in, in->n_pending);
	in->spread_records = 0;
	maprecords_rewind(in->records);
}
