// Draws a flame graph into a canvas.
import { cssColor } from "../hooks";
import { isDark } from "../ui/palette";
import { visible, type Layout, type View } from "./layout";

export const ROW_PX = 20;

export interface Look {
	view: View;
	/** first row in view, in pixels */
	top: number;
	chosen: number | undefined;
	/** 1 for each frame that the search found */
	found: Uint8Array | undefined;
}

export interface Colors {
	box: string[];
	dust: string;
	text: string;
	line: string;
	ink: string;
	found: string;
	grown: string[];
	shrunk: string[];
	same: string;
	bg: string;
}

export function colors(): Colors {
	const dark = isDark();
	const hues = [28, 45, 140, 200, 215, 265, 320, 10];
	const steps = [0.35, 0.6, 1];
	const blend = (hue: number, s: number) => (dark ? `hsl(${hue} ${Math.round(60 * s)}% ${Math.round(24 + 12 * s)}%)` : `hsl(${hue} ${Math.round(85 * s)}% ${Math.round(92 - 22 * s)}%)`);
	return {
		box: hues.map((h) => (dark ? `hsl(${h} 34% 30%)` : `hsl(${h} 62% 83%)`)), dust: dark ? "#3c4450" : "#c3c9d2", text: cssColor("ink"), line: cssColor("card"), ink: cssColor("ink"),
		found: dark ? "#7a5c00" : "#ffe070", grown: steps.map((s) => blend(8, s)), shrunk: steps.map((s) => blend(215, s)), same: dark ? "#2c333d" : "#e4e8ed", bg: cssColor("card"),
	};
}

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

/** Colour of each frame by its file or library: neighbours of one module look alike. */
export function frameHues(l: Layout, count: number): Uint8Array {
	return Uint8Array.from(l.tree.frames, (f) => hash(f.where.replace(/:\d+$/, "") || f.name) % count);
}

/** −1 … 1: how much more of the whole a node has than before. */
export function change(l: Layout, node: number): number {
	const { total, before } = l.tree;
	if (!before) return 0;
	const now = total[0]! > 0 ? total[node]! / total[0]! : 0;
	const then = before[0]! > 0 ? before[node]! / before[0]! : 0;
	return now - then;
}

function fillOf(l: Layout, c: Colors, hues: Uint8Array, look: Look, node: number): string {
	const frame = l.tree.frame[node]!;
	if (look.found?.[frame]) return c.found;
	if (!l.tree.before) return c.box[hues[frame]!]!;
	const by = change(l, node);
	const size = Math.abs(by);
	if (size < 0.002) return c.same;
	return (by > 0 ? c.grown : c.shrunk)[size > 0.1 ? 2 : size > 0.02 ? 1 : 0]!;
}

function label(l: Layout, node: number): string {
	const f = l.tree.frames[l.tree.frame[node]!]!;
	const by = change(l, node);
	const sign = !l.tree.before || Math.abs(by) < 0.002 ? "" : `${by > 0 ? "+" : "−"}${(Math.abs(by) * 100).toFixed(1)} % `;
	return `${sign}${f.name}${f.where ? ` ${f.where}` : ""}`;
}

export function drawFlame(ctx: CanvasRenderingContext2D, width: number, height: number, l: Layout, look: Look, c: Colors, hues: Uint8Array): number {
	ctx.fillStyle = c.bg;
	ctx.fillRect(0, 0, width, height);
	ctx.font = "12px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	const perChar = ctx.measureText("n").width;
	let drawn = 0;
	const first = Math.max(0, Math.floor(look.top / ROW_PX));
	const last = Math.min(l.rows.length, Math.ceil((look.top + height) / ROW_PX));
	for (let depth = first; depth < last; depth++) {
		const y = depth * ROW_PX - look.top;
		const names: [number, number, number][] = [];
		visible(l, depth, look.view, width, (node, x, w) => {
			drawn++;
			const left = Math.max(0, x);
			const right = Math.min(width, x + w);
			ctx.fillStyle = fillOf(l, c, hues, look, node);
			ctx.fillRect(left, y, Math.max(LEAST, right - left - (w > 3 ? 1 : 0)), ROW_PX - 1);
			if (node === look.chosen) {
				ctx.strokeStyle = c.ink;
				ctx.lineWidth = 2;
				ctx.strokeRect(left + 1, y + 1, Math.max(1, right - left - 2), ROW_PX - 3);
			}
			if (right - left > 30) names.push([node, left, right - left]);
		}, (x, w) => {
			drawn++;
			ctx.fillStyle = c.dust;
			ctx.fillRect(x, y, w, ROW_PX - 1);
		});
		ctx.fillStyle = c.text;
		for (const [node, x, w] of names) {
			const text = label(l, node);
			const most = Math.floor((w - 8) / perChar);
			ctx.fillText(text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text, x + 4, y + ROW_PX / 2);
		}
	}
	return drawn;
}

const LEAST = 0.5;
