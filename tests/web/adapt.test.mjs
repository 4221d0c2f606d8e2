// Answers as the server gives them, and what the page makes of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { source } from "./kit.mjs";

const adapt = { ...(await source("adapt.ts")), ...(await source("adaptlate.ts")) };
const logs = await source("pages/logwindow.ts");

test("a memory point of the stream: lanes by rank, an empty one without a rank is none", () => {
	const point = adapt.memoryPoint({
		time_unix_ms: 7,
		series: [
			{ name: "no rank", own: 0 },
			{ rank: 0, own: 5 },
		],
		job_bytes: 9,
		shared: 4,
		used: 100,
	});
	assert.deepEqual(point, { time_unix_ms: 7, own: [{ rank: 0, own_bytes: 5 }], shared_bytes: 4, used_bytes: 100 });
	assert.deepEqual(adapt.memoryPoint({ time_unix_ms: 7 }), { time_unix_ms: 7, own: [] });
});

test("lanes that never held anything are left out", () => {
	const series = adapt.memorySeries({
		times: [1, 2],
		series: [
			{ rank: 0, own: [null, 3] },
			{ name: "no rank", own: [0, null] },
		],
	});
	assert.deepEqual(
		series.series.map((s) => s.rank),
		[0],
	);
});

test("a moment of a job without ranks: its large processes, and what is left", () => {
	const m = adapt.moment({
		memory: {
			ranks: [{ own_bytes: 100, rss_bytes: 120 }],
			processes: [
				{ pid: 5, start_ticks: 1, name: "python3", role: "main", own_bytes: 60 },
				{ pid: 6, start_ticks: 2, own_bytes: 30 },
			],
		},
	});
	assert.deepEqual(
		m.memory.map((r) => [r.name, r.own_bytes]),
		[
			["main python3 5", 60],
			["process 6", 30],
			["other processes", 10],
		],
	);
});

test("a moment: its ranks are made of processes and memory", () => {
	const m = adapt.moment({
		time_unix_ms: 5,
		memory: {
			time_unix_ms: 4,
			ranks: [
				{ own_bytes: 0, rss_bytes: 0 },
				{ rank: 0, own_bytes: 12 },
			],
			node_used_bytes: 1,
		},
		events: [],
		stacks_incident: "x.1",
		processes: [
			{ pid: 9, rank: 0, role: "main", state: "running" },
			{ pid: 10, rank: 0, role: "loader", state: "running" },
			{ pid: 11, state: "ended" },
			{ pid: 12, rank: 1, role: "main", state: "ended" },
		],
	});
	assert.deepEqual(m.ranks, [
		{ rank: 0, pid: 9, state: "running", own_bytes: 12 },
		{ rank: 1, pid: 12, state: "ended" },
	]);
	assert.deepEqual(m.memory, [{ rank: 0, own_bytes: 12 }]);
	assert.equal(m.incident, "x.1");
	assert.deepEqual(adapt.moment({}), { memory: [], ranks: [] });
	const whole = adapt.moment({
		memory: { ranks: [{ own_bytes: 7 }] },
		processes: [
			{ pid: 9, role: "main", state: "running" },
			{ pid: 10, role: "worker", state: "running" },
			{ pid: 8, role: "main", state: "ended" },
		],
	});
	assert.deepEqual(whole.memory, [{ name: "all processes", own_bytes: 7 }]);
	assert.deepEqual(whole.ranks, [{ rank: -9, pid: 9, state: "running", own_bytes: 7 }], "a job without ranks is its one process");
});

test("a node of vigil.memory/1 has components that add up to what is used", () => {
	const n = adapt.nodeState({
		node: { name: "n1", total_bytes: 100, used_bytes: 85, ratio: 0.85, shm_bytes: 5 },
		jobs: [{ job: "a", own_bytes: 30 }],
		head: true,
		head_of: "Ray",
		pressure: [{ kind: "cpu", some_ratio: 0.5 }],
		gpus: [{ index: 0, busy_ratio: 0.9 }],
	});
	assert.deepEqual([n.head, n.head_of, n.pressure[0].kind, n.gpus[0].index], [true, "Ray", "cpu", 0]);
	assert.deepEqual(n.memory.components, [
		{ name: "job a", bytes: 30 },
		{ name: "shared memory", bytes: 5 },
		{ name: "everything else", bytes: 50 },
	]);
	assert.equal(n.above_80, true);
	assert.equal(n.name, "n1");
	const full = { scope: "container", name: "memory/x", total_bytes: 10, used_bytes: 9, ratio: 0.9 };
	const inside = adapt.nodeState({
		node: { total_bytes: 100, used_bytes: 10, ratio: 0.1 },
		levels: [{ scope: "node", total_bytes: 100, ratio: 0.1 }, full, { scope: "container", name: "y" }],
	});
	assert.deepEqual([inside.above_80, inside.containers], [false, [full]], "a machine with room, a container without");
	assert.equal(adapt.nodeState({ node: "n1", memory: {} }).node, "n1", "vigil.node/1 stays as it is");
});

