#include "testing.h"

#include <sys/syscall.h>

#include "base/buf.h"
#include "model/hang/wakehint.h"
#include "sense/rank.h"

static struct wakehist hist;

static int hist_free(void **state)
{
	(void)state;
	wakehist_done(&hist);
	return 0;
}

static struct wake_who who(pid_t pid, pid_t tid, int32_t rank, const char *role, const char *name)
{
	struct wake_who w = {.pid = pid, .tid = tid, .start_ticks = 1000, .rank = rank, .main = pid == tid};
	TEXT_COPY(w.role, role);
	TEXT_COPY(w.name, name);
	return w;
}

static void add(struct wake_who wakee, struct wake_wait wait, const struct wake_who *waker, uint64_t n)
{
	assert_int_equal(wakehist_add(&hist, &wakee, &wait, waker, n), 0);
}

static pid_t usual(struct wake_who wakee, struct wake_wait wait)
{
	struct wakehist_usual u;
	return wakehist_usual(&hist, &wakee, &wait, &u) ? u.by.tid : 0;
}

static const struct wake_wait pipe_5 = {.kind = WAKE_READ, .arg = 5}, pipe_6 = {.kind = WAKE_READ, .arg = 6};
static const struct wake_wait at_get = {.kind = WAKE_LOCK, .arg = 0x1000, .place = 77};
static const struct wake_wait at_save = {.kind = WAKE_LOCK, .arg = 0x1000, .place = 78};

static void it_takes_twenty_wakes_and_four_fifths_of_them(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "loader"),
			b = who(10, 12, 0, "main", "noise");
	assert_int_equal(usual(main, pipe_5), 0);
	add(main, pipe_5, &a, 19);
	assert_int_equal(usual(main, pipe_5), 0);
	add(main, pipe_5, &a, 1);
	assert_int_equal(usual(main, pipe_5), 11);
	assert_int_equal(usual(main, pipe_6), 0); /* another descriptor */
	add(main, pipe_5, &b, 5);
	assert_int_equal(usual(main, pipe_5), 11);
	add(main, pipe_5, &b, 1);
	assert_int_equal(usual(main, pipe_5), 0); /* 20 of 26 */
	assert_int_equal(usual(a, pipe_5), 0);
	assert_int_equal(usual(main, (struct wake_wait){.kind = WAKE_NONE}), 0);
}

static void strangers_count_and_are_never_named(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "loader");
	add(main, pipe_5, &a, 60);
	add(main, pipe_5, NULL, 40);
	assert_int_equal(usual(main, pipe_5), 0);
	add(main, pipe_6, NULL, 400);
	assert_int_equal(usual(main, pipe_6), 0);
}

static void a_place_tells_waits_on_one_address_apart(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "python3"),
			b = who(10, 12, 0, "main", "python3");
	add(main, at_get, &a, 1000);
	add(main, at_save, &b, 20);
	assert_int_equal(usual(main, at_get), 11);
	assert_int_equal(usual(main, at_save), 12);
	/* the same address without a place: a thread that runs no Python */
	assert_int_equal(usual(main, (struct wake_wait){.kind = WAKE_LOCK, .arg = 0x1000}), 0);
}

static void a_number_that_is_used_again_is_another_thread(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "loader");
	const struct wake_wait lock = {.kind = WAKE_LOCK, .arg = 0x1000};
	add(main, lock, &a, 50);
	struct wake_who later = main;
	later.start_ticks = 2000;
	assert_int_equal(usual(main, lock), 11);
	assert_int_equal(usual(later, lock), 0); /* an address says nothing in another process */
	a.start_ticks = 3000;
	add(main, lock, &a, 40);
	assert_int_equal(usual(main, lock), 0); /* 50 by the one, 40 by the other */
}

