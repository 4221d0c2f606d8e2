// The job's timeline: lanes are ranks, rows processes, events and counters; incidents are lines through all of them.
import "../common";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { apiUrl, get, jobPath } from "../api";
import { panned, zoomed, type View } from "../flame/layout";
import { bytes, bytesPerS, clock, count, decimal, duration, rate, timeLeft } from "../format";
import { goes } from "../health";
import { cssColor, useLoad, useNow, useThemeTurn, useWidth } from "../hooks";
import { useJob } from "../pages/jobframe";
import { link, type Route } from "../route";
import type { Job, Me } from "../types";
import { Card, Empty, Show } from "../ui/parts";
import { isDark } from "../ui/palette";
import { useWheel, ZoomButtons } from "../ui/pad";
import { AXIS_PX, drawAll, HEIGHTS } from "./draw";
import { lanesOf, partFor, rateAt, spanAt, valueAt, type Lanes, type Part, type Row, type Span, type Trace } from "./model";

/** Parts of the time that a picture is asked for with: first of the whole life, then of what one looks at more closely. */
const POINTS = 240;
const POINTS_NEAR = 480;
const SETTLED_MS = 250;

const stepText = (value: number, perS: number | undefined) => `${count(value)}${perS === undefined ? "" : `, ${rate(perS)}`}`;
const valueText = (row: Row, value: number | undefined, at: number) =>
	value === undefined
		? ""
		: row.title.startsWith("mem")
			? bytes(value)
			: row.title.startsWith("disk")
				? bytesPerS(value)
				: row.title === "step"
					? stepText(value, rateAt(row, at))
					: decimal(value);

interface Hit {
	row: Row;
	at: number;
	span: Span | undefined;
}

/** Lanes of the part that is looked at, once it was; those of the whole life until then. `settled` is the view at rest. */
function useNear(base: Lanes, job: string, thinned: boolean, settled: View): Lanes {
	const [near, setNear] = useState<{ part: Part; lanes: Lanes }>();
	useEffect(() => {
		const part = thinned ? partFor(settled, base.to - base.from, near?.part) : undefined;
		if (!part) return;
		const abort = new AbortController();
		const at = (us: number) => Math.max(1, Math.round(base.start_unix_ms + (base.from + us) / 1000));
		get<Trace>(
			jobPath(job, "timeline"),
			{ from: at(part.from), to: at(part.to), points: POINTS_NEAR },
			abort.signal,
		).then(
			(trace) => setNear({ part, lanes: { ...lanesOf(trace), from: base.from, to: base.to } }),
			() => {
				/* The coarse picture stays; the next move asks again. */
			},
		);
		return () => abort.abort();
	}, [base, settled]);
	const inside = near && settled.from >= near.part.from && settled.to <= near.part.to;
	return inside ? near.lanes : base;
}

function useTimeline(
	lanes: Lanes,
	width: number,
	height: number,
	hit: Hit | undefined,
	onSettled: (view: View) => void,
) {
	const settling = useRef<ReturnType<typeof setTimeout>>(undefined);
	useEffect(() => () => clearTimeout(settling.current), []);
	const canvas = useRef<HTMLCanvasElement>(null);
	const whole = lanes.to - lanes.from;
	const look = useRef({ view: { from: 0, to: whole } as View, top: 0 });
	const total = lanes.rows.reduce((sum, r) => sum + HEIGHTS[r.kind], AXIS_PX);
	const names = Math.min(150, Math.round(width * 0.3));
	const turn = useThemeTurn();
	const frame = useRef(0);
	const draw = () => {
		cancelAnimationFrame(frame.current);
		frame.current = requestAnimationFrame(() => {
			const element = canvas.current;
			if (!element || width === 0) return;
			const ratio = devicePixelRatio || 1;
			if (element.width !== width * ratio || element.height !== height * ratio) {
				element.width = width * ratio;
				element.height = height * ratio;
			}
			const ctx = element.getContext("2d", { alpha: false })!;
			ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
			drawAll(
				{
					ctx,
					width,
					names,
					view: look.current.view,
					lanes,
					ink: cssColor("ink"),
					dim: cssColor("dim"),
					line: cssColor("line"),
					card: cssColor("card"),
					bad: cssColor("bad"),
					calm: cssColor("calm-bg"),
					dark: isDark(),
					lastY: 0,
				},
				height,
				look.current.top,
				hit?.span,
			);
		});
	};
	useEffect(draw, [lanes, width, height, turn, hit]);
	const set = (change: Partial<{ view: View; top: number }>) => {
		Object.assign(look.current, change);
		look.current.top = Math.max(0, Math.min(Math.max(0, total - height), look.current.top));
		draw();
		clearTimeout(settling.current);
		settling.current = setTimeout(() => onSettled({ ...look.current.view }), SETTLED_MS);
	};
	const locate = (x: number, y: number): Hit | undefined => {
		const unit = (look.current.view.to - look.current.view.from) / Math.max(1, width - names);
		const at = lanes.from + look.current.view.from + (x - names) * unit;
		let edge = AXIS_PX - look.current.top;
		for (const row of lanes.rows) {
			edge += HEIGHTS[row.kind];
			if (y < edge)
				return row.kind === "lane" || x < names ? undefined : { row, at, span: spanAt(row, at, unit * 7) };
		}
		return undefined;
	};
	return { canvas, look, set, whole, names, locate, total };
}

