// Flame graphs: the tree, where boxes lie, which are drawn, and differences of two.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { WEB, source } from "./kit.mjs";

const model = await source("flame/model.ts");
const L = await source("flame/layout.ts");
const fixture = (name) => JSON.parse(readFileSync(join(WEB, "dev/fixtures", `${name}.json`), "utf8"));
const { bigFlame } = await import(pathToFileURL(join(WEB, "dev/api.mjs")));

const path = (tree, node) => {
	const names = [];
	for (let i = node; i > 0; i = tree.parent[i]) names.unshift(tree.frames[tree.frame[i]].name);
	return names.join(";");
};

test("a recording: totals are own times and what is called", () => {
	const raw = fixture("flame-a");
	const tree = model.fromFlame(raw);
	const sum = raw.nodes.reduce((n, x) => n + (x.running_ns ?? 0) + (x.idle_ns ?? 0) + (x.gil_wait_ns ?? 0), 0);
	assert.equal(tree.total[0], sum);
	for (let i = 0; i < tree.parent.length; i++) {
		const below = tree.total.reduce((n, t, j) => (tree.parent[j] === i ? n + t : n), 0);
		assert.ok(Math.abs(tree.total[i] - tree.self[i] - below) < 1, `node ${i}`);
	}
	const ran = model.fromFlame(raw, "running").total[0];
	assert.ok(ran > 0 && ran < sum, "a recording with threads that wait has less that ran");
	const rows = model.heaviest(model.fromFlame(raw, "running"));
	assert.ok(rows.length > 0 && rows.every((r) => r.total > 0), "what did not run is not in the table");
});

test("a broken recording is a tree all the same", () => {
	const tree = model.fromFlame({
		frames: [{ name: "f" }],
		lanes: [{}],
		nodes: [
			{ parent: 5, frame: 0, running_ns: 1 },
			{ parent: -3, frame: 99, running_ns: 1 },
			{ parent: 1, lane: 0 },
		],
	});
	assert.equal(tree.total[0], 2);
	assert.deepEqual([...tree.parent], [-1, 0, 0, 2]);
	assert.equal(model.fromFlame({}).total[0], 0);
	assert.equal(L.layout(model.fromFlame({})).rows.length, 1);
});

test("a heap profile is a tree of bytes, from the outermost frame", () => {
	const raw = fixture("heap");
	const tree = model.fromHeap(raw);
	assert.equal(tree.unit, "bytes");
	assert.equal(
		tree.total[0],
		raw.stacks.reduce((n, s) => n + s.bytes, 0),
	);
	const outer = raw.stacks[0].frames.at(-1).name;
	assert.ok(path(tree, 1).startsWith(outer));
});

test("children lie in their parents, beside each other, widest first", () => {
	const l = L.layout(model.fromFlame(fixture("flame-b")));
	for (const row of l.rows) {
		for (let i = 0; i < row.length; i++) {
			const node = row[i];
			const up = l.tree.parent[node];
			if (up >= 0) assert.ok(l.x[node] >= l.x[up] - 1e-6 && l.x[node] + l.w[node] <= l.x[up] + l.w[up] + 1e-6);
			if (i > 0) assert.ok(l.x[row[i - 1]] + l.w[row[i - 1]] <= l.x[node] + 1e-6, "no two overlap");
			if (i > 0 && l.tree.parent[row[i - 1]] === up) assert.ok(l.w[row[i - 1]] >= l.w[node]);
		}
	}
});

function randomTree(n, seed) {
	let r = seed;
	const next = () => (r = (r * 48271) % 2147483647) / 2147483647;
	const nodes = Array.from({ length: n }, (_, i) => ({
		...(i ? { parent: Math.floor(next() * i) } : {}),
		frame: Math.floor(next() * 5),
		running_ns: Math.floor(next() ** 8 * 1e6),
	}));
	return model.fromFlame({ frames: "abcde".split("").map((name) => ({ name })), nodes });
}

