// The profiles that are kept of a job: opened, compared, downloaded, removed.
import "../common";
import { useState } from "preact/hooks";
import { bytes, duration, percent } from "../format";
import { useEvery, useLoad, useNews, useNow } from "../hooks";
import { link, type Route } from "../route";
import type { Me, Profile } from "../types";
import { Card, Empty, Show, When } from "../ui/parts";
import { useJob } from "./jobframe";
import { NewProfile } from "./newprofile";
import { KIND_WORDS } from "./profile";

/** What `seconds` asks for is a part of it: the program that records begins and ends, too. */
const lastedText = (p: Profile) => (p.lasted_s === undefined ? "" : ` · took ${duration(p.lasted_s * 1000)}`);

function stateText(p: Profile): string {
	if (p.state === "running") return `being made, ${percent(p.progress ?? 0)}`;
	return p.state === "done" ? bytes(p.bytes) : p.state === "failed" ? `failed: ${p.error ?? ""}` : "cancelled";
}

const newestFirst = (a: Profile, b: Profile) => (b.started_unix_ms ?? 0) - (a.started_unix_ms ?? 0);

function Row({ p, chosen, onChoose, now }: { p: Profile; chosen: boolean; onChoose: () => void; now: number }) {
	const name = `${KIND_WORDS[p.kind] ?? p.kind}${p.rank !== undefined ? `, rank ${p.rank}` : p.pid !== undefined ? `, process ${p.pid}` : ""}`;
	const comparable = p.state === "done" && (p.kind === "flame" || p.kind === "heap");
	return (
		<li class="profilerow">
			<input
				type="checkbox"
				aria-label={`Compare ${name}, ${p.id}`}
				checked={chosen}
				disabled={!comparable}
				onChange={onChoose}
			/>
			<a href={link(["profile", p.id])}>{name}</a>
			<small>
				<When ms={p.started_unix_ms} now={now} /> · {stateText(p)}
				{lastedText(p)}
			</small>
		</li>
	);
}

export default function Profiles({ route, me }: { route: Route; me?: Me }) {
	const { job } = useJob();
	const load = useLoad<{ profiles: Profile[] }>("profiles", { job: job.id });
	const [chosen, setChosen] = useState<string[]>([]);
	const now = useNow(10_000);
	const active = load.data?.profiles.some((p) => p.state === "running") ?? false;
	useNews((kind) => {
		if (kind === "profile") load.reload();
	}, load.reload);
	useEvery(1000, active, load.reload);
	const toggle = (id: string) =>
		setChosen(chosen.includes(id) ? chosen.filter((c) => c !== id) : [...chosen, id].slice(-2));
	const byAge = [...(load.data?.profiles ?? [])]
		.filter((p) => chosen.includes(p.id))
		.sort((a, b) => (a.started_unix_ms ?? 0) - (b.started_unix_ms ?? 0));
	const rank = route.query["rank"] !== undefined ? Number(route.query["rank"]) : undefined;
	return (
		<>
			<Card title="New profile">
				<NewProfile target={{ job: job.id, ...(rank !== undefined ? { rank } : {}) }} me={me} />
			</Card>
			<Card
				title="Kept profiles"
				side={
					byAge.length === 2 ? (
						<a class="button main" href={link(["compare", byAge[0]!.id, byAge[1]!.id])}>
							Compare
						</a>
					) : (
						<small>{chosen.length === 1 ? "choose one more to compare" : "choose two to compare"}</small>
					)
				}>
				<Show of={load} what="Profiles">
					{({ profiles }) =>
						profiles.length === 0 ? (
							<Empty>
								None yet. The form above makes one. What <code>vigil flame</code> and{" "}
								<code>vigil heap</code> write is a file of whoever called them.
							</Empty>
						) : (
							<ul class="rows">
								{[...profiles].sort(newestFirst).map((p) => (
									<Row
										key={p.id}
										p={p}
										chosen={chosen.includes(p.id)}
										onChoose={() => toggle(p.id)}
										now={now}
									/>
								))}
							</ul>
						)
					}
				</Show>
			</Card>
		</>
	);
}
