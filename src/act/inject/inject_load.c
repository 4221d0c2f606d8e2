#include "act/inject/inject_parts.h"

#if defined(__x86_64__)

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/buf.h"
#include "base/file.h"
#include "sense/proc/procfile.h"

#define MEMFD_NAME "vigil-heap"

static int loader_words(struct tracee *t, const char *what, struct fault *f)
{
	uint64_t text = 0;
	char words[300] = "";
	if (t->target->dlerror && tracee_call(t, t->target->dlerror, 0, 0, 0, &text) == 0 && text)
		ignore(remote_text(&t->target->remote, text, words, sizeof(words)), "no words then");
	return fault_set(f, INJECT_FAILED, "process %d could not load %s: %s", (int)t->target->pid, what,
			 words[0] ? words : "its loader did not say why");
}

static int load_path(struct tracee *t, const char *path, uint64_t *ret_handle)
{
	uint64_t at;
	int r = tracee_push(t, path, strlen(path) + 1, &at);
	return r ? r : tracee_call(t, t->target->dlopen, at, (uint64_t)t->target->dlopen_flags, 0, ret_handle);
}

static int copy_file(const char *from, int to)
{
	cleanup(closep) int in = open(from, O_RDONLY | O_CLOEXEC);
	char block[64 * 1024];
	ssize_t n;
	if (in < 0)
		return -errno;
	while ((n = read(in, block, sizeof(block))) > 0) {
		int r = file_write_all(to, block, (size_t)n);
		if (r < 0)
			return r;
	}
	return n < 0 ? -errno : 0;
}

/*
 * Opens what the program says is its new memfd. Its answer may be any number: the descriptor is looked at (O_PATH)
 * before it is opened, must be an empty file in memory that has no name, and is opened with the rights of its user.
 */
static int memfd_open(const struct inject_target *t, uint64_t their_fd, int *ret_fd)
{
	static const char wanted[] = "/memfd:" MEMFD_NAME " (deleted)";
	char path[64], link[sizeof(wanted) + 1];
	struct stat st;
	struct statfs fs;
	struct foreign_user user;
	TEXT_FORMAT(path, "%d/fd/%d", (int)t->pid, (int)their_fd);
	cleanup(closep) int seen = openat(t->w->proc_fd, path, O_PATH | O_CLOEXEC);
	if (seen < 0)
		return -errno;
	ssize_t n = readlinkat(t->w->proc_fd, path, link, sizeof(link));
	if (n != (ssize_t)strlen(wanted) || memcmp(link, wanted, (size_t)n) != 0)
		return -EBADF;
	if (fstat(seen, &st) < 0 || fstatfs(seen, &fs) < 0)
		return -errno;
	int r = procfile_user(t->w, t->pid, &user);
	if (r)
		return r < 0 ? r : -ESRCH;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 0 || st.st_size != 0 || fs.f_type != TMPFS_MAGIC)
		return -EBADF;
	r = foreign_reopen(seen, &user, O_WRONLY, ret_fd);
	return r > 0 ? -EBADF : r;
}

/* Makes a memfd in the program, fills it from here, and lets the program load it. No file of its folders is needed. */
static int load_copy(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	static const char name[] = MEMFD_NAME;
	char path[64];
	cleanup(closep) int fd = -1;
	uint64_t at, their_fd = 0, ignored;
	if (!t->target->memfd_create || !t->target->close)
		return fault_set(
			f, INJECT_REFUSED,
			"process %d does not see %s (it lives in a container or a chroot), and its libc is too old to "
			"make a file in memory",
			(int)t->target->pid, library);
	int r = tracee_push(t, name, sizeof(name), &at);
	if (r == 0)
		r = tracee_call(t, t->target->memfd_create, at, 1 /* MFD_CLOEXEC */, 0, &their_fd);
	if (r)
		return r;
	if ((int)their_fd < 0)
		return fault_set(f, INJECT_FAILED, "process %d could not make a file in memory for the library",
				 (int)t->target->pid);
	r = memfd_open(t->target, their_fd, &fd);
	if (r == -EBADF)
		return fault_set(f, INJECT_REFUSED,
				 "process %d: what it calls a new file in memory is none; nothing was written",
				 (int)t->target->pid);
	if (r == 0)
		r = copy_file(library, fd);
	if (r < 0) {
		fault_set(f, r, "the library could not be copied into process %d: %s", (int)t->target->pid,
			  strerror(-r));
	} else {
		TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", (int)their_fd);
		r = load_path(t, path, ret_handle);
		if (r == 0 && *ret_handle == 0)
			r = loader_words(t, "a copy of vigil's library from its memory", f);
	}
	if (r <= 0 || r == INJECT_FAILED || r == INJECT_REFUSED)
		ignore(tracee_call(t, t->target->close, their_fd, 0, 0, &ignored), "it has what it was for");
	return r;
}

