// A job: the slider of moments above all that it changes, the verdict, ranks, memory, charts, who waits for whom, attempts.
import { useMemo } from "preact/hooks";
import { keptOf, memoryPoint, memorySeries, ranksFrom, ranksOf, withWaits, type Kept, type Ranks, type RawRanks } from "../adapt";
import { ranksAsked } from "../ahead";
import { incidentPath, jobPath } from "../api";
import { clock, rate, spread, tellsSteps, timeLeft, words } from "../format";
import { useAfterPaint, useEvery, useLoad, useNews, type Loaded } from "../hooks";
import { live } from "../live";
import { appendPoint, mergeRanks } from "../merge";
import type { Route } from "../route";
import type { Event, Incident, IncidentBrief, Job, Me, MemorySeries, Rank, Waits } from "../types";
import { MemoryChart, type Mark } from "../ui/chart";
import { Bar, Card, Show } from "../ui/parts";
import { lazy } from "../ui/lazy";
import { RankGrid } from "../ui/rankgrid";
import { WaitGraph } from "../ui/waits";
import { useEvents } from "./events";
import { useJob } from "./jobframe";
import type { JobRestProps } from "./jobrest";
import { goes, level as levelOf, running, stands, turns } from "../health";
import { stepText } from "./overview";
import { goTo, Scrubber } from "./scrub";
import { Verdict } from "./verdict";

const MomentView = lazy<{ job: Job; time: number }>(() => import("./moment"));
const JobRest = lazy<JobRestProps>(() => import("./jobrest"));

/** Of many ranks their states first, and all else of them once those are painted. */
function useRanks(job: string): Loaded<Ranks> {
	const first = useLoad<Ranks, RawRanks>(...ranksAsked(job), ranksFrom);
	const brief = first.data?.brief === true;
	const rest = useAfterPaint(brief);
	const whole = useLoad<Ranks, RawRanks>(brief && rest ? jobPath(job, "ranks") : undefined, { limit: 1000 }, ranksFrom);
	useNews(
		(kind, data: { kind?: string; incident?: string; ranks?: Rank[]; total?: number }) => {
			if (kind === "event" && turns(data)) (brief ? whole : first).reload();
			if (kind !== "ranks" || !data.ranks) return;
			const news = ranksOf(data.ranks);
			for (const load of [first, whole])
				load.set((old) => old && { ...old, ranks: mergeRanks(old.ranks, news, data.total) });
		},
		(again) => again || (brief ? whole : first).reload(),
	);
	return brief && whole.data ? whole : first;
}

function useMemory(job: string, on: boolean): Loaded<MemorySeries> {
	const load = useLoad<MemorySeries>(on ? jobPath(job, "memory") : undefined, { points: 600 }, memorySeries);
	useNews((kind, data: never) => {
		if (kind === "memory") load.set((old) => old && appendPoint(old, memoryPoint(data)));
		if (kind === "event" && turns(data)) load.reload();
	}, (first) => first || load.reload());
	return load;
}

/** What the report of the hang that the verdict is of has kept: it is there at once, and still there once the job has ended. */
function useKept(job: Job, incidents: IncidentBrief[] = []): Loaded<Kept> {
	const id = job.health?.incident;
	const hang = job.health?.level === "hung" || incidents.some((i) => i.id === id && i.kind === "hang");
	return useLoad<Kept, Incident>(id !== undefined && hang ? incidentPath(id) : undefined, {}, keptOf);
}

/** The later of two looks. */
function newer(look: Loaded<Waits>, kept: Kept | undefined): Loaded<Waits> {
	const seen = look.data?.captured_unix_ms ?? 0;
	if (!kept || (look.data && seen >= kept.waits.captured_unix_ms!)) return look;
	const { error, ...rest } = look;
	return { ...rest, data: kept.waits };
}

