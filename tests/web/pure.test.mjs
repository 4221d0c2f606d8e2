// The parts of the page that are plain functions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WEB, source } from "./kit.mjs";

const format = await source("format.ts");
const merge = await source("merge.ts");
const route = await source("route.ts");
const stack = await source("ui/stack.ts");
const waits = await source("ui/waitlayout.ts");
const logs = await source("pages/logwindow.ts");
const timeline = await source("timeline/model.ts");
const safe = await source("safe.ts");
const health = await source("health.ts");
const stacks = await source("ui/stacks.tsx");
const drawn = await source("timeline/draw.ts");
const axis = await source("ui/axis.ts");
const fixture = (name) => JSON.parse(readFileSync(join(WEB, "dev/fixtures", `${name}.json`), "utf8"));

test("sizes, times and shares are short and have their unit", () => {
	assert.deepEqual([0, 1023, 1024, 557670400, 1.2 * 2 ** 30, 2 ** 40, -5, undefined, NaN].map(format.bytes), [
		"0 B",
		"1023 B",
		"1.00 KiB",
		"532 MiB",
		"1.20 GiB",
		"1.00 TiB",
		"−5 B",
		"–",
		"–",
	]);
	// The forms of duration_format and rate_format (src/base/units.h).
	assert.deepEqual(
		[0, 0.25, 2.5, 512, 4200, 45_739, 59_970, 185_000, 7_980_000, 49 * 3_600_000, 360_000_000].map(format.duration),
		["0 ms", "250 us", "2.5 ms", "512 ms", "4.2 s", "45.7 s", "1 m 00 s", "3 m 05 s", "2 h 13 m", "49 h 00 m", "4 d 04 h"],
	);
	assert.deepEqual([-5, 600, 12_400, 185_900].map(format.lasting), ["0 s", "1 s", "12 s", "3 m 06 s"]);
	assert.deepEqual([0, 0.0166, 0.52, 1.9, 2, 9.96, 12.4, 240.2, undefined].map(format.rate), [
		"0/s",
		"0.017/s",
		"0.52/s",
		"1.9/s",
		"2/s",
		"10/s",
		"12/s",
		"240/s",
		"–",
	]);
	assert.deepEqual([0, 0.031, 0.951, 1.7, undefined].map(format.percent), ["0 %", "3.1 %", "95 %", "170 %", "–"]);
	assert.equal(format.ago(1000, 13_000), "12 s ago");
	assert.equal(format.ago(1000, 1500), "just now");
	assert.equal(format.ago(9000, 1000), "just now", "a clock that is behind makes no negative age");
	assert.equal(format.count(1234567), "1,234,567");
});

test("ranks are listed in runs", () => {
	assert.equal(format.rankList([5, 0, 1, 2, 5]), "0-2, 5");
	assert.equal(format.ranksText([2]), "rank 2");
	assert.equal(format.ranksText([3, 1]), "ranks 1, 3");
	assert.equal(format.rankList([0, 1]), "0, 1");
});

test("a sentence that tells the steps is not said twice", () => {
	for (const sentence of ["step 5 of 100, 1.9/s", "steps 66 to 68 of 5000, 3/s, 27 m 29 s left"]) assert.ok(format.tellsSteps(sentence));
	for (const sentence of ["it runs; no steps are seen", "held up by rank 2", undefined]) assert.ok(!format.tellsSteps(sentence));
});

test("the report of a hang has kept who waited for whom", async () => {
	const { keptOf } = await source("adapt.ts");
	const to = [{ to: { pid: 11, rank: 1 }, quality: "proof" }];
	const { waits, groups } = keptOf({
		time_unix_ms: 5,
		stacks: [
			{ rank: 0, pid: 10, tid: 10, role: "main", thread: "python3", waits_for: { text: "recv", to }, frames: [] },
			{ rank: 0, pid: 10, tid: 17, role: "main", thread: "other", frames: [] },
			{ rank: 1, pid: 11, tid: 11, role: "main", thread: "python3", waiting_on: "sleeps", frames: [] },
			{ rank: 1, pid: 12, tid: 12, role: "data_loader", frames: [] },
		],
	});
	assert.deepEqual(groups, []);
	assert.equal(waits.captured_unix_ms, 5);
	assert.deepEqual(
		waits.processes.map((p) => [p.rank, p.threads[0].does, p.threads[0].waiting_on, p.threads[0].arrows]),
		[
			[0, "waits", "recv", to],
			[1, "sleeps", "sleeps", []],
		],
	);
	assert.deepEqual(keptOf({ time_unix_ms: 1 }).waits.processes, [], "a report of an older vigil");
});

