/* Real threads that wait for locks, children and signals, and who is said to be able to end each wait. */
#include "testing.h"

#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/sem.h>

#include "base/file.h"
#include "lockfile_fixture.h"

/* ---- locks of threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust, inherit;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t taken;

/* Takes everything and keeps it. */
static void *owner(void *ready)
{
	must(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&robust) == 0 && pthread_mutex_lock(&inherit) == 0 &&
	     pthread_rwlock_wrlock(&rwlock) == 0 && sem_post(ready) == 0);
	pause_for_ever();
	return NULL;
}

static void owner_start(void)
{
	pthread_t t;
	pthread_mutexattr_t a;
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherit, &a);
	must(sem_init(&taken, 0, 0) == 0 && pthread_create(&t, NULL, owner, &taken) == 0);
	while (sem_wait(&taken) != 0)
		;
}

static void body_mutex(void)
{
	owner_start();
	pthread_mutex_lock(&mutex);
}

static void body_robust(void)
{
	owner_start();
	pthread_mutex_lock(&robust);
}

static void body_inherit(void)
{
	owner_start();
	pthread_mutex_lock(&inherit);
}

static void body_rwlock_read(void)
{
	owner_start();
	pthread_rwlock_rdlock(&rwlock);
}

static void body_rwlock_write(void)
{
	owner_start();
	pthread_rwlock_wrlock(&rwlock);
}

static void a_lock_with_an_owner_names_it_alone(void **state)
{
	(void)state;
	void (*const body[])(void) = {body_mutex, body_robust, body_inherit, body_rwlock_read, body_rwlock_write};
	for (size_t i = 0; i < ARRAY_SIZE(body); i++) {
		const struct waitfact_thread *t;
		start(body[i]);
		const struct waitfact *a = await_fact((struct expected){WAITFACT_LOCK, true, 1, child}, &t);
		assert_true(a->owner && !a->owner_gone && a->id != 0);
		const pid_t tid = facts.holder[a->first_holder].tid;
		assert_true(tid != child && waitfacts_thread(&facts, child, tid) != NULL);
		assert_int_equal(t->tid, child);
		assert_int_equal(facts.thread[0].tid, child); /* the main thread is first */
		child_end();
	}
}

static void body_read_locked(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_wrlock(&rwlock);
}

static void body_condition(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

static void body_condition_timed(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3600;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &until);
}

static void a_lock_without_an_owner_is_its_processs_own(void **state)
{
	(void)state;
	void (*const body[])(void) = {body_read_locked, body_condition, body_condition_timed};
	for (size_t i = 0; i < ARRAY_SIZE(body); i++) {
		const struct waitfact_thread *t;
		start(body[i]);
		const struct waitfact *a = await_fact((struct expected){WAITFACT_FUTEX, true, 1, child}, &t);
		assert_false(a->owner);
		assert_int_equal(t->timed, body[i] == body_condition_timed);
		/* The call names the end of its wait, not how long it takes. */
		assert_int_equal(t->limit_ns, 0);
		if (t->timed)
			assert_true(t->left_ns > 3000 * NS_PER_S && t->left_ns <= 3600 * NS_PER_S + NS_PER_MS);
		child_end();
	}
}

static void *sleep_long(void *arg)
{
	pause_for_ever();
	return arg;
}

static void body_join(void)
{
	pthread_t t;
	must(pthread_create(&t, NULL, sleep_long, NULL) == 0);
	pthread_join(t, NULL);
}

static void a_join_waits_for_its_thread(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_join);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_THREAD, true, 1, child}, &t);
	assert_true(a->owner && facts.holder[a->first_holder].tid != child);
}

static void body_shared(void)
{
	sem_t *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(s != MAP_FAILED && sem_init(s, 1, 0) == 0);
	if (fork_inner() == 0)
		pause_for_ever();
	sem_wait(s);
}

static void a_lock_in_shared_memory_names_who_maps_it(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_shared);
	const pid_t both[] = {child, child_of(child)};
	await_fact_among(both, 2, child, (struct expected){WAITFACT_SHARED, false, 2, both[1]}, &t);
}

