// The job's timeline: lanes are ranks, rows processes, events and counters; incidents are lines through all of them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { apiUrl, jobPath } from "../api";
import { panned, zoomed, type View } from "../flame/layout";
import { bytes, bytesPerS, clock, decimal, duration } from "../format";
import { cssColor, useLoad, useThemeTurn, useWidth } from "../hooks";
import { useJob } from "../pages/jobframe";
import { link, type Route } from "../route";
import type { Me } from "../types";
import { Card, Empty, Show } from "../ui/parts";
import { isDark, seriesColor } from "../ui/palette";
import { lanesOf, lowerBound, spanAt, valueAt, type Lanes, type Row, type Span, type Trace } from "./model";

const HEIGHTS: Record<Row["kind"], number> = { lane: 24, spans: 22, moments: 22, counter: 34 };
const AXIS_PX = 22;

interface Frame {
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
}

const toX = (f: Frame, at: number) => f.names + ((at - f.lanes.from - f.view.from) / (f.view.to - f.view.from)) * (f.width - f.names);

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
		const most = Math.floor((x2 - x1 - 8) / 6.3);
		f.ctx.fillText(s.name.length > most ? `${s.name.slice(0, most - 1)}…` : s.name, x1 + 4, y + h / 2);
	}
}

function drawMoments(f: Frame, row: Row, y: number, h: number): void {
	let edge = -Infinity;
	for (const s of row.spans) {
		const x = toX(f, s.from);
		if (x < f.names || x > f.width) continue;
		f.ctx.fillStyle = row.title === "incidents" ? f.bad : f.ink;
		f.ctx.beginPath();
		f.ctx.moveTo(x, y + 3); f.ctx.lineTo(x + 6, y + h / 2); f.ctx.lineTo(x, y + h - 3); f.ctx.lineTo(x - 6, y + h / 2);
		f.ctx.fill();
		const name = s.name.replace(/_/g, " ");
		const wide = f.ctx.measureText(name).width + 18;
		const left = x + wide > f.width;
		if (x - (left ? wide : 0) < edge) continue;
		f.ctx.fillText(name, left ? x - wide + 8 : x + 9, y + h / 2);
		edge = x + (left ? 8 : wide);
	}
}

