/* What the kernel's line says of the fault that ended the process: what it touched, and where its code stood. */
#include <signal.h>
#include <string.h>

#include "judge/death/postmortem_parts.h"

/* Addresses up to here are those of a null pointer's members and of its first elements. */
#define NULL_PAGE 4096

/* The line names the thread; where that is not the first one, its stack pointer is the one of the signal. */
static bool of_fault(const struct death *d, const struct killer_line *l)
{
	if (l->pid == d->pid)
		return true;
	for (size_t n = 0; l->fault.valid && n < d->n_signals; n++) {
		const struct signal_sent *s = &d->signals[n];
		if (s->target == d->pid && s->from_kernel && s->stack_pointer != 0 &&
		    s->stack_pointer == l->fault.sp && (!l->fault.has_address || s->fault_addr == l->fault.address))
			return true;
	}
	return false;
}

const struct killer_line *pm_fault_line(const struct death *d)
{
	for (size_t n = 0; n < d->n_killer_lines; n++) {
		const struct killer_line *l = &d->killer_lines[n];
		if (strcmp(l->action, "fault") == 0 && of_fault(d, l) && pm_time_fits(d, l->time_unix_ms, 60000))
			return l;
	}
	return NULL;
}

/* "in code of libc.so.6, at 0x94219 of the file"; of the mapping, where the kernel tells no more. */
static void place_add(struct buf *b, const struct faultline *f)
{
	if (!f->file[0])
		return;
	buf_printf(b, "in code of %s", f->file);
	if (f->has_offset)
		buf_printf(b, ", at 0x%llx of %s", (unsigned long long)f->offset,
			   f->in_file ? "the file" : "its code in memory");
}

static void touched_add(struct buf *b, uint64_t address)
{
	buf_printf(b, "address 0x%llx", (unsigned long long)address);
	if (address == 0)
		buf_add(b, ", a null pointer");
	else if (address < NULL_PAGE)
		buf_add(b, ", a part of what a null pointer leads to");
}

void pm_fault_told(struct pm *p)
{
	const struct killer_line *l = pm_fault_line(p->d);
	const struct faultline *f = l ? &l->fault : NULL;
	char text[320];
	struct buf b = BUF_ON(text);
	buf_reset(&b);
	if (!f || !f->valid)
		return;
	if (f->has_address && f->fetch) {
		buf_add(&b, "It jumped to ");
		touched_add(&b, f->address);
		buf_add(&b, ", where no code is: a pointer to a function was wrong, or its stack was overwritten");
	} else if (f->has_address) {
		buf_add(&b, f->write ? "It wrote to " : "It read at ");
		touched_add(&b, f->address);
		if (f->write && f->present)
			buf_add(&b, ", which may only be read");
		buf_add(&b, f->file[0] ? ", " : "");
		place_add(&b, f);
	} else if (f->file[0]) {
		buf_add(&b, "It stood ");
		place_add(&b, f);
	} else {
		return;
	}
	pm_text(p, "%s.", text);
}

void pm_fault_evidence(struct pm *p)
{
	const struct killer_line *l = pm_fault_line(p->d);
	if (l)
		incident_evidence_add(p->i, "kmsg", "kernel log", l->time_unix_ms, "%s", l->line);
}