static void body_private_semaphore(void)
{
	sem_t *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(s != MAP_FAILED && sem_init(s, 0, 0) == 0);
	if (fork_inner() == 0)
		pause_for_ever();
	sem_wait(s);
}

static void a_lock_for_one_process_is_told_from_one_that_is_shared(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_private_semaphore);
	const pid_t both[] = {child, child_of(child)};
	const struct expected want = {WAITFACT_FUTEX, true, 1, child};
	assert_true(await_fact_among(both, 2, child, want, &t)->apart);
	/* Memory that only this one has is nobody else's. */
	assert_int_equal(kill(both[1], SIGKILL), 0);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	while (await_fact_among(both, 1, child, want, &t)->apart && clock_mono_ns() < until)
		continue;
	assert_false(await_fact_among(both, 1, child, want, &t)->apart);
}

static void body_fork_locked(void)
{
	pthread_mutex_lock(&mutex);
	if (fork_inner() == 0)
		pthread_mutex_lock(&mutex);
	pause_for_ever();
}

static void a_lock_inherited_over_fork_has_no_owner_left(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_fork_locked);
	const pid_t inner = child_of(child);
	const struct waitfact *a = await_fact_among(&inner, 1, inner, (struct expected){WAITFACT_LOCK, true, 0, 0}, &t);
	assert_true(a->owner_gone && !a->owner);
}

/* ---- time ---- */

static void body_sleep(void)
{
	nanosleep(&(struct timespec){.tv_sec = 3600}, NULL);
}

static void body_sigtimedwait(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	sigprocmask(SIG_BLOCK, &s, NULL);
	sigtimedwait(&s, NULL, &(struct timespec){.tv_sec = 3600});
}

static void a_sleep_ends_by_the_clock(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_sleep);
	await_fact((struct expected){WAITFACT_CLOCK, false, 0, 0}, &t);
	assert_true(t->timed && t->limit_ns == 3600 * NS_PER_S);
	child_end();
	start(body_sigtimedwait);
	await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t);
	assert_true(t->timed && t->limit_ns == 3600 * NS_PER_S);
}

/* ---- children ---- */

static void body_wait_one(void)
{
	pid_t pid = fork_inner();
	if (pid == 0)
		pause_for_ever();
	waitpid(pid, NULL, 0);
}

static void body_wait_any(void)
{
	for (int i = 0; i < 3; i++)
		if (fork_inner() == 0)
			pause_for_ever();
	wait(NULL);
}

static void body_waitid(void)
{
	siginfo_t info;
	pid_t pid = fork_inner();
	if (pid == 0)
		pause_for_ever();
	waitid(P_PID, (id_t)pid, &info, WEXITED);
}

static void body_vfork(void)
{
	if (vfork() == 0)
		for (;;)
			(void)syscall(SYS_pause);
}

static void a_parent_waits_for_its_children(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	void (*const body[])(void) = {body_wait_one, body_waitid, body_vfork};
	for (size_t i = 0; i < ARRAY_SIZE(body); i++) {
		start(body[i]);
		const pid_t inner = child_of(child);
		const struct waitfact *a = await_fact((struct expected){WAITFACT_CHILD, true, 1, inner}, &t);
		assert_true(a->owner && a->id == (uint64_t)inner);
		kill(inner, SIGKILL);
		child_end();
	}
	start(body_wait_any);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_CHILD, true, 3, 0}, &t);
	assert_false(a->owner);
}

static void await_child_signal(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGCHLD);
	for (;;)
		sigwaitinfo(&s, NULL);
}

static void keep_child_signals(void)
{
	sigset_t s;
	sigemptyset(&s);
	sigaddset(&s, SIGCHLD);
	sigprocmask(SIG_BLOCK, &s, NULL);
}

/* One child has ended, and was not waited for; the other one lives. */
static void body_signal_of_a_child(void)
{
	keep_child_signals();
	const pid_t first = fork_inner();
	if (first == 0)
		_exit(0);
	if (fork_inner() == 0)
		pause_for_ever();
	await_child_signal();
}

