#include "act/inject/inject_parts.h"

#if defined(__x86_64__)

#include <fcntl.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

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

/* Makes a memfd in the program, fills it from here, and lets the program load it. No file of its folders is needed. */
static int load_copy(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	static const char name[] = "vigil-heap";
	char path[64];
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
	TEXT_FORMAT(path, "%d/fd/%d", (int)t->target->pid, (int)their_fd);
	cleanup(closep) int fd = openat(t->target->w->proc_fd, path, O_WRONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : copy_file(library, fd);
	if (r < 0) {
		fault_set(f, r, "the library could not be copied into process %d: %s", (int)t->target->pid,
			  strerror(-r));
	} else {
		TEXT_FORMAT(path, "/%s/self/fd/%d", "proc", (int)their_fd);
		r = load_path(t, path, ret_handle);
		if (r == 0 && *ret_handle == 0)
			r = loader_words(t, "a copy of vigil's library from its memory", f);
	}
	if (r <= 0 || r == INJECT_FAILED)
		ignore(tracee_call(t, t->target->close, their_fd, 0, 0, &ignored), "it has what it was for");
	return r;
}

/* For a chroot without /proc: a temporary file in its /tmp. */
static int load_file(struct tracee *t, const char *library, uint64_t *ret_handle, struct fault *f)
{
	char inner[64], path[96];
	TEXT_FORMAT(inner, "/tmp/vigil-heap-%d.so", (int)t->target->pid);
	TEXT_FORMAT(path, "%d/root%s", (int)t->target->pid, inner);
	cleanup(closep) int fd =
		openat(t->target->w->proc_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd < 0)
		return INJECT_FAILED; /* keeps the earlier message of the loader */
	int r = copy_file(library, fd);
	closep(&fd);
	if (r == 0)
		r = load_path(t, inner, ret_handle);
	(void)unlinkat(t->target->w->proc_fd, path, 0);
	if (r == 0 && *ret_handle == 0)
		return loader_words(t, inner, f);
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
