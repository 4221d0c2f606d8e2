// Draws a timeline into a canvas.
import type { View } from "../flame/layout";
import { clock, duration } from "../format";
import { seriesColor } from "../ui/palette";
import { lowerBound, type Lanes, type Row, type Span } from "./model";

export const HEIGHTS: Record<Row["kind"], number> = { lane: 24, spans: 22, moments: 22, counter: 34 };
export const AXIS_PX = 22;

export interface Frame {
	ctx: CanvasRenderingContext2D;
	width: number;
	names: number;
	view: View;
	lanes: Lanes;
	ink: string;
	dim: string;
	line: string;
	card: string;
	bad: string;
	calm: string;
	dark: boolean;
	/** height of the curve that is being drawn */
	lastY: number;
}

const toX = (f: Frame, at: number) =>
	f.names + ((at - f.lanes.from - f.view.from) / (f.view.to - f.view.from)) * (f.width - f.names);

function drawSpans(f: Frame, row: Row, y: number, h: number): void {
	const first = Math.max(0, lowerBound(row.spans, f.lanes.from + f.view.from, (s) => s.from) - 1);
	let edge = -1;
	for (let i = row.kind === "spans" ? 0 : first; i < row.spans.length; i++) {
		const s = row.spans[i]!;
		const x1 = Math.max(f.names, toX(f, s.from));
		const x2 = Math.min(f.width, toX(f, s.to));
		if (x1 > f.width) break;
		if (x2 < f.names || x2 <= edge) continue;
		edge = x1 + 0.5;
		f.ctx.fillStyle = seriesColor(s.cat === "guard" ? 5 : s.name.length, f.dark);
		f.ctx.globalAlpha = 0.55;
		f.ctx.fillRect(x1, y + 2, Math.max(1, x2 - x1 - 1), h - 4);
		f.ctx.globalAlpha = 1;
		if (x2 - x1 < 40) continue;
		f.ctx.fillStyle = f.ink;
		f.ctx.fillText(fitted(s.name, x2 - x1 - 8, widthIn(f)), x1 + 4, y + h / 2);
	}
}

/** As much of a name as has room; nothing where that says nothing. */
export function fitted(name: string, room: number, widthOf: (text: string) => number): string {
	if (room < 24) return "";
	if (widthOf(name) <= room) return name;
	let most = name.length - 1;
	while (most > 2 && widthOf(`${name.slice(0, most)}…`) > room) most--;
	return most > 2 ? `${name.slice(0, most).trimEnd()}…` : "";
}

const widthIn = (f: Frame) => (text: string) => f.ctx.measureText(text).width;

function drawMoments(f: Frame, row: Row, y: number, h: number): void {
	let edge = -Infinity;
	for (const [i, s] of row.spans.entries()) {
		const x = toX(f, s.from);
		if (x < f.names || x > f.width) continue;
		f.ctx.fillStyle = row.title === "incidents" ? f.bad : f.ink;
		f.ctx.beginPath();
		f.ctx.moveTo(x, y + 3);
		f.ctx.lineTo(x + 6, y + h / 2);
		f.ctx.lineTo(x, y + h - 3);
		f.ctx.lineTo(x - 6, y + h / 2);
		f.ctx.fill();
		const widthOf = widthIn(f);
		const whole = s.name.replace(/_/g, " ");
		// At the right edge it stands on the other side, where that has room.
		const left = x + widthOf(whole) + 18 > f.width && x - f.names > f.width - x;
		// Not over the next mark.
		const next = row.spans[i + 1];
		const end = next && !left ? Math.min(f.width, toX(f, next.from)) : f.width;
		const name = fitted(whole, (left ? x - Math.max(f.names, edge) : end - x) - 18, widthOf);
		const wide = widthOf(name) + 18;
		if (x - (left ? wide : 0) < edge) continue;
		f.ctx.fillText(name, left ? x - wide + 8 : x + 9, y + h / 2);
		edge = x + (left ? 8 : wide);
	}
}