static void body_signal_of_no_child(void)
{
	keep_child_signals();
	if (fork_inner() == 0)
		_exit(0);
	await_child_signal();
}

static void *idle_thread(void *arg)
{
	(void)arg;
	pause_for_ever();
}

static void body_signal_beside_a_thread(void)
{
	pthread_t t;
	keep_child_signals();
	must(pthread_create(&t, NULL, idle_thread, NULL) == 0);
	await_child_signal();
}

/* The kernel keeps one signal of a kind only: who has ended will send no other one. */
static void who_waits_for_sigchld_waits_for_children_that_live(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_signal_of_a_child);
	await_fact((struct expected){WAITFACT_CHILD, true, 1, 0}, &t);
	const struct waitfact *a = fact_of(child, WAITFACT_CHILD, &t);
	const pid_t inner = facts.holder[a->first_holder].pid;
	kill(inner, SIGKILL);
	await_fact((struct expected){WAITFACT_CHILD, true, 0, 0}, &t);
	child_end();
	start(body_signal_of_no_child);
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do { /* it may not have made one yet when the processes are listed */
		a = await_fact((struct expected){WAITFACT_CHILD, true, 0, 0}, &t);
	} while (strcmp(a->text, "SIGCHLD, of no child") == 0 && clock_mono_ns() < until);
	assert_string_equal(a->text, "SIGCHLD, of children that have ended already");
	child_end();
	start(body_signal_beside_a_thread);
	a = await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t);
	assert_true(a->of_programs);
}

/* Each inner process begins some ticks of the clock after the one before, and sleeps for a moment. */
static void body_shell_loop(void)
{
	const struct timespec nap = {.tv_nsec = 50 * NS_PER_MS};
	for (;;) {
		nanosleep(&nap, NULL);
		const pid_t inner = fork_inner();
		if (inner == 0) {
			nanosleep(&nap, NULL);
			_exit(0);
		}
		waitpid(inner, NULL, 0);
	}
}

static void a_child_that_nobody_could_ask_for_yet_is_read_as_well(void **state)
{
	(void)state;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	start(body_shell_loop);
	for (bool seen = false; !seen; pause_1ms()) {
		const struct waitfact_thread *t;
		if (clock_mono_ns() > until)
			fail_msg("no child is ever read beside the one that was asked for");
		facts_read(&child, 1);
		const struct waitfact *a = fact_of(child, WAITFACT_CHILD, &t);
		const pid_t inner = a && a->n_holders == 1 ? facts.holder[a->first_holder].pid : 0;
		const struct waitfact_process *p = waitfacts_process(&facts, inner);
		seen = p && p->wanted && p->n_threads == 1 && fact_of(inner, WAITFACT_CLOCK, &t);
	}
}

/* ---- what is looked at again and again ---- */

static _Noreturn void nap_for_ever(void)
{
	const struct timespec nap = {.tv_nsec = 10 * NS_PER_MS};
	for (;;)
		nanosleep(&nap, NULL);
}

/* What the main thread of pid may be looking at, of that kind; NULL: nothing. */
static const struct waitfact *polled_of(pid_t pid, enum waitfact_kind kind)
{
	const struct waitfact_thread *t = waitfacts_thread(&facts, pid, pid);
	for (uint32_t i = 0; t && i < t->n_polled; i++)
		if (facts.fact[t->first_polled + i].kind == kind)
			return &facts.fact[t->first_polled + i];
	return NULL;
}

static const struct waitfact *await_polled(const pid_t *pids, size_t n, pid_t of, enum waitfact_kind kind)
{
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	do {
		facts_read(pids, n);
		const struct waitfact *f = polled_of(of, kind);
		if (f)
			return f;
		pause_1ms();
	} while (clock_mono_ns() < until);
	fail_msg("process %d looks at nothing of the kind \"%s\"", (int)of, waitfact_kind_name(kind));
	return NULL;
}

/* The inner process has the lock, for reading or for writing; the outer one has only opened the file. */
static short lock_kind;
static bool lock_inherited;