/* For a chroot without /proc: a temporary file in its /tmp, made by its user. */
static int load_file(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	char name[40], path[64];
	struct foreign_user user;
	cleanup(closep) int root = -1, folder = -1, fd = -1;
	TEXT_FORMAT(name, "vigil-heap-%d.so", (int)t->target->pid);
	TEXT_FORMAT(path, "/tmp/%s", name);
	if (procfile_user(t->target->w, t->target->pid, &user) != 0 ||
	    procfile_root(t->target->w, t->target->pid, &root) != 0)
		return INJECT_FAILED; /* keeps the earlier message of the loader */
	const struct foreign_place below = {.dirfd = root, .as = &user, .flags = FOREIGN_IN_ROOT | FOREIGN_LINKS};
	if (foreign_folder(&below, "/tmp", &folder) != 0)
		return INJECT_FAILED;
	const struct foreign_place in = {.dirfd = folder, .as = &user};
	if (foreign_create(&in, name, 0700, &fd) != 0)
		return INJECT_FAILED;
	int r = copy_file(library, fd);
	closep(&fd);
	if (r == 0)
		r = load_path(t, path, ret_handle);
	ignore(foreign_unlink(&in, name, 0), "it is the user's to remove");
	if (r == 0 && *ret_handle == 0)
		return loader_words(t, path, f);
	if (r == 0)
		f->text[0] = '\0';
	return r;
}

/*
 * The handle of glibc is the address of a struct link_map (link.h), whose first word is the load address of the file.
 * If the first bytes there are those of our file, the offset of the function in it is known.
 */
static bool function_known(const struct tracee *t, uint64_t handle, uint64_t *ret)
{
	uint64_t base;
	uint8_t head[sizeof(t->target->head)];
	if (!t->target->offset || remote_read(&t->target->remote, handle, &base, sizeof(base)) != 0 ||
	    remote_read(&t->target->remote, base, head, sizeof(head)) != 0 ||
	    memcmp(head, t->target->head, sizeof(head)) != 0)
		return false;
	*ret = base + t->target->offset;
	return true;
}

int inject_load(struct tracee *t, const struct inject_want *want, struct fault *f, uint64_t *ret_function)
{
	uint64_t handle = 0, at;
	int r = 0;
	if (t->target->symbol) {
		*ret_function = t->target->symbol;
		return 0;
	}
	if (t->target->sees_file)
		r = load_path(t, want->library, &handle);
	if (r == 0 && handle == 0 && t->target->sees_file && !t->target->memfd_create)
		return loader_words(t, want->library, f);
	if (r == 0 && handle == 0) { /* also where it may not read the file */
		t->result->in_memory = true;
		r = load_copy(t, want->library, &handle, f);
		if (r == INJECT_FAILED && handle == 0)
			r = load_file(t, want->library, &handle, f);
	}
	if (r)
		return r;
	if (function_known(t, handle, ret_function))
		return 0;
	r = tracee_push(t, want->symbol, strlen(want->symbol) + 1, &at);
	if (r == 0)
		r = tracee_call(t, t->target->dlsym, handle, at, 0, ret_function);
	if (r == 0 && *ret_function == 0)
		return fault_set(f, INJECT_FAILED, "%s has no function %s", want->library, want->symbol);
	return r;
}

#endif
