// The flame graph in the page: pan, zoom, search, and the same by keyboard; below it the heaviest functions as a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bytes, duration, percent } from "../format";
import { useThemeTurn, useWidth } from "../hooks";
import { useWheel, ZoomButtons } from "../ui/pad";
import { change, colors, drawFlame, frameHues, makeRaster, ROW_PX, type Look, type Raster } from "./draw";
import { layout, neighbour, nodeAt, panned, zoomed, type Direction, type Layout, type View } from "./layout";
import { heaviest, type FunctionRow, type Tree } from "./model";

/** Of two recordings shares are told, as in the boxes: they lasted as long as they lasted. */
const share = (part: number, whole: number) => `${((100 * part) / (whole || 1)).toFixed(1)} %`;
const points = (by: number) => `${by < 0 ? "−" : "+"}${Math.abs(by * 100).toFixed(1)} %`;
const amount = (tree: Tree, n: number) => (tree.unit === "bytes" ? bytes(n) : duration(n / 1e6));
const ARROWS: Record<string, Direction> = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };

interface Pad {
	l: Layout;
	look: Look;
	draw: () => void;
	set: (change: Partial<Look>) => void;
}

/** What is looked at lives outside of the components: panning draws, and renders nothing. */
function usePad(
	l: Layout,
	width: number,
	height: number,
	found: Uint8Array | undefined,
	onChoose: (node: number | undefined) => void,
) {
	const canvas = useRef<HTMLCanvasElement>(null);
	const turn = useThemeTurn();
	const whole = l.w[0]! || 1;
	const look = useRef<Look>({ view: { from: 0, to: whole }, top: 0, chosen: undefined, found });
	const frame = useRef(0);
	const raster = useRef<Raster | undefined>(undefined);
	const fits = useRef("");
	look.current.found = found;
	const palette = useMemo(() => colors(), [turn]);
	const hues = useMemo(() => frameHues(l, palette.box.length), [l]);
	const draw = () => {
		cancelAnimationFrame(frame.current);
		frame.current = requestAnimationFrame(() => {
			const element = canvas.current;
			if (!element || width === 0) return;
			const ratio = devicePixelRatio || 1;
			const pixels = raster.current;
			if (
				!pixels ||
				element.width !== pixels.image.width ||
				element.height !== pixels.image.height ||
				pixels.ratio !== ratio ||
				fits.current !== `${width} ${height}`
			) {
				raster.current = makeRaster(width, height, ratio);
				fits.current = `${width} ${height}`;
				element.width = raster.current.image.width;
				element.height = raster.current.image.height;
			}
			const ctx = element.getContext("2d", { alpha: false })!;
			const begin = performance.now();
			element.dataset["drawn"] = String(drawFlame(ctx, raster.current!, l, look.current, palette, hues));
			element.dataset["ms"] = (performance.now() - begin).toFixed(1);
		});
	};
	const pad: Pad = {
		l,
		look: look.current,
		draw,
		set: (change) => {
			const most = Math.max(0, l.rows.length * ROW_PX - height);
			Object.assign(look.current, change);
			look.current.top = Math.max(0, Math.min(most, look.current.top));
			if ("chosen" in change) onChoose(change.chosen);
			draw();
		},
	};
	useEffect(() => {
		look.current.view = { from: 0, to: whole };
		look.current.chosen = undefined;
		look.current.top = 0;
	}, [l]);
	useEffect(draw, [l, width, height, palette, found]);
	return { canvas, pad, whole };
}

function zoomTo(pad: Pad, node: number): void {
	const { l } = pad;
	pad.set({
		chosen: node,
		view: { from: l.x[node]!, to: l.x[node]! + l.w[node]! },
		top: Math.min(pad.look.top, l.depth[node]! * ROW_PX),
	});
}

/** Brings a node into view that the keyboard went to. */
function reveal(pad: Pad, node: number, height: number): void {
	const { l, look } = pad;
	const y = l.depth[node]! * ROW_PX;
	const top = y < look.top ? y : y + ROW_PX > look.top + height ? y + ROW_PX - height : look.top;
	const x = l.x[node]!;
	const inside = x + l.w[node]! > look.view.from && x < look.view.to;
	const width = look.view.to - look.view.from;
	const view: View = inside ? look.view : { from: x, to: x + Math.max(width, l.w[node]!) };
	pad.set({ chosen: node, top, view });
}

