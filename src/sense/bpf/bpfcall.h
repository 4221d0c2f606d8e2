/*
 * bpf(2) for those who read what a program has counted: calls, rows of a map, and the raw tracepoint that switches a
 * program on. Without libbpf; loading is sense/bpf/bpfload. Source: bpf(2), include/uapi/linux/bpf.h.
 */
#pragma once

#include <linux/bpf.h>

#include "base/base.h"
#include "sense/world.h"

/* Rows that are read with one call. */
#define BPF_ROWS_AT_ONCE 128

/* What bpf(2) returns, or -errno. */
int must_check bpf_call(int command, union bpf_attr *attr);
/* A descriptor; the program runs until it is closed. -errno. */
int must_check bpf_tracepoint_open(int prog_fd);
/* Removes the keys of a map whose keys are process numbers; most: how many it has room for. */
void bpf_numbers_clear(int map_fd, size_t most);
/* True if process numbers here are those that programs see: of the machine's first pid namespace. */
bool bpf_sees_numbers(const struct world *w);

/* A map's rows, and room for BPF_ROWS_AT_ONCE keys and values of them; the caller's. */
struct bpf_rows {
	int map_fd;
	void *keys, *values;
	/* Called with the number of a row that was read, and its place among the keys and values. May be NULL. */
	void (*read_one)(void *ctx, size_t row, size_t at);
	void *ctx;
};

/*
 * Reads at most cap rows; drop: they leave the map. *ret_n: how many were read. Rows of a bucket that does not fit come
 * another time. -errno.
 */
int must_check bpf_rows_read(const struct bpf_rows *rows, bool drop, size_t cap, size_t *ret_n);