test("every box of half a pixel is drawn once and lies where it should; narrower ones are dust", () => {
	for (let seed = 1; seed <= 25; seed++) {
		const l = L.layout(randomTree(3000, seed));
		const whole = l.w[0];
		for (const view of [
			{ from: 0, to: whole },
			{ from: whole * 0.31, to: whole * 0.35 },
			{ from: whole * 0.5, to: whole * 0.5001 },
		]) {
			const scale = 390 / (view.to - view.from);
			for (let depth = 0; depth < l.rows.length; depth++) {
				const drawn = [];
				const dust = [];
				L.visible(
					l,
					depth,
					view,
					390,
					(node, x, w) => drawn.push([node, x, w]),
					(x, w) => dust.push([x, x + w]),
				);
				const wanted = [...l.rows[depth]].filter(
					(n) => l.w[n] * scale >= 0.5 && l.x[n] < view.to && l.x[n] + l.w[n] > view.from,
				);
				assert.deepEqual(
					drawn.map((d) => d[0]),
					wanted,
					`seed ${seed} depth ${depth}`,
				);
				for (const [node, x] of drawn) assert.ok(Math.abs(x - (l.x[node] - view.from) * scale) < 1e-6);
				assert.ok(drawn.length + dust.length <= 390 * 4 + 4, "work is bounded by pixels");
				for (const n of l.rows[depth]) {
					const middle = (l.x[n] + l.w[n] / 2 - view.from) * scale;
					if (l.w[n] * scale >= 0.5 || middle < 0 || middle > 390) continue;
					assert.ok(
						dust.some(([a, b]) => a <= middle + 1e-6 && middle <= b + 1e-6),
						"what is too narrow is seen as dust",
					);
				}
			}
		}
	}
});

test("the box under the pointer is the one that lies there", () => {
	const l = L.layout(randomTree(2000, 5));
	for (let depth = 0; depth < l.rows.length; depth++) {
		for (const node of l.rows[depth]) assert.equal(L.nodeAt(l, depth, l.x[node] + l.w[node] / 2), node);
	}
	assert.equal(L.nodeAt(l, 0, l.w[0] * 2), undefined);
	assert.equal(L.nodeAt(l, 9999, 0), undefined);
});

test("zoom and pan stay inside of the whole", () => {
	const whole = 1000;
	let view = { from: 0, to: whole };
	view = L.zoomed(view, 0.5, 250, whole);
	assert.deepEqual(view, { from: 125, to: 625 });
	assert.deepEqual(L.panned(view, -500, whole), { from: 0, to: 500 });
	assert.deepEqual(L.panned(view, 5000, whole), { from: 500, to: 1000 });
	assert.deepEqual(L.zoomed(view, 100, 300, whole), { from: 0, to: 1000 });
	for (let i = 0; i < 200; i++) view = L.zoomed(view, 0.5, 300, whole);
	assert.ok(view.to > view.from, "there is a nearest");
});

test("arrow keys go to parent, child and neighbours", () => {
	const l = L.layout(
		model.fromFlame({
			frames: [{ name: "a" }, { name: "b" }, { name: "c" }],
			nodes: [
				{ frame: 0, running_ns: 1 },
				{ parent: 0, frame: 1, running_ns: 5 },
				{ parent: 0, frame: 2, running_ns: 3 },
			],
		}),
	);
	assert.equal(L.neighbour(l, 0, "down"), 1);
	assert.equal(L.neighbour(l, 1, "down"), 2);
	assert.equal(L.neighbour(l, 2, "right"), 3);
	assert.equal(L.neighbour(l, 3, "right"), 3);
	assert.equal(L.neighbour(l, 3, "left"), 2);
	assert.equal(L.neighbour(l, 3, "up"), 1);
	assert.equal(L.neighbour(l, 0, "up"), 0);
});

test("a difference has what was and what is, also where one of both is absent", () => {
	const frames = [{ name: "main" }, { name: "old" }, { name: "new" }];
	const a = model.fromFlame({
		frames,
		lanes: [{ tid: 1 }],
		nodes: [{ lane: 0 }, { parent: 0, frame: 0, running_ns: 10 }, { parent: 1, frame: 1, running_ns: 30 }],
	});
	const b = model.fromFlame({
		frames,
		lanes: [{ tid: 2 }],
		nodes: [{ lane: 0 }, { parent: 0, frame: 0, running_ns: 10 }, { parent: 1, frame: 2, running_ns: 70 }],
	});
	const d = model.compare(a, b);
	const by = Object.fromEntries([...d.parent.keys()].slice(1).map((i) => [path(d, i), [d.before[i], d.total[i]]]));
	assert.deepEqual(by, { main: [40, 80], "main;old": [30, 0], "main;new": [0, 70] });
	const l = L.layout(d);
	const gone = [...d.parent.keys()].find((i) => path(d, i) === "main;old");
	assert.ok(l.w[gone] > 0, "what is gone is still seen");
	const raw = model.fromFlame({
		schema: "vigil.flame_diff/1",
		frames,
		nodes: [
			{ a_ns: 3, b_ns: 4 },
			{ parent: 0, frame: 0, a_ns: 1, b_ns: 0 },
		],
	});
	assert.deepEqual([raw.before[0], raw.total[0]], [4, 4]);
});

