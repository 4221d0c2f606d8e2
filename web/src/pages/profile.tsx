// One profile while it is made and when it is done, or two compared.
import "../common";
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, apiUrl, get, profilePath, send } from "../api";
import { bytes, count, decimal, duration, lasting, percent, place } from "../format";
import { compare, fromFlame, fromHeap, type RawFlame, type RawHeap, type Tree, type Weight } from "../flame/model";
import { FlameView } from "../flame/view";
import { useEvery, useLoad, useNews, useNow } from "../hooks";
import { link, parseRoute, type Route } from "../route";
import type { Me, Profile, Stacks } from "../types";
import { Bar, Card, Empty, Fault, Frames, Segmented, Show, When } from "../ui/parts";

export const KIND_WORDS: Record<string, string> = {
	stack: "Stack trace",
	flame: "CPU flame graph",
	heap: "Heap profile",
	calls: "Call counts",
};

interface Calls {
	/** times are estimates, and looks that met a function stand where its calls would */
	sampled?: boolean;
	functions?: {
		file?: string;
		line?: number;
		name?: string;
		n_calls?: number;
		samples?: number;
		own_s?: number;
		cumulative_s?: number;
	}[];
}

function CallTable({ calls }: { calls: Calls }) {
	const [sort, setSort] = useState<"own_s" | "cumulative_s" | "n_calls">("own_s");
	const rows = (calls.functions ?? [])
		.map((f) => ({ ...f, n_calls: f.n_calls ?? f.samples ?? 0 }))
		.sort((a, b) => (b[sort] ?? 0) - (a[sort] ?? 0))
		.slice(0, 200);
	const counted = calls.sampled ? "samples" : "calls";
	if (rows.length === 0) return <Empty>No calls were counted.</Empty>;
	return (
		<>
			{calls.sampled && (
				<p class="notice">
					Sampled: times are estimates. Calls are counted from the start by <code>vigil run --calls</code>.
				</p>
			)}
			<div class="tools">
				<Segmented
					label="Sort by"
					value={sort}
					onChange={setSort}
					choices={[
						{ value: "own_s", text: "own time" },
						{ value: "cumulative_s", text: "with callees" },
						{ value: "n_calls", text: counted },
					]}
				/>
			</div>
			<div class="scroll">
				<table class="plain-table">
					<thead>
						<tr>
							<th>function</th>
							<th class="num">{counted}</th>
							<th class="num">own</th>
							<th class="num">with callees</th>
						</tr>
					</thead>
					<tbody>
						{rows.map((r, i) => (
							<tr key={i}>
								<td>
									{r.name} <small title={r.file}>{place(r.file, r.line)}</small>
								</td>
								<td class="num">{count(r.n_calls)}</td>
								<td class="num">{decimal(r.own_s)} s</td>
								<td class="num">{decimal(r.cumulative_s)} s</td>
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</>
	);
}

export function StackView({ stacks }: { stacks: Stacks }) {
	if (stacks.processes.length === 0) return <Empty>No process was there to be looked into.</Empty>;
	return (
		<ul class="groups">
			{stacks.processes.flatMap((p) =>
				(p.threads ?? []).map((t, i) => (
					<li key={`${p.pid}.${t.tid ?? i}`}>
						<details open={t.main === true && stacks.processes.length < 9}>
							<summary>
								<b>
									{p.rank !== undefined ? `rank ${p.rank} · ` : ""}
									{t.name ?? p.name} {t.tid ?? ""}
								</b>{" "}
								<span>
									{t.state ?? ""}
									{t.holds_gil ? " · holds the GIL" : ""}
									{t.waits_for_gil ? " · waits for the GIL" : ""}
									{t.waiting_on ? ` · ${t.waiting_on}` : ""}
								</span>
							</summary>
							<Frames frames={t.frames ?? []} open={30} />
						</details>
					</li>
				)),
			)}
		</ul>
	);
}

/** A recording has all that was seen; what is shown of it at first is what ran, or what the form had asked for. */
function Flame({ raw }: { raw: RawFlame }) {
	const [weight, setWeight] = useState<Weight>(() => (parseRoute(location.hash).query["idle"] ? "all" : "running"));
	const tree = useMemo(() => fromFlame(raw, weight), [raw, weight]);
	const missing = raw.meta?.missing;
	return (
		<>
			<div class="tools">
				<Segmented
					label="What counts"
					value={weight}
					onChange={setWeight}
					choices={[
						{ value: "running", text: "only what ran" },
						{ value: "all", text: "all that was seen" },
					]}
				/>
				{raw.meta?.samples !== undefined && (
					<small>
						{count(raw.meta.samples)} samples in {duration((raw.meta.duration_ns ?? 0) / 1e6)}
					</small>
				)}
			</div>
			{missing && <p class="notice">{missing}</p>}
			{tree.total[0]! > 0 ? (
				<FlameView tree={tree} />
			) : (
				<Empty>
					{weight === "running"
						? "Nothing ran while it was looked at: all threads waited. “All that was seen” shows where."
						: "Nothing was seen."}
				</Empty>
			)}
		</>
	);
}

function Heap({ raw }: { raw: RawHeap }) {
	const tree = useMemo(() => fromHeap(raw), [raw]);
	return (
		<>
			{(raw.remarks ?? []).map((r, i) => (
				<p key={i} class="notice">
					{r}
				</p>
			))}
			{tree.total[0]! > 0 ? (
				<FlameView tree={tree} />
			) : (
				<Empty>{raw.what === "growth" ? "Nothing grew while it was watched." : "No memory was sampled."}</Empty>
			)}
		</>
	);
}

const VIEWS: Record<string, ComponentType<{ data: never }>> = {
	flame: ({ data }) => <Flame raw={data} />,
	heap: ({ data }) => <Heap raw={data} />,
	calls: ({ data }) => <CallTable calls={data} />,
	stack: ({ data }) => <StackView stacks={data} />,
};

function Data({ profile }: { profile: Profile }) {
	const load = useLoad<never>(`${profilePath(profile.id)}/data`, { format: "json" });
	const View = VIEWS[profile.kind];
	if (!View) return <Empty>This page has no view of a profile of this kind; it can be downloaded.</Empty>;
	return (
		<Show of={load} what="Profile">
			{(data) => <View data={data} />}
		</Show>
	);
}

/** Call counts are no stacks, so speedscope has nothing to draw of them. */
function InSpeedscope({ profile }: { profile: Profile }) {
	if (profile.kind === "calls") return null;
	return (
		<a class="button" href={`speedscope/index.html#profile=${encodeURIComponent(profile.id)}`} target="_blank" rel="noopener">
			Open in speedscope
		</a>
	);
}

function Downloads({ profile }: { profile: Profile }) {
	return (
		<p class="actions">
			{(profile.formats ?? []).map((f) => (
				<a key={f} class="button" href={apiUrl(`${profilePath(profile.id)}/data`, { format: f })} download>
					{f}
				</a>
			))}
		</p>
	);
}

function Making({ profile, onCancel }: { profile: Profile; onCancel: () => void }) {
	const now = useNow(500);
	const ratio = profile.progress ?? 0;
	return (
		<div role="status">
			<p>
				It is being made: {percent(ratio)}
				{profile.started_unix_ms !== undefined
					? `, for ${lasting(now - profile.started_unix_ms)}`
					: ""}
				.
			</p>
			<Bar ratio={ratio} label={`progress ${percent(ratio)}`} />
			<p class="actions">
				<button type="button" onClick={onCancel}>
					Cancel
				</button>
			</p>
		</div>
	);
}

function useProfile(id: string) {
	const load = useLoad<Profile>(profilePath(id));
	const active = load.data?.state === "running";
	useEvery(700, active, load.reload);
	useNews((kind, data: Profile) => {
		if (kind === "profile" && data.id === id) load.set(() => data);
	}, load.reload);
	return load;
}

function One({ id, me }: { id: string; me: Me | undefined }) {
	const load = useProfile(id);
	const now = useNow(60_000);
	const [error, setError] = useState<ApiError>();
	const act = async (after: () => void) => {
		try {
			await send("DELETE", profilePath(id));
			after();
		} catch (e) {
			setError(e as ApiError);
		}
	};
	return (
		<Show of={load} what="Profile">
			{(p) => (
				<>
					<p class="crumb">
						<a href="#/">Jobs</a> <span aria-hidden="true">›</span>{" "}
						{p.job && (
							<>
								<a href={link(["job", p.job])}>{p.job}</a> <span aria-hidden="true">›</span>{" "}
								<a href={link(["job", p.job, "profiles"])}>profiles</a>
							</>
						)}
					</p>
					<h1>
						{KIND_WORDS[p.kind] ?? p.kind}
						{p.rank !== undefined
							? ` of rank ${p.rank}`
							: p.pid !== undefined
								? ` of process ${p.pid}`
								: ""}
					</h1>
					<p class="meta">
						<When ms={p.started_unix_ms} now={now} />
						{p.bytes !== undefined ? ` · ${bytes(p.bytes)}` : ""}
						{p.lasted_s !== undefined ? ` · took ${duration(p.lasted_s * 1000)}` : ""}
					</p>
					{error && <Fault error={error} />}
					<Card>
						{p.state === "running" && <Making profile={p} onCancel={() => void act(load.reload)} />}
						{p.state === "failed" && (
							<p class="fault" role="alert">
								It failed: {p.error ?? "no reason was given"}
							</p>
						)}
						{p.state === "cancelled" && <Empty>It was cancelled.</Empty>}
						{p.state === "done" && <Data profile={p} />}
					</Card>
					{p.state === "done" && (
						<Card title="Download" side={<InSpeedscope profile={p} />}>
							<Downloads profile={p} />
						</Card>
					)}
					{p.state !== "running" && me?.role !== "viewer" && (
						<button
							type="button"
							onClick={() =>
								void act(() => {
									location.hash = p.job ? link(["job", p.job, "profiles"]) : "#/";
								})
							}>
							Remove this profile
						</button>
					)}
				</>
			)}
		</Show>
	);
}

interface Side {
	tree: Tree;
	profile: Profile;
	/** of a recording of time */
	length_ms?: number;
}

async function sideOf(id: string): Promise<Side> {
	const profile = await get<Profile>(profilePath(id));
	const data = await get<RawFlame & RawHeap>(`${profilePath(id)}/data`, { format: "json" });
	if (profile.kind === "heap") return { tree: fromHeap(data), profile };
	const ns = data.meta?.duration_ns;
	return { tree: fromFlame(data), profile, ...(ns !== undefined ? { length_ms: ns / 1e6 } : {}) };
}

/** Which of the two it is: its kind and whose, when it was made, how long it looked. */
function SideName({ id, side, now }: { id: string; side: Side | undefined; now: number }) {
	if (!side) return <a href={link(["profile", id])}>{id}</a>;
	const { profile: p, length_ms } = side;
	const of = p.rank !== undefined ? ` of rank ${p.rank}` : p.pid !== undefined ? ` of process ${p.pid}` : "";
	return (
		<>
			<a href={link(["profile", id])} title={id}>
				{KIND_WORDS[p.kind] ?? p.kind}
				{of}
			</a>
			, <When ms={p.started_unix_ms} now={now} />
			{length_ms !== undefined && `, ${duration(length_ms)} long`}
		</>
	);
}

function Compare({ first, second }: { first: string; second: string }) {
	const [state, setState] = useState<{ sides?: [Side, Side]; error?: ApiError }>({});
	const now = useNow(60_000);
	useEffect(() => {
		let gone = false;
		setState({});
		Promise.all([sideOf(first), sideOf(second)]).then(
			(sides) => {
				if (!gone) setState({ sides });
			},
			(e: unknown) => {
				if (!gone) setState({ error: e as ApiError });
			},
		);
		return () => {
			gone = true;
		};
	}, [first, second]);
	const [a, b] = state.sides ?? [];
	const alike = a?.tree.unit === b?.tree.unit;
	const tree = useMemo(() => (a && b && alike ? compare(a.tree, b.tree) : undefined), [a, b]);
	return (
		<>
			<h1>Two profiles compared</h1>
			<p class="meta">
				Before: <SideName id={first} side={a} now={now} /> · after: <SideName id={second} side={b} now={now} /> ·{" "}
				<a href={link(["compare", second, first])}>the other way round</a>
			</p>
			{tree && <p class="meta">Percentages are shares of what each profile saw in all.</p>}
			<Card>
				{state.error ? (
					<Fault error={state.error} />
				) : tree ? (
					<FlameView tree={tree} />
				) : alike ? (
					<Empty>Reading both…</Empty>
				) : (
					<p class="fault">A heap profile and a recording of time cannot be compared; choose two of one kind.</p>
				)}
			</Card>
		</>
	);
}

export default function ProfilePage({ route, me }: { route: Route; me?: Me }) {
	if (route.page === "compare") return <Compare first={route.id!} second={route.other!} />;
	return <One id={route.id!} me={me} />;
}