static void body_lock_polled(void)
{
	int ready[2];
	int inherited = lock_inherited ? open(lock_path, O_RDWR) : -1;
	must(pipe(ready) == 0);
	if (fork_inner() == 0) {
		struct flock l = {.l_type = lock_kind};
		int own = lock_inherited ? inherited : open(lock_path, O_RDWR);
		must(lock_inherited ? flock(own, LOCK_EX) == 0 : fcntl(own, F_SETLK, &l) == 0);
		must(write(ready[1], "1", 1) == 1);
		pause_for_ever();
	}
	char c;
	must(read(ready[0], &c, 1) == 1);
	must(lock_inherited || open(lock_path, O_RDWR) >= 0);
	nap_for_ever();
}

/* Until the outer process naps. */
static void await_nap(void)
{
	const struct waitfact_thread *t;
	(void)await_fact((struct expected){WAITFACT_CLOCK, false, 0, 0}, &t);
}

static void who_naps_may_look_for_a_lock_that_another_has(void **state)
{
	(void)state;
	char dir[32], text[120];
	lock_file_make(dir);
	lock_kind = F_WRLCK;
	lock_inherited = false;
	start(body_lock_polled);
	await_nap();
	const pid_t inner = child_of(child);
	const struct waitfact *f = await_polled(&child, 1, child, WAITFACT_FILE_LOCK);
	assert_true(f->n_holders == 1 && holds(f, inner) && f->owner && !f->complete && f->id != 0);
	TEXT_FORMAT(text, "lock of %s", lock_path);
	assert_string_equal(f->text, text);
	assert_non_null(waitfacts_process(&facts, inner));
	lock_file_remove(dir);
}

static void a_lock_for_reading_or_of_its_own_file_is_nothing_to_look_for(void **state)
{
	(void)state;
	char dir[32];
	for (int i = 0; i < 2; i++) {
		lock_file_make(dir);
		lock_kind = F_RDLCK;
		lock_inherited = i == 1; /* with a lock on the very file that both have open */
		start(body_lock_polled);
		await_nap();
		assert_null(polled_of(child, WAITFACT_FILE_LOCK));
		lock_file_remove(dir);
	}
}

/* The outer process has the lock, and the inner one naps; it has opened the file itself, or has it from there alone. */
static bool opens_itself;

static void body_lock_of_the_parent(void)
{
	struct flock l = {.l_type = F_WRLCK};
	const int fd = open(lock_path, O_RDWR);
	must(fd >= 0 && fcntl(fd, F_SETLK, &l) == 0);
	if (fork_inner() == 0) {
		must(!opens_itself || open(lock_path, O_RDWR) >= 0);
		nap_for_ever();
	}
	pause_for_ever();
}

static void a_lock_of_its_parent_counts_for_who_has_opened_the_file_itself(void **state)
{
	(void)state;
	char dir[32];
	for (int i = 0; i < 2; i++) {
		lock_file_make(dir);
		opens_itself = i == 0;
		start(body_lock_of_the_parent);
		const pid_t both[] = {child, child_of(child)};
		if (opens_itself) {
			const struct waitfact *f = await_polled(both, 2, both[1], WAITFACT_FILE_LOCK);
			assert_true(f->n_holders == 1 && holds(f, child) && f->owner);
		}
		for (int k = 0; !opens_itself && k < 20; k++) {
			facts_read(both, 2);
			assert_null(polled_of(both[1], WAITFACT_FILE_LOCK));
			pause_1ms();
		}
		lock_file_remove(dir);
	}
}

static int shared_flags;

static void body_memory_polled(void)
{
	void *m = mmap(NULL, 4096, PROT_READ | PROT_WRITE, shared_flags | MAP_ANONYMOUS, -1, 0);
	must(m != MAP_FAILED);
	if (fork_inner() == 0)
		pause_for_ever();
	nap_for_ever();
}

