#include "agent/memory/raystore.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "model/memory/raynode.h"
#include "sense/proc/proc.h"
#include "sense/proc/procfile.h"

#define ARGUMENTS_CAP (128 * 1024)
#define FILES_MOST 10000

/* Sizes of the files in a folder, the disk blocks that they take up. */
static void files_sum(DIR *d, struct raynode *n)
{
	size_t looked = 0;
	for (const struct dirent *e; (e = readdir(d));) {
		struct stat st;
		if (e->d_name[0] == '.')
			continue;
		if (looked++ == FILES_MOST) {
			n->spill_cut = true;
			return;
		}
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		n->spilled_files++;
		n->spilled_bytes = add_cap(n->spilled_bytes, (uint64_t)st.st_blocks * 512);
	}
}

static void spilled_read(const struct world *w, struct raynode *n)
{
	cleanup(closep) int fd = -1;
	if (n->spill_folder[0] == '\0')
		return;
	int r = procfile_folder(w, n->raylet, n->spill_folder, &fd);
	n->has_spilled = r == 0 || r == WORLD_ABSENT; /* Ray makes it with the first file */
	cleanup(closedirp) DIR *d = r == 0 ? fdopendir(fd) : NULL;
	if (!d)
		return;
	fd = -1; /* the folder's from here on */
	files_sum(d, n);
}

static bool is_raylet(const struct footprint_row *row)
{
	return row->has_role && row->who.role == ROLE_RAY_SYSTEM && strcmp(row->comm, "raylet") == 0;
}

int raystore_find(const struct world *w, struct footprint *f)
{
	cleanup(freep) char *text = NULL;
	for (size_t i = 0; i < f->n && f->n_rays < FOOTPRINT_RAYS; i++) {
		size_t len;
		if (!is_raylet(&f->rows[i]))
			continue;
		text = text ? text : malloc(ARGUMENTS_CAP);
		f->ray = f->ray ? f->ray : calloc(FOOTPRINT_RAYS, sizeof(*f->ray));
		if (!text || !f->ray)
			return -ENOMEM;
		if (proc_arguments_read(w, f->rows[i].pid, text, ARGUMENTS_CAP, &len) != 0)
			continue;
		struct raynode *n = &f->ray[f->n_rays];
		const struct span argv = {text, len};
		if (!raynode_of(argv, n))
			continue;
		n->raylet = f->rows[i].pid;
		raynode_spill_folder(argv, n->spill_folder, sizeof(n->spill_folder));
		spilled_read(w, n);
		f->n_rays++;
	}
	raynode_settle(f);
	return 0;
}

void raystore_shm(const struct shm_ledger *l, const struct shm_item *it, struct footprint *f)
{
	if (!it->has_bytes || strncmp(it->name, "plasma", 6) != 0)
		return;
	for (size_t i = 0; i < it->n_owners; i++)
		for (size_t k = 0; k < f->n_rays; k++) {
			if (l->owners[it->first_owner + i].pid != f->ray[k].raylet)
				continue;
			f->ray[k].has_store = true;
			f->ray[k].store_bytes = add_cap(f->ray[k].store_bytes, it->bytes);
			return;
		}
}
