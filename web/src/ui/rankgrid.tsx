// All ranks as cells: colour, letter and border say the state; one tab stop, arrow keys inside.
import { Component, type RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { LARGE_CELLS } from "../ahead";
import { bytes, bytesPerS, count, endedWords, percent, rate } from "../format";
import { link } from "../route";
import type { Rank } from "../types";
import { Bar, Empty, Facts } from "./parts";

const STATES: Record<string, [string, string]> = {
	running: ["R", "running"],
	working: ["R", "working"],
	waiting: ["w", "waiting"],
	stopped: ["S", "stopped"],
	ended: ["e", "ended"],
	failed: ["X", "ended badly"],
	told: ["v", "ended by vigil"],
	unknown: ["·", "unknown"],
};

export function stateOf(rank: Rank): string {
	if (rank.state === "ended" && (rank.signal || rank.exit_code)) return rank.ended_for ? "told" : "failed";
	return rank.state !== undefined && rank.state in STATES ? rank.state : "unknown";
}

export const stateWord = (rank: Rank) =>
	(stateOf(rank) === "told" && endedWords(rank.ended_for)) || STATES[stateOf(rank)]![1];

/** What has no rank is called by its process. */
const rankName = (rank: Rank) => (rank.rank < 0 ? `${-rank.rank}` : `${rank.rank}`);

const wordOf = (rank: Rank) => `${rank.culprit ? "culprit, " : ""}${stateWord(rank)}`;
const classOf = (rank: Rank) => `cell ${stateOf(rank)}${rank.culprit ? " culprit" : ""}`;

interface CellProps {
	rank: Rank;
	chosen: boolean;
	most: number;
	onPick: (rank: number) => void;
}

/** Drawn again only when its rank changed. */
class Cell extends Component<CellProps> {
	override shouldComponentUpdate(next: CellProps): boolean {
		const now = this.props;
		return next.rank !== now.rank || next.chosen !== now.chosen || next.most !== now.most;
	}

	override render({ rank, chosen, most, onPick }: CellProps) {
		const width = `${most > 0 ? ((rank.own_bytes ?? 0) / most) * 100 : 0}%`;
		return (
			<div
				id={`rank-${rank.rank}`}
				role="option"
				aria-selected={chosen}
				class={classOf(rank)}
				onClick={() => onPick(rank.rank)}>
				<b>{rankName(rank)}</b>
				<i class="letter" aria-hidden="true">
					{rank.culprit ? "⚑" : STATES[stateOf(rank)]![0]}
				</i>
				<span>{rank.own_bytes === undefined ? "\u00a0" : bytes(rank.own_bytes)}</span>
				<span class="hidden">{wordOf(rank)}</span>
				<u style={{ width }} />
			</div>
		);
	}
}

/** A small cell is one element without text. The letters of all are one text of the list, as a thousand take twice the time. */
function dress(cell: HTMLElement, rank: Rank): void {
	const id = `rank-${rank.rank}`;
	const look = classOf(rank);
	const label = `rank ${rankName(rank)}: ${wordOf(rank)}`;
	if (cell.id !== id) cell.id = id;
	if (cell.className !== look) cell.className = look;
	if (cell.ariaLabel !== label) cell.ariaLabel = label;
}

/** Of characters that a fixed-width font has; the flag of a culprit, which it may lack, is a text of its cell. */
const letterOf = (rank: Rank) => (rank.culprit ? "\u00a0" : STATES[stateOf(rank)]![0]);

function smallCells(ranks: Rank[]): DocumentFragment {
	const all = document.createDocumentFragment();
	const pattern = document.createElement("div");
	pattern.role = "option";
	pattern.ariaSelected = "false";
	for (const rank of ranks) {
		const cell = pattern.cloneNode() as HTMLElement;
		dress(cell, rank);
		all.append(cell);
	}
	return all;
}

/** What style.css gives a small cell: from one to the next, and the padding of their list. */
const [STEP_X, STEP_Y, PADDING] = [19, 21, 3];
const columnsIn = (width: number) => Math.max(1, Math.floor((width - 2 * PADDING + 2) / STEP_X));
/** The outline of a cell, from the left end of its upper edge. */
const OUTLINE = "h10q3 0 3 3v12q0 3-3 3h-10q-3 0-3-3v-12q0-3 3-3z";
const SVG = "http://www.w3.org/2000/svg";

/**
 * The cells as one drawing with a path for each look: a thousand elements take as long as all else from the click to the paint.
 * It is what is painted first, and stands until the cells do.
 */
function pictureOf(ranks: Rank[], columns: number): SVGSVGElement {
	const paths = new Map<string, string[]>();
	for (const [i, rank] of ranks.entries()) {
		const look = classOf(rank);
		const path = paths.get(look) ?? [];
		if (path.length === 0) paths.set(look, path);
		path.push(`M${(i % columns) * STEP_X + 3.5} ${Math.floor(i / columns) * STEP_Y + 0.5}${OUTLINE}`);
	}
	const svg = document.createElementNS(SVG, "svg");
	svg.setAttribute("class", "picture");
	svg.setAttribute("width", `${columns * STEP_X - 2}`);
	svg.setAttribute("height", `${Math.ceil(ranks.length / columns) * STEP_Y - 2}`);
	for (const [look, path] of paths) {
		const drawn = document.createElementNS(SVG, "path");
		drawn.setAttribute("class", look);
		drawn.setAttribute("d", path.join(""));
		svg.append(drawn);
	}
	return svg;
}

/** True once the picture of the cells was painted. */
function usePainted(on: boolean): boolean {
	const [painted, setPainted] = useState(false);
	useEffect(() => {
		if (!on || painted) return;
		let timer: ReturnType<typeof setTimeout> | undefined;
		const frame = requestAnimationFrame(() => {
			timer = setTimeout(() => setPainted(true));
		});
		return () => {
			cancelAnimationFrame(frame);
			clearTimeout(timer);
		};
	}, [on, painted]);
	return painted;
}

/**
 * A thousand cells are no components: to make and compare those takes longer than to draw the page. Of cells that are there
 * only those are touched whose rank has changed.
 */
function useSmallCells(list: RefObject<HTMLElement | null>, ranks: Rank[], chosen: number | undefined, on: boolean): boolean {
	const shown = useRef<Rank[]>([]);
	const painted = usePainted(on);
	useLayoutEffect(() => {
		const box = list.current;
		if (!on || !box) return;
		const was = box.childElementCount === ranks.length ? shown.current : [];
		if (!painted) box.replaceChildren(pictureOf(ranks, columnsIn(box.clientWidth)));
		else if (ranks.some((r, i) => r.rank !== was[i]?.rank)) box.replaceChildren(smallCells(ranks));
		else for (const [i, r] of ranks.entries()) if (r !== was[i]) dress(box.children[i] as HTMLElement, r);
		const letters = ranks.map(letterOf).join("");
		if (box.dataset["letters"] !== letters) box.dataset["letters"] = letters;
		shown.current = painted ? ranks : [];
	}, [ranks, on, painted]);
	useLayoutEffect(() => {
		if (!on) return;
		for (const cell of list.current?.querySelectorAll<HTMLElement>("[aria-selected=true]") ?? [])
			cell.ariaSelected = "false";
		const cell = chosen === undefined ? null : document.getElementById(`rank-${chosen}`);
		if (cell) cell.ariaSelected = "true";
	}, [ranks, chosen, on, painted]);
	return painted;
}

function move(key: string, at: number, length: number, columns: number): number | undefined {
	const to: Record<string, number> = {
		ArrowRight: at + 1,
		ArrowLeft: at - 1,
		ArrowDown: at + columns,
		ArrowUp: at - columns,
		Home: 0,
		End: length - 1,
	};
	const next = to[key];
	return next === undefined ? undefined : Math.max(0, Math.min(length - 1, next));
}

function columnsOf(list: HTMLElement): number {
	const first = list.firstElementChild as HTMLElement | null;
	if (!first) return 1;
	let columns = 0;
	for (const child of list.children) {
		if ((child as HTMLElement).offsetTop !== first.offsetTop) break;
		columns++;
	}
	return Math.max(1, columns);
}

/** Without ranks, what is told is of all processes of the job. */
const ownWord = (rank: Rank) =>
	rank.main_only ? "own memory, main process" : rank.rank < 0 ? "own memory, all processes" : "own memory";

export function RankFacts({ rank, job, goes, gone }: { rank: Rank; job: string; goes: boolean; gone: boolean }) {
	const exit = rank.signal
		? `signal ${rank.signal}`
		: rank.exit_code !== undefined
			? `exit status ${rank.exit_code}`
			: undefined;
	return (
		<div class="rankfacts" aria-live="polite">
			<h3>
				{rank.culprit ? "⚑ " : ""}
				{rank.rank < 0 ? "Process" : "Rank"} {rankName(rank)}: {stateWord(rank)}
				{exit ? ` (${exit})` : ""}
			</h3>
			<Facts
				items={[
					[ownWord(rank), bytes(rank.own_bytes)],
					["shared", bytes(rank.shared_bytes)],
					["CPU", percent(rank.cpu_ratio)],
					[
						"GPU",
						rank.gpu
							?.map((g) => `${g.index}: busy ${percent(g.busy_ratio)}, ${bytes(g.memory_bytes)} (${percent(g.used_ratio)})`)
							.join("; ") || undefined,
					],
					[
						"step",
						rank.step === undefined
							? undefined
							: `${count(rank.step)}${rank.total ? ` of ${count(rank.total)}` : ""}`,
					],
					["rate", goes && rank.per_s !== undefined ? rate(rank.per_s) : undefined],
					["reads", rank.read_bytes_per_s ? bytesPerS(rank.read_bytes_per_s) : undefined],
					["writes", rank.write_bytes_per_s ? bytesPerS(rank.write_bytes_per_s) : undefined],
					[
						"process",
						rank.pid === undefined ? undefined : (
							<a href={link(["job", job, "process", rank.pid])}>{rank.pid}</a>
						),
					],
					["node", rank.node],
				]}
			/>
			{rank.total !== undefined && rank.step !== undefined && (
				<Bar ratio={rank.step / rank.total} label={`step ${rank.step} of ${rank.total}`} />
			)}
			<p class="actions">
				{rank.pid !== undefined && !gone && !["ended", "failed", "told"].includes(stateOf(rank)) && (
					<a class="button" href={link(["job", job, "process", rank.pid])}>
						Stack, flame graph, heap
					</a>
				)}
				<a class="button" href={link(["job", job, "logs"], rank.rank < 0 ? {} : { rank: rank.rank })}>
					Log
				</a>
			</p>
			{gone && (
				<p class="meta">
					This process has ended since: its stack and its memory can be looked into no more. What was kept then is
					in reports and <a href={link(["job", job, "profiles"])}>profiles</a>.
				</p>
			)}
		</div>
	);
}

function Legend({ ranks }: { ranks: Rank[] }) {
	const counts = new Map<string, number>();
	for (const rank of ranks) if (!rank.culprit) counts.set(stateOf(rank), (counts.get(stateOf(rank)) ?? 0) + 1);
	const culprits = ranks.filter((r) => r.culprit).length;
	return (
		<p class="legend">
			{culprits > 0 && (
				<span>
					<i class="cell culprit mini">⚑</i> culprit {culprits}
				</span>
			)}
			{[...counts].map(([state, n]) => (
				<span key={state}>
					<i class={`cell mini ${state}`}>{STATES[state]![0]}</i> {STATES[state]![1]} {n}
				</span>
			))}
		</p>
	);
}

interface GridProps {
	ranks: Rank[];
	job: string;
	/** rates of the last minute hold */
	goes?: boolean;
	/** of a moment: who ran then and has ended since */
	gone?: (rank: Rank) => boolean;
}

export function RankGrid({ ranks, job, goes = true, gone = () => false }: GridProps) {
	const [chosen, setChosen] = useState<number>();
	const list = useRef<HTMLDivElement>(null);
	const small = ranks.length > LARGE_CELLS;
	const culprit = ranks.find((r) => r.culprit)?.rank;
	const at = chosen ?? culprit ?? (ranks.length === 1 ? ranks[0]!.rank : undefined);
	const rank = ranks.find((r) => r.rank === at);
	const most = small ? 0 : ranks.reduce((max, r) => Math.max(max, r.own_bytes ?? 0), 0);
	const painted = useSmallCells(list, ranks, at, small);
	useEffect(() => {
		if (culprit === undefined) return;
		// In a frame, because the layout that it asks for is then the one that is painted.
		const frame = requestAnimationFrame(() => {
			const box = list.current;
			const cell = document.getElementById(`rank-${culprit}`);
			if (!box) return;
			const row = Math.floor(ranks.findIndex((r) => r.rank === culprit) / columnsIn(box.clientWidth));
			box.scrollTop = (cell ? cell.offsetTop : row * STEP_Y) - box.clientHeight / 2;
		});
		return () => cancelAnimationFrame(frame);
	}, [culprit, painted]);
	useEffect(() => {
		if (chosen !== undefined) document.getElementById(`rank-${chosen}`)?.scrollIntoView({ block: "nearest" });
	}, [chosen]);
	if (ranks.length === 0) return <Empty>This job has no ranks that vigil knows.</Empty>;
	const onKey = (event: KeyboardEvent) => {
		const index = Math.max(
			0,
			ranks.findIndex((r) => r.rank === at),
		);
		const next = move(event.key, index, ranks.length, columnsOf(list.current!));
		if (next === undefined) return;
		event.preventDefault();
		setChosen(ranks[next]!.rank);
	};
	const onClick = (event: MouseEvent) => {
		const id = (event.target as HTMLElement).id;
		if (small && id.startsWith("rank-")) setChosen(Number(id.slice(5)));
	};
	return (
		<>
			<Legend ranks={ranks} />
			<div
				key={small ? "small" : "large"}
				class={`ranks ${small ? "small" : ranks[0]!.rank < 0 ? "pids" : ""}`}
				role="listbox"
				tabIndex={0}
				ref={list}
				aria-label={`${ranks.length} ranks`}
				onKeyDown={onKey}
				onClick={onClick}
				{...(at !== undefined ? { "aria-activedescendant": `rank-${at}` } : {})}>
				{!small &&
					ranks.map((r) => (
						<Cell key={r.rank} rank={r} chosen={r.rank === at} most={most} onPick={setChosen} />
					))}
			</div>
			{small && ranks.some((r) => r.main_only) && (
				<p class="meta">
					Memory with workers, and rates, are kept of 64 ranks; of the others the memory of the main process is shown.
				</p>
			)}
			{rank ? <RankFacts rank={rank} job={job} goes={goes} gone={gone(rank)} /> : <p class="meta">Choose a rank to see more of it.</p>}
		</>
	);
}