static void who_naps_may_look_at_memory_that_another_writes(void **state)
{
	(void)state;
	shared_flags = MAP_SHARED;
	start(body_memory_polled);
	const pid_t both[] = {child, child_of(child)};
	const struct waitfact *f = await_polled(both, 2, child, WAITFACT_SHARED);
	assert_true(f->n_holders == 1 && holds(f, both[1]) && !f->complete && f->id != 0);
	/* The one who waits for a signal looks at nothing. */
	assert_null(polled_of(both[1], WAITFACT_SHARED));
}

static void memory_of_its_own_is_nothing_to_look_at(void **state)
{
	(void)state;
	shared_flags = MAP_PRIVATE;
	start(body_memory_polled);
	const pid_t both[] = {child, child_of(child)};
	await_nap();
	facts_read(both, 2);
	assert_null(polled_of(child, WAITFACT_SHARED));
}

/* ---- System V and queues ---- */

static int ipc_id;

static void body_semaphore(void)
{
	struct sembuf down[2] = {{.sem_num = 0, .sem_op = 1}, {.sem_num = 1, .sem_op = -1}};
	must(fork_inner() != 0 || semop(ipc_id, &(struct sembuf){.sem_num = 1, .sem_op = 1}, 1) < 0 ||
	     (pause(), false));
	while (semctl(ipc_id, 1, GETVAL) != 1)
		pause_1ms();
	/* Takes the 1 that the inner process gave, then waits for another. */
	must(semop(ipc_id, &down[1], 1) == 0);
	(void)semtimedop(ipc_id, down, 2, &(struct timespec){.tv_sec = 3600});
}

/* Wants 2, of which the inner process gives 1. */
static void body_half_a_semaphore(void)
{
	must(fork_inner() != 0 || semop(ipc_id, &(struct sembuf){.sem_num = 0, .sem_op = 1}, 1) < 0 ||
	     (pause(), false));
	(void)semop(ipc_id, &(struct sembuf){.sem_num = 0, .sem_op = -2}, 1);
}

static void a_semaphore_names_who_raised_it_last(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	ipc_id = semget(IPC_PRIVATE, 1, 0600);
	if (ipc_id < 0) {
		print_message("no System V semaphores here\n");
		skip();
	}
	start(body_half_a_semaphore);
	const pid_t pids[] = {child, child_of(child)};
	await_fact_among(pids, 2, child, (struct expected){WAITFACT_SEMAPHORE, false, 1, pids[1]}, &t);
	child_end();
	semctl(ipc_id, 0, IPC_RMID);
}

static void who_took_from_a_semaphore_itself_is_not_its_own_end(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	ipc_id = semget(IPC_PRIVATE, 2, 0600);
	if (ipc_id < 0) {
		print_message("no System V semaphores here\n");
		skip();
	}
	start(body_semaphore);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_SEMAPHORE, false, 0, 0}, &t);
	assert_true(t->timed && t->limit_ns == 3600 * NS_PER_S);
	assert_non_null(strstr(a->text, "semaphore 1 of set"));
	child_end();
	semctl(ipc_id, 0, IPC_RMID);
}

/* Another process takes the only one and ends with it. */
static void body_semaphore_taken_along(void)
{
	const pid_t one = fork_inner();
	must(one != 0 || (semop(ipc_id, &(struct sembuf){.sem_num = 0, .sem_op = -1}, 1), _exit(0), false));
	must(waitpid(one, NULL, 0) == one);
	(void)semop(ipc_id, &(struct sembuf){.sem_num = 0, .sem_op = -1}, 1);
}

static void a_semaphore_names_who_took_it_and_ended(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	ipc_id = semget(IPC_PRIVATE, 1, 0600);
	if (ipc_id < 0) {
		print_message("no System V semaphores here\n");
		skip();
	}
	assert_int_equal(semop(ipc_id, &(struct sembuf){.sem_num = 0, .sem_op = 1}, 1), 0);
	start(body_semaphore_taken_along);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_SEMAPHORE, false, 0, 0}, &t);
	assert_int_equal(a->left, semctl(ipc_id, 0, GETPID));
	assert_true(a->left > 0 && a->left != child && !a->owner_gone);
	assert_non_null(strstr(a->text, "which has ended"));
	child_end();
	semctl(ipc_id, 0, IPC_RMID);
}

