"use strict";
(function () {
const D = JSON.parse(document.getElementById("data").textContent);
const DIFF = Boolean(D.before), COUNTS = Boolean(D.meta.counts_only), BYTES = D.meta.unit === "bytes";
const N = D.parent.length, F = D.frames.length;
const ROW = 18, LEAST = 0.4, TABLE_ROWS = 400;
const COLOURS = ["Python", "native", "kernel", "place", "waiting", "waiting for the GIL", "garbage collection"];
const HUES = [[38, 88], [204, 52], [268, 46], [60, 6], [204, 16], [6, 72], [156, 44]];
const PYTHON = 0, NATIVE = 1, KERNEL = 2, PLACE = 3;
const dark = matchMedia("(prefers-color-scheme: dark)");

/* Building blocks: text is only ever set as text, never as markup. */
function make(tag, attributes, ...children) {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

function choice(id, words, options) {
	const select = make("select", { id });
	for (const [value, text] of options)
		select.append(make("option", { value }, text));
	select.addEventListener("change", () => { state[id] = select.value; rebuild(); });
	bar.append(make("label", {}, words, select));
	return select;
}

function amount(ns) {
	if (COUNTS)
		return ns.toLocaleString("en") + (ns === 1 ? " sample" : " samples");
	if (ns === 0)
		return "0";
	if (BYTES) {
		const unit = ns < 1024 ? 0 : Math.min(Math.floor(Math.log2(ns) / 10), 4);
		return (ns / 1024 ** unit).toFixed(unit ? 2 : 0) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][unit];
	}
	if (ns >= 120e9)
		return (ns / 60e9).toFixed(1) + " min";
	return ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(1) + " ms" : (ns / 1e3).toFixed(1) + " µs";
}
const percent = (part, all) => (all > 0 ? 100 * part / all : 0).toFixed(2) + " %";

/* Frames with a line and functions without: keys are frame numbers, then function numbers, then places (lanes). */
const names = [], colours = [], files = [], lines = [];
const function_of = new Array(F);
function printable(text) {
	return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, " ");
}
function label_of(name, file, module, line, colour) {
	const text = printable(D.texts[name]) || "[unknown]";
	if (colour === PYTHON && file)
		return text + " (" + printable(D.short[file] || D.texts[file]) + (line ? ":" + line : "") + ")";
	if (colour === NATIVE && module)
		return text + " [" + printable(D.texts[module]) + "]";
	return colour === KERNEL ? text + " [kernel]" : text;
}
function add_key(label, colour, file, line) {
	names.push(label);
	colours.push(colour);
	files.push(file);
	lines.push(line);
	return names.length - 1;
}
const by_function = new Map();
D.frames.forEach(([name, file, module, line, colour]) =>
	add_key(label_of(name, file, module, line, colour), colour, D.texts[file] || D.texts[module], line));
D.frames.forEach(([name, file, module, , colour], i) => {
	const key = name + " " + file + " " + module + " " + colour;
	if (!by_function.has(key))
		by_function.set(key, add_key(label_of(name, file, module, 0, colour), colour, D.texts[file] || D.texts[module], 0));
	function_of[i] = by_function.get(key);
});
const places = new Map();
function place(label) {
	if (!places.has(label))
		places.set(label, add_key(label, PLACE, "", 0));
	return places.get(label);
}

function lane_label(lane, by) {
	const parts = [];
	if (lane.rank !== undefined)
		parts.push("rank " + lane.rank);
	if (lane.role && lane.role !== "main")
		parts.push(lane.role + " " + lane.pid);
	if (by === "rank" && parts.length)
		return parts.join(" ");
	if (by === "thread" && lane.tid)
		parts.push((lane.thread || "thread") + " " + lane.tid + (parts.length ? "" : " of pid " + lane.pid));
	else if (!(lane.role && lane.role !== "main"))
		parts.push((lane.process || "process") + " (pid " + lane.pid + ")");
	return printable(parts.join(" "));
}

/* The lane of each node: roots name it, the others are of their parent's. */
const lane_of = new Int32Array(N);
for (let i = 0; i < N; i++)
	lane_of[i] = D.parent[i] === i ? D.frame[i] : lane_of[D.parent[i]];

const state = { show: "running", by: "all", lane: "all", order: "heavy", lines: "yes", search: "", zoom: "" };
let T = null, zoomed = 0, chosen = -1, hovered = -1, pattern = null, sort = "self", hits = null;

function values() {
	if (DIFF)
		return null;
	const take = { running: ["running"], waiting: ["idle", "gil_wait"], all: ["running", "idle", "gil_wait"], gil: ["gil"] };
	const v = new Float64Array(N);
	for (const column of take[state.show])
		for (let i = 0; i < N; i++)
			v[i] += D[column][i];
	if (state.lane !== "all") {
		const [what, number] = state.lane.split(" ");
		for (let i = 0; i < N; i++) {
			const lane = D.lanes[lane_of[i]];
			if (what === "rank" ? String(lane.rank) !== number : String(lane_of[i]) !== number)
				v[i] = 0;
		}
	}
	return v;
}

/* A difference weighs both sides the same, however long each was recorded. */
function shares() {
	const sum = (list) => list.reduce((x, y) => x + y, 0);
	const a = sum(D.a) || 1, b = sum(D.b) || 1;
	return [D.a.map((x) => x / a), D.b.map((x) => x / b)];
}

/* The tree that is shown: nodes of one path and one key are one. Node 0 carries everything. */
function build() {
	const [a, b] = DIFF ? shares() : [values(), null];
	const under = new Float64Array(N);
	for (let i = N - 1; i >= 0; i--) {
		under[i] += a[i] + (b ? b[i] : 0);
		if (D.parent[i] !== i)
			under[D.parent[i]] += under[i];
	}
	const t = { parent: [0], key: [place("all")], self: [0], total: [0], self_b: [0], total_b: [0], depth: [0] };
	const map = new Int32Array(N), found = new Map();
	function child(parent, key) {
		const at = parent * names.length + key;
		let node = found.get(at);
		if (node === undefined) {
			node = t.parent.length;
			t.parent.push(parent);
			t.key.push(key);
			t.depth.push(t.depth[parent] + 1);
			for (const column of [t.self, t.total, t.self_b, t.total_b])
				column.push(0);
			found.set(at, node);
		}
		return node;
	}
	const lane_keys = state.by === "all" ? null : D.lanes.map((lane) => place(lane_label(lane, state.by)));
	for (let i = 0; i < N; i++) {
		if (under[i] <= 0)
			continue;
		if (D.parent[i] === i)
			map[i] = lane_keys ? child(0, lane_keys[D.frame[i]]) : 0;
		else
			map[i] = child(map[D.parent[i]], state.lines === "yes" ? D.frame[i] : function_of[D.frame[i]]);
		t.self[map[i]] += a[i];
		if (b)
			t.self_b[map[i]] += b[i];
	}
	for (let i = t.parent.length - 1; i >= 0; i--) {
		t.total[i] += t.self[i];
		t.total_b[i] += t.self_b[i];
		if (i > 0) {
			t.total[t.parent[i]] += t.total[i];
			t.total_b[t.parent[i]] += t.total_b[i];
		}
	}
	return t;
}

/* Where each box begins and how wide it is, as parts of the whole; rows list the boxes of a depth from left to right. */
function lay_out(t) {
	const n = t.parent.length;
	t.width = new Float64Array(n);
	t.x = new Float64Array(n);
	t.rows = [];
	const sides = (t.total[0] > 0) + (t.total_b[0] > 0);
	for (let i = 0; i < n; i++)
		t.width[i] = DIFF ? (t.total[i] + t.total_b[i]) / (sides || 1) : t.total[i] / (t.total[0] || 1);
	const children = Array.from({ length: n }, () => null);
	for (let i = 1; i < n; i++)
		(children[t.parent[i]] || (children[t.parent[i]] = [])).push(i);
	const compare = new Intl.Collator("en", { numeric: true }).compare;
	const orders = {
		heavy: (p, q) => t.width[q] - t.width[p] || p - q,
		name: (p, q) => compare(names[t.key[p]], names[t.key[q]]) || p - q,
		seen: (p, q) => p - q,
	};
	const pending = [0];
	t.children = children;
	while (pending.length) {
		const node = pending.pop(), list = children[node];
		(t.rows[t.depth[node]] || (t.rows[t.depth[node]] = [])).push(node);
		if (!list)
			continue;
		list.sort(orders[state.order]);
		let x = t.x[node];
		for (const c of list) {
			t.x[c] = x;
			x += t.width[c];
		}
		for (let i = list.length - 1; i >= 0; i--)
			pending.push(list[i]);
	}
}

/* Colours: a hue for the kind, a shade for the name; in differences how the share has changed. */
const shade = [];
function colour(node) {
	const key = T.key[node], night = dark.matches;
	if (DIFF) {
		const a = T.total[node], b = T.total_b[node], change = (b - a) / (Math.max(a, b) || 1);
		const strength = Math.round(Math.abs(change) * 80);
		const light = night ? 30 + Math.abs(change) * 16 : 96 - Math.abs(change) * 34;
		return "hsl(" + (change < 0 ? 216 : 4) + "," + strength + "%," + light + "%)";
	}
	if (shade[key] === undefined) {
		let h = 7;
		const name = names[key];
		for (let i = 0; i < name.length && name[i] !== "("; i++)
			h = (h * 31 + name.charCodeAt(i)) >>> 0;
		shade[key] = h % 13 - 6;
	}
	const [hue, strength] = HUES[colours[key]];
	return "hsl(" + (hue + shade[key]) + "," + strength + "%," + ((night ? 38 : 70) + shade[key]) + "%)";
}

function fit(text, width, cell) {
	const room = Math.floor(width / cell);
	if (room < 3)
		return "";
	return text.length <= room ? text : text.slice(0, room - 1) + "\u2026";
}

/* First box of a row that ends right of x. */
function first_at(row, x) {
	let lo = 0, hi = row.length;
	while (lo < hi) {
		const mid = (lo + hi) >> 1;
		if (T.x[row[mid]] + T.width[row[mid]] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const header = make("header"), bar = make("div", { class: "bar", role: "toolbar", "aria-label": "What is shown" });
const stage = make("div", { id: "stage" }), canvas = make("canvas", { id: "picture", tabindex: "0", role: "application",
	"aria-label": "Flame graph. Arrow keys move, Enter zooms, Escape goes back, / searches." });
const room = make("div", { id: "room" }), details = make("div", { id: "details", "aria-live": "polite" });
const legend = make("div", { id: "legend", class: "faint" });
const left = make("section"), right = make("section", { id: "function", "aria-live": "polite" });

function draw() {
	const scale = window.devicePixelRatio || 1, width = stage.clientWidth, night = dark.matches;
	const height = Math.max(ROW, Math.min(T.rows.length * ROW, Math.round(window.innerHeight * 0.62)));
	canvas.width = width * scale;
	canvas.height = height * scale;
	canvas.style.width = width + "px";
	canvas.style.height = height + "px";
	room.style.height = T.rows.length * ROW + "px";
	const c = canvas.getContext("2d");
	c.scale(scale, scale);
	c.font = "12px ui-monospace, monospace";
	c.textBaseline = "middle";
	const cell = c.measureText("m").width, x0 = T.x[zoomed], span = T.width[zoomed] || 1, top = stage.scrollTop;
	const focus = T.depth[zoomed], ink = night ? "#f2f2ee" : "#151513";
	const last = Math.min(T.rows.length, Math.ceil((top + height) / ROW));
	for (let depth = Math.floor(top / ROW); depth < last; depth++) {
		const row = T.rows[depth], y = depth * ROW - top;
		for (let i = first_at(row, x0 + 1e-12); i < row.length && T.x[row[i]] < x0 + span - 1e-12; i++) {
			const node = row[i];
			const from = Math.max(0, (T.x[node] - x0) / span) * width;
			const to = Math.min(1, (T.x[node] + T.width[node] - x0) / span) * width;
			if (to - from < LEAST)
				continue;
			const hit = hits && hits[T.key[node]], mine = chosen >= 0 && function_key(T.key[node]) === chosen;
			c.globalAlpha = depth < focus ? 0.55 : (pattern || chosen >= 0) && !hit && !mine ? 0.4 : 1;
			c.fillStyle = hit ? (night ? "#a000a0" : "#ee77ee") : colour(node);
			c.fillRect(from, y, Math.max(to - from - (to - from > 2 ? 0.7 : 0), 0.5), ROW - 1);
			c.globalAlpha = 1;
			if (node === hovered) {
				c.strokeStyle = ink;
				c.strokeRect(from + 0.5, y + 0.5, Math.max(to - from - 1, 1), ROW - 2);
			}
			const words = fit(names[T.key[node]], to - from - 6, cell);
			if (words) {
				c.fillStyle = ink;
				c.save();
				c.beginPath();
				c.rect(from, y, to - from - 1, ROW);
				c.clip();
				c.fillText(words, from + 3, y + ROW / 2);
				c.restore();
			}
		}
	}
}

const function_key = (key) => (key < F ? function_of[key] : key);

function node_at(event) {
	const box = canvas.getBoundingClientRect();
	const row = T.rows[Math.floor((event.clientY - box.top + stage.scrollTop) / ROW)];
	if (!row)
		return -1;
	const x = T.x[zoomed] + (event.clientX - box.left) / box.width * T.width[zoomed];
	const node = row[first_at(row, x)];
	return node !== undefined && T.x[node] <= x ? node : -1;
}

function tell(node) {
	if (node < 0) {
		details.textContent = "";
		return;
	}
	const key = T.key[node], where = files[key] ? "  " + printable(files[key]) + (lines[key] ? ":" + lines[key] : "") : "";
	if (DIFF)
		details.textContent = names[key] + ": " + percent(T.total[node], 1) + " before, " + percent(T.total_b[node], 1) +
			" after" + where;
	else
		details.textContent = names[key] + ": " + amount(T.total[node]) + ", " + percent(T.total[node], T.total[0]) +
			" of all, " + percent(T.total[node], T.total[T.parent[node]]) + " of its caller; own " +
			amount(T.self[node]) + where;
}

function zoom(node) {
	zoomed = node;
	hovered = node;
	undo.disabled = node === 0;
	tell(node);
	count_matches();
	draw();
}

/* What matches inside of what matches is counted once. */
function count_matches() {
	if (!pattern) {
		matched.textContent = state.search ? "not a regular expression" : "";
		return;
	}
	let sum = 0;
	const from = T.x[zoomed], to = from + T.width[zoomed], pending = [0];
	while (pending.length) {
		const node = pending.pop();
		if (hits[T.key[node]])
			sum += Math.max(0, Math.min(to, T.x[node] + T.width[node]) - Math.max(from, T.x[node]));
		else if (T.children[node])
			for (const c of T.children[node])
				pending.push(c);
	}
	matched.textContent = "matched " + percent(sum, to - from);
}

function search() {
	pattern = null;
	hits = null;
	try {
		pattern = state.search ? new RegExp(state.search, "i") : null;
	} catch (e) {
		pattern = null;
	}
	if (pattern)
		hits = names.map((name, key) => (name !== "all" || key < F) && pattern.test(name));
}

/* Time of each function, recursion counted once: a frame below itself adds nothing to the total. */
function tally() {
	const rows = new Map(), open = new Map(), pending = [0];
	const line_times = new Map();
	while (pending.length) {
		const node = pending.pop();
		if (node < 0) {
			const key = function_key(T.key[~node]);
			open.set(key, open.get(key) - 1);
			continue;
		}
		const key = function_key(T.key[node]);
		if (colours[key] !== PLACE || key < F || T.key[node] < F) {
			let row = rows.get(key);
			if (!row)
				rows.set(key, row = { key, self: 0, total: 0, self_b: 0, total_b: 0 });
			row.self += T.self[node];
			row.self_b += T.self_b[node];
			if (!open.get(key)) {
				row.total += T.total[node];
				row.total_b += T.total_b[node];
			}
			const line = lines[T.key[node]];
			if (!line_times.has(key))
				line_times.set(key, new Map());
			line_times.get(key).set(line, (line_times.get(key).get(line) || 0) + T.self[node] + T.self_b[node]);
		}
		open.set(key, (open.get(key) || 0) + 1);
		pending.push(~node);
		for (const c of T.children[node] || [])
			pending.push(c);
	}
	T.line_times = line_times;
	T.functions = Array.from(rows.values());
	T.by_key = rows;
}

function table() {
	const change = (row) => row.total_b - row.total, own = (row) => row.self_b - row.self;
	const heads = DIFF ? [["self", "own, change"], ["total", "total, change"]] : [["self", "own"], ["total", "total"]];
	const weigh = DIFF ? { self: (r) => Math.abs(own(r)), total: (r) => Math.abs(change(r)) } :
		{ self: (r) => r.self, total: (r) => r.total };
	const list = T.functions.filter((r) => !pattern || pattern.test(names[r.key]));
	list.sort((p, q) => weigh[sort](q) - weigh[sort](p) || p.key - q.key);
	const head = make("tr"), body = make("tbody");
	for (const [id, words] of heads) {
		const button = make("button", { type: "button" }, words);
		button.addEventListener("click", () => { sort = id; table(); });
		head.append(make("th", { scope: "col", "aria-sort": sort === id ? "descending" : "none" }, button));
	}
	head.append(make("th", { scope: "col" }, "function"));
	for (const row of list.slice(0, TABLE_ROWS)) {
		const button = make("button", { type: "button", title: printable(files[row.key]) }, names[row.key]);
		button.addEventListener("click", () => choose(row.key));
		const line = make("tr", row.key === chosen ? { class: "chosen" } : {});
		const points = (x) => (x > 0 ? "+" : "") + (100 * x).toFixed(2);
		const cells = DIFF ? [points(own(row)), points(change(row))] :
			[amount(row.self) + "  " + percent(row.self, T.total[0]), amount(row.total) + "  " + percent(row.total, T.total[0])];
		line.append(...cells.map((text) => make("td", {}, text)), make("td", {}, button));
		body.append(line);
	}
	const more = list.length > TABLE_ROWS ? [make("p", { class: "faint" }, list.length - TABLE_ROWS + " more; search narrows")] : [];
	left.replaceChildren(make("h2", {}, "Functions"), make("table", { id: "functions" }, make("thead", {}, head), body), ...more);
}

/* A function chosen: where it is, its lines by own time, who calls it and whom it calls. */
function choose(key) {
	chosen = key === chosen ? -1 : key;
	right.replaceChildren();
	if (chosen >= 0) {
		const row = T.by_key.get(chosen), callers = new Map(), callees = new Map();
		let widest = -1;
		for (let i = 1; i < T.parent.length; i++) {
			const mine = function_key(T.key[i]) === chosen, up = function_key(T.key[T.parent[i]]), weight = T.total[i] + T.total_b[i];
			if (mine && up !== chosen)
				callers.set(up, (callers.get(up) || 0) + weight);
			if (!mine && up === chosen)
				callees.set(function_key(T.key[i]), (callees.get(function_key(T.key[i])) || 0) + weight);
			if (mine && (widest < 0 || T.width[i] > T.width[widest]))
				widest = i;
		}
		right.append(make("h2", {}, names[chosen]), make("p", { class: "faint" }, printable(files[chosen] || "")));
		const all = T.total[0] + T.total_b[0];
		const list = (title, entries, words) => {
			if (!entries.length)
				return;
			entries.sort((p, q) => q[1] - p[1]);
			const rows = entries.slice(0, 12).map(([what, weight]) => make("tr", {}, make("td", {}, percent(weight, all)), make("td", {}, words(what))));
			right.append(make("h2", {}, title), make("table", {}, make("tbody", {}, ...rows)));
		};
		const link = (to) => {
			const button = make("button", { type: "button" }, names[to]);
			button.addEventListener("click", () => choose(to));
			return T.by_key.has(to) ? button : names[to];
		};
		if (row)
			list(BYTES ? "Own bytes by line" : "Own time by line", Array.from(T.line_times.get(chosen)).filter(([line, ns]) => line && ns > 0), (line) => "line " + line);
		list("Called by", Array.from(callers), link);
		list("Calls", Array.from(callees), link);
		if (widest >= 0) {
			stage.scrollTop = Math.max(0, (T.depth[widest] - 3) * ROW);
			tell(widest);
		}
	}
	table();
	draw();
}

function rebuild() {
	const picked = zoomed > 0 && T ? names[T.key[zoomed]] : "";
	T = build();
	/* nothing of what was asked for: show what there is, and say so */
	note.textContent = "";
	if (!DIFF && T.total[0] === 0 && state.show !== "all") {
		const asked = state.show;
		state.show = "all";
		T = build();
		if (T.total[0] > 0)
			note.textContent = (asked === "gil" ? "Nothing held the GIL" : asked === "waiting" ? "Nothing waited" : "Nothing ran") +
				"; shown is everything.";
		else
			note.textContent = "Nothing was recorded.";
		if (show)
			show.value = "all";
	}
	lay_out(T);
	search();
	tally();
	chosen = -1;
	right.replaceChildren();
	table();
	zoom(state.zoom ? widest(state.zoom) : picked ? widest(picked) : 0);
	document.body.dataset.nodes = T.parent.length;
	remember();
}

function widest(name) {
	let best = 0;
	for (let i = 1; i < T.parent.length; i++)
		if (names[T.key[i]].startsWith(name) && (best === 0 || T.width[i] > T.width[best]))
			best = i;
	return best;
}

/* The address keeps what is shown, so that a link shows the same. */
const fresh = { ...state };
function remember() {
	const hash = new URLSearchParams();
	for (const key of Object.keys(state))
		if (key !== "zoom" && state[key] !== fresh[key])
			hash.set(key, state[key]);
	if (zoomed > 0)
		hash.set("zoom", names[T.key[zoomed]]);
	history.replaceState(null, "", "#" + hash);
}

function recall() {
	const hash = new URLSearchParams(location.hash.slice(1));
	for (const key of Object.keys(state)) {
		const select = document.getElementById(key);
		const value = hash.get(key);
		if (value === null)
			continue;
		if (!select || select.tagName !== "SELECT" || Array.from(select.options).some((o) => o.value === value))
			state[key] = value;
		if (select)
			select.value = state[key];
	}
	rebuild();
	state.zoom = "";
}

/* The page */
const ranks = Array.from(new Set(D.lanes.map((l) => l.rank).filter((r) => r !== undefined))).sort((p, q) => p - q);
const processes = new Set(D.lanes.map((l) => l.pid)).size;
const note = make("span", { id: "note", class: "faint" });
let show = null;
header.append(make("h1", {}, printable(D.title)));
const when = D.meta.start_unix_ms ? new Date(D.meta.start_unix_ms).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "";
const facts = [D.meta.node, when, DIFF ? "" : D.lanes.length + (D.lanes.length === 1 ? " lane" : " lanes")].filter(Boolean).map(printable);
header.append(make("p", { class: "faint" }, facts.join(" · ")));
if (DIFF)
	header.append(make("p", { class: "faint" }, "before: " + D.before.losses), make("p", { class: "faint", id: "losses" }, "after: " + D.meta.losses));
else
	header.append(make("p", { class: "faint", id: "losses" }, D.meta.losses));
if (!DIFF) {
	if (!BYTES)
		show = choice("show", "Show", [["running", "what runs"], ["waiting", "what waits"], ["all", "all"], ["gil", "what holds the GIL"]]);
	if (D.lanes.length > 1) {
		choice("by", "Apart", [["all", "no"], ["rank", "by rank"], ["process", "by process"], ["thread", "by thread"]]);
		const lanes = D.lanes.slice(0, 2000).map((l, i) => ["lane " + i, lane_label(l, "thread")]);
		choice("lane", "Only", [["all", "everything"], ...ranks.map((r) => ["rank " + r, "rank " + r]), ...lanes]);
	}
}
choice("order", "Order", [["heavy", "heaviest left"], ["name", "by name"], ["seen", "as first seen"]]);
choice("lines", "Lines", [["yes", "apart"], ["no", "together"]]);
const input = make("input", { id: "search", type: "search", placeholder: "regular expression", "aria-label": "Search", spellcheck: "false" });
const matched = make("output", { id: "matched" }), undo = make("button", { type: "button", id: "undo" }, "Reset zoom");
bar.append(make("label", {}, "Search", input), matched, undo, note);
if (DIFF) {
	legend.append("blue: a smaller share than before; red: a larger one");
} else {
	COLOURS.forEach((words, i) => {
		const chip = make("canvas", { width: 11, height: 11 }), [hue, strength] = HUES[i], c = chip.getContext("2d");
		c.fillStyle = "hsl(" + hue + "," + strength + "%,58%)";
		c.fillRect(0, 0, 11, 11);
		legend.append(make("span", {}, chip, words));
	});
}
stage.append(canvas, room);
document.body.append(header, bar, make("main", {}, stage, details, legend, make("div", { class: "columns" }, left, right)));
if (processes > 1 && !DIFF) {
	state.by = fresh.by = ranks.length > 1 ? "rank" : "process";
	document.getElementById("by").value = state.by;
}

input.addEventListener("input", () => {
	state.search = input.value;
	search();
	count_matches();
	table();
	draw();
	remember();
});
undo.addEventListener("click", () => { zoom(0); remember(); });
canvas.addEventListener("mousemove", (e) => {
	const node = node_at(e);
	if (node === hovered)
		return;
	hovered = node;
	tell(node);
	draw();
});
canvas.addEventListener("click", (e) => {
	const node = node_at(e);
	if (node >= 0)
		zoom(node);
	remember();
});
function step(key) {
	const at = Math.max(hovered, 0), list = T.children[at], siblings = at ? T.children[T.parent[at]] : [0], i = siblings.indexOf(at);
	if (key === "ArrowDown")
		return list ? list.reduce((p, q) => (T.width[q] > T.width[p] ? q : p)) : at;
	if (key === "ArrowUp")
		return T.parent[at];
	return siblings[i + (key === "ArrowLeft" ? -1 : 1)] ?? at;
}
canvas.addEventListener("keydown", (e) => {
	if (e.key.startsWith("Arrow")) {
		hovered = step(e.key);
		const y = T.depth[hovered] * ROW;
		if (y < stage.scrollTop || y + ROW > stage.scrollTop + stage.clientHeight)
			stage.scrollTop = Math.max(0, y - 3 * ROW);
		tell(hovered);
		draw();
	} else if (e.key === "Enter" && hovered >= 0) {
		zoom(hovered);
		remember();
	} else if (e.key === " " && hovered > 0) {
		choose(function_key(T.key[hovered]));
	} else {
		return;
	}
	e.preventDefault();
});
document.addEventListener("keydown", (e) => {
	if (e.key === "/" && e.target !== input) {
		e.preventDefault();
		input.focus();
	} else if (e.key === "Escape" && e.target !== input) {
		zoom(T.parent[zoomed]);
		remember();
	}
});
stage.addEventListener("scroll", draw);
window.addEventListener("resize", draw);
window.addEventListener("hashchange", recall);
dark.addEventListener("change", draw);
recall();
document.body.dataset.ready = "yes";
})();