test("the headline says what needs somebody, then what died, and calls nothing well that is not known to be", () => {
	const job = (name, state, level, ended) => ({ id: name, name, state, health: { level }, ended_unix_ms: ended });
	const now = 100 * 3600_000;
	const of = (...jobs) => health.headline(jobs, now);
	assert.equal(of(), "Nothing is running.");
	assert.equal(of(job("a", "running", "well")), "The running job is well.");
	assert.equal(of(job("a", "running", "well"), job("b", "running", "well")), "All 2 running jobs are well.");
	for (const level of ["quiet", "unknown", undefined])
		assert.equal(of(job("a", "running", "well"), job("b", "running", level)), "Nothing wrong is seen of the 2 running jobs.");
	assert.equal(of(job("a", "running", "hung"), job("b", "failed", "died", now)), "a needs you.");
	const died = job("b", "failed", "died", now - 120_000);
	assert.equal(of(died), "Nothing is running. b died 2 m 00 s ago.");
	assert.equal(of(job("b", "lost", "lost", now - 120_000)), "Nothing is running. b was lost 2 m 00 s ago.");
	assert.equal(of(job("c", "failed", "died", now - 180_000), died), "Nothing is running. b died 2 m 00 s ago.", "the last that ended");
	assert.equal(of(job("a", "running", "well"), died), "The running job is well. b died 2 m 00 s ago.");
	assert.equal(of(job("b", "running", "well"), died), "The running job is well.", "it was started again");
	assert.equal(of(job("b", "done", "ended", now), died), "Nothing is running.");
	assert.equal(of(job("b", "failed", "died", now - 25 * 3600_000)), "Nothing is running.", "no news any more");
});

test("once the server is gone no job is called well or running: it is told what was seen last, and when", () => {
	const seen = new Date(2026, 0, 5, 9, 12, 40).getTime();
	const job = (name, state, level) => ({ id: name, name, state, health: { level, sentence: "step 12, 3.3/s" } });
	const [one, two] = [job("a", "running", "well"), job("b", "waiting", "died")].map((j) => health.asSeen(j, seen));
	assert.equal(health.level(one), "unseen");
	assert.equal(one.health.sentence, "as last seen at 09:12:40: step 12, 3.3/s");
	assert.ok(!health.goes(one), "it has no speed that is known");
	const died = job("c", "failed", "died");
	assert.equal(health.asSeen(died, seen), died, "what has ended stays so");
	assert.equal(health.asSeen(died, undefined), died);
	assert.equal(health.headline([one], seen, seen), "a was last seen running, at 09:12:40; how it is now is not known.");
	assert.equal(
		health.headline([one, two], seen, seen),
		"2 jobs were last seen running, at 09:12:40; how they are now is not known.",
	);
	assert.equal(health.headline([died], seen, seen), "Nothing was running at 09:12:40.");
	assert.equal(
		health.headline([{ ...died, ended_unix_ms: seen - 5000 }], seen + 55_000, seen),
		"Nothing was running at 09:12:40. c died 1 m 00 s ago.",
		"what is over gets older without a server",
	);
	assert.deepEqual(
		health.groupJobs([one, two]).map((g) => g.title),
		["Last seen running"],
	);
});

test("how long a job stands agrees with the clock beside it", () => {
	const stood = (how) => ({ level: "hung", sentence: `The job has been standing still for ${how}, held up by rank 2.`, since_unix_ms: 1000_000 });
	const at = (of, s) => health.sentenceAt(of, 1000_000 + s * 1000);
	for (const before of ["320 ms", "24.3 s", "4 m 10 s", "2 h 05 m", "30 d 00 h"]) {
		assert.equal(at(stood(before), 31), stood("31 s").sentence);
		assert.equal(at(stood(before), 257), stood("4 m 17 s").sentence);
		assert.equal(at(stood(before), 3605), stood("1 h 00 m").sentence);
	}
	const died = { ...stood("4 m 10 s"), level: "died" };
	assert.equal(at(died, 900), died.sentence, "it stands no longer");
	const job = health.asSeen({ id: "a", name: "a", state: "running", health: stood("4 m 10 s") }, 1000_000 + 90_000);
	assert.ok(at(job.health, 900).endsWith(stood("4 m 10 s").sentence), "how it is now is not known");
	assert.equal(at({ ...stood("5 s"), since_unix_ms: undefined }, 9), stood("5 s").sentence);
});

