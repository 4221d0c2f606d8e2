// Where the boxes of a flame graph lie, and which of them are worth drawing: a million boxes, and few of them visible. Pure.
import type { Tree } from "./model";

export interface Layout {
	tree: Tree;
	/** left edge of each node, in the tree's unit */
	x: Float64Array;
	/** width: in a difference that of both profiles together, so that what is gone is seen, too */
	w: Float64Array;
	depth: Uint16Array;
	/** nodes of each depth, from left to right */
	rows: Uint32Array[];
}

export const MOST_DEPTH = 2000;

function widths(tree: Tree): Float64Array {
	if (!tree.before) return tree.total;
	// What is compared differs in length: the first is drawn at the second's scale.
	const scale = tree.before[0]! > 0 && tree.total[0]! > 0 ? tree.total[0]! / tree.before[0]! : 1;
	const w = new Float64Array(tree.total.length);
	for (let i = w.length - 1; i >= 0; i--) w[i] = Math.max(tree.total[i]!, tree.before[i]! * scale, w[i]!);
	const sums = new Float64Array(w.length);
	for (let i = w.length - 1; i > 0; i--) {
		w[i] = Math.max(w[i]!, sums[i]!);
		sums[tree.parent[i]!]! += w[i]!;
	}
	w[0] = Math.max(w[0]!, sums[0]!);
	return w;
}

/** Children of each node in one array, the widest first. */
function childrenOf(parent: Int32Array, w: Float64Array): { start: Int32Array; list: Int32Array } {
	const n = parent.length;
	const start = new Int32Array(n + 1);
	for (let i = 1; i < n; i++) start[parent[i]! + 1]!++;
	for (let i = 0; i < n; i++) start[i + 1]! += start[i]!;
	const fill = start.slice(0, n);
	const list = new Int32Array(Math.max(0, n - 1));
	for (let i = 1; i < n; i++) list[fill[parent[i]!]!++] = i;
	for (let i = 0; i < n; i++) {
		const from = start[i]!;
		const to = start[i + 1]!;
		if (to - from > 1) list.subarray(from, to).sort((a, b) => w[b]! - w[a]! || a - b);
	}
	return { start, list };
}

export function layout(tree: Tree): Layout {
	const n = tree.parent.length;
	const w = widths(tree);
	const { start, list } = childrenOf(tree.parent, w);
	const x = new Float64Array(n);
	const depth = new Uint16Array(n);
	const rows: Uint32Array[] = [];
	let row = Uint32Array.of(0);
	while (row.length > 0 && rows.length < MOST_DEPTH) {
		rows.push(row);
		let count = 0;
		for (const node of row) count += start[node + 1]! - start[node]!;
		const next = new Uint32Array(count);
		let at = 0;
		for (const node of row) {
			let left = x[node]!;
			for (let c = start[node]!; c < start[node + 1]!; c++) {
				const child = list[c]!;
				if (w[child]! <= 0) continue;
				x[child] = left;
				depth[child] = rows.length;
				left += w[child]!;
				next[at++] = child;
			}
		}
		row = next.subarray(0, at);
	}
	return { tree, x, w, depth, rows };
}

export interface View {
	from: number;
	to: number;
}

/** The first place in `row` whose left edge is at `value` or behind it. */
function lowerBound(row: Uint32Array, x: Float64Array, value: number, low = 0): number {
	let high = row.length;
	while (low < high) {
		const mid = (low + high) >>> 1;
		if (x[row[mid]!]! < value) low = mid + 1;
		else high = mid;
	}
	return low;
}

export const LEAST_PX = 0.5;

/**
 * Boxes of one row that are at least half a pixel wide, and "dust" where narrower ones lie. What is skipped is skipped
 * by bisection, so a row costs in proportion to the pixels, not to its boxes.
 */
export function visible(
	l: Layout,
	depth: number,
	view: View,
	px: number,
	box: (node: number, x: number, w: number) => void,
	dust: (x: number, w: number) => void,
): void {
	const row = l.rows[depth];
	if (!row || view.to <= view.from) return;
	const scale = px / (view.to - view.from);
	let i = Math.max(0, lowerBound(row, l.x, view.from) - 1);
	while (i < row.length) {
		const node = row[i]!;
		const x = l.x[node]!;
		if (x >= view.to) return;
		const width = l.w[node]! * scale;
		if (width >= LEAST_PX) {
			if (x + l.w[node]! > view.from) box(node, (x - view.from) * scale, width);
			i++;
			continue;
		}
		// The last box that begins in this half pixel may be a wide one.
		const end = lowerBound(row, l.x, x + LEAST_PX / scale, i + 1);
		const last = end - 1;
		const wide = last > i && l.w[row[last]!]! * scale >= LEAST_PX;
		const until = wide ? l.x[row[last]!]! : l.x[row[last]!]! + l.w[row[last]!]!;
		if (until > view.from) dust((x - view.from) * scale, Math.max(LEAST_PX, (until - x) * scale));
		i = wide ? last : end;
	}
}

/** The box at a place, or nothing. */
export function nodeAt(l: Layout, depth: number, at: number): number | undefined {
	const row = l.rows[depth];
	if (!row) return undefined;
	const i = lowerBound(row, l.x, at + Number.EPSILON * Math.max(1, Math.abs(at)));
	for (const place of [i, i - 1]) {
		const node = row[place];
		if (node !== undefined && l.x[node]! <= at && at < l.x[node]! + l.w[node]!) return node;
	}
	return undefined;
}

/** Zoomed by `factor` (below 1: nearer) around a place; never outside of the whole. */
export function zoomed(view: View, factor: number, around: number, whole: number): View {
	const width = Math.min(whole, Math.max(whole / 1e9, (view.to - view.from) * factor));
	const share = (around - view.from) / (view.to - view.from || 1);
	return kept({ from: around - share * width, to: around - share * width + width }, whole);
}

export function panned(view: View, by: number, whole: number): View {
	return kept({ from: view.from + by, to: view.to + by }, whole);
}

function kept(view: View, whole: number): View {
	const width = Math.min(whole, view.to - view.from);
	const from = Math.max(0, Math.min(whole - width, view.from));
	return { from, to: from + width };
}

export type Direction = "up" | "down" | "left" | "right";

/** The neighbour that an arrow key goes to. */
export function neighbour(l: Layout, node: number, to: Direction): number {
	if (to === "up") return Math.max(0, l.tree.parent[node]!);
	const row = l.rows[l.depth[node]! + (to === "down" ? 1 : 0)];
	if (!row) return node;
	if (to === "down") {
		const below = row[lowerBound(row, l.x, l.x[node]!)];
		return below !== undefined && l.tree.parent[below] === node ? below : node;
	}
	const at = lowerBound(row, l.x, l.x[node]!);
	return row[at + (to === "left" ? -1 : 1)] ?? node;
}
