// A job: the verdict first, then ranks, memory, charts, who waits for whom, attempts, and any moment of the past.
import { useMemo, useState } from "preact/hooks";
import { memoryPoint, memorySeries, ranksFrom, ranksOf, withWaits, type Ranks, type RawRanks } from "../adapt";
import { ranksAsked } from "../ahead";
import { jobPath } from "../api";
import { clock, tellsSteps, timeLeft, words } from "../format";
import { useAfterPaint, useEvery, useLoad, useNews, useNow, type Loaded } from "../hooks";
import { appendPoint, mergeRanks } from "../merge";
import type { Route } from "../route";
import type { Event, IncidentBrief, Job, Me, MemorySeries, Rank, Series, Stacks, Waits } from "../types";
import { MemoryChart, type Mark } from "../ui/chart";
import { Bar, Card, Empty, Show } from "../ui/parts";
import { lazy } from "../ui/lazy";
import { RankGrid } from "../ui/rankgrid";
import { SeriesChart } from "../ui/serieschart";
import { GroupedStacks, groupStacks } from "../ui/stacks";
import { WaitGraph } from "../ui/waits";
import { useEvents } from "./events";
import { useJob } from "./jobframe";
import { Attempts, Details, Happenings } from "./jobparts";
import { goes, running } from "../health";
import { stepText } from "./overview";
import { goTo, Scrubber } from "./scrub";
import { Verdict } from "./verdict";

const MomentView = lazy<{ job: Job; time: number }>(() => import("./moment"));
const STANDS = ["hung", "suspected", "slow"];

/** Of many ranks their states first, and all else of them once those are painted. */
function useRanks(job: string): Loaded<Ranks> {
	const first = useLoad<Ranks, RawRanks>(...ranksAsked(job), ranksFrom);
	const brief = first.data?.brief === true;
	const rest = useAfterPaint(brief);
	const whole = useLoad<Ranks, RawRanks>(brief && rest ? jobPath(job, "ranks") : undefined, { limit: 1000 }, ranksFrom);
	useNews(
		(kind, data: { ranks?: Rank[] }) => {
			if (kind !== "ranks" || !data.ranks) return;
			const news = ranksOf(data.ranks);
			for (const load of [first, whole])
				load.set((old) => old && { ...old, ranks: mergeRanks(old.ranks, news) });
		},
		(again) => again || (brief ? whole : first).reload(),
	);
	return brief && whole.data ? whole : first;
}

function useMemory(job: string, on: boolean): Loaded<MemorySeries> {
	const load = useLoad<MemorySeries>(on ? jobPath(job, "memory") : undefined, { points: 600 }, memorySeries);
	useNews((kind, data: never) => {
		if (kind === "memory") load.set((old) => old && appendPoint(old, memoryPoint(data)));
	}, (first) => first || load.reload());
	return load;
}

/** How far it is, as a bar: the picture of a job that is well. */
function StepPicture({ job, ranks }: { job: Job; ranks: Rank[] }) {
	const steps = (ranks.some((r) => r.step !== undefined) ? ranks : (job.steps ?? [])).filter(
		(s) => s.step !== undefined,
	);
	if (steps.length === 0) return null;
	const first = steps.reduce((a, b) => ((b.step ?? 0) < (a.step ?? 0) ? b : a));
	const lead = steps.reduce((a, b) => ((b.step ?? 0) > (a.step ?? 0) ? b : a));
	const left =
		running(job) && !STANDS.includes(job.health?.level ?? "")
			? timeLeft(first.step, first.total, first.per_s)
			: undefined;
	const dot = tellsSteps(job.health?.sentence) ? "" : " · ";
	return (
		<div class="steps">
			{first.total ? (
				<Bar ratio={first.step! / first.total} label={`step ${first.step} of ${first.total}`} tone={running(job) ? "good" : ""} />
			) : null}
			<p>
				{!tellsSteps(job.health?.sentence) && (
					<b>
						{stepText({
							...job,
							steps: [
								{
									rank: first.rank,
									step: first.step!,
									...(first.total !== undefined ? { total: first.total } : {}),
									...(first.per_s !== undefined ? { per_s: first.per_s } : {}),
								},
							],
						})}
					</b>
				)}
				{left !== undefined && (
					<small>
						{dot}done about {clock(Date.now() + left)}
					</small>
				)}
				{lead.step !== first.step && (
					<small>
						{left !== undefined ? " · " : dot}rank {lead.rank} is {lead.step! - first.step!} ahead
					</small>
				)}
			</p>
		</div>
	);
}

function Picture({
	job,
	ranks,
	memory,
	waits,
	marks,
}: {
	job: Job;
	ranks: Rank[];
	memory: Loaded<MemorySeries>;
	waits: Loaded<Waits>;
	marks: Mark[];
}) {
	const level = job.health?.level ?? "unknown";
	const culprits = job.health?.culprit_ranks ?? [];
	if (running(job) && STANDS.includes(level)) {
		return (
			<Show of={waits} what="Who waits for whom">
				{(w) => <WaitGraph waits={w} culprits={culprits} told={job.health?.why !== undefined} />}
			</Show>
		);
	}
	if (level === "memory" || (level === "died" && marks.some((m) => /memory|oom/.test(m.text)))) {
		return (
			<Show of={memory} what="Memory">
				{(m) => <MemoryChart memory={m} culprits={culprits} marks={marks} height={190} />}
			</Show>
		);
	}
	return <StepPicture job={job} ranks={ranks} />;
}

const CHARTS: [string, string][] = [
	["step", "Steps a second"],
	["gpu", "GPU"],
	["cpu", "CPU"],
	["io", "Disk"],
];