static void ranks_that_are_alike_and_later_attempts_share_history(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "loader"),
			peer = who(30, 30, 1, "main", "python3");
	add(main, at_get, &a, 50);
	add(main, pipe_5, &peer, 50);
	struct wake_who rank1 = who(20, 20, 1, "main", "python3"), again = who(40, 40, 0, "main", "python3");
	assert_int_equal(usual(rank1, at_get), 11);
	assert_int_equal(usual(again, at_get), 11);
	assert_int_equal(usual(again, pipe_5), 0); /* its peer was another rank: rank 1's peer is another one */
	assert_int_equal(usual(who(20, 21, 1, "main", "python3"), at_get), 0); /* not a main thread */
	assert_int_equal(usual(who(20, 20, 1, "loader", "python3"), at_get), 0);
	/* enough of its own says otherwise */
	struct wake_who own = who(20, 25, 1, "main", "prefetch");
	add(rank1, at_get, &own, 20);
	assert_int_equal(usual(rank1, at_get), 25);
	struct wake_who other = who(20, 26, 1, "main", "x");
	add(rank1, at_get, &other, 20);
	assert_int_equal(usual(rank1, at_get), 0);
}

static void what_is_not_seen_any_more_makes_room(void **state)
{
	(void)state;
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "loader");
	add(main, pipe_5, &a, 500);
	for (uint64_t i = 0; i < 3 * WAKEHIST_ROWS; i++) {
		if (i % 100 == 0) {
			wakehist_round(&hist);
			add(main, pipe_5, &a, 1);
		}
		add(who(10, (pid_t)(100 + i), 0, "main", "pool"), pipe_6, &a, 1);
	}
	assert_int_equal(hist.n, WAKEHIST_ROWS);
	assert_int_equal(usual(main, pipe_5), 11);
	/* what changes is noticed, though the old count was large */
	struct wake_who b = who(10, 12, 0, "main", "loader");
	add(main, pipe_6, &a, 1000000);
	for (int i = 0; i < 20; i++)
		add(main, pipe_6, &b, 4000);
	assert_int_equal(usual(main, pipe_6), 12);
}

/* ---- as text ---- */

static void a_text_of_it_says_the_same(void **state)
{
	(void)state;
	char text[8192], again[8192];
	struct wakehist other = {.n = 0};
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, NO_RANK, "", "a b%-\n\xff");
	add(main, at_get, &a, 50);
	add(main, pipe_5, NULL, 30);
	size_t len = wakehist_text(&hist, text, sizeof(text));
	assert_int_equal(len, strlen(text));
	assert_int_equal(wakehist_parse((struct span){text, len}, &other), 0);
	assert_int_equal(other.n, 2);
	struct wakehist_usual u;
	assert_true(wakehist_usual(&other, &main, &at_get, &u));
	assert_string_equal(u.by.name, a.name);
	assert_int_equal(u.by.rank, NO_RANK);
	assert_int_equal(u.by.start_ticks, 1000);
	assert_true(other.row[1].stranger);
	assert_int_equal(wakehist_text(&other, again, sizeof(again)), len);
	assert_string_equal(text, again);
	wakehist_done(&other);
	for (size_t cap = 16; cap < len; cap++) { /* what does not fit is left out, line by line */
		size_t n = wakehist_text(&hist, again, cap);
		assert_true(n < cap && again[n - 1] == '\n');
	}
}

static void a_broken_text_is_passed_over(void **state)
{
	(void)state;
	char text[8192];
	struct wake_who main = who(10, 10, 0, "main", "python3"), a = who(10, 11, 0, "main", "%x");
	struct wakehist other = {.n = 0};
	assert_int_equal(wakehist_parse(span_of(""), &other), -EBADMSG);
	assert_int_equal(wakehist_parse(span_of("something else\n"), &other), -EBADMSG);
	add(main, pipe_5, &a, 30);
	size_t len = wakehist_text(&hist, text, sizeof(text));
	for (size_t i = 15; i < len; i++) /* any byte of the row may be any other */
		for (int c = 0; c < 256; c++) {
			char was = text[i];
			text[i] = (char)c;
			assert_int_equal(wakehist_parse((struct span){text, len}, &other), 0);
			assert_true(other.n <= 2);
			wakehist_done(&other);
			text[i] = was;
		}
	for (size_t i = 15; i < len; i++) {
		assert_int_equal(wakehist_parse((struct span){text, i}, &other), 0);
		wakehist_done(&other);
	}
}

