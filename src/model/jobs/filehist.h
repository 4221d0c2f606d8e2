/*
 * Who has made the files of the folders that a job works in, since it began: by the kind of a name, which is the name
 * without its numbers ("step-12.done" is one of "step-#.done"). A loop that looks for a file which is not there waits
 * for whoever makes such ones: if processes of the job did, and nobody else, it is the job's own to make.
 *
 * Bounded: what was not touched for longest goes. Pure; zeroed by its owner.
 */
#pragma once

#include <sys/types.h>

#include "base/base.h"

#define FILEHIST_NAME 96
#define FILEHIST_KINDS 128
#define FILEHIST_FOLDERS 32
#define FILEHIST_MAKERS 4 /* of a kind; of more only the number of files is kept */
#define FILEHIST_GONE 128
#define FILEHIST_THERE 128

struct filehist_kind {
	uint64_t folder, touched; /* touched 0: no kind */
	char kind[FILEHIST_NAME];
	uint32_t n_others; /* made by processes that are not known to be the job's */
	uint32_t n_taken; /* removed by another process than the one that had made them, as far as that is known */
	struct {
		pid_t pid;
		uint32_t n;
		uint64_t touched;
		char last[FILEHIST_NAME]; /* the name of the one that it made last */
	} by[FILEHIST_MAKERS];
	uint32_t n_by;
};

struct filehist {
	struct {
		uint64_t folder;
		uint32_t n, n_others; /* files that were made in it */
	} folder[FILEHIST_FOLDERS]; /* that are watched */
	size_t n_folders;
	struct filehist_kind kind[FILEHIST_KINDS];
	struct {
		uint64_t folder;
		pid_t pid;
		char name[FILEHIST_NAME];
	} gone[FILEHIST_GONE]; /* what processes of the job removed last, or gave another name */
	size_t n_gone; /* ever */
	struct {
		uint64_t folder;
		pid_t pid; /* 0: no file */
		bool ended; /* its maker, with wait_status */
		int wait_status;
		char name[FILEHIST_NAME];
	} there[FILEHIST_THERE]; /* what processes of the job made last, and nobody has removed */
	size_t n_there; /* ever */
	uint64_t turn;
	bool forgot_others; /* a kind that others had made was dropped for want of room */
	bool forgot_taken; /* likewise one whose files others removed than who had made them */
	bool lost; /* some of what was made was not seen: nothing is said any more */
};

struct filehist_row {
	uint64_t folder;
	const char *name;
	pid_t pid;
	bool ours; /* a process of the job did it */
	bool came, went;
};

/* What is known of a file that a process looks for. */
struct filehist_found {
	uint32_t n; /* of its kind: made by other processes of the job than the one that looks */
	pid_t pid; /* the last of these, and what it made; "": none */
	const char *last; /* borrowed */
	bool by_others; /* one of its kind was made by somebody else, or this is not known */
	uint32_t n_folder; /* files of any kind that the job made in its folder */
	bool folder_by_others; /* likewise of any in its folder */
	pid_t removed_by; /* the process of the job that removed this very file; 0: none did, or it is long ago */
	pid_t made_by; /* the process of the job that made this very file, which is there; 0: none did, or long ago */
	bool maker_ended, taken_by_others; /* files of its kind were removed by others than who had made them */
	int maker_status; /* as wait(2) gives it */
};

/* Watches one more folder; false: there is no room. Of others rows are left out. */
bool filehist_watch(struct filehist *h, uint64_t folder);
bool filehist_watches(const struct filehist *h, uint64_t folder);
void filehist_add(struct filehist *h, const struct filehist_row *r);
/* A process of the job has ended. Of one whose end was told before, nothing changes. */
void filehist_end(struct filehist *h, pid_t pid, int wait_status);
/* False: its folder is not watched, or something was missed. */
bool filehist_find(const struct filehist *h, uint64_t folder, const char *name, pid_t looker,
		   struct filehist_found *ret);
