#include "act/inherit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "base/base.h"

/* What the largest tables on the stack of one of vigil's processes take, twice. */
#define STACK_LEAST ((rlim_t)1 * MIB)
/* The usual limit. */
#define STACK_USUAL ((rlim_t)8 * MIB)

/* Each with what is best for vigil. */
static struct inherit_signal {
	int number;
	sighandler_t wanted, was;
} inherited[] = {{SIGCHLD, SIG_DFL, SIG_DFL}, {SIGXFSZ, SIG_IGN, SIG_DFL}, {SIGXCPU, SIG_IGN, SIG_DFL}};

/* More than all jobs of a service and all streams of a page take. */
#define FILES_MOST ((rlim_t)1 << 20)

static struct rlimit stack_was, files_was;
static bool stack_raised, files_raised;

static void descriptors_fill(void)
{
	/* the lowest free number is taken; writing to the first and reading from the others is what nobody does */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			return;
}

static void stack_raise(void)
{
	struct rlimit more;
	if (getrlimit(RLIMIT_STACK, &stack_was) < 0 || stack_was.rlim_cur >= STACK_LEAST)
		return;
	more = (struct rlimit){STACK_USUAL, MAX(stack_was.rlim_max, STACK_USUAL)};
	stack_raised = setrlimit(RLIMIT_STACK, &more) == 0;
	if (stack_raised || stack_was.rlim_max <= stack_was.rlim_cur)
		return;
	more = (struct rlimit){stack_was.rlim_max, stack_was.rlim_max}; /* as far as one may without rights */
	stack_raised = setrlimit(RLIMIT_STACK, &more) == 0;
}

static void files_raise(void)
{
	if (getrlimit(RLIMIT_NOFILE, &files_was) < 0)
		return;
	const struct rlimit more = {MAX(files_was.rlim_cur, MIN(files_was.rlim_max, FILES_MOST)), files_was.rlim_max};
	files_raised = setrlimit(RLIMIT_NOFILE, &more) == 0;
}

void inherit_mend(void)
{
	descriptors_fill();
	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		inherited[i].was = signal(inherited[i].number, inherited[i].wanted);
	stack_raise();
	files_raise();
}

/* What own_begin has no other way to be given. */
static struct {
	int (*call)(int, char **);
	int argc;
	char **argv;
	int status;
	ucontext_t before, within;
} own;

static void own_begin(void)
{
	own.status = own.call(own.argc, own.argv);
}

int inherit_call(int (*call)(int, char **), int argc, char **argv)
{
	struct rlimit now;
	if (getrlimit(RLIMIT_STACK, &now) < 0 || now.rlim_cur >= STACK_LEAST)
		return call(argc, argv);
	/* no limit counts it; what is not touched takes no memory */
	char *stack = mmap(NULL, STACK_USUAL, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || getcontext(&own.within) < 0)
		return call(argc, argv);
	ignore(mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE), "then what overruns it is not told at once");
	own.call = call;
	own.argc = argc;
	own.argv = argv;
	own.within.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_USUAL};
	own.within.uc_link = &own.before;
	makecontext(&own.within, own_begin, 0);
	return swapcontext(&own.before, &own.within) < 0 ? call(argc, argv) : own.status;
}

void inherit_undo(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		(void)signal(inherited[i].number, inherited[i].was);
	if (stack_raised)
		(void)setrlimit(RLIMIT_STACK, &stack_was);
	if (files_raised)
		(void)setrlimit(RLIMIT_NOFILE, &files_was);
}