/* ---- hints ---- */

static struct waitfact_thread threads[8];
static struct waitfact_process processes[4];
static struct waitfact fact;
static struct waitfacts facts = {.process = processes, .thread = threads, .fact = &fact, .n_facts = 1};
static const struct waitgraph_who whos[] = {{.pid = 20, .rank = 1, .main = true, .role = "main"},
					    {.pid = 30, .rank = 1, .role = "loader"},
					    {.pid = 40, .rank = 2, .role = "loader"}};

static void thread_put(pid_t pid, pid_t tid, const char *name, int64_t nr, uint64_t arg)
{
	struct waitfact_process *p = &processes[facts.n_processes ? facts.n_processes - 1 : 0];
	if (facts.n_processes == 0 || p->pid != pid) {
		p = &processes[facts.n_processes++];
		*p = (struct waitfact_process){.pid = pid, .first_thread = (uint32_t)facts.n_threads};
	}
	p->n_threads++;
	threads[facts.n_threads] = (struct waitfact_thread){
		.pid = pid, .tid = tid, .start_ticks = 1000, .nr = nr, .arg0 = arg, .n = nr >= 0};
	TEXT_COPY(threads[facts.n_threads++].name, name);
}

static size_t hints(const struct wakeplace *place, size_t n_places, struct waithint *ret)
{
	struct waithint *h = NULL;
	size_t n = 0, cap = 0;
	const struct wakehint_in in = {.hist = &hist,
				       .facts = &facts,
				       .who = whos,
				       .n_who = ARRAY_SIZE(whos),
				       .place = place,
				       .n_places = n_places};
	assert_int_equal(wakehint_add(&in, &h, &n, &cap), 0);
	if (n > 0)
		*ret = h[0];
	free(h);
	return n;
}

static void a_hint_names_the_thread_that_lives(void **state)
{
	(void)state;
	struct waithint h;
	struct wake_who main = who(20, 20, 1, "main", "python3"), a = who(20, 21, 1, "main", "load\ner");
	facts.n_processes = facts.n_threads = 0;
	thread_put(20, 20, "python3", SYS_read, 5);
	thread_put(20, 21, "load\ner", -1, 0);
	add(main, pipe_5, &a, 30);
	assert_int_equal(hints(NULL, 0, &h), 1);
	assert_int_equal(h.kind, WAITHINT_USUAL);
	assert_int_equal(h.owner_tid, 21);
	assert_false(h.proof);
	assert_string_equal(h.text, "usually woken by thread 21 (load?er): 30 of 30 times");
	threads[1].start_ticks = 1001; /* its number was used again */
	assert_int_equal(hints(NULL, 0, &h), 1);
	assert_int_equal(h.owner_tid, 0);
	assert_string_equal(h.text, "usually woken by thread 21 (load?er), which has ended: 30 of 30 times");
	threads[0].start_ticks = 1001; /* nor is the waiting one the thread that was: by role it is answered */
	assert_int_equal(hints(NULL, 0, &h), 1);
	assert_string_equal(h.text, "usually woken by thread 21 (load?er): 30 of 30 times, by threads like it");
	TEXT_COPY(threads[0].name, "other");
	assert_int_equal(hints(NULL, 0, &h), 0);
}

