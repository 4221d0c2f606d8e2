/*
 * Prints what the threads of processes wait for and who could end it: waitsee [-n TIMES] PID...
 * With -n only the time of each look is printed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "sense/wait/waitfacts.h"

static void fact_print(const struct waitfacts *f, const struct waitfact *a)
{
	printf("    %s%s%s%s%s id %llu peer %llu [", waitfact_kind_name(a->kind), a->to_write ? " to write" : "",
	       a->complete ? " complete" : "", a->owner ? " owner" : "", a->owner_gone ? " gone" : "",
	       (unsigned long long)a->id, (unsigned long long)a->peer_id);
	for (uint32_t i = 0; i < a->n_holders; i++)
		printf(" %d/%d", (int)f->holder[a->first_holder + i].pid, (int)f->holder[a->first_holder + i].tid);
	printf(" ] %s\n", a->text);
}

static void facts_print(const struct waitfacts *f)
{
	for (size_t i = 0; i < f->n_processes; i++) {
		const struct waitfact_process *p = &f->process[i];
		printf("%d %s parent %d%s%s\n", (int)p->pid, p->name, (int)p->ppid, p->wanted ? " wanted" : "",
		       p->readable ? "" : " unreadable");
		for (uint32_t j = 0; j < p->n_threads; j++) {
			const struct waitfact_thread *t = &f->thread[p->first_thread + j];
			printf("  %d %s%s%s", (int)t->tid, syscall_name(t->nr), t->runs ? " runs" : "",
			       t->cut ? " cut" : "");
			if (t->timed)
				printf(" limit %.3f s left %.3f s", (double)t->limit_ns / 1e9,
				       (double)t->left_ns / 1e9);
			printf("\n");
			for (uint32_t k = 0; k < t->n; k++)
				fact_print(f, &f->fact[t->first + k]);
		}
	}
	printf("%zu threads, %zu facts, %zu holders, %u unreadable%s%s, %.3f ms\n", f->n_threads, f->n_facts,
	       f->n_holders, f->unreadable, f->cut ? ", cut" : "", f->out_of_time ? ", out of time" : "",
	       (double)f->took_ns / 1e6);
}

int main(int argc, char **argv)
{
	struct world w = {.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  .sys_fd = -1,
			  .cgroup_fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC),
			  .shm_fd = -1,
			  .kmsg_fd = -1,
			  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
			  .ticks_per_s = (uint64_t)sysconf(_SC_CLK_TCK),
			  .mono_ns = clock_mono_ns,
			  .unix_ms = clock_unix_ms};
	uint64_t times = 1, pid;
	pid_t pids[256];
	size_t n = 0;
	int at = 1;
	const bool only_time = argc > 2 && strcmp(argv[1], "-n") == 0;
	if (only_time && (span_u64(span_of(argv[2]), &times) < 0 || times == 0))
		return 2;
	for (at = only_time ? 3 : 1; at < argc && n < ARRAY_SIZE(pids); at++)
		if (span_u64(span_of(argv[at]), &pid) == 0 && pid <= INT32_MAX)
			pids[n++] = (pid_t)pid;
	for (uint64_t i = 0; i < times; i++) {
		struct waitfacts f;
		int r = waitfacts_read(&w, pids, n, 0, &f);
		if (r) {
			fprintf(stderr, "waitsee: %d\n", r);
			return 1;
		}
		if (only_time)
			printf("%.3f ms, %zu threads, %zu facts, %zu holders, %u unreadable%s\n",
			       (double)f.took_ns / 1e6, f.n_threads, f.n_facts, f.n_holders, f.unreadable,
			       f.out_of_time ? ", out of time" : "");
		else
			facts_print(&f);
		waitfacts_done(&f);
	}
	closep(&w.cgroup_fd);
	closep(&w.proc_fd);
	return 0;
}