function Charts({
	job,
	moment,
	marks,
	on,
	onPick,
}: {
	job: Job;
	moment: number | undefined;
	marks: Mark[];
	on: boolean;
	onPick: (t: number) => void;
}) {
	return (
		<div class="charts">
			{CHARTS.map(([what, title]) => (
				<OneChart
					key={what}
					job={job}
					what={what}
					title={title}
					moment={moment}
					marks={marks}
					on={on}
					onPick={onPick}
				/>
			))}
		</div>
	);
}

function OneChart({
	job,
	what,
	title,
	moment,
	marks,
	on,
	onPick,
}: {
	job: Job;
	what: string;
	title: string;
	moment: number | undefined;
	marks: Mark[];
	on: boolean;
	onPick: (t: number) => void;
}) {
	const load = useLoad<Series>(on ? jobPath(job.id, "series") : undefined, { what, points: 300 });
	useEvery(10_000, on && running(job), load.reload);
	return (
		<Card title={title}>
			<Show of={load} what={title}>
				{(s) => <SeriesChart series={s} title={title} marks={marks} moment={moment} onPick={onPick} />}
			</Show>
		</Card>
	);
}

function Standing({ job, waits, on }: { job: Job; waits: Loaded<Waits>; on: boolean }) {
	const [asked, setAsked] = useState(false);
	const level = job.health?.level ?? "unknown";
	const stands = STANDS.includes(level);
	const stacks = useLoad<Stacks>((stands && on) || asked ? jobPath(job.id, "stacks") : undefined);
	const culprits = job.health?.culprit_ranks ?? [];
	const groups = useMemo(
		() => (stacks.data ? groupStacks(stacks.data, culprits) : []),
		[stacks.data, culprits.join()],
	);
	if (!running(job)) return null;
	return (
		<Card
			title="What the ranks do now"
			id="stacks"
			side={
				<button
					type="button"
					onClick={() => {
						setAsked(true);
						stacks.reload();
						waits.reload();
					}}>
					{stacks.data ? "Look again" : "Look now"}
				</button>
			}>
			{stands || asked ? (
				<Show of={stacks} what="Stacks">
					{() => <GroupedStacks groups={groups} />}
				</Show>
			) : (
				<Empty>Looking reads the stack of every rank; it takes a moment and changes nothing.</Empty>
			)}
			{asked && !stands && (
				<Show of={waits} what="Who waits for whom">
					{(w) => <WaitGraph waits={w} culprits={[]} />}
				</Show>
			)}
		</Card>
	);
}

export function JobPage({ route, me }: { route: Route; me: Me | undefined }) {
	const { job } = useJob();
	const moment = route.id !== undefined ? Number(route.id) : undefined;
	const ranks = useRanks(job.id);
	const level = job.health?.level ?? "unknown";
	// Ranks are what one comes for; what is below them is drawn once those are there.
	const rest = useAfterPaint(moment !== undefined || ranks.data !== undefined || ranks.error !== undefined);
	const memory = useMemory(job.id, rest || moment !== undefined || level === "memory" || level === "died");
	const waits = useLoad<Waits>(running(job) && STANDS.includes(level) ? jobPath(job.id, "waits") : undefined);
	useEvery(30_000, running(job) && STANDS.includes(level), waits.reload);
	const incidents = useLoad<{ incidents: IncidentBrief[] }>(jobPath(job.id, "incidents"));
	const events = useEvents(job.id, "");
	useNews(
		(kind, data: Event) => {
			if (kind === "event" && data.incident) incidents.reload();
		},
		() => {},
	);
	const marks = useMemo(
		() => (incidents.data?.incidents ?? []).map((i) => ({ time: i.time_unix_ms, text: words(i.kind) })),
		[incidents.data],
	);
	const rows = useMemo(() => withWaits(ranks.data?.ranks ?? [], waits.data), [ranks.data, waits.data]);
	const now = useNow(10_000);
	const onPick = (time: number) => goTo(job.id, time);
	const culprits = job.health?.culprit_ranks ?? [];
	return (
		<div class="jobpage">
			{moment === undefined && (
				<Verdict
					job={job}
					picture={
						<Picture
							job={job}
							ranks={ranks.data?.ranks ?? []}
							memory={memory}
							waits={waits}
							marks={marks}
						/>
					}
				/>
			)}
			<Scrubber job={job} moment={moment} />
			{moment !== undefined && <MomentView job={job} time={moment} />}
			{moment === undefined && (
				<Card
					title={rows.length === 1 && rows[0]!.rank < 0 ? "Process" : "Ranks"}
					side={<small>{ranks.data ? `${ranks.data.total ?? ranks.data.ranks.length}` : ""}</small>}>
					<Show of={ranks} what="Ranks">
						{() => <RankGrid ranks={rows} job={job.id} goes={goes(job)} />}
					</Show>
				</Card>
			)}
			{rest && (
				<>
					{moment === undefined && <Standing job={job} waits={waits} on={rest} />}
					<Card title="Memory of the workers" id="memory" side={<small class="hint">click for that moment</small>}>
						<Show of={memory} what="Memory">
							{(m) => (
								<MemoryChart memory={m} culprits={culprits} marks={marks} moment={moment} onPick={onPick} />
							)}
						</Show>
					</Card>
					<Charts job={job} moment={moment} marks={marks} on={rest} onPick={onPick} />
					<Card title="Attempts">
						<Show of={incidents} what="Attempts">
							{(i) => <Attempts job={job} events={events.all} incidents={i.incidents} now={now} />}
						</Show>
					</Card>
					<Happenings job={job} list={events} />
					<Details job={job} me={me} />
				</>
			)}
		</div>
	);
}
