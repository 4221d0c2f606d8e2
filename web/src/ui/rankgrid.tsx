// All ranks as cells: colour, letter and border say the state; one tab stop, arrow keys inside.
import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { bytes, bytesPerS, count, decimal, percent } from "../format";
import { link } from "../route";
import type { Rank } from "../types";
import { Bar, Empty, Facts } from "./parts";

const STATES: Record<string, [string, string]> = {
	running: ["R", "running"],
	working: ["R", "working"],
	waiting: ["w", "waiting for another"],
	stopped: ["S", "stopped"],
	ended: ["e", "ended"],
	failed: ["✕", "ended badly"],
	unknown: ["·", "unknown"],
};

export function stateOf(rank: Rank): string {
	if (rank.state === "ended" && (rank.signal || rank.exit_code)) return "failed";
	return rank.state !== undefined && rank.state in STATES ? rank.state : "unknown";
}

export const stateWord = (rank: Rank) => STATES[stateOf(rank)]![1];

/** What has no rank is called by its process. */
const rankName = (rank: Rank) => (rank.rank < 0 ? `${-rank.rank}` : `${rank.rank}`);

interface CellProps {
	rank: Rank;
	small: boolean;
	chosen: boolean;
	most: number;
	onPick: (rank: number) => void;
}

/** Drawn again only when its rank changed: of 1,000 cells a second changes few. */
class Cell extends Component<CellProps> {
	override shouldComponentUpdate(next: CellProps): boolean {
		const now = this.props;
		return (
			next.rank !== now.rank || next.small !== now.small || next.chosen !== now.chosen || next.most !== now.most
		);
	}

	override render({ rank, small, chosen, most, onPick }: CellProps) {
		const state = stateOf(rank);
		const word = `${rank.culprit ? "culprit, " : ""}${STATES[state]![1]}`;
		const shared = {
			id: `rank-${rank.rank}`,
			role: "option" as const,
			"aria-selected": chosen,
			class: `cell ${state} ${rank.culprit ? "culprit" : ""}`,
		};
		// A small cell is one element without text: its letter comes from the style sheet.
		if (small) return <div {...shared} aria-label={`rank ${rankName(rank)}: ${word}`} />;
		const width = `${most > 0 ? ((rank.own_bytes ?? 0) / most) * 100 : 0}%`;
		return (
			<div {...shared} onClick={() => onPick(rank.rank)}>
				<b>{rankName(rank)}</b>
				<i class="letter" aria-hidden="true">
					{rank.culprit ? "⚑" : STATES[state]![0]}
				</i>
				<span>{bytes(rank.own_bytes)}</span>
				<span class="hidden">{word}</span>
				<u style={{ width }} />
			</div>
		);
	}
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

export function RankFacts({ rank, job }: { rank: Rank; job: string }) {
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
					[rank.main_only ? "own memory, main process" : "own memory", bytes(rank.own_bytes)],
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
					["steps/s", rank.per_s === undefined ? undefined : decimal(rank.per_s)],
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
				{rank.pid !== undefined && (
					<a class="button" href={link(["job", job, "process", rank.pid])}>
						Stack, flame graph, heap
					</a>
				)}
				<a class="button" href={link(["job", job, "logs"], rank.rank < 0 ? {} : { rank: rank.rank })}>
					Log
				</a>
			</p>
		</div>
	);
}

function Legend({ ranks }: { ranks: Rank[] }) {
	const counts = new Map<string, number>();
	for (const rank of ranks) counts.set(stateOf(rank), (counts.get(stateOf(rank)) ?? 0) + 1);
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

export function RankGrid({ ranks, job }: { ranks: Rank[]; job: string }) {
	const [chosen, setChosen] = useState<number>();
	const list = useRef<HTMLDivElement>(null);
	const small = ranks.length > 64;
	const culprit = ranks.find((r) => r.culprit)?.rank;
	const at = chosen ?? culprit;
	const rank = ranks.find((r) => r.rank === at);
	const most = small ? 0 : ranks.reduce((max, r) => Math.max(max, r.own_bytes ?? 0), 0);
	useEffect(() => {
		const box = list.current;
		const cell = culprit === undefined ? null : document.getElementById(`rank-${culprit}`);
		if (box && cell) box.scrollTop = cell.offsetTop - box.clientHeight / 2;
	}, [culprit]);
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
			{small && ranks.some((r) => r.main_only) && (
				<p class="meta">
					Memory with workers, and rates, are kept of 64 ranks; of the others the memory of the main process is shown.
				</p>
			)}
			<div
				class={`ranks ${small ? "small" : ""}`}
				role="listbox"
				tabIndex={0}
				ref={list}
				aria-label={`${ranks.length} ranks`}
				onKeyDown={onKey}
				onClick={onClick}
				{...(at !== undefined ? { "aria-activedescendant": `rank-${at}` } : {})}>
				{ranks.map((r) => (
					<Cell key={r.rank} rank={r} small={small} chosen={r.rank === at} most={most} onPick={setChosen} />
				))}
			</div>
			{rank ? <RankFacts rank={rank} job={job} /> : <p class="meta">Choose a rank to see more of it.</p>}
		</>
	);
}