test("a job that waits for its next attempt is told so, and needs somebody", () => {
	const job = (state, level) => ({ id: "a", name: "a", state, health: { level }, steps: [] });
	const waits = job("waiting", "died");
	assert.equal(health.level(waits), "waiting");
	assert.ok(!health.goes(waits) && health.running(waits));
	assert.equal(health.headline([waits], 0), "a died and waits for its next attempt.");
	assert.equal(health.headline([job("running", "died")], 0), "a needs you.", "its state comes later");
	assert.deepEqual(
		health.groupJobs([job("running", "well"), waits]).map((g) => [g.title, g.jobs.length]),
		[
			["Needs you", 1],
			["Running", 1],
		],
	);
});

test("jobs that have ended are listed by their end", () => {
	const job = (id, ended_unix_ms) => ({ id, name: id, state: "failed", health: { level: "died" }, ended_unix_ms });
	const [group] = health.groupJobs([job("new", 5), job("old", 9), job("unknown"), job("last", 7)]);
	assert.deepEqual(
		group.jobs.map((j) => j.id),
		["old", "last", "new", "unknown"],
	);
});

test("a job that stands has no speed", () => {
	const job = (state, level) => ({ state, health: { level } });
	assert.ok(health.goes(job("running", "well")) && health.goes(job("running", "slow")));
	for (const [state, level] of [["running", "hung"], ["running", "suspected"], ["failed", "died"]])
		assert.ok(!health.goes(job(state, level)), level);
});

test("a report's stacks begin with the culprit's, then the smallest group", () => {
	const groups = [
		{ ranks: "0", count: 1 },
		{ ranks: "12-40, 51", count: 30 },
		{ ranks: "1-3", count: 3 },
	];
	const order = (culprits) => stacks.groupsOfReport(groups, culprits).map((g) => g.ranks);
	assert.deepEqual(order([51]), ["12-40, 51", "0", "1-3"]);
	assert.deepEqual(order([2]), ["1-3", "0", "12-40, 51"]);
	assert.deepEqual(order([5]), ["0", "1-3", "12-40, 51"]);
	assert.deepEqual(order(undefined), ["0", "1-3", "12-40, 51"]);
});

test("a name in the timeline ends before the next mark", () => {
	const widthOf = (text) => text.length * 7;
	assert.equal(drawn.fitted("suspected", 63, widthOf), "suspected");
	assert.equal(drawn.fitted("suspected", 62, widthOf), "suspect…");
	assert.equal(drawn.fitted("job start", 36, widthOf), "job…");
	for (const room of [27, 23, 0, -40]) assert.equal(drawn.fitted("suspected", room, widthOf), "");
});

test("time left is told only where there is a speed and an end", () => {
	assert.equal(format.timeLeft(50, 150, 2), 50_000);
	assert.equal(format.timeLeft(50, undefined, 2), undefined);
	assert.equal(format.timeLeft(50, 150, 0), undefined);
	assert.equal(format.timeLeft(151, 150, 2), undefined);
});

const event = (seq, text = "") => ({ seq, time_unix_ms: seq, kind: "x", text });

test("events of a page and of the stream make one list without gap or duplicate", () => {
	// Whatever arrives in whatever order and however often: the result is each event once, by number.
	let random = 7;
	const next = () => (random = (random * 48271) % 2147483647);
	const all = Array.from({ length: 300 }, (_, i) => event(i * 3 + 1));
	let have = [];
	for (let turn = 0; turn < 400; turn++) {
		const from = next() % all.length;
		have = merge.mergeEvents(have, all.slice(from, from + (next() % 20)));
	}
	have = merge.mergeEvents(have, all);
	assert.deepEqual(
		have.map((e) => e.seq),
		all.map((e) => e.seq),
	);
	assert.equal(merge.mergeEvents(have, []), have);
	assert.equal(
		merge.mergeEvents(all, [event(1, "new")])[0].text,
		"new",
		"what comes later about the same event holds",
	);
	assert.deepEqual(
		merge
			.mergeEvents(all, [event(5000)], 10)
			.map((e) => e.seq)
			.at(-1),
		5000,
	);
	assert.equal(merge.mergeEvents(all, [event(5000)], 10).length, 10);
});