function drawCounter(f: Frame, row: Row, y: number, h: number): void {
	if (row.points.length === 0 || row.most <= 0) return;
	const first = Math.max(0, lowerBound(row.points, f.lanes.from + f.view.from, (p) => p.at) - 1);
	f.ctx.fillStyle = f.ctx.strokeStyle = seriesColor(row.title.includes("memory") ? 0 : 2, f.dark);
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

interface Frame { lastY: number }

function drawAxis(f: Frame, height: number): void {
	const span = f.view.to - f.view.from;
	const wish = span / Math.max(2, (f.width - f.names) / 110);
	const step = [1e3, 1e4, 1e5, 1e6, 5e6, 1e7, 3e7, 6e7, 3e8, 6e8, 18e8, 36e8, 36e9, 864e8].find((s) => s >= wish) ?? wish;
	f.ctx.textAlign = "left";
	const begin = Math.ceil((f.lanes.from + f.view.from) / step) * step;
	for (let at = begin; at <= f.lanes.from + f.view.to; at += step) {
		const x = toX(f, at);
		f.ctx.fillStyle = f.line;
		f.ctx.fillRect(x, AXIS_PX, 1, height);
		f.ctx.fillStyle = f.dim;
		f.ctx.fillText(f.lanes.start_unix_ms && step >= 1e6 ? clock(f.lanes.start_unix_ms + at / 1000) : duration(at / 1000), x + 3, AXIS_PX / 2);
	}
}

function drawAll(f: Frame, height: number, top: number, chosen: Span | undefined): void {
	const { ctx } = f;
	ctx.fillStyle = f.card;
	ctx.fillRect(0, 0, f.width, height);
	ctx.font = "12px system-ui, sans-serif";
	ctx.textBaseline = "middle";
	drawAxis(f, height);
	ctx.save();
	ctx.beginPath(); ctx.rect(0, AXIS_PX, f.width, height - AXIS_PX); ctx.clip();
	let y = AXIS_PX - top;
	for (const row of f.lanes.rows) {
		const h = HEIGHTS[row.kind];
		if (y + h > AXIS_PX && y < height) {
			if (row.kind === "lane") { ctx.fillStyle = f.calm; ctx.fillRect(0, y, f.width, h - 1); ctx.fillStyle = f.ink; ctx.font = "600 12px system-ui, sans-serif"; ctx.fillText(row.title, 8, y + h / 2); ctx.font = "12px system-ui, sans-serif"; }
			else {
				if (row.kind === "counter") drawCounter(f, row, y, h);
				else if (row.kind === "spans") drawSpans(f, row, y, h);
				else drawMoments(f, row, y, h);
				ctx.fillStyle = f.card; ctx.fillRect(0, y, f.names, h);
				ctx.fillStyle = f.dim; ctx.fillText(row.title.slice(0, Math.floor((f.names - 10) / 6.8)), 8, y + h / 2);
			}
		}
		y += h;
	}
	ctx.fillStyle = f.bad;
	for (const i of f.lanes.incidents) { const x = toX(f, i.from); if (x >= f.names) ctx.fillRect(x - 0.5, AXIS_PX, 1.5, height); }
	if (chosen) { ctx.strokeStyle = f.ink; const x = Math.max(f.names, toX(f, chosen.from)); ctx.strokeRect(x, AXIS_PX, Math.max(1, toX(f, chosen.to) - x), height - AXIS_PX); }
	ctx.restore();
}

const valueText = (row: Row, value: number | undefined) =>
	value === undefined ? "" : row.title.startsWith("memory") ? bytes(value) : row.title.startsWith("disk") ? bytesPerS(value) : decimal(value);

interface Hit {
	row: Row;
	at: number;
	span: Span | undefined;
}

function useTimeline(lanes: Lanes, width: number, height: number, hit: Hit | undefined) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const whole = lanes.to - lanes.from;
	const look = useRef({ view: { from: 0, to: whole } as View, top: 0 });
	const total = lanes.rows.reduce((sum, r) => sum + HEIGHTS[r.kind], AXIS_PX);
	const names = Math.min(150, Math.round(width * 0.26));
	const turn = useThemeTurn();
	const frame = useRef(0);
	const draw = () => {
		cancelAnimationFrame(frame.current);
		frame.current = requestAnimationFrame(() => {
			const element = canvas.current;
			if (!element || width === 0) return;
			const ratio = devicePixelRatio || 1;
			if (element.width !== width * ratio || element.height !== height * ratio) { element.width = width * ratio; element.height = height * ratio; }
			const ctx = element.getContext("2d", { alpha: false })!;
			ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
			drawAll({ ctx, width, names, view: look.current.view, lanes, ink: cssColor("ink"), dim: cssColor("dim"), line: cssColor("line"), card: cssColor("card"),
				bad: cssColor("bad"), calm: cssColor("calm-bg"), dark: isDark(), lastY: 0 }, height, look.current.top, hit?.span);
		});
	};
	useEffect(draw, [lanes, width, height, turn, hit]);
	const set = (change: Partial<{ view: View; top: number }>) => {
		Object.assign(look.current, change);
		look.current.top = Math.max(0, Math.min(Math.max(0, total - height), look.current.top));
		draw();
	};
	const locate = (x: number, y: number): Hit | undefined => {
		const unit = (look.current.view.to - look.current.view.from) / Math.max(1, width - names);
		const at = lanes.from + look.current.view.from + (x - names) * unit;
		let edge = AXIS_PX - look.current.top;
		for (const row of lanes.rows) {
			edge += HEIGHTS[row.kind];
			if (y < edge) return row.kind === "lane" || x < names ? undefined : { row, at, span: spanAt(row, at, unit * 7) };
		}
		return undefined;
	};
	return { canvas, look, set, whole, names, locate, total };
}

function useDrag(t: ReturnType<typeof useTimeline>, width: number, onHit: (hit: Hit | undefined) => void) {
	const drag = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
	const unit = () => (t.look.current.view.to - t.look.current.view.from) / Math.max(1, width - t.names);
	return {
		onPointerDown: (e: PointerEvent) => { drag.current = { x: e.clientX, y: e.clientY, moved: false }; (e.currentTarget as HTMLElement).setPointerCapture(e.pointerId); },
		onPointerMove: (e: PointerEvent) => {
			const d = drag.current;
			if (!d || (!d.moved && Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) < 5)) return;
			drag.current = { x: e.clientX, y: e.clientY, moved: true };
			t.set({ view: panned(t.look.current.view, -(e.clientX - d.x) * unit(), t.whole), top: t.look.current.top - (e.clientY - d.y) });
		},
		onPointerUp: (e: PointerEvent) => {
			const moved = drag.current?.moved;
			drag.current = undefined;
			const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
			if (!moved) onHit(t.locate(e.clientX - box.left, e.clientY - box.top));
		},
		onPointerCancel: () => { drag.current = undefined; },
		wheel: (e: WheelEvent) => {
			if (!e.ctrlKey && !e.metaKey) return;
			e.preventDefault();
			const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
			const at = t.look.current.view.from + (e.clientX - box.left - t.names) * unit();
			t.set({ view: zoomed(t.look.current.view, Math.exp(e.deltaY / 300), at, t.whole) });
		},
	};
}

