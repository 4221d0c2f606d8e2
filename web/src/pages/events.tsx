// Events of one job or of all, newest first, with filters by kind and severity that stand in the address.
import { useState } from "preact/hooks";
import { get, jobPath } from "../api";
import { words } from "../format";
import { useLoad, useNews, useNow } from "../hooks";
import { mergeEvents } from "../merge";
import { link, type Route } from "../route";
import type { Event } from "../types";
import { Card, Empty, Fault, Segmented, Severity, Show, When } from "../ui/parts";

export function EventList({ events, now, job }: { events: Event[]; now: number; job?: string }) {
	return (
		<ol class="events">
			{events.map((e) => (
				<li key={e.seq} class={e.severity ?? "info"}>
					<Severity severity={e.severity} />
					<span class="when">
						<When ms={e.time_unix_ms} now={now} />
					</span>
					<span class="what">
						<b>{words(e.kind)}</b>
						{job === undefined && e.job && (
							<>
								{" "}
								<a href={link(["job", e.job])}>{e.job}</a>
							</>
						)}
						<span class="text">{e.text}</span>
						{e.incident && <a href={link(["incident", e.incident])}>report</a>}
					</span>
				</li>
			))}
		</ol>
	);
}

type Least = "info" | "warning" | "error";
const ORDER: Least[] = ["info", "warning", "error"];
const LEAST = [
	{ value: "info", text: "all" },
	{ value: "warning", text: "! warnings" },
	{ value: "error", text: "✕ errors" },
] as const;

function filtered(events: Event[], least: Least, kind: string): Event[] {
	return events.filter(
		(e) => ORDER.indexOf(e.severity ?? "info") >= ORDER.indexOf(least) && (kind === "" || e.kind === kind),
	);
}

const setQuery = (route: Route, change: Record<string, string>) => {
	const parts = route.job !== undefined ? ["job", route.job, "events"] : ["events"];
	location.replace(link(parts, { ...route.query, ...change }));
};

function Filters({ route, events, least, kind }: { route: Route; events: Event[]; least: Least; kind: string }) {
	const kinds = [...new Set([...events.map((e) => e.kind), ...(kind ? [kind] : [])])].sort();
	return (
		<div class="tools">
			<Segmented
				label="Severity"
				value={least}
				choices={[...LEAST]}
				onChange={(v) => setQuery(route, { severity: v === "info" ? "" : v })}
			/>
			<label class="pick">
				Kind{" "}
				<select value={kind} onChange={(e) => setQuery(route, { kind: e.currentTarget.value })}>
					<option value="">all</option>
					{kinds.map((k) => (
						<option key={k} value={k}>
							{words(k)}
						</option>
					))}
				</select>
			</label>
		</div>
	);
}

/** The events there are, kept complete by the stream: what came while it was broken is asked for by seq. */
export function useEvents(job: string | undefined, kind: string) {
	const path = job !== undefined ? jobPath(job, "events") : "events";
	const query = { order: "desc", limit: 200, ...(kind ? { kind } : {}) };
	const load = useLoad<{ events: Event[]; more?: boolean }>(path, query);
	const add = (news: Event[]) => load.set((old) => old && { ...old, events: mergeEvents(old.events, news) });
	const fill = async () => {
		let last = load.data?.events.reduce((max, e) => Math.max(max, e.seq), 0);
		if (last === undefined) return load.reload();
		for (let turn = 0; turn < 25; turn++) {
			const part = await get<{ events: Event[] }>(path, { after: last, limit: 200, ...(kind ? { kind } : {}) });
			add(part.events);
			if (part.events.length < 200) return;
			last = Math.max(...part.events.map((e) => e.seq));
		}
	};
	useNews(
		(type, event: Event) => {
			if (type === "event" && (job === undefined || event.job === job)) add([event]);
		},
		() => void fill().catch(() => load.reload()),
	);
	const all = mergeEvents([], load.data?.events ?? []).reverse();
	return { load, path, all, add };
}

export function Events({ route }: { route: Route }) {
	const least = (ORDER as string[]).includes(route.query["severity"] ?? "")
		? (route.query["severity"] as Least)
		: "info";
	const kind = route.query["kind"] ?? "";
	const { load, path, all, add } = useEvents(route.job, kind);
	const now = useNow(10_000);
	const [end, setEnd] = useState(false);
	const [fault, setFault] = useState<Error>();
	const older = async () => {
		try {
			const part = await get<{ events: Event[]; more?: boolean }>(path, {
				order: "desc",
				limit: 200,
				before: all[all.length - 1]?.seq,
				...(kind ? { kind } : {}),
			});
			if (!part.more || part.events.length === 0) setEnd(true);
			add(part.events);
			setFault(undefined);
		} catch (error) {
			setFault(error as Error);
		}
	};
	const shown = filtered(all, least, kind);
	return (
		<>
			{route.job === undefined && <h1 class="hidden">Events of all jobs</h1>}
			<Card
				title={route.job === undefined ? "Events of all jobs" : "Events"}
				side={<small>{load.data ? `${shown.length} shown` : ""}</small>}>
				<Filters route={route} events={all} least={least} kind={kind} />
				<Show of={load} what="Events">
					{() => (
						<>
							{shown.length === 0 ? (
								<Empty>No such event{all.length ? " among those that were read" : " so far"}.</Empty>
							) : (
								<EventList
									events={shown}
									now={now}
									{...(route.job !== undefined ? { job: route.job } : {})}
								/>
							)}
							{fault && <Fault error={fault as never} />}
							{load.data?.more && !end && (
								<button type="button" onClick={older}>
									Older events
								</button>
							)}
						</>
					)}
				</Show>
			</Card>
		</>
	);
}
