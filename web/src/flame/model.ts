// A profile as a tree of numbers: recordings of stacks, heap profiles and differences of two all become one. Pure.

export interface FrameInfo {
	name: string;
	/** file and line, or the library */
	where: string;
	kind: string;
}

export interface Tree {
	title: string;
	unit: "ns" | "bytes";
	frames: FrameInfo[];
	/** Node 0 is everything. A parent stands before its children. */
	parent: Int32Array;
	frame: Int32Array;
	self: Float64Array;
	total: Float64Array;
	/** the same of what is compared with, as shares of its whole would be: total of the first profile */
	before?: Float64Array;
}

interface RawNode {
	lane?: number;
	parent?: number;
	frame?: number;
	running_ns?: number;
	idle_ns?: number;
	gil_wait_ns?: number;
	a_ns?: number;
	b_ns?: number;
}

export interface RawFlame {
	schema?: string;
	meta?: { title?: string; missing?: string; samples?: number; duration_ns?: number; rate_got_hz?: number };
	a?: { title?: string };
	b?: { title?: string };
	lanes?: { pid?: number; tid?: number; rank?: number; role?: string; thread?: string }[];
	frames?: { kind?: string; name?: string; file?: string; line?: number; module?: string }[];
	nodes?: RawNode[];
}

export interface RawHeap {
	title?: string;
	what?: string;
	remarks?: string[];
	stacks?: {
		bytes?: number;
		frames?: { kind?: string; name?: string; file?: string; module?: string; line?: number }[];
	}[];
}

const ROOT: FrameInfo = { name: "all", where: "", kind: "root" };

function frameInfo(f: { kind?: string; name?: string; file?: string; line?: number; module?: string }): FrameInfo {
	const base = f.file ? f.file.slice(f.file.lastIndexOf("/") + 1) : "";
	return {
		name: f.name ?? "?",
		where: base ? `${base}${f.line ? `:${f.line}` : ""}` : f.module ? `[${f.module}]` : "",
		kind: f.kind ?? "",
	};
}

const laneInfo = (l: { rank?: number; role?: string; thread?: string; tid?: number; pid?: number }): FrameInfo => ({
	name: [
		l.rank !== undefined ? `rank ${l.rank}` : `process ${l.pid ?? "?"}`,
		l.role && l.role !== "main" ? l.role : "",
		l.thread ?? "",
	]
		.filter(Boolean)
		.join(" · "),
	where: l.tid !== undefined ? `thread ${l.tid}` : "",
	kind: "lane",
});

export type Weight = "all" | "running";

function weightOf(node: RawNode, weight: Weight): number {
	if (node.b_ns !== undefined || node.a_ns !== undefined) return node.b_ns ?? 0;
	return (node.running_ns ?? 0) + (weight === "all" ? (node.gil_wait_ns ?? 0) + (node.idle_ns ?? 0) : 0);
}

/** Totals out of own amounts: children stand behind their parents, so one pass from the end does. */
function sum(self: Float64Array, parent: Int32Array): Float64Array {
	const total = Float64Array.from(self);
	for (let i = total.length - 1; i > 0; i--) total[parent[i]!]! += total[i]!;
	return total;
}

/** `weight`: what counts, all that was seen or only what ran. A node that names a parent behind itself is of a broken file. */
export function fromFlame(raw: RawFlame, weight: Weight = "all"): Tree {
	const lanes = raw.lanes ?? [];
	const given = raw.frames ?? [];
	const nodes = raw.nodes ?? [];
	const frames = [ROOT, ...given.map(frameInfo), ...lanes.map(laneInfo)];
	const n = nodes.length + 1;
	const parent = new Int32Array(n).fill(-1);
	const frame = new Int32Array(n);
	const self = new Float64Array(n);
	const first = raw.schema?.startsWith("vigil.flame_diff/") ? new Float64Array(n) : undefined;
	for (let i = 0; i < nodes.length; i++) {
		const node = nodes[i]!;
		const up = node.parent !== undefined && node.parent >= 0 && node.parent < i ? node.parent + 1 : 0;
		parent[i + 1] = up;
		const of = node.frame !== undefined ? node.frame : node.lane !== undefined ? given.length + node.lane : -1;
		frame[i + 1] = of >= 0 && of + 1 < frames.length ? of + 1 : 0;
		self[i + 1] = weightOf(node, weight);
		if (first) first[i + 1] = node.a_ns ?? 0;
	}
	return {
		title: raw.meta?.title ?? raw.b?.title ?? "profile",
		unit: "ns",
		frames,
		parent,
		frame,
		self,
		total: sum(self, parent),
		...(first ? { before: sum(first, parent) } : {}),
	};
}

