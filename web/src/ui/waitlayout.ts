// Who waits for whom as a small picture: ranks in the same wait are one box, arrows lead down to where the waiting ends. Pure.
import { rankList } from "../format";
import type { Waits } from "../types";

export interface WaitNode {
	key: string;
	label: string;
	why: string;
	ranks: number[];
	/** key of the box it waits for */
	to?: string;
	/** 0: here the waiting ends */
	depth: number;
	end: boolean;
	dead: boolean;
}

interface Half {
	/** "p7", and "p7.9" of another thread than the main one */
	key: string;
	rank?: number;
	name?: string;
	why: string;
	to?: string;
	dead: boolean;
	does: string;
}

const QUALITY = ["proof", "likely", "possible"];

/** The main threads of the main processes, and those of their other threads that they wait for. */
function halves(waits: Waits): Half[] {
	return waits.processes
		.filter((p) => p.main)
		.flatMap((p) => {
			const main = p.threads?.find((t) => t.main) ?? p.threads?.[0];
			const half = (thread: typeof main): Half => {
				const { to } =
					[...(thread?.arrows ?? [])].sort(
						(a, b) => QUALITY.indexOf(a.quality ?? "possible") - QUALITY.indexOf(b.quality ?? "possible"),
					)[0] ?? {};
				const other = to?.pid === p.pid && p.threads!.find((t) => t.tid === to.tid);
				const at = (t: typeof main) => `p${p.pid}${t && t !== main ? `.${t.tid}` : ""}`;
				return {
					key: at(thread),
					why: thread?.waiting_on ?? thread?.does ?? "",
					dead: thread?.dead ?? false,
					does: thread?.does ?? "unknown",
					...(p.rank !== undefined ? { rank: p.rank } : {}),
					...(p.name !== undefined ? { name: p.name } : {}),
					...(to
						? { to: other ? at(other) : to.pid !== undefined ? `p${to.pid}` : `t${to.text ?? to.name ?? "?"}` }
						: {}),
				};
			};
			const all = [half(main)];
			for (const { to } of all) {
				const next = p.threads?.find((t) => `p${p.pid}.${t.tid}` === to);
				if (next && !all.some((h) => h.key === to)) all.push(half(next));
			}
			return all;
		});
}

/** Ranks of one box: they wait for the same, and nobody who stands apart waits for one of them alone. */
function boxKey(half: Half, targets: Set<string>): string {
	if (targets.has(half.key)) return half.key;
	return half.to !== undefined ? `>${half.to}` : `.${half.does} ${half.why.split(",")[0]}`;
}

function depths(nodes: Map<string, WaitNode>): void {
	for (const node of nodes.values()) {
		const seen = new Set<string>();
		let steps = 0;
		for (let at: WaitNode | undefined = node; at?.to !== undefined && !seen.has(at.key); at = nodes.get(at.to)) {
			seen.add(at.key);
			steps++;
		}
		node.depth = steps;
	}
}

export function waitNodes(waits: Waits): WaitNode[] {
	const all = halves(waits);
	const targets = new Set(all.map((h) => h.to).filter((t): t is string => t !== undefined));
	if (targets.size === 0 && all.every((h) => h.does === "runs" || h.does === "sleeps")) return [];
	const nodes = new Map<string, WaitNode>();
	for (const half of all) {
		const key = boxKey(half, targets);
		const node = nodes.get(key) ?? {
			key,
			label: half.name ?? "",
			why: half.why,
			ranks: [],
			depth: 0,
			end: half.to === undefined,
			dead: half.dead,
			...(half.to !== undefined ? { to: half.to } : {}),
		};
		if (half.rank !== undefined) node.ranks.push(half.rank);
		nodes.set(key, node);
	}
	for (const target of targets) {
		if (!nodes.has(target)) {
			const other = waits.processes.find((p) => `p${p.pid}` === target);
			const label = target.startsWith("t")
				? target.slice(1)
				: other?.name
					? `${other.name} (${other.pid})`
					: `process ${target.slice(1)}`;
			nodes.set(target, {
				key: target,
				label,
				why: "",
				ranks: other?.rank !== undefined ? [other.rank] : [],
				depth: 0,
				end: true,
				dead: false,
			});
		}
	}
	for (const node of nodes.values()) {
		if (node.ranks.length > 0) node.label = `${node.ranks.length === 1 ? "rank" : "ranks"} ${rankList(node.ranks)}`;
		const [, thread] = node.key.split(".");
		if (node.key[0] === "p" && thread) node.label += `, thread ${thread}`;
	}
	depths(nodes);
	return [...nodes.values()].sort((a, b) => b.depth - a.depth || b.ranks.length - a.ranks.length);
}

export interface Box {
	node: WaitNode;
	x: number;
	y: number;
	w: number;
	h: number;
}

export interface WaitPicture {
	width: number;
	height: number;
	boxes: Box[];
	arrows: { x1: number; y1: number; x2: number; y2: number; key: string; back: boolean }[];
	/** so many boxes had no room */
	left_out: number;
}

const BOX_H = 48;
const GAP_X = 12;
const GAP_Y = 34;

/** At most `most` boxes a row; the largest come first. */
export function layoutWaits(nodes: WaitNode[], width: number): WaitPicture {
	const most = Math.max(1, Math.floor((width + GAP_X) / (150 + GAP_X)));
	const rows = [...new Set(nodes.map((n) => n.depth))].sort((a, b) => b - a).slice(-8);
	const boxes: Box[] = [];
	let y = 0;
	for (const depth of rows) {
		const row = nodes.filter((n) => n.depth === depth).slice(0, most);
		const w = Math.min(420, (width - GAP_X * (row.length - 1)) / row.length);
		const start = (width - row.length * w - (row.length - 1) * GAP_X) / 2;
		row.forEach((node, i) => boxes.push({ node, x: start + i * (w + GAP_X), y, w, h: BOX_H }));
		y += BOX_H + GAP_Y;
	}
	const at = new Map(boxes.map((b) => [b.node.key, b]));
	const arrows = boxes.flatMap((b) => {
		const to = b.node.to === undefined ? undefined : at.get(b.node.to);
		if (!to || to === b) return [];
		const back = to.y <= b.y;
		return [
			{
				key: b.node.key,
				x1: b.x + b.w / 2,
				y1: back ? b.y : b.y + b.h,
				x2: to.x + to.w / 2,
				y2: back ? to.y + to.h : to.y,
				back,
			},
		];
	});
	return { width, height: Math.max(0, y - GAP_Y), boxes, arrows, left_out: nodes.length - boxes.length };
}