test("of a difference the functions that changed most come first, with both amounts", () => {
	const frames = [{ name: "main" }, { name: "f" }, { name: "g" }];
	const one = (f, g) =>
		model.fromFlame({
			frames,
			nodes: [
				{ frame: 0, running_ns: 5 },
				{ parent: 0, frame: 1, running_ns: f },
				{ parent: 0, frame: 2, running_ns: g },
			],
		});
	const d = model.compare(one(10, 40), one(12, 0));
	const rows = model.heaviest(d).map((r) => [d.frames[r.frame].name, r.before, r.self]);
	assert.deepEqual(rows, [
		["g", 40, 0],
		["f", 10, 12],
		["main", 5, 5],
	]);
});

test("of recordings of two lengths it is the shares that are compared", () => {
	const frames = [{ name: "sleep" }, { name: "load" }, { name: "save" }];
	const one = (sleep, load, save) =>
		model.fromFlame({
			frames,
			nodes: [sleep, load, save].map((running_ns, frame) => ({ frame, running_ns })),
		});
	// Of sleep it is 2 s less, and the same share.
	const d = model.compare(one(4000, 300, 700), one(2000, 400, 100));
	assert.equal(d.frames[model.heaviest(d).at(-1).frame].name, "sleep");
});

test("the heaviest functions, and recursion counted once", () => {
	const tree = model.fromFlame({
		frames: [{ name: "f" }, { name: "g" }],
		nodes: [
			{ frame: 0, running_ns: 1 },
			{ parent: 0, frame: 0, running_ns: 2 },
			{ parent: 1, frame: 1, running_ns: 5 },
		],
	});
	assert.deepEqual(
		model.heaviest(tree).map((r) => [tree.frames[r.frame].name, r.self, r.total]),
		[
			["g", 5, 5],
			["f", 3, 8],
		],
	);
});

test("a million boxes: one picture takes a few milliseconds to choose its boxes", () => {
	const l = L.layout(model.fromFlame(bigFlame(1_000_000)));
	assert.equal(
		l.rows.reduce((n, r) => n + r.length, 0),
		1_000_001,
	);
	const times = [];
	let boxes = 0;
	for (let i = 0; i < 60; i++) {
		const view = { from: (l.w[0] * i) / 100, to: l.w[0] * (i / 100 + 0.4) };
		const begin = performance.now();
		for (let depth = 0; depth < Math.min(35, l.rows.length); depth++)
			L.visible(
				l,
				depth,
				view,
				1280,
				() => boxes++,
				() => boxes++,
			);
		times.push(performance.now() - begin);
	}
	times.sort((a, b) => a - b);
	assert.ok(boxes > 1000);
	assert.ok(times[30] < 16, `half of the pictures took more than ${times[30].toFixed(1)} ms`);
});

const { heapSpeedscope, stackSpeedscope } = await source("flame/speedscope.ts");

test("a heap becomes speedscope's form: outermost first, each frame once, bytes as weights", () => {
	const inner = { name: "alloc", file: "/a.py", line: 3 };
	const raw = {
		stacks: [
			{ bytes: 100, frames: [inner, { name: "main", file: "/a.py", line: 9 }] },
			{ bytes: 20, frames: [inner] },
			{ bytes: 0, frames: [inner] },
			{ bytes: 5 },
		],
	};
	const { shared, profiles } = heapSpeedscope(raw, "heap");
	assert.deepEqual(shared.frames, [inner, { name: "main", file: "/a.py", line: 9 }]);
	assert.deepEqual(profiles[0].samples, [[1, 0], [0]]);
	assert.deepEqual(profiles[0].weights, [100, 20]);
	assert.equal(profiles[0].endValue, 120);
	assert.equal(profiles[0].unit, "bytes");
});

test("of a stack trace every thread weighs one", () => {
	const thread = { frames: [{ name: "recv", module: "libc.so.6" }, { name: "main" }] };
	const { shared, profiles } = stackSpeedscope({ processes: [{ pid: 1, threads: [thread, thread] }, { pid: 2 }] }, "stack");
	assert.deepEqual(shared.frames, [{ name: "recv", file: "libc.so.6" }, { name: "main" }]);
	assert.deepEqual(profiles[0].samples, [
		[1, 0],
		[1, 0],
	]);
	assert.deepEqual(profiles[0].weights, [1, 1]);
	assert.equal(profiles[0].endValue, 2);
});