/** How far it is, as a bar: the picture of a job that is well. */
function StepPicture({ job, ranks }: { job: Job; ranks: Rank[] }) {
	const steps = (ranks.some((r) => r.step !== undefined) ? ranks : (job.steps ?? [])).filter(
		(s) => s.step !== undefined,
	);
	if (steps.length === 0) return null;
	const first = steps.reduce((a, b) => ((b.step ?? 0) < (a.step ?? 0) ? b : a));
	const apart = spread(steps);
	const left =
		goes(job) && !stands(job)
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
						{dot}done about {clock(live.now() + left, live.now())}
					</small>
				)}
				{apart && (
					<small>
						{left !== undefined ? " · " : dot}
						{apart}
					</small>
				)}
			</p>
		</div>
	);
}

/** Of ranks that go at paces of their own the slow ones beside the middle one of the others. */
function PacePicture({ ranks, culprits }: { ranks: Rank[]; culprits: number[] }) {
	const paced = ranks.filter((r) => r.per_s !== undefined);
	const others = paced.filter((r) => !culprits.includes(r.rank)).map((r) => r.per_s!).sort((a, b) => a - b);
	const middle = others[others.length >> 1];
	if (!middle) return null;
	const row = (name: string, per_s: number, tone: string) => (
		<>
			<p>
				{name} <b>{rate(per_s)}</b>
			</p>
			<Bar ratio={per_s / middle} label={`${name}: ${rate(per_s)}`} tone={tone} />
		</>
	);
	return (
		<div class="steps">
			{paced.filter((r) => culprits.includes(r.rank)).slice(0, 4).map((r) => row(`rank ${r.rank}`, r.per_s!, "bad"))}
			{row(others.length > 1 ? "the others, the middle one of them" : "the other", middle, "good")}
		</div>
	);
}

function Picture({
	job,
	ranks,
	memory,
	waits,
	kept,
	marks,
}: {
	job: Job;
	ranks: Rank[];
	memory: Loaded<MemorySeries>;
	waits: Loaded<Waits>;
	kept: Kept | undefined;
	marks: Mark[];
}) {
	const level = job.health?.level ?? "unknown";
	const culprits = job.health?.culprit_ranks ?? [];
	if (job.health?.nobody_waits) return <PacePicture ranks={ranks} culprits={culprits} />;
	if (stands(job) || kept) {
		return (
			<Show of={waits} what="Who waits for whom">
				{(w) => <WaitGraph waits={w} culprits={culprits} told={job.health?.why !== undefined} then={!running(job)} />}
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

export function JobPage({ route, me }: { route: Route; me: Me | undefined }) {
	const { job } = useJob();
	const moment = route.id !== undefined ? Number(route.id) : undefined;
	const ranks = useRanks(job.id);
	const level = job.health?.level ?? "unknown";
	// Ranks are what one comes for; what is below them is drawn once those are there.
	const rest = useAfterPaint(moment !== undefined || ranks.data !== undefined || ranks.error !== undefined);
	const memory = useMemory(job.id, rest || moment !== undefined || level === "memory" || level === "died");
	const waited = stands(job) && !job.health?.nobody_waits;
	const look = useLoad<Waits>(waited ? jobPath(job.id, "waits") : undefined);
	useEvery(30_000, waited, look.reload);
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
	const kept = useKept(job, incidents.data?.incidents);
	const waits = newer(look, kept.data);
	const unseen = levelOf(job) === "unseen";
	const rows = useMemo(() => {
		const known = ranks.data?.ranks ?? [];
		return unseen
			? known.map((r) => (r.state === "ended" ? r : { ...r, state: "unknown" }))
			: withWaits(known, waits.data);
	}, [ranks.data, waits.data, unseen]);
	const onPick = (time: number) => goTo(job.id, time);
	return (
		<div class="jobpage">
			<Scrubber job={job} moment={moment} />
			{moment === undefined && (
				<Verdict
					job={job}
					picture={
						<Picture
							job={job}
							ranks={ranks.data?.ranks ?? []}
							memory={memory}
							waits={waits}
							kept={kept.data}
							marks={marks}
						/>
					}
				/>
			)}
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
				<JobRest
					{...{ job, me, moment, marks, memory, waits, incidents, events, onPick }}
					kept={kept.data}
				/>
			)}
		</div>
	);
}