function TimelineView({ lanes, job }: { lanes: Lanes; job: string }) {
	const [box, width] = useWidth<HTMLDivElement>();
	const [hit, setHit] = useState<Hit>();
	const natural = lanes.rows.reduce((sum, r) => sum + HEIGHTS[r.kind], AXIS_PX);
	const height = Math.min(natural, Math.max(260, Math.round(innerHeight * 0.66)));
	const t = useTimeline(lanes, width, height, hit);
	const mouse = useDrag(t, width, setHit);
	useEffect(() => {
		const element = t.canvas.current!;
		element.addEventListener("wheel", mouse.wheel, { passive: false });
		return () => element.removeEventListener("wheel", mouse.wheel);
	});
	const zoom = (factor: number) => { const v = t.look.current.view; t.set({ view: zoomed(v, factor, (v.from + v.to) / 2, t.whole) }); };
	const onKey = (e: KeyboardEvent) => {
		const v = t.look.current.view;
		const step = (v.to - v.from) / 8;
		const keys: Record<string, () => void> = {
			ArrowLeft: () => t.set({ view: panned(v, -step, t.whole) }), ArrowRight: () => t.set({ view: panned(v, step, t.whole) }),
			ArrowUp: () => t.set({ top: t.look.current.top - 60 }), ArrowDown: () => t.set({ top: t.look.current.top + 60 }),
			"+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), Escape: () => t.set({ view: { from: 0, to: t.whole }, top: 0 }),
		};
		const act = keys[e.key];
		if (act) { e.preventDefault(); act(); }
	};
	return (
		<>
			<div class="tools">
				<div class="segmented" role="group" aria-label="Zoom">
					<button type="button" aria-label="Nearer" onClick={() => zoom(0.6)}>+</button>
					<button type="button" aria-label="Farther" onClick={() => zoom(1 / 0.6)}>−</button>
					<button type="button" onClick={() => t.set({ view: { from: 0, to: t.whole }, top: 0 })}>All</button>
				</div>
				<small>drag to move · Ctrl and wheel to zoom · arrows, + −, Esc</small>
			</div>
			<div ref={box}>
				<canvas ref={t.canvas} class="flamecanvas" style={{ height: `${height}px` }} tabIndex={0} role="application" aria-label={`Timeline with ${lanes.rows.length} rows`}
					onKeyDown={onKey} onPointerDown={mouse.onPointerDown} onPointerMove={mouse.onPointerMove} onPointerUp={mouse.onPointerUp} onPointerCancel={mouse.onPointerCancel} />
			</div>
			<div class="flamedetail" aria-live="polite">
				{hit ? (
					<p><b>{hit.span?.name ?? hit.row.title}</b> {hit.row.kind === "counter" ? valueText(hit.row, valueAt(hit.row, hit.at)) : ""}{hit.span && hit.span.to > hit.span.from ? duration((hit.span.to - hit.span.from) / 1000) : ""}
						<br /><small>{hit.span?.text}</small>
						{lanes.start_unix_ms > 0 && <> <a href={link(["job", job, "at", Math.round(lanes.start_unix_ms + (hit.span?.from ?? hit.at) / 1000)])}>the job at {clock(lanes.start_unix_ms + (hit.span?.from ?? hit.at) / 1000)}</a></>}</p>
				) : <p class="meta">Choose a span, a mark or a place in a curve to see more.</p>}
			</div>
		</>
	);
}

export default function TimelinePage(_: { route: Route; me?: Me }) {
	const { job } = useJob();
	const load = useLoad<Trace>(jobPath(job.id, "timeline"));
	const lanes = useMemo(() => (load.data ? lanesOf(load.data) : undefined), [load.data]);
	return (
		<Card title="Timeline" side={<a class="button" href={apiUrl(jobPath(job.id, "timeline"))} download={`${job.id}.trace.json`}>Download for Perfetto</a>}>
			<Show of={load} what="Timeline">{() => (lanes && lanes.rows.length > 0 ? <TimelineView lanes={lanes} job={job.id} /> : <Empty>Nothing was recorded of this job yet.</Empty>)}</Show>
		</Card>
	);
}