function useMouse(pad: Pad, width: number, whole: number) {
	const drag = useRef<{ x: number; y: number; moved: boolean } | undefined>(undefined);
	const unit = () => (pad.look.view.to - pad.look.view.from) / Math.max(1, width);
	const at = (e: PointerEvent | WheelEvent) => {
		const box = (e.currentTarget as HTMLElement).getBoundingClientRect();
		return { x: e.clientX - box.left, y: e.clientY - box.top };
	};
	return {
		onPointerDown: (e: PointerEvent) => {
			drag.current = { x: e.clientX, y: e.clientY, moved: false };
			(e.currentTarget as HTMLElement).setPointerCapture(e.pointerId);
		},
		onPointerMove: (e: PointerEvent) => {
			const d = drag.current;
			if (!d) return;
			const dx = e.clientX - d.x;
			const dy = e.clientY - d.y;
			if (!d.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
			drag.current = { x: e.clientX, y: e.clientY, moved: true };
			pad.set({ view: panned(pad.look.view, -dx * unit(), whole), top: pad.look.top - dy });
		},
		onPointerUp: (e: PointerEvent) => {
			const moved = drag.current?.moved;
			drag.current = undefined;
			if (moved) return;
			const p = at(e);
			const node = nodeAt(pad.l, Math.floor((p.y + pad.look.top) / ROW_PX), pad.look.view.from + p.x * unit());
			if (node === undefined) return;
			if (node === pad.look.chosen) zoomTo(pad, node);
			else pad.set({ chosen: node });
		},
		onPointerCancel: () => {
			drag.current = undefined;
		},
		onWheel: (e: WheelEvent) => {
			if (!e.ctrlKey && !e.metaKey && !e.shiftKey && Math.abs(e.deltaX) < Math.abs(e.deltaY)) return;
			e.preventDefault();
			const around = pad.look.view.from + at(e).x * unit();
			if (e.ctrlKey || e.metaKey)
				pad.set({ view: zoomed(pad.look.view, Math.exp(e.deltaY / 300), around, whole) });
			else pad.set({ view: panned(pad.look.view, (e.deltaX || e.deltaY) * unit(), whole) });
		},
	};
}

function keysOf(pad: Pad, whole: number, height: number) {
	return (e: KeyboardEvent) => {
		const { view, chosen } = pad.look;
		const middle = (view.from + view.to) / 2;
		const arrow = ARROWS[e.key];
		if (arrow) reveal(pad, chosen === undefined ? 0 : neighbour(pad.l, chosen, arrow), height);
		else if (e.key === "Enter" && chosen !== undefined) zoomTo(pad, chosen);
		else if (e.key === "+" || e.key === "=") pad.set({ view: zoomed(view, 0.7, middle, whole) });
		else if (e.key === "-") pad.set({ view: zoomed(view, 1 / 0.7, middle, whole) });
		else if (e.key === "Escape" || e.key === "0") pad.set({ view: { from: 0, to: whole }, top: 0 });
		else return;
		e.preventDefault();
	};
}

function Detail({ tree, l, node }: { tree: Tree; l: Layout; node: number | undefined }) {
	if (node === undefined)
		return (
			<p class="meta" aria-live="polite">
				Choose a box to see what it is; choose it again to zoom. Ctrl and the wheel zoom, dragging moves. Keys:
				arrows, Enter, + −, Esc.
			</p>
		);
	const f = tree.frames[tree.frame[node]!]!;
	const by = change(l, node);
	return (
		<p class="flamedetail" aria-live="polite">
			<b>{f.name}</b> {f.where} <small>{f.kind}</small>
			<br />
			{amount(tree, tree.total[node]!)} ({percent(tree.total[node]! / (tree.total[0]! || 1))}) · own{" "}
			{amount(tree, tree.self[node]!)}
			{tree.before && (
				<>
					{" "}
					· before {amount(tree, tree.before[node]!)} ({share(tree.before[node]!, tree.before[0]!)}) · {points(by)} of
					the whole
				</>
			)}
		</p>
	);
}

function FunctionLine({ tree, row, onPick }: { tree: Tree; row: FunctionRow; onPick: (name: string) => void }) {
	const f = tree.frames[row.frame]!;
	const now = row.self / (tree.total[0]! || 1);
	const then = (row.before ?? 0) / (tree.before?.[0] || 1);
	return (
		<tr>
			<td>
				<button type="button" class="plain" onClick={() => onPick(f.name)}>
					{f.name}
				</button>{" "}
				<small>{f.where}</small>
			</td>
			{row.before !== undefined && (
				<td class="num" title={amount(tree, row.before)}>
					{share(then, 1)}
				</td>
			)}
			<td class="num" title={amount(tree, row.self)}>
				{row.before === undefined ? amount(tree, row.self) : share(now, 1)}
			</td>
			<td class="num">{row.before === undefined ? amount(tree, row.total) : points(now - then)}</td>
		</tr>
	);
}

function Functions({ tree, onPick }: { tree: Tree; onPick: (name: string) => void }) {
	const rows = useMemo(() => (tree.parent.length > 300_000 ? [] : heaviest(tree, 25)), [tree]);
	if (rows.length === 0) return null;
	const differs = tree.before !== undefined;
	return (
		<details class="functions" open={tree.parent.length < 2000}>
			<summary>{differs ? "What changed most, as a table" : "Heaviest functions, as a table"}</summary>
			<div class="scroll">
				<table class="plain-table">
					<thead>
						<tr>
							<th>function</th>
							{differs && <th class="num">own, before</th>}
							<th class="num">{differs ? "own, after" : "own"}</th>
							<th class="num">{differs ? "change" : "with what it calls"}</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((r) => (
							<FunctionLine key={r.frame} tree={tree} row={r} onPick={onPick} />
						))}
					</tbody>
				</table>
			</div>
		</details>
	);
}