static void body_message(void)
{
	struct {
		long type;
		char text[8];
	} m = {.type = 1};
	must(msgsnd(ipc_id, &m, sizeof(m.text), 0) == 0 && msgrcv(ipc_id, &m, sizeof(m.text), 0, 0) >= 0);
	(void)msgrcv(ipc_id, &m, sizeof(m.text), 0, 0);
}

/* It answers the test's message, which the test takes, and waits for a type that nobody sends. */
static void body_answer(void)
{
	struct {
		long type;
		char text[8];
	} m;
	must(msgrcv(ipc_id, &m, sizeof(m.text), 1, 0) >= 0);
	m.type = 2;
	must(msgsnd(ipc_id, &m, sizeof(m.text), 0) == 0);
	(void)msgrcv(ipc_id, &m, sizeof(m.text), 5, 0);
}

static void who_sent_last_itself_waits_for_who_received(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	struct {
		long type;
		char text[8];
	} m = {.type = 1};
	ipc_id = msgget(IPC_PRIVATE, 0600);
	if (ipc_id < 0) {
		print_message("no System V messages here\n");
		skip();
	}
	start(body_answer);
	assert_int_equal(msgsnd(ipc_id, &m, sizeof(m.text), 0), 0);
	assert_true(msgrcv(ipc_id, &m, sizeof(m.text), 2, 0) >= 0);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_MESSAGE, false, 2, child}, &t);
	assert_int_equal(a->message_type, 5);
	assert_int_equal(facts.holder[a->first_holder + 1].pid, getpid());
	child_end();
	msgctl(ipc_id, IPC_RMID, NULL);
}

/* It waits for a type that nobody sends. */
static void body_other_type(void)
{
	struct {
		long type;
		char text[8];
	} m;
	(void)msgrcv(ipc_id, &m, sizeof(m.text), 5, 0);
}

static void what_lies_in_a_queue_is_not_for_who_waits(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	struct {
		long type;
		char text[8];
	} m = {.type = 9};
	ipc_id = msgget(IPC_PRIVATE, 0600);
	if (ipc_id < 0) {
		print_message("no System V messages here\n");
		skip();
	}
	assert_int_equal(msgsnd(ipc_id, &m, sizeof(m.text), 0), 0);
	start(body_other_type);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_MESSAGE, false, 1, getpid()}, &t);
	assert_int_equal(a->unread, sizeof(m.text));
	child_end();
	msgctl(ipc_id, IPC_RMID, NULL);
}

static const char queue_name[] = "/vigil-waitlocks";

static mqd_t queue_open(void)
{
	mqd_t q = mq_open(queue_name, O_RDWR | O_CREAT, 0600, &(struct mq_attr){.mq_maxmsg = 1, .mq_msgsize = 64});
	must(q >= 0);
	return q;
}

static void body_queue(void)
{
	char block[64];
	(void)mq_receive(queue_open(), block, sizeof(block), NULL);
}

static void body_nameless_queue(void)
{
	char block[64];
	mqd_t q = queue_open();
	mq_unlink(queue_name);
	(void)mq_receive(q, block, sizeof(block), NULL);
}

static void a_message_may_come_from_anybody(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	ipc_id = msgget(IPC_PRIVATE, 0600);
	if (ipc_id >= 0) {
		start(body_message);
		await_fact((struct expected){WAITFACT_MESSAGE, false, 1, child}, &t);
		child_end();
		msgctl(ipc_id, IPC_RMID, NULL);
	}
	start(body_queue);
	await_fact((struct expected){WAITFACT_MESSAGE, false, 1, child}, &t);
	child_end();
	mq_unlink(queue_name);
}

static void a_queue_without_a_name_has_no_other_users(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_nameless_queue);
	await_fact((struct expected){WAITFACT_MESSAGE, true, 1, child}, &t);
}

/* ---- stopped ---- */