test("a delta of ranks changes those it names and keeps what it does not say", () => {
	const have = [
		{ rank: 0, state: "running", step: 1 },
		{ rank: 1, state: "running", step: 1 },
	];
	const now = merge.mergeRanks(have, [
		{ rank: 1, step: 2 },
		{ rank: 2, state: "ended" },
	]);
	assert.deepEqual(now, [have[0], { rank: 1, state: "running", step: 2 }, { rank: 2, state: "ended" }]);
	assert.equal(now[0], have[0], "a rank that did not change is the same object, so its cell is not drawn again");
});

test("the ranks of the next attempt take the places of the last one's", () => {
	const have = [
		{ rank: 0, pid: 10, state: "ended", signal: 11, own_bytes: 7 },
		{ rank: 1, pid: 11, state: "ended", signal: 15 },
		{ rank: 2, pid: 12, state: "ended" },
	];
	const next = { rank: 0, pid: 20, state: "running" };
	const now = merge.mergeRanks(have, [next]);
	assert.deepEqual(now, [next, have[1], have[2]], "of another process nothing is kept");
	const whole = [next, { rank: 1, pid: 21, state: "running" }];
	assert.deepEqual(merge.mergeRanks(have, whole, 2), whole, "all there are: who is not among them has left");
	const one = { rank: -8581, pid: 8581, state: "ended", step: 20 };
	const again = { rank: -8600, pid: 8600, state: "running", step: 1 };
	assert.deepEqual(merge.mergeRanks([one], [again], 1), [again], "of a job without ranks, too");
	assert.deepEqual(merge.mergeRanks([one], [{ ...one, step: 21 }], 1), [{ ...one, step: 21 }]);
});

test("who is behind is named, not the many that are ahead of it", () => {
	const of = (...steps) => steps.map((step, rank) => ({ rank, step }));
	assert.equal(format.spread(of(8, 8, 7, 8)), "rank 2 is 1 behind");
	assert.equal(format.spread(of(200, 57, 200)), "rank 1 is 143 behind");
	assert.equal(format.spread(of(8, 8, 8, 9)), "rank 3 is 1 ahead");
	assert.equal(format.spread(of(7, 9)), "rank 0 is 2 behind");
	assert.equal(format.spread(of(7, 7, 8, 8)), "ranks 0, 1 are 1 behind");
	assert.equal(format.spread(of(7, 7, 8)), "rank 2 is 1 ahead");
	assert.equal(format.spread(of(5, 6, 9, 9, 9)), "rank 0 is 4 behind");
	for (const steps of [of(), of(5), of(5, 5)]) assert.equal(format.spread(steps), undefined);
	assert.equal(format.spread([{ rank: -10, step: 3 }, { rank: -11, step: 9 }]), undefined, "processes without a rank");
});

test("a job whose next attempt has begun is of that attempt at once", async () => {
	const { withAttempt } = await source("adapt.ts");
	const job = { id: "a", attempt: 0, state: "waiting", steps: [{ rank: 0, step: 20 }] };
	assert.deepEqual(withAttempt(job, { kind: "attempt_start", attempt: 1 }), { id: "a", attempt: 1, state: "running", steps: [] });
	for (const event of [{ kind: "attempt_start", attempt: 0 }, { kind: "signal", attempt: 1 }])
		assert.equal(withAttempt(job, event), job);
});

test("a memory point is added once, also for a worker that is new or gone", () => {
	const have = { times: [1, 2], series: [{ rank: 0, own: [5, 6] }], shared: [1, 1], limit_bytes: 9 };
	const one = merge.appendPoint(have, { time_unix_ms: 3, own: [{ rank: 1, own_bytes: 7 }], shared_bytes: 2 });
	assert.deepEqual(one.times, [1, 2, 3]);
	assert.deepEqual(one.series, [
		{ rank: 0, own: [5, 6, null] },
		{ rank: 1, own: [null, null, 7] },
	]);
	assert.deepEqual(one.shared, [1, 1, 2]);
	assert.equal(merge.appendPoint(one, { time_unix_ms: 3, own: [] }), one, "the same point again");
	assert.equal(merge.appendPoint(one, { time_unix_ms: 2, own: [] }), one, "an older one");
	const cut = merge.appendPoint(one, { time_unix_ms: 4, own: [{ rank: 0, own_bytes: 1 }] }, 3);
	assert.deepEqual(cut.times, [2, 3, 4]);
	assert.deepEqual(
		cut.series.map((s) => s.own),
		[
			[6, null, 1],
			[null, 7, null],
		],
	);
});

