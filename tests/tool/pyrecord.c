/*
 * pyrecord PID FILE: writes what reading the innermost frame of the first
 * thread of a Python touches in its memory, as an input of tests/fuzz/fuzz_pyremote.c.
 */
#include <stdio.h>
#include <string.h>

#include "agent/host/world_open.h"
#include "sense/pylib/raycall.h"
#include "sense/python/pylocals.h"

static const struct remote_ops *below;
static FILE *file;

static void piece_write(uint64_t addr, const void *bytes, size_t len)
{
	uint16_t n = (uint16_t)MIN(len, UINT16_MAX);
	if (fwrite(&addr, sizeof(addr), 1, file) != 1 || fwrite(&n, sizeof(n), 1, file) != 1 ||
	    fwrite(bytes, 1, n, file) != n)
		perror("pyrecord");
}

static ssize_t recording_readv(struct remote *r, const struct iovec *into, size_t n_into, const struct iovec *from,
			       size_t n_from)
{
	const struct remote_ops *ours = r->ops;
	r->ops = below;
	ssize_t n = below->readv(r, into, n_into, from, n_from);
	r->ops = ours;
	if (n > 0 && n_from == 1)
		piece_write((uint64_t)(uintptr_t)from[0].iov_base, into[0].iov_base, (size_t)n);
	return n;
}

static const struct remote_ops recording = {.readv = recording_readv};

static uint64_t word_at(struct remote *r, uint64_t addr)
{
	uint64_t v = 0;
	return remote_u64(r, addr, &v) == 0 ? v : 0;
}

static void record(const struct pyrt *rt, struct remote *r)
{
	const struct pyoffsets *off = &rt->off;
	const struct pycode *known = NULL;
	cleanup(pylocals_done) struct pylocals locals = {};
	unsigned char head[2] = {(unsigned char)(rt->minor - 8), 0}, description[PYOFFSETS_BYTES];
	uint64_t thread =
		word_at(r, word_at(r, rt->runtime + off->runtime.interpreters_head) + off->interp.threads_head);
	uint64_t frame = off->thread.cframe != PYOFF_NONE
				 ? word_at(r, word_at(r, thread + off->thread.cframe) + off->thread.cframe_current)
				 : word_at(r, thread + off->thread.frame);
	uint64_t code = word_at(r, frame + off->frame.code) & ~UINT64_C(3);
	const uint64_t places[] = {frame, code, rt->code_type};
	fwrite(head, sizeof(head), 1, file);
	fwrite(places, sizeof(places), 1, file);
	if (rt->minor >= 13 && remote_read(r, rt->runtime, description, sizeof(description)) == 0)
		piece_write(rt->runtime, description, sizeof(description));
	below = r->ops;
	r->ops = &recording;
	cleanup(pycodes_freep) struct pycodes *codes = pycodes_new(rt, r);
	if (pycodes_get(codes, code, &known) != 0 || pylocals_read(rt, r, frame, code, &locals) != 0)
		fprintf(stderr, "pyrecord: the frame could not be read\n");
	const struct pyframe top = {.addr = frame, .code = code, .known = known};
	struct raycall_get get;
	ignore(raycall_get_read(rt, r, &top, 1, &get), "of no other frame does it read anything");
}

int main(int argc, char **argv)
{
	struct world w;
	struct remote r;
	struct pyrt rt;
	struct maps m;
	struct fault f = {};
	if (argc != 3 || world_open(NULL, &w, &f) < 0)
		return 2;
	pid_t pid = (pid_t)strtol(argv[1], NULL, 10);
	remote_open(&w, pid, &r);
	if (maps_read(&w, pid, &m) != 0 || pyrt_find(&w, &r, &m, &rt, &f) != 0) {
		fprintf(stderr, "pyrecord: %s\n", f.text);
		return 1;
	}
	file = fopen(argv[2], "we");
	if (!file)
		return 1;
	record(&rt, &r);
	maps_done(&m);
	remote_done(&r);
	world_close(&w);
	return fclose(file) == 0 ? 0 : 1;
}