/** 1 for each frame whose name or place has the text in it. */
export function searchFrames(tree: Tree, text: string): Uint8Array | undefined {
	const needle = text.trim().toLowerCase();
	if (needle === "") return undefined;
	return Uint8Array.from(tree.frames, (f) =>
		f.name.toLowerCase().includes(needle) || f.where.toLowerCase().includes(needle) ? 1 : 0,
	);
}

function Signs() {
	return (
		<p class="legend">
			<span>
				<i class="swatch grown" /> + more than before
			</span>
			<span>
				<i class="swatch shrunk" /> − less than before
			</span>
		</p>
	);
}

interface ToolProps {
	pad: Pad;
	whole: number;
	search: string;
	onSearch: (text: string) => void;
	found: Uint8Array | undefined;
	chosen: number | undefined;
}

function Tools({ pad, whole, search, onSearch, found, chosen }: ToolProps) {
	const middle = () => (pad.look.view.from + pad.look.view.to) / 2;
	return (
		<div class="tools">
			<input
				type="search"
				aria-label="Search functions"
				placeholder="Search functions"
				value={search}
				onInput={(e) => onSearch(e.currentTarget.value)}
			/>
			<span class="meta" role="status">
				{found ? `${found.reduce((n, v) => n + v, 0)} functions` : ""}
			</span>
			<ZoomButtons
				onZoom={(factor) => pad.set({ view: zoomed(pad.look.view, factor, middle(), whole) })}
				onAll={() => pad.set({ view: { from: 0, to: whole }, top: 0 })}
			/>
			{chosen !== undefined && (
				<button type="button" onClick={() => zoomTo(pad, chosen)}>
					Zoom to it
				</button>
			)}
		</div>
	);
}

export function FlameView({ tree }: { tree: Tree }) {
	const l = useMemo(() => layout(tree), [tree]);
	const [box, width] = useWidth<HTMLDivElement>();
	const [search, setSearch] = useState("");
	const [chosen, setChosen] = useState<number>();
	const found = useMemo(() => searchFrames(tree, search), [tree, search]);
	const room = Math.max(240, Math.round(innerHeight * 0.62));
	const height = Math.min(Math.max(6, l.rows.length) * ROW_PX, room);
	const { canvas, pad, whole } = usePad(l, width, height, found, setChosen);
	const { onWheel, ...mouse } = useMouse(pad, width, whole);
	useWheel(canvas, onWheel);
	const onKey = keysOf(pad, whole, height);
	return (
		<div class="flame">
			<Tools pad={pad} whole={whole} search={search} onSearch={setSearch} found={found} chosen={chosen} />
			{tree.before && <Signs />}
			<div ref={box}>
				<canvas
					ref={canvas}
					class="flamecanvas"
					style={{ height: `${height}px` }}
					tabIndex={0}
					role="application"
					aria-label={`Flame graph of ${tree.title}, ${tree.parent.length - 1} boxes; arrow keys move`}
					onKeyDown={onKey}
					{...mouse}
				/>
			</div>
			<Detail tree={tree} l={l} node={chosen} />
			<Functions tree={tree} onPick={setSearch} />
		</div>
	);
}