test("large processes of a job without ranks are layers of their own, also those that come later", () => {
	const have = {
		times: [1, 2],
		series: [{ name: "no rank", own: [30, 40] }],
		processes: [{ pid: 7, start_ticks: 1, name: "python3", role: "main", own: [20, 25] }],
	};
	const next = merge.appendPoint(have, {
		time_unix_ms: 3,
		own: [{ name: "no rank", own_bytes: 60 }],
		processes: [
			{ pid: 7, start_ticks: 1, own_bytes: 26 },
			{ pid: 8, start_ticks: 2, name: "python3", role: "loader", own_bytes: 31 },
		],
	});
	assert.deepEqual(
		next.processes.map((p) => [p.pid, p.role, p.own]),
		[
			[7, "main", [20, 25, 26]],
			[8, "loader", [null, null, 31]],
		],
	);
	const layers = stack.stackMemory(next);
	assert.deepEqual(
		layers.map((l) => [l.label, l.values]),
		[
			["loader python3 8", [null, null, 31]],
			["main python3 7", [20, 25, 26]],
			["other processes", [10, 15, 3]],
		],
	);
	const gone = merge.appendPoint(merge.appendPoint(next, { time_unix_ms: 4, own: [] }, 3), { time_unix_ms: 5, own: [] }, 2);
	assert.deepEqual(gone.processes, [], "whom no point has any more");
	const many = { ...have, processes: Array.from({ length: 70 }, (_, i) => ({ pid: i, start_ticks: 1, own: [1, 1] })) };
	assert.equal(merge.appendPoint(many, { time_unix_ms: 3, own: [] }).processes.length, 64);
	const own = [100, 200, 300, 400].map((v) => v * 2 ** 20);
	const forks = (...job_bytes) => {
		const m = { times: [1, 2, 3, 4], series: [{ own }], job_bytes: job_bytes.map((v) => v && v * 2 ** 20) };
		return stack.countedTwice(m, stack.stackMemory(m));
	};
	assert.equal(forks(60, 150, 250, 350), 50 * 2 ** 20);
	assert.equal(forks(98, 195, 290, 390), undefined, "a counter that lags");
	assert.equal(forks(100, 200, 300, 300), undefined, "a counter that was late once");
	assert.equal(forks(null, null, null, 300), 100 * 2 ** 20, "of the points that have both");
	assert.equal(forks(), undefined);
	assert.equal(stack.stackMemory(many).length, 13, "twelve, and the others");
});

test("addresses come back as they were made, whatever an id is", () => {
	for (const id of ["llama-1", "a/b", "<b>&\"'/..%2f-x9", "#?&=", "ü 𝕏"]) {
		assert.deepEqual(route.parseRoute(route.link(["job", id])), { page: "job", job: id, query: {} });
		assert.equal(route.parseRoute(route.link(["incident", id])).id, id);
	}
	assert.deepEqual(route.parseRoute(route.link(["job", "x", "logs"], { rank: 2, file: undefined })), {
		page: "logs",
		job: "x",
		query: { rank: "2" },
	});
	assert.equal(route.parseRoute("#/job/x/at/17955").id, "17955");
	assert.equal(route.parseRoute("#/job/x/at/soon").page, "absent");
	assert.equal(route.parseRoute("#/job/x/process/../../y").page, "absent");
	assert.equal(route.parseRoute("#/job/%E0%A4%A").job, "%E0%A4%A", "a broken escape is text");
	assert.equal(route.parseRoute("").page, "overview");
	assert.deepEqual(route.proofOf("#token=a%2Bb&x"), { token: "a+b" });
	assert.deepEqual(route.proofOf("#code=a1"), { code: "a1" });
	assert.equal(route.proofOf("#/job/token=x"), undefined);
	assert.equal(route.parseRoute("#code=abc").page, "overview", "the code is no page");
	assert.equal(route.parseRoute("#token=abc").page, "overview", "the token is no page");
});

test("a circle of two threads of one process is two boxes", () => {
	const thread = (tid, main, to, waiting_on) => ({
		tid,
		main,
		does: "waits",
		dead: true,
		waiting_on,
		arrows: [{ to: { pid: 7, tid: to }, quality: "proof" }],
	});
	const nodes = waits.waitNodes({
		ends: [],
		processes: [{ pid: 7, main: true, name: "py", threads: [thread(7, true, 9, "a"), thread(8, false, 7, "c"), thread(9, false, 7, "b")] }],
	});
	assert.deepEqual(
		nodes.map((n) => [n.label, n.why, n.to].join(": ")).sort(),
		["py, thread 9: b: p7", "py: a: p7.9"],
		"a thread that nobody waits for is none",
	);
});