function drawCounter(f: Frame, row: Row, y: number, h: number): void {
	if (row.points.length === 0 || row.most <= 0) return;
	const first = Math.max(0, lowerBound(row.points, f.lanes.from + f.view.from, (p) => p.at) - 1);
	f.ctx.fillStyle = f.ctx.strokeStyle = seriesColor(row.title.startsWith("mem") ? 0 : 2, f.dark);
	f.ctx.beginPath();
	const bottom = y + h - 2;
	let last = NaN;
	for (let i = first; i < row.points.length; i++) {
		const x = Math.max(f.names, toX(f, row.points[i]!.at));
		const top = bottom - (row.points[i]!.value / row.most) * (h - 6);
		if (Number.isNaN(last)) f.ctx.moveTo(x, bottom);
		else f.ctx.lineTo(x, f.lastY);
		f.ctx.lineTo(x, top);
		f.lastY = top;
		last = x;
		if (x > f.width) break;
	}
	f.ctx.lineTo(last, bottom);
	f.ctx.globalAlpha = 0.35;
	f.ctx.fill();
	f.ctx.globalAlpha = 1;
}

/** Marks of the axis: where clocks are told they stand on whole seconds of the clock. */
export function axisMarks(from: number, to: number, step: number, start_unix_ms: number): number[] {
	const begin = step >= 1e6 ? (start_unix_ms * 1000) % step : 0;
	const out = [];
	for (let at = Math.ceil((from + begin) / step) * step - begin; at <= to; at += step) out.push(at);
	return out;
}

function drawAxis(f: Frame, height: number): void {
	const span = f.view.to - f.view.from;
	const wish = span / Math.max(2, (f.width - f.names) / 110);
	const step =
		[1e3, 1e4, 1e5, 1e6, 5e6, 1e7, 3e7, 6e7, 3e8, 6e8, 18e8, 36e8, 36e9, 864e8].find((s) => s >= wish) ?? wish;
	f.ctx.textAlign = "left";
	let edge = f.names;
	for (const at of axisMarks(f.lanes.from + f.view.from, f.lanes.from + f.view.to, step, f.lanes.start_unix_ms)) {
		const x = toX(f, at);
		f.ctx.fillStyle = f.line;
		f.ctx.fillRect(x, AXIS_PX, 1, height);
		f.ctx.fillStyle = f.dim;
		const told = f.lanes.start_unix_ms && step >= 1e6 ? clock(f.lanes.start_unix_ms + at / 1000) : duration(at / 1000);
		// A time that is cut is another time: at the right edge it stands on the other side of its line.
		const wide = widthIn(f)(told);
		const from = x + 3 + wide <= f.width ? x + 3 : x - 3 - wide;
		if (from > edge) f.ctx.fillText(told, from, AXIS_PX / 2);
		edge = from + wide + 6;
	}
}

export function drawAll(f: Frame, height: number, top: number, chosen: Span | undefined): void {
	const { ctx } = f;
	ctx.fillStyle = f.card;
	ctx.fillRect(0, 0, f.width, height);
	ctx.font = "12px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	drawAxis(f, height);
	ctx.save();
	ctx.beginPath();
	ctx.rect(0, AXIS_PX, f.width, height - AXIS_PX);
	ctx.clip();
	let y = AXIS_PX - top;
	for (const row of f.lanes.rows) {
		const h = HEIGHTS[row.kind];
		if (y + h > AXIS_PX && y < height) {
			if (row.kind === "lane") {
				ctx.fillStyle = f.calm;
				ctx.fillRect(0, y, f.width, h - 1);
				ctx.fillStyle = f.ink;
				ctx.font = "600 12px system-ui, sans-serif";
				ctx.fillText(fitted(row.title, f.width - 12, widthIn(f)), 8, y + h / 2);
				ctx.font = "12px system-ui, sans-serif";
			} else {
				if (row.kind === "counter") drawCounter(f, row, y, h);
				else if (row.kind === "spans") drawSpans(f, row, y, h);
				else drawMoments(f, row, y, h);
				ctx.fillStyle = f.card;
				ctx.fillRect(0, y, f.names, h);
				ctx.fillStyle = f.dim;
				ctx.fillText(fitted(row.title, f.names - 12, widthIn(f)), 8, y + h / 2);
			}
		}
		y += h;
	}
	ctx.fillStyle = f.bad;
	for (const i of f.lanes.incidents) {
		const x = toX(f, i.from);
		if (x >= f.names) ctx.fillRect(x - 0.5, AXIS_PX, 1.5, height);
	}
	if (chosen) {
		ctx.strokeStyle = f.ink;
		const x = Math.max(f.names, toX(f, chosen.from));
		ctx.strokeRect(x, AXIS_PX, Math.max(1, toX(f, chosen.to) - x), height - AXIS_PX);
	}
	ctx.restore();
}