test("a search that has more to look through says where", () => {
	assert.deepEqual(adapt.logMatches({ lines: [{ at: 1, text: "x" }], next: 9, more: true }), {
		matches: [{ at: 1, text: "x" }],
		next: 9,
	});
	assert.deepEqual(adapt.logMatches({ lines: [], next: 9, more: false }), { matches: [] });
	assert.deepEqual(adapt.logMatches({ matches: [], next: 4 }), { matches: [], next: 4 });
});

test("a process without a rank is a row of its own", () => {
	assert.deepEqual(adapt.ranksOf([{ pid: 7, state: "running" }, { rank: 0, pid: 8 }, {}]), [
		{ rank: -7, pid: 7, state: "running" },
		{ rank: 0, pid: 8 },
	]);
});

test("letters of a grid become ranks: numbers may have gaps, a letter that is not known is no state, more numbers than letters are none", () => {
	const grid = { ranks: [[0, 1], [7, 9], [20, 90]], states: "RSxe?Tv", culprits: [7] };
	assert.deepEqual(adapt.ranksFrom({ ranks: [], grid, total: 6 }), {
		ranks: [
			{ rank: 0, state: "working" },
			{ rank: 1, state: "running" },
			{ rank: 7, state: "failed", culprit: true },
			{ rank: 8, state: "ended" },
			{ rank: 9, state: "unknown" },
			{ rank: 20, state: "stopped" },
			{ rank: 21, state: "told" },
		],
		brief: true,
		total: 6,
	});
	assert.deepEqual(adapt.ranksFrom({ ranks: [{ rank: 3, pid: 9 }], total: 1 }), { ranks: [{ rank: 3, pid: 9 }], brief: false, total: 1 });
});

test("a last line without its end is replaced when more of it is there", () => {
	const part = (lines, next, size) => ({
		offset: lines[0]?.[0] ?? 0,
		next,
		size,
		lines: lines.map(([at, text, open]) => ({ at, text, ...(open ? { open } : {}) })),
	});
	let w = logs.windowOf(
		part(
			[
				[0, "a"],
				[2, "50 %", true],
			],
			2,
			6,
		),
	);
	w = logs.append(w, part([[2, "50 % 60 %", true]], 2, 11));
	assert.deepEqual(
		w.lines.map((l) => l.text),
		["a", "50 % 60 %"],
	);
	w = logs.append(
		w,
		part(
			[
				[2, "50 % 60 % done"],
				[17, "b"],
			],
			19,
			19,
		),
	);
	assert.deepEqual(
		w.lines.map((l) => l.text),
		["a", "50 % 60 % done", "b"],
	);
	assert.equal(logs.append(w, part([], 19, 19)), w, "nothing new is no change");
});

test("ranks of a hang are shown as what was seen of them, not as running", () => {
	const ranks = [
		{ rank: 0, pid: 1, state: "running" },
		{ rank: 1, pid: 2, state: "running" },
		{ rank: 2, pid: 3, state: "ended" },
	];
	const main = (pid, does) => ({ pid, main: true, threads: [{ tid: pid, main: true, does }] });
	const seen = adapt.withWaits(ranks, { ends: [], processes: [main(1, "waits"), main(3, "waits")] });
	assert.deepEqual(
		seen.map((r) => r.state),
		["waiting", "running", "ended"],
	);
	assert.equal(seen[1], ranks[1]);
	assert.equal(adapt.withWaits(ranks, undefined), ranks);
});

test("who of no job holds much of a node's memory is named, and what is named adds up", () => {
	const { components } = adapt.nodeState({
		node: { total_bytes: 1000, used_bytes: 500 },
		jobs: [{ job: "a", own_bytes: 100 }],
		processes: [
			{ pid: 7, own_bytes: 300, command: "/usr/bin/qemu-system-x86_64 -m 4096 /a b" },
			{ pid: 8, own_bytes: 20, command: "bash" },
			{ pid: 9, job: "a", rank: 0, own_bytes: 100, command: "python3 train.py" },
			{ pid: 10, own_bytes: 30 },
		],
	}).memory;
	assert.deepEqual(components, [
		{ name: "qemu-system-x86_64, pid 7", bytes: 300 },
		{ name: "job a", bytes: 100 },
		{ name: "process, pid 10", bytes: 30 },
		{ name: "everything else", bytes: 70 },
	]);
	const names = ["python3 /x/y.py", "/a/b", "", " x", "/"].map(adapt.programOf);
	assert.deepEqual(names, ["python3", "b", "process", "process", "process"]);
});

test("many small jobs of a node are one row", () => {
	const jobs = Array.from({ length: 30 }, (_, i) => ({ job: `j${i}`, own_bytes: i + 1 }));
	const { components } = adapt.nodeState({ node: { used_bytes: 1000 }, jobs }).memory;
	assert.equal(components.length, 12);
	assert.equal(
		components.reduce((n, c) => n + c.bytes, 0),
		1000,
	);
});

test("a chart has a mark where a later attempt began, and none for the first", () => {
	const begun = (attempt, time_unix_ms) => ({ kind: "attempt_start", attempt, time_unix_ms });
	assert.deepEqual(adapt.attemptMarks([begun(1, 9), { kind: "job_start", time_unix_ms: 1 }, begun(0, 1)]), [
		{ time: 9, text: "attempt 1", calm: true },
	]);
});