test("with the main thread stand the threads of its process that it waits for", () => {
	const thread = (tid, to) => ({
		tid,
		main: tid === 7,
		name: `t${tid}`,
		waits_for: { to: [{ to: { pid: 7, tid: to } }] },
		frames: [{ name: `f${tid}` }],
	});
	const groups = stacks.groupStacks({ processes: [{ pid: 7, rank: 0, threads: [thread(7, 9), thread(8, 7), thread(9, 7)] }] });
	assert.deepEqual(groups.map((g) => g.ranks).sort(), ["0", "rank 0, t9 (thread 9)"]);
});

test("stacked memory: ranks in their order, shared memory once on top", () => {
	const layers = stack.stackMemory({
		times: [1, 2],
		series: [
			{ rank: 0, own: [1, 2] },
			{ rank: 1, own: [10, null] },
		],
		shared: [3, 3],
	});
	assert.deepEqual(
		layers.map((l) => l.label),
		["rank 0", "rank 1", "shared, once"],
	);
	assert.deepEqual(
		layers.map((l) => l.upper),
		[
			[1, 2],
			[11, 2],
			[14, 5],
		],
	);
	const [only] = stack.stackMemory({ times: [1], series: [{ name: "no rank", own: [4] }] });
	assert.equal(only.label, "all processes", "a job without ranks lacks none");
	assert.equal(stack.limitInView(14, 20), true);
	assert.equal(stack.limitInView(14, 2000), false, "a limit far away would flatten the picture");
	assert.equal(stack.limitInView(14, undefined), false);
});

test("memory that a death set free is no slope down to nothing before it, and what is left is no band", () => {
	const fall = { times: [1, 2, 3, 4, 5], series: [{ name: "no rank", own: [5, 9, 0, 0, 6] }], shared: [1, 1, 1, 1, 1] };
	assert.deepEqual(
		stack.stackMemory(fall).map((l) => l.upper),
		[
			[5, 9, null, null, 6],
			[6, 10, null, null, 7],
		],
	);
	const [, top] = stack.stackMemory({ times: [1, 2], series: [{ rank: 0, own: [5, 0] }, { rank: 1, own: [9, 9] }] });
	assert.deepEqual(top.upper, [14, 9], "the others go on");
	assert.deepEqual(stack.stackMemory({ times: [1, 2], series: [{ rank: 0, own: [0, 0] }] })[0].upper, [null, null]);
});

test("no two marks of a time axis are the same", () => {
	for (const step of axis.TIME_STEPS) {
		const told = axis.timeTicks(Array.from({ length: 9 }, (_, i) => 1_767_600_000 + i * step));
		assert.equal(new Set(told).size, 9, `${step}: ${told}`);
	}
});

test("the legend of a curve tells what is now, not what was in the last attempt", () => {
	assert.equal(axis.lastOf([3, 4.7]), 4.7);
	assert.equal(axis.lastOf([3, 4.7, null]), 4.7, "a look that is not there yet");
	for (const values of [[3, 0, null, null], [null], []]) assert.equal(axis.lastOf(values), undefined);
});

test("who waits for whom, of a recorded hang: 1 and 3 wait for 0, which waits for 2", () => {
	const nodes = waits.waitNodes(fixture("vision-ddp").waits);
	assert.deepEqual(
		nodes.map((n) => [n.label, n.depth, n.end]),
		[
			["ranks 1, 3", 2, false],
			["rank 0", 1, false],
			["rank 2", 0, true],
		],
	);
	const picture = waits.layoutWaits(nodes, 340);
	const y = Object.fromEntries(picture.boxes.map((b) => [b.node.label, b.y]));
	assert.ok(y["ranks 1, 3"] < y["rank 0"] && y["rank 0"] < y["rank 2"], "arrows lead down");
	assert.equal(picture.arrows.length, 2);
	for (const b of picture.boxes) assert.ok(b.x >= 0 && b.x + b.w <= 340, "inside of the picture");
});

const main = (pid, to) => ({
	pid,
	rank: pid,
	main: true,
	threads: [
		{
			tid: pid,
			main: true,
			does: "waits",
			arrows: to === undefined ? [] : [{ to: { pid: to }, quality: "proof" }],
		},
	],
});

test("a circle of waits is drawn, with an arrow back", () => {
	const nodes = waits.waitNodes({ ends: [], processes: [main(1, 2), main(2, 3), main(3, 1)] });
	assert.equal(nodes.length, 3);
	assert.equal(waits.layoutWaits(nodes, 600).arrows.length, 3);
});