/** Grows a tree path by path. */
class Builder {
	frames: FrameInfo[] = [ROOT];
	parent: number[] = [-1];
	frame: number[] = [0];
	self: number[] = [0];
	before: number[] = [0];
	private ids = new Map<string, number>();
	private children: Map<number, number>[] = [new Map()];

	frameId(info: FrameInfo): number {
		const key = `${info.kind}\0${info.name}\0${info.where}`;
		let id = this.ids.get(key);
		if (id === undefined) {
			id = this.frames.push(info) - 1;
			this.ids.set(key, id);
		}
		return id;
	}

	child(node: number, frame: number): number {
		const known = this.children[node]!.get(frame);
		if (known !== undefined) return known;
		const id = this.parent.push(node) - 1;
		this.frame.push(frame);
		this.self.push(0);
		this.before.push(0);
		this.children.push(new Map());
		this.children[node]!.set(frame, id);
		return id;
	}

	tree(title: string, unit: "ns" | "bytes", differs: boolean): Tree {
		const parent = Int32Array.from(this.parent);
		const self = Float64Array.from(this.self);
		return {
			title,
			unit,
			frames: this.frames,
			parent,
			frame: Int32Array.from(this.frame),
			self,
			total: sum(self, parent),
			...(differs ? { before: sum(Float64Array.from(this.before), parent) } : {}),
		};
	}
}

export function fromHeap(raw: RawHeap): Tree {
	const builder = new Builder();
	for (const stack of raw.stacks ?? []) {
		let at = 0;
		for (const f of [...(stack.frames ?? [])].reverse()) at = builder.child(at, builder.frameId(frameInfo(f)));
		builder.self[at]! += stack.bytes ?? 0;
	}
	return builder.tree(`${raw.title ?? "heap"}${raw.what ? `: ${raw.what}` : ""}`, "bytes", false);
}

function pour(builder: Builder, tree: Tree, into: number[]): void {
	const map = new Int32Array(tree.parent.length);
	const ids = tree.frames.map((f) => builder.frameId(f));
	for (let i = 1; i < tree.parent.length; i++) {
		// Lanes are other threads each time: what they did is compared, whoever did it.
		const lane = tree.frames[tree.frame[i]!]!.kind === "lane";
		map[i] = lane ? map[tree.parent[i]!]! : builder.child(map[tree.parent[i]!]!, ids[tree.frame[i]!]!);
		into[map[i]!]! += tree.self[i]!;
	}
}

/** Two profiles in one tree: `total` is of the second, `before` of the first. */
export function compare(first: Tree, second: Tree): Tree {
	const builder = new Builder();
	pour(builder, first, builder.before);
	pour(builder, second, builder.self);
	return builder.tree(`${first.title} → ${second.title}`, second.unit, true);
}

export interface FunctionRow {
	frame: number;
	self: number;
	total: number;
	/** of a difference: its own amount in the first profile */
	before?: number;
}

/** Own amounts of the first profile, out of its totals, by function. */
function ownBefore(tree: Tree, before: Float64Array): Float64Array {
	const own = Float64Array.from(before);
	for (let i = 1; i < own.length; i++) own[tree.parent[i]!]! -= before[i]!;
	const byFrame = new Float64Array(tree.frames.length);
	for (let i = 1; i < own.length; i++) byFrame[tree.frame[i]!]! += own[i]!;
	return byFrame;
}

/** Functions by own amount, of a difference by how much its share changed. A function that calls itself counts once in `total`. */
export function heaviest(tree: Tree, most = 40): FunctionRow[] {
	const self = new Float64Array(tree.frames.length);
	const total = new Float64Array(tree.frames.length);
	const ends = new Int32Array(tree.frames.length);
	const n = tree.parent.length;
	for (let i = 1; i < n; i++) {
		const f = tree.frame[i]!;
		self[f]! += tree.self[i]!;
		let up = tree.parent[i]!;
		let again = false;
		for (let steps = 0; up > 0 && steps < 512; up = tree.parent[up]!, steps++)
			if (tree.frame[up] === f) {
				again = true;
				break;
			}
		if (!again) total[f]! += tree.total[i]!;
		ends[f] = 1;
	}
	const before = tree.before && ownBefore(tree, tree.before);
	// The two lasted differently: what changed is its share of the whole.
	const then = tree.before?.[0] || 1;
	const whole = tree.total[0] || 1;
	const rank = (r: FunctionRow) => (r.before === undefined ? r.self : Math.abs(r.self / whole - r.before / then));
	return tree.frames
		.map((_, frame): FunctionRow => ({
			frame,
			self: self[frame]!,
			total: total[frame]!,
			...(before ? { before: before[frame]! } : {}),
		}))
		.filter((r) => ends[r.frame] && (r.total > 0 || r.before) && tree.frames[r.frame]!.kind !== "lane" && r.frame !== 0)
		.sort((a, b) => rank(b) - rank(a) || b.total - a.total)
		.slice(0, most);
}
