// Stacks of many ranks: those with the same stack are one group. Culprits come first, then the smallest: it is the odd one out.
import { rankList } from "../format";
import type { Frame, StackGroup, Stacks, StackThread } from "../types";
import { Empty, Frames } from "./parts";

export interface Group {
	ranks: string;
	count: number;
	activity: string;
	unchanged?: boolean;
	frames: Frame[];
}

const frameKey = (f: Frame) => `${f.name}\0${f.file}\0${f.line}`;

/** The main thread, and those others of its process that it waits for. */
function threadsOf(process: Stacks["processes"][number]): StackThread[] {
	const threads = process.threads ?? [];
	const main = threads.find((t) => t.main) ?? threads[0];
	const all = main ? [main] : [];
	for (const t of all)
		for (const { to } of t.waits_for?.to ?? []) {
			const next = to.pid === process.pid && threads.find((other) => other.tid === to.tid);
			if (next && !all.includes(next) && all.length < 16) all.push(next);
		}
	return all;
}

/** Main threads of the ranks' main processes by stack, and the threads that those wait for. */
export function groupStacks(stacks: Stacks, culprits: number[] = []): Group[] {
	const groups = new Map<string, { ranks: number[]; names: string[]; activity: string; frames: Frame[] }>();
	for (const process of stacks.processes) {
		if (process.role !== undefined && process.role !== "main") continue;
		threadsOf(process).forEach((thread, i) => {
			const frames = thread.frames ?? [];
			const name = i > 0 ? `${thread.name ?? ""} (thread ${thread.tid})` : "";
			const key = [i > 0 ? thread.name : "", ...frames.map(frameKey)].join("\n");
			const group = groups.get(key) ?? {
				ranks: [],
				names: [],
				activity: thread.waiting_on ?? thread.state ?? "",
				frames,
			};
			if (i > 0) group.names.push(process.rank !== undefined ? `rank ${process.rank}, ${name}` : name);
			else if (process.rank !== undefined) group.ranks.push(process.rank);
			else group.names.push(`${process.name ?? "process"} ${process.pid}`);
			groups.set(key, group);
		});
	}
	const first = (g: { ranks: number[] }) => (g.ranks.some((r) => culprits.includes(r)) ? 0 : 1);
	return [...groups.values()]
		.sort((a, b) => first(a) - first(b) || a.ranks.length - b.ranks.length)
		.map((g) => ({
			ranks: g.ranks.length ? rankList(g.ranks) : g.names.slice(0, 3).join(", "),
			count: g.ranks.length + g.names.length,
			activity: g.activity,
			frames: g.frames,
		}));
}

/** "recv [libc.so.6]", "train (train.py:48)" as a frame */
function frameOf(text: string): Frame {
	const native = /^(.*) \[(.*)\]$/.exec(text);
	if (native) return { name: native[1]!, module: native[2]!, kind: "native" };
	const python = /^(.*) \((.*):(\d+)\)$/.exec(text);
	return python ? { name: python[1]!, file: python[2]!, line: Number(python[3]), kind: "python" } : { name: text };
}

/** Whether a list as "0-2, 5" has this rank. */
const lists = (text: string, rank: number) =>
	text.split(",").some((run) => {
		const [first, last] = run.split("-").map(Number);
		return rank >= first! && rank <= (last ?? first!);
	});

export function groupsOfReport(groups: StackGroup[], culprits: number[] = []): Group[] {
	const first = (g: Group) => (culprits.some((r) => lists(g.ranks, r)) ? 0 : 1);
	return groups
		.map((g) => ({
			ranks: g.ranks,
			count: g.count ?? 1,
			activity: g.activity ?? "",
			frames: (g.frames ?? []).map(frameOf),
			...(g.unchanged !== undefined ? { unchanged: g.unchanged } : {}),
		}))
		.sort((a, b) => first(a) - first(b) || a.count - b.count);
}

export function GroupedStacks({ groups }: { groups: Group[] }) {
	if (groups.length === 0) return <Empty>No stacks were read.</Empty>;
	return (
		<ul class="groups">
			{groups.slice(0, 24).map((g, i) => (
				<li key={i}>
					<details open={i === 0}>
						<summary>
							<b>
								{/^\d/.test(g.ranks) ? (g.count === 1 ? "rank " : "ranks ") : ""}
								{g.ranks}
							</b>{" "}
							<span>
								{g.activity}
								{g.unchanged ? " · unchanged" : ""}
							</span>
						</summary>
						<Frames frames={g.frames} />
					</details>
				</li>
			))}
			{groups.length > 24 && <li class="meta">and {groups.length - 24} more groups</li>}
		</ul>
	);
}