test("a thousand ranks that wait for one are one box", () => {
	const nodes = waits.waitNodes({
		ends: [],
		processes: [
			main(617),
			...Array.from({ length: 1000 }, (_, i) => i)
				.filter((i) => i !== 617)
				.map((i) => main(i, 617)),
		],
	});
	assert.deepEqual(
		nodes.map((n) => n.label),
		["ranks 0-616, 618-999", "rank 617"],
	);
});

test("nobody waits: no picture", () => {
	assert.deepEqual(waits.waitNodes(fixture("llama-pretrain").waits), []);
});

test("a wait for somebody outside ends at a box of its own", () => {
	const processes = [
		{
			pid: 1,
			rank: 0,
			main: true,
			threads: [
				{ tid: 1, main: true, does: "waits", arrows: [{ to: { text: "10.0.0.7:29500" }, quality: "proof" }] },
			],
		},
	];
	assert.deepEqual(
		waits.waitNodes({ ends: [], processes }).map((n) => n.label),
		["rank 0", "10.0.0.7:29500"],
	);
});

const part = (lines, next, size = 1000, offset = lines[0]?.[0] ?? 0) => ({
	offset,
	next,
	size,
	lines: lines.map(([at, text]) => ({ at, text })),
});

test("a log grows at both ends without a line twice or missing", () => {
	let w = logs.windowOf(
		part(
			[
				[100, "c"],
				[110, "d"],
			],
			120,
		),
	);
	w = logs.append(
		w,
		part(
			[
				[110, "d"],
				[120, "e"],
			],
			130,
		),
	);
	w = logs.prepend(
		w,
		part(
			[
				[80, "a"],
				[90, "b"],
				[100, "c"],
			],
			110,
		),
	);
	assert.deepEqual(
		w.lines.map((l) => l.text),
		["a", "b", "c", "d", "e"],
	);
	assert.deepEqual([w.from, w.to], [80, 130]);
	assert.equal(logs.begunAnew(w, part([], 0, 20)), true);
	assert.equal(logs.begunAnew(w, part([], 130, 130)), false);
});

test("a log keeps no more than its limit, at the end that is not looked at", () => {
	const many = Array.from({ length: logs.MOST_LINES }, (_, i) => [i * 10 + 1000, "x"]);
	let w = logs.windowOf(part(many, 1000 + many.length * 10, 1e9));
	w = logs.append(w, part([[w.to, "new"]], w.to + 10, 1e9));
	assert.equal(w.lines.length, logs.MOST_LINES);
	assert.equal(w.from, 1010);
	assert.equal(w.lines.at(-1).text, "new");
	w = logs.prepend(w, part([[1000, "old"]], 1010, 1e9));
	assert.equal(w.lines[0].text, "old");
	assert.equal(w.lines.length, logs.MOST_LINES);
	assert.equal(w.to, w.lines.at(-1).at + 10, "what was dropped at the end is read again from there");
});

test("only the lines in view are in the page", () => {
	assert.deepEqual(logs.inView(0, 400, 20, 100_000), [0, 40]);
	assert.deepEqual(logs.inView(20_000, 400, 20, 100_000), [980, 1040]);
	assert.deepEqual(logs.inView(0, 400, 20, 3), [0, 3]);
	assert.deepEqual(logs.inView(1e9, 400, 20, 10)[1], 10);
});

test("control characters of a log are no commands of the page", () => {
	assert.equal(logs.plainLine("\u001b[31mred\u001b[0m"), "red");
	assert.equal(logs.plainLine(" 10%|#   |\r 50%|##  |\r"), " 50%|##  |");
	assert.equal(logs.plainLine("a\u0000b\u202Egnp.exe"), "a␦b␦gnp.exe");
});

test("no text turns the direction of what stands beside it, however it comes", () => {
	assert.deepEqual(safe.parseAnswer('{"a":"x\u200fy","b":"\\u200E"}'), { a: "x␦y", b: "␦" });
	assert.deepEqual(safe.parseAnswer('{"a":"x\u202Egnp.exe","b":["\\u202egnp","\\\\u202e"],"n":1}'), {
		a: "x␦gnp.exe",
		b: ["␦gnp", "\\u202e"],
		n: 1,
	});
	assert.throws(() => safe.parseAnswer('{"a":'));
});

