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

/** Colours as pixels: byte order as ImageData has it on this machine. */
export interface Colors {
	box: number[];
	dust: number;
	found: number;
	grown: number[];
	shrunk: number[];
	same: number;
	bg: number;
	text: string;
	ink: string;
}

function pixelOf(ctx: CanvasRenderingContext2D, color: string): number {
	ctx.fillStyle = color;
	ctx.fillRect(0, 0, 1, 1);
	return new Uint32Array(ctx.getImageData(0, 0, 1, 1).data.buffer)[0]!;
}

export function colors(): Colors {
	const dark = isDark();
	const hues = [28, 45, 140, 200, 215, 265, 320, 10];
	const steps = [0.35, 0.6, 1];
	const blend = (hue: number, s: number) =>
		dark
			? `hsl(${hue} ${Math.round(60 * s)}% ${Math.round(24 + 12 * s)}%)`
			: `hsl(${hue} ${Math.round(85 * s)}% ${Math.round(92 - 22 * s)}%)`;
	const canvas = document.createElement("canvas");
	canvas.width = canvas.height = 1;
	const ctx = canvas.getContext("2d", { willReadFrequently: true })!;
	const pixel = (color: string) => pixelOf(ctx, color);
	return {
		box: hues.map((h) => pixel(dark ? `hsl(${h} 34% 30%)` : `hsl(${h} 62% 83%)`)),
		dust: pixel(dark ? "#3c4450" : "#c3c9d2"),
		text: cssColor("ink"),
		ink: cssColor("ink"),
		found: pixel(dark ? "#7a5c00" : "#ffe070"),
		grown: steps.map((s) => pixel(blend(8, s))),
		shrunk: steps.map((s) => pixel(blend(215, s))),
		same: pixel(dark ? "#2c333d" : "#e4e8ed"),
		bg: pixel(cssColor("card")),
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

function fillOf(l: Layout, c: Colors, hues: Uint8Array, look: Look, node: number): number {
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
	const sign =
		!l.tree.before || Math.abs(by) < 0.002 ? "" : `${by > 0 ? "+" : "−"}${(Math.abs(by) * 100).toFixed(1)} % `;
	return `${sign}${f.name}${f.where ? ` ${f.where}` : ""}`;
}

/** The pixels of a canvas. Boxes are written into them: a picture of tens of thousands costs what its pixels cost. */
export interface Raster {
	image: ImageData;
	pixels: Uint32Array;
	ratio: number;
}

export function makeRaster(width: number, height: number, ratio: number): Raster {
	const image = new ImageData(Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio)));
	return { image, pixels: new Uint32Array(image.data.buffer), ratio };
}

type Name = [node: number, x: number, y: number, w: number];

/** One row as a line of pixels; wide boxes end in a gap of one. */
function fillLine(
	line: Uint32Array,
	l: Layout,
	look: Look,
	c: Colors,
	hues: Uint8Array,
	depth: number,
	ratio: number,
	name: (node: number, x: number, w: number) => void,
): number {
	let drawn = 0;
	const end = line.length;
	line.fill(c.bg);
	visible(
		l,
		depth,
		look.view,
		end / ratio,
		(node, x, w) => {
			drawn++;
			const from = Math.max(0, Math.round(x * ratio));
			const to = Math.min(end, Math.max(from + 1, Math.round((x + w) * ratio) - (w > 3 ? 1 : 0)));
			line.fill(fillOf(l, c, hues, look, node), from, to);
			const left = Math.max(0, x);
			const right = Math.min(end / ratio, x + w);
			if (right - left > 30 || node === look.chosen) name(node, left, right - left);
		},
		(x, w) => {
			drawn++;
			line.fill(c.dust, Math.max(0, Math.round(x * ratio)), Math.min(end, Math.ceil((x + w) * ratio)));
		},
	);
	return drawn;
}

function write(ctx: CanvasRenderingContext2D, l: Layout, look: Look, c: Colors, names: Name[]): void {
	ctx.font = "12px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	ctx.fillStyle = c.text;
	const perChar = ctx.measureText("n").width;
	for (const [node, x, y, w] of names) {
		if (node === look.chosen) {
			ctx.strokeStyle = c.ink;
			ctx.lineWidth = 2;
			ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 2), ROW_PX - 3);
		}
		if (w <= 30) continue;
		const text = label(l, node);
		const most = Math.floor((w - 8) / perChar);
		ctx.fillText(text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text, x + 4, y + ROW_PX / 2);
	}
}

/** Returns how many boxes were drawn. */
export function drawFlame(
	ctx: CanvasRenderingContext2D,
	raster: Raster,
	l: Layout,
	look: Look,
	c: Colors,
	hues: Uint8Array,
): number {
	const { image, pixels, ratio } = raster;
	const names: Name[] = [];
	const line = new Uint32Array(image.width);
	let drawn = 0;
	pixels.fill(c.bg);
	const first = Math.max(0, Math.floor(look.top / ROW_PX));
	const last = Math.min(l.rows.length, Math.ceil((look.top + image.height / ratio) / ROW_PX));
	for (let depth = first; depth < last; depth++) {
		const y = depth * ROW_PX - look.top;
		drawn += fillLine(line, l, look, c, hues, depth, ratio, (node, x, w) => names.push([node, x, y, w]));
		const bottom = Math.min(image.height, Math.round((y + ROW_PX - 1) * ratio));
		for (let at = Math.max(0, Math.round(y * ratio)); at < bottom; at++) pixels.set(line, at * image.width);
	}
	ctx.putImageData(image, 0, 0);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	write(ctx, l, look, c, names);
	return drawn;
}