function useDrag(t: ReturnType<typeof useTimeline>, width: number, onHit: (hit: Hit | undefined) => void) {
	const drag = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
	const unit = () => (t.look.current.view.to - t.look.current.view.from) / Math.max(1, width - t.names);
	return {
		onPointerDown: (e: PointerEvent) => {
			drag.current = { x: e.clientX, y: e.clientY, moved: false };
			(e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
		},
		onPointerMove: (e: PointerEvent) => {
			const d = drag.current;
			if (!d || (!d.moved && Math.abs(e.clientX - d.x) + Math.abs(e.clientY - d.y) < 5)) return;
			drag.current = { x: e.clientX, y: e.clientY, moved: true };
			t.set({
				view: panned(t.look.current.view, -(e.clientX - d.x) * unit(), t.whole),
				top: t.look.current.top - (e.clientY - d.y),
			});
		},
		onPointerUp: (e: PointerEvent) => {
			const moved = drag.current?.moved;
			drag.current = undefined;
			const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
			if (!moved) onHit(t.locate(e.clientX - box.left, e.clientY - box.top));
		},
		onPointerCancel: () => {
			drag.current = undefined;
		},
		wheel: (e: WheelEvent) => {
			if (!e.ctrlKey && !e.metaKey) return;
			e.preventDefault();
			const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
			const at = t.look.current.view.from + (e.clientX - box.left - t.names) * unit();
			t.set({ view: zoomed(t.look.current.view, Math.exp(e.deltaY / 300), at, t.whole) });
		},
	};
}

type Pad = ReturnType<typeof useTimeline>;

const zoom = (t: Pad, factor: number) => {
	const { from, to } = t.look.current.view;
	t.set({ view: zoomed(t.look.current.view, factor, (from + to) / 2, t.whole) });
};
const showAll = (t: Pad) => t.set({ view: { from: 0, to: t.whole }, top: 0 });

function onKey(t: Pad, e: KeyboardEvent): void {
	const v = t.look.current.view;
	const step = (v.to - v.from) / 8;
	const keys: Record<string, () => void> = {
		ArrowLeft: () => t.set({ view: panned(v, -step, t.whole) }),
		ArrowRight: () => t.set({ view: panned(v, step, t.whole) }),
		ArrowUp: () => t.set({ top: t.look.current.top - 60 }),
		ArrowDown: () => t.set({ top: t.look.current.top + 60 }),
		"+": () => zoom(t, 0.7),
		"=": () => zoom(t, 0.7),
		"-": () => zoom(t, 1 / 0.7),
		Escape: () => showAll(t),
	};
	const act = keys[e.key];
	if (!act) return;
	e.preventDefault();
	act();
}

function HitDetail({ hit, lanes, job }: { hit: Hit | undefined; lanes: Lanes; job: string }) {
	if (!hit) return <p class="meta">Choose a span, a mark or a place in a curve to see more.</p>;
	const time = Math.round(lanes.start_unix_ms + (hit.span?.from ?? hit.at) / 1000);
	return (
		<p>
			<b>{hit.span?.name ?? hit.row.title}</b>{" "}
			{hit.row.kind === "counter" ? valueText(hit.row, valueAt(hit.row, hit.at), hit.at) : ""}
			{hit.span && hit.span.to > hit.span.from ? duration((hit.span.to - hit.span.from) / 1000) : ""}
			<br />
			<small>{hit.span?.text}</small>{" "}
			{lanes.start_unix_ms > 0 && <a href={link(["job", job, "at", time])}>the job at {clock(time)}</a>}
		</p>
	);
}

function TimelineView({ base, job, thinned }: { base: Lanes; job: string; thinned: boolean }) {
	const [box, width] = useWidth<HTMLDivElement>();
	const [hit, setHit] = useState<Hit>();
	const [settled, setSettled] = useState<View>({ from: 0, to: base.to - base.from });
	const lanes = useNear(base, job, thinned, settled);
	const natural = lanes.rows.reduce((sum, r) => sum + HEIGHTS[r.kind], AXIS_PX);
	const height = Math.min(natural, Math.max(260, Math.round(innerHeight * 0.66)));
	const t = useTimeline(lanes, width, height, hit, setSettled);
	const { wheel, ...mouse } = useDrag(t, width, setHit);
	useWheel(t.canvas, wheel);
	return (
		<>
			<div class="tools">
				<ZoomButtons onZoom={(factor) => zoom(t, factor)} onAll={() => showAll(t)} />
				<small class="hint">drag to move · Ctrl and wheel to zoom · arrows, + −, Esc</small>
			</div>
			<div ref={box}>
				<canvas
					ref={t.canvas}
					class="flamecanvas"
					style={{ height: `${height}px` }}
					tabIndex={0}
					role="application"
					aria-label={`Timeline with ${lanes.rows.length} rows`}
					data-near={lanes === base ? undefined : ""}
					onKeyDown={(e) => onKey(t, e)}
					{...mouse}
				/>
			</div>
			<div class="flamedetail" aria-live="polite">
				<HitDetail hit={hit} lanes={lanes} job={job} />
			</div>
		</>
	);
}

/** What the picture does not show yet: how long it goes on, by the rank that is behind. */
function Ahead({ job }: { job: Job }) {
	const now = useNow();
	const steps = job.steps ?? [];
	if (steps.length === 0 || !goes(job)) return null;
	const behind = steps.reduce((a, b) => (b.step < a.step ? b : a));
	const left = timeLeft(behind.step, behind.total, behind.per_s);
	if (left === undefined) return null;
	return (
		<p class="ahead">
			<b>{duration(left)} left</b> <small>· done about {clock(now + left, now)}</small>
		</p>
	);
}

export default function TimelinePage(_: { route: Route; me?: Me }) {
	const { job } = useJob();
	const load = useLoad<Trace>(jobPath(job.id, "timeline"), { points: POINTS });
	const lanes = useMemo(() => (load.data ? lanesOf(load.data) : undefined), [load.data]);
	const { left_out: leftOut = 0, samples = 0 } = load.data?.otherData ?? {};
	return (
		<Card
			title="Timeline"
			side={
				<a class="button" href={apiUrl(jobPath(job.id, "timeline"))} download={`${job.id}.trace.json`}>
					Download for Perfetto
				</a>
			}>
			<Show of={load} what="Timeline">
				{() =>
					lanes && lanes.rows.length > 0 ? (
						<>
							<Ahead job={job} />
							{leftOut > 0 && (
								<p class="notice">
									{leftOut === 1
										? "An event or short-lived process has"
										: `${count(leftOut)} events and short-lived processes have`}{" "}
									no room in the whole; all are shown where one looks more closely, and are in the file.
								</p>
							)}
							<TimelineView base={lanes} job={job.id} thinned={leftOut > 0 || samples > POINTS} />
						</>
					) : (
						<Empty>Nothing was recorded of this job yet.</Empty>
					)
				}
			</Show>
		</Card>
	);
}
