#include "model/jobs/filehist.h"

#include <string.h>

#include "base/buf.h"

/* A name without its numbers: each run of digits is one '#'. False: it does not fit. */
static bool filehist_kind_of(const char *name, char dst[static FILEHIST_NAME])
{
	size_t n = 0;
	for (size_t i = 0; name[i]; i++) {
		const bool digit = name[i] >= '0' && name[i] <= '9';
		if (digit && n > 0 && dst[n - 1] == '#' && i > 0 && name[i - 1] >= '0' && name[i - 1] <= '9')
			continue;
		if (n + 1 == FILEHIST_NAME)
			return false;
		dst[n++] = digit ? '#' : name[i];
	}
	dst[n] = '\0';
	return n > 0;
}

static size_t folder_at(const struct filehist *h, uint64_t folder)
{
	size_t i = 0;
	while (i < h->n_folders && h->folder[i].folder != folder)
		i++;
	return i;
}

bool filehist_watches(const struct filehist *h, uint64_t folder)
{
	return folder_at(h, folder) < h->n_folders;
}

bool filehist_watch(struct filehist *h, uint64_t folder)
{
	if (filehist_watches(h, folder))
		return true;
	if (h->n_folders == FILEHIST_FOLDERS)
		return false;
	h->folder[h->n_folders].folder = folder;
	h->folder[h->n_folders].n = h->folder[h->n_folders].n_others = 0;
	h->n_folders++;
	return true;
}

static const struct filehist_kind *kind_find(const struct filehist *h, uint64_t folder, const char *kind)
{
	for (size_t i = 0; i < FILEHIST_KINDS; i++)
		if (h->kind[i].touched && h->kind[i].folder == folder && strcmp(h->kind[i].kind, kind) == 0)
			return &h->kind[i];
	return NULL;
}

/* The row of a kind; a new one takes the place of the one that was not touched for longest. */
static struct filehist_kind *kind_row(struct filehist *h, uint64_t folder, const char *kind)
{
	struct filehist_kind *oldest = &h->kind[0];
	for (size_t i = 0; i < FILEHIST_KINDS; i++) {
		struct filehist_kind *k = &h->kind[i];
		if (k->touched && k->folder == folder && strcmp(k->kind, kind) == 0)
			return k;
		if (k->touched < oldest->touched)
			oldest = k;
	}
	h->forgot_others |= oldest->n_others > 0;
	h->forgot_taken |= oldest->n_taken > 0;
	*oldest = (struct filehist_kind){.folder = folder};
	TEXT_COPY(oldest->kind, kind);
	return oldest;
}

static void made_by(struct filehist *h, struct filehist_kind *k, const struct filehist_row *r)
{
	size_t i = 0;
	while (i < k->n_by && k->by[i].pid != r->pid)
		i++;
	if (i == FILEHIST_MAKERS)
		return;
	k->n_by = MAX(k->n_by, (uint32_t)i + 1);
	k->by[i].pid = r->pid;
	k->by[i].n++;
	k->by[i].touched = h->turn;
	TEXT_COPY(k->by[i].last, r->name);
}

/* The place of this very file among those that are there; FILEHIST_THERE: it is not known. */
static size_t there_at(const struct filehist *h, uint64_t folder, const char *name)
{
	size_t i = 0;
	while (i < FILEHIST_THERE && !(h->there[i].pid && h->there[i].folder == folder &&
				       strcmp(h->there[i].name, name) == 0))
		i++;
	return i;
}

/* It is there now, made by this process. */
static void there_add(struct filehist *h, const struct filehist_row *r)
{
	size_t at = there_at(h, r->folder, r->name);
	if (at == FILEHIST_THERE)
		at = h->n_there++ % FILEHIST_THERE;
	h->there[at].folder = r->folder;
	h->there[at].pid = r->pid;
	h->there[at].ended = false;
	TEXT_COPY(h->there[at].name, r->name);
}

/* It is there no more. True if who made it has removed it. */
static bool there_take(struct filehist *h, const struct filehist_row *r)
{
	const size_t at = there_at(h, r->folder, r->name);
	if (at == FILEHIST_THERE)
		return false;
	const bool own = r->ours && h->there[at].pid == r->pid;
	h->there[at].pid = 0;
	return own;
}

void filehist_end(struct filehist *h, pid_t pid, int wait_status)
{
	for (size_t i = 0; i < FILEHIST_THERE; i++) {
		if (h->there[i].pid != pid || h->there[i].ended)
			continue;
		h->there[i].ended = true;
		h->there[i].wait_status = wait_status;
	}
}

void filehist_add(struct filehist *h, const struct filehist_row *r)
{
	char kind[FILEHIST_NAME];
	const size_t at = folder_at(h, r->folder);
	if (at == h->n_folders || !filehist_kind_of(r->name, kind))
		return;
	if (r->came) {
		h->folder[at].n += r->ours;
		h->folder[at].n_others += !r->ours;
		struct filehist_kind *k = kind_row(h, r->folder, kind);
		k->touched = ++h->turn;
		k->n_others += !r->ours;
		if (r->ours) {
			made_by(h, k, r);
			there_add(h, r);
		}
	}
	if (r->went && !there_take(h, r)) {
		struct filehist_kind *k = kind_row(h, r->folder, kind);
		k->touched = ++h->turn;
		k->n_taken++;
	}
	if (r->went && r->ours) {
		const size_t to = h->n_gone++ % FILEHIST_GONE;
		h->gone[to].folder = r->folder;
		h->gone[to].pid = r->pid;
		TEXT_COPY(h->gone[to].name, r->name);
	}
}

/* Who removed this very file last; 0: nobody of the job, or it is long ago. */
static pid_t remover(const struct filehist *h, uint64_t folder, const char *name)
{
	const size_t kept = MIN(h->n_gone, (size_t)FILEHIST_GONE);
	for (size_t i = 0; i < kept; i++) {
		const size_t at = (h->n_gone - 1 - i) % FILEHIST_GONE;
		if (h->gone[at].folder == folder && strcmp(h->gone[at].name, name) == 0)
			return h->gone[at].pid;
	}
	return 0;
}

bool filehist_find(const struct filehist *h, uint64_t folder, const char *name, pid_t looker,
		   struct filehist_found *ret)
{
	char kind[FILEHIST_NAME];
	uint64_t newest = 0;
	const size_t at = folder_at(h, folder);
	if (h->lost || at == h->n_folders || !filehist_kind_of(name, kind))
		return false;
	const struct filehist_kind *k = kind_find(h, folder, kind);
	*ret = (struct filehist_found){
		.last = "",
		.by_others = (k && k->n_others > 0) || (h->forgot_others && h->folder[at].n_others > 0),
		.n_folder = h->folder[at].n,
		.folder_by_others = h->folder[at].n_others > 0,
		.removed_by = remover(h, folder, name),
		.taken_by_others = (k && k->n_taken > 0) || h->forgot_taken,
	};
	const size_t there = there_at(h, folder, name);
	if (there < FILEHIST_THERE) {
		ret->made_by = h->there[there].pid;
		ret->maker_ended = h->there[there].ended;
		ret->maker_status = h->there[there].wait_status;
	}
	for (uint32_t i = 0; k && i < k->n_by; i++) {
		if (k->by[i].pid == looker)
			continue;
		ret->n += k->by[i].n;
		if (k->by[i].touched < newest)
			continue;
		newest = k->by[i].touched;
		ret->pid = k->by[i].pid;
		ret->last = k->by[i].last;
	}
	return true;
}