test("a recorded timeline has its lanes, curves and incident", () => {
	const lanes = timeline.lanesOf(fixture("bert-finetune").timeline);
	const titles = lanes.rows.map((r) => r.title);
	assert.ok(
		titles.some((t) => t.startsWith("job bert-finetune")) &&
			titles.includes("attempts") &&
			titles.includes("memory used"),
		titles.join(),
	);
	assert.equal(titles.filter((t) => t.startsWith("rank ")).length, 4);
	assert.equal(lanes.incidents.length, 1);
	const attempts = lanes.rows.find((r) => r.title === "attempts");
	assert.equal(timeline.spanAt(attempts, attempts.spans[0].from + 5, 1).name, "attempt 0");
	assert.equal(timeline.spanAt(attempts, -1e9, 1), undefined);
	const own = lanes.rows.filter((r) => r.title === "memory").at(-1);
	assert.equal(timeline.valueAt(own, Infinity), own.points.at(-1).value);
});

test("a part of a timeline is asked for where one looks closely at it, and once", () => {
	const { partFor } = timeline;
	assert.equal(partFor({ from: 0, to: 60 }, 100, undefined), undefined);
	assert.deepEqual(partFor({ from: 40, to: 60 }, 100, undefined), { from: 30, to: 70 });
	assert.deepEqual(partFor({ from: 0, to: 20 }, 100, undefined), { from: 0, to: 30 });
	assert.deepEqual(partFor({ from: 90, to: 100 }, 100, undefined), { from: 85, to: 100 });
	const known = { from: 30, to: 70 };
	assert.equal(partFor({ from: 45, to: 65 }, 100, known), undefined);
	assert.deepEqual(partFor({ from: 60, to: 80 }, 100, known), { from: 50, to: 90 });
	assert.deepEqual(partFor({ from: 50, to: 54 }, 100, known), { from: 48, to: 56 });
});

test("a large process of a job without ranks has its curve in the timeline", () => {
	const { rows } = timeline.lanesOf({
		traceEvents: [
			{ ph: "C", pid: 3, name: "own bytes of python3 (x) (42)", ts: 0, args: { own: 7 } },
			{ ph: "C", pid: 3, name: "own bytes of nothing", ts: 0, args: { own: 7 } },
		],
	});
	assert.deepEqual(
		rows.map((r) => [r.kind, r.title, r.points.length]),
		[
			["lane", "lane 3", 0],
			["counter", "mem 42", 1],
		],
	);
});

test("steps have their row in the timeline, with their rate", () => {
	const step = (s, step) => ({ ph: "C", pid: 3, name: "step", ts: s * 1e6, args: { step } });
	const { rows } = timeline.lanesOf({ traceEvents: [step(1, 2), step(11, 42), step(13, 46), step(20, 1), step(24, 9)] });
	const row = rows.find((r) => r.title === "step");
	assert.equal(row.kind, "counter");
	assert.equal(timeline.valueAt(row, 12e6), 42);
	assert.equal(timeline.rateAt(row, 1e6), undefined);
	assert.equal(timeline.rateAt(row, 12e6), 4);
	assert.equal(timeline.rateAt(row, 14e6), 44 / 12);
	assert.equal(timeline.rateAt(row, 21e6), undefined, "the next attempt begins anew");
	assert.equal(timeline.rateAt(row, 24e6), 2);
	const between = timeline.lanesOf({ traceEvents: [step(1, 2), step(5, 18), step(6, 0), step(9, 8), step(10, 12)] }).rows.find((r) => r.title === "step");
	assert.equal(timeline.rateAt(between, 9.5e6), undefined, "not from the end of the attempt before");
	assert.equal(timeline.rateAt(between, 10e6), 4);
});

test("the timeline's marks stand where the clock has the second that they tell", () => {
	const start = 1_795_885_601_955;
	for (const step of [1e6, 5e6, 6e7])
		for (const at of drawn.axisMarks(0, 10 * step, step, start)) assert.equal((start + at / 1000) % (step / 1000), 0, `${step} ${at}`);
	assert.deepEqual(drawn.axisMarks(1, 3000, 1000, start), [1000, 2000, 3000], "below a second it is told since the begin");
});

test("a broken timeline makes no lanes, and no exception", () => {
	assert.deepEqual(timeline.lanesOf({}).rows, []);
	const odd = timeline.lanesOf({
		traceEvents: [
			{ ph: "X" },
			{ ph: "C", name: "CPU", args: { cores: "x" } },
			{ ph: "X", ts: NaN },
			{ ph: "M" },
			{ ph: "X", ts: 5, dur: -3, name: "n" },
		],
	});
	assert.ok(odd.to > odd.from);
});