static void a_stopped_thread_waits_for_whoever_continues_it(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(pause_for_ever);
	kill(child, SIGSTOP);
	await_fact((struct expected){WAITFACT_STOPPED, false, 0, 0}, &t);
	kill(child, SIGCONT);
	await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t);
	assert_int_equal(ptrace(PTRACE_SEIZE, child, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, child, NULL, NULL), 0);
	const struct waitfact *a = await_fact((struct expected){WAITFACT_TRACED, true, 1, getpid()}, &t);
	assert_true(a->owner);
}

static void a_process_that_ended_waits_for_nothing(void **state)
{
	(void)state;
	const uint64_t until = clock_mono_ns() + DEADLINE_NS;
	start(pause_for_ever);
	kill(child, SIGKILL);
	const struct waitfact_thread *t;
	const struct waitfact_process *p;
	do {
		facts_read(&child, 1);
		t = waitfacts_thread(&facts, child, child);
		p = waitfacts_process(&facts, child);
		assert_true(t && p);
	} while ((!t->ended || p->state != 'Z') && clock_mono_ns() < until);
	assert_true(t->ended && !t->runs && t->n == 0);
	assert_true(p->has_exit && WIFSIGNALED(p->exit_status) && WTERMSIG(p->exit_status) == SIGKILL);
}

static void handles(int signal)
{
	(void)signal;
}

static void body_signalled(void)
{
	timer_t timer;
	struct sigevent none = {.sigev_notify = SIGEV_NONE};
	const struct sigaction a = {.sa_handler = handles};
	must(sigaction(SIGUSR1, &a, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &none, &timer) == 0);
	pause_for_ever();
}

static void handlers_and_timers_of_a_process_are_known(void **state)
{
	(void)state;
	const struct waitfact_thread *t;
	start(body_signalled);
	ignore(await_fact((struct expected){WAITFACT_SIGNAL, false, 0, 0}, &t) != NULL, "it stands there");
	const struct waitfact_process *p = waitfacts_process(&facts, child);
	/* with those that the test's own library has */
	assert_true(p->handled >> (SIGUSR1 - 1) & 1);
	assert_false(p->handled >> (SIGUSR2 - 1) & 1);
	if (access("/proc/self/timers", R_OK) == 0)
		assert_true(p->has_timers);
	facts_read((pid_t[]){getpid()}, 1);
	assert_false(waitfacts_process(&facts, getpid())->has_timers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FACTS(handlers_and_timers_of_a_process_are_known),
		FACTS(a_lock_with_an_owner_names_it_alone),
		FACTS(a_lock_without_an_owner_is_its_processs_own),
		FACTS(a_join_waits_for_its_thread),
		FACTS(a_lock_in_shared_memory_names_who_maps_it),
		FACTS(a_lock_for_one_process_is_told_from_one_that_is_shared),
		FACTS(a_lock_inherited_over_fork_has_no_owner_left),
		FACTS(a_sleep_ends_by_the_clock),
		FACTS(who_waits_for_sigchld_waits_for_children_that_live),
		FACTS(a_parent_waits_for_its_children),
		FACTS(a_child_that_nobody_could_ask_for_yet_is_read_as_well),
		FACTS(who_naps_may_look_for_a_lock_that_another_has),
		FACTS(a_lock_of_its_parent_counts_for_who_has_opened_the_file_itself),
		FACTS(a_lock_for_reading_or_of_its_own_file_is_nothing_to_look_for),
		FACTS(who_naps_may_look_at_memory_that_another_writes),
		FACTS(memory_of_its_own_is_nothing_to_look_at),
		FACTS(a_semaphore_names_who_raised_it_last),
		FACTS(who_took_from_a_semaphore_itself_is_not_its_own_end),
		FACTS(a_semaphore_names_who_took_it_and_ended),
		FACTS(a_queue_without_a_name_has_no_other_users),
		FACTS(a_message_may_come_from_anybody),
		FACTS(who_sent_last_itself_waits_for_who_received),
		FACTS(what_lies_in_a_queue_is_not_for_who_waits),
		FACTS(a_stopped_thread_waits_for_whoever_continues_it),
		FACTS(a_process_that_ended_waits_for_nothing),
	};
	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