static void a_lock_of_python_needs_its_place(void **state)
{
	(void)state;
	struct waithint h;
	struct wake_who main = who(20, 20, 1, "main", "python3"), a = who(20, 21, 1, "main", "python3");
	facts.n_processes = facts.n_threads = 0;
	thread_put(20, 20, "python3", SYS_futex, 0x1000);
	thread_put(20, 21, "python3", SYS_futex, 0x2000);
	add(main, at_get, &a, 30);
	add(main, (struct wake_wait){.kind = WAKE_LOCK, .arg = 0x1000}, &a, 30);
	const struct wakeplace get = {20, 20, 77, ""}, save = {20, 20, 78, ""}, unknown = {20, 20, 0, ""};
	assert_int_equal(hints(&get, 1, &h), 1);
	assert_int_equal(hints(&save, 1, &h), 0);
	assert_int_equal(hints(&unknown, 1, &h), 0);
	assert_int_equal(hints(NULL, 0, &h), 1); /* no Python: the address decides */
}

static void names_that_python_gives_tell_threads_of_a_later_attempt_apart(void **state)
{
	(void)state;
	struct waithint h;
	struct wake_who main = who(10, 10, 1, "main", "python3"), a = who(10, 11, 1, "main", "Thread-1 (loader)");
	facts.n_processes = facts.n_threads = 0;
	thread_put(20, 20, "python3", SYS_futex, 0x3000);
	thread_put(20, 21, "python3", -1, 0);
	thread_put(20, 22, "python3", -1, 0);
	add(main, at_get, &a, 30);
	const struct wakeplace place[] = {
		{20, 20, 77, ""}, {20, 21, 0, "Thread-2 (saver)"}, {20, 22, 0, "Thread-1 (loader)"}};
	assert_int_equal(hints(place, 3, &h), 1);
	assert_int_equal(h.owner_tid, 22);
	assert_string_equal(h.text,
			    "usually woken by thread 22 (Thread-1 (loader)): 30 of 30 times, by threads like it");
	assert_int_equal(hints(place, 1, &h), 0); /* unnamed, several could be it */
}

static void a_role_names_only_one_that_is_alone_in_it(void **state)
{
	(void)state;
	struct waithint h;
	struct wake_who main = who(10, 10, 0, "main", "python3"), loader = who(11, 11, 0, "loader", "python3");
	facts.n_processes = facts.n_threads = 0;
	thread_put(20, 20, "python3", SYS_read, 5);
	thread_put(30, 30, "python3", -1, 0);
	thread_put(40, 40, "python3", -1, 0); /* another rank's */
	add(main, pipe_5, &loader, 30);
	assert_int_equal(hints(NULL, 0, &h), 1);
	assert_int_equal(h.owner_pid, 30);
	assert_string_equal(h.text, "usually woken by process 30 (python3): 30 of 30 times, by threads like it");
	struct wake_who worker = who(11, 12, 0, "loader", "pool");
	thread_put(30, 31, "pool", -1, 0);
	facts.n_threads--;
	add(main, pipe_6, &worker, 30);
	threads[0].arg0 = 6;
	assert_int_equal(hints(NULL, 0, &h), 0); /* rank 1's loader has no such thread */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(it_takes_twenty_wakes_and_four_fifths_of_them, hist_free),
		cmocka_unit_test_teardown(strangers_count_and_are_never_named, hist_free),
		cmocka_unit_test_teardown(a_place_tells_waits_on_one_address_apart, hist_free),
		cmocka_unit_test_teardown(a_number_that_is_used_again_is_another_thread, hist_free),
		cmocka_unit_test_teardown(ranks_that_are_alike_and_later_attempts_share_history, hist_free),
		cmocka_unit_test_teardown(what_is_not_seen_any_more_makes_room, hist_free),
		cmocka_unit_test_teardown(a_text_of_it_says_the_same, hist_free),
		cmocka_unit_test_teardown(a_broken_text_is_passed_over, hist_free),
		cmocka_unit_test_teardown(a_hint_names_the_thread_that_lives, hist_free),
		cmocka_unit_test_teardown(a_lock_of_python_needs_its_place, hist_free),
		cmocka_unit_test_teardown(names_that_python_gives_tell_threads_of_a_later_attempt_apart, hist_free),
		cmocka_unit_test_teardown(a_role_names_only_one_that_is_alone_in_it, hist_free),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
