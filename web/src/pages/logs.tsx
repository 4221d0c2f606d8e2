// A job's output: per rank, searched, followed, downloaded. Only the lines in view are in the page.
import "../common";
import type { JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { logMatches } from "../adaptlate";
import { ApiError, apiUrl, get, jobPath, logPath } from "../api";
import { bytes, count } from "../format";
import { useEvery, useLoad } from "../hooks";
import { link, type Route } from "../route";
import type { LogFile, LogLine, LogMatches, LogPart } from "../types";
import { Card, Empty, Fault, Show } from "../ui/parts";
import { useJob } from "./jobframe";
import { append, begunAnew, inView, plainLine, prepend, windowOf, type LogWindow } from "./logwindow";
import { running } from "../health";

const LINE_PX = 20;
const PART = 65_536;

/** `alone`: of a job without ranks, or of one. */
export const fileName = (f: LogFile, alone = false) =>
	[f.rank !== undefined && !alone ? `rank ${f.rank}` : "job", f.stream ?? "", f.attempt ? `attempt ${f.attempt}` : ""]
		.filter(Boolean)
		.join(" · ");

function choose(files: LogFile[], query: Record<string, string>): LogFile | undefined {
	const byId = files.find((f) => f.id === query["file"]);
	if (byId) return byId;
	const ofRank = query["rank"] !== undefined ? files.filter((f) => String(f.rank) === query["rank"]) : files;
	const newest = Math.max(...ofRank.map((f) => f.attempt ?? 0));
	const now = ofRank.filter((f) => (f.attempt ?? 0) === newest);
	return (
		now.find((f) => f.stream === "stderr" && (f.bytes ?? 0) > 0) ??
		now.find((f) => (f.bytes ?? 0) > 0) ??
		now[0] ??
		files[0]
	);
}

interface Held {
	window?: LogWindow;
	error?: ApiError;
	busy: boolean;
}

const asError = (e: unknown) => (e instanceof ApiError ? e : new ApiError(0, "unknown", String(e)));

/** What is held of one file, and the ways to get more of it. */
function useLog(path: string, follow: boolean, live: boolean) {
	const [held, setHeld] = useState<Held>({ busy: true });
	const window = useRef<LogWindow | undefined>(undefined);
	const busy = useRef(false);
	const step = useCallback(
		async (query: Record<string, number>, join: (old: LogWindow | undefined, part: LogPart) => LogWindow) => {
			if (busy.current) return;
			busy.current = true;
			try {
				const part = await get<LogPart>(path, query);
				window.current = join(window.current, part);
				setHeld((old) =>
					old.window === window.current && !old.error ? old : { window: window.current!, busy: false },
				);
			} catch (error) {
				setHeld({ ...(window.current ? { window: window.current } : {}), error: asError(error), busy: false });
			} finally {
				busy.current = false;
			}
		},
		[path],
	);
	const end = useCallback(() => step({ offset: -PART, limit: PART }, (_, p) => windowOf(p)), [step]);
	const jump = useCallback(
		(at: number) => step({ offset: Math.max(0, at - PART / 4), limit: PART }, (_, p) => windowOf(p)),
		[step],
	);
	const later = useCallback(
		() =>
			step({ offset: window.current?.to ?? 0, limit: PART }, (old, p) =>
				old && !begunAnew(old, p) ? append(old, p) : windowOf(p),
			),
		[step],
	);
	const earlier = useCallback(() => {
		const from = window.current?.from ?? 0;
		if (from <= 0) return Promise.resolve();
		const start = Math.max(0, from - PART);
		return step({ offset: start, limit: from - start }, (old, p) => (old ? prepend(old, p) : windowOf(p)));
	}, [step]);
	useEffect(() => {
		void end();
	}, [end]);
	useEvery(1000, follow && live, () => void later());
	return { held, end, jump, earlier, later };
}

interface ListProps {
	window: LogWindow;
	follow: boolean;
	setFollow: (on: boolean) => void;
	mark: number | undefined;
	needle: string;
	onEarlier: () => Promise<void>;
	onLater: () => Promise<void>;
	chosen: LogLine | undefined;
	onChoose: (line: LogLine) => void;
}

function Text({ text, needle }: { text: string; needle: string }) {
	if (needle === "") return <>{text}</>;
	// Lower case may be longer or shorter than the text in other scripts: then the line is found, and not marked.
	const lower = text.toLowerCase();
	if (lower.length !== text.length) return <>{text}</>;
	const parts: (string | JSX.Element)[] = [];
	let from = 0;
	for (
		let at = lower.indexOf(needle.toLowerCase());
		at >= 0 && parts.length < 100;
		at = lower.indexOf(needle.toLowerCase(), from)
	) {
		parts.push(text.slice(from, at), <mark>{text.slice(at, at + needle.length)}</mark>);
		from = at + needle.length;
	}
	return (
		<>
			{parts}
			{text.slice(from)}
		</>
	);
}

/** Keeps the line that is in view where it is when lines come in above it. */
function usePlace(window: LogWindow, follow: boolean, mark: number | undefined) {
	const box = useRef<HTMLDivElement>(null);
	const [top, setTop] = useState(0);
	const first = useRef<number | undefined>(undefined);
	useEffect(() => {
		const element = box.current!;
		const before = first.current;
		first.current = window.from;
		if (follow) element.scrollTop = element.scrollHeight;
		else if (before !== undefined && before > window.from) {
			const added = window.lines.findIndex((l) => l.at >= before);
			if (added > 0) element.scrollTop += added * LINE_PX;
		}
		setTop(element.scrollTop);
	}, [window, follow]);
	useEffect(() => {
		if (mark === undefined) return;
		const at = window.lines.findIndex((l) => l.at >= mark);
		if (at >= 0) box.current!.scrollTop = Math.max(0, at * LINE_PX - box.current!.clientHeight / 3);
	}, [mark, window.from]);
	return { box, top, setTop };
}

function LogList({ window, follow, setFollow, mark, needle, onEarlier, onLater, chosen, onChoose }: ListProps) {
	const { box, top, setTop } = usePlace(window, follow, mark);
	const height = box.current?.clientHeight ?? 600;
	const [first, last] = inView(top, height, LINE_PX, window.lines.length);
	const onScroll = () => {
		const element = box.current!;
		setTop(element.scrollTop);
		const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 4;
		if (follow && !atEnd) setFollow(false);
		if (element.scrollTop < 40 * LINE_PX && window.from > 0) void onEarlier();
		if (atEnd && window.to < window.size) void onLater();
	};
	return (
		<div class="log" ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Lines of the log">
			<div class="loglines" style={{ height: `${window.lines.length * LINE_PX}px` }}>
				{window.lines.slice(first, last).map((l, i) => (
					<div
						key={l.at}
						class={`logline ${l.at === mark ? "found" : ""} ${l === chosen ? "chosen" : ""}`}
						style={{ top: `${(first + i) * LINE_PX}px` }}
						onClick={() => onChoose(l)}>
						<Text text={plainLine(l.text) || " "} needle={needle} />
					</div>
				))}
			</div>
		</div>
	);
}

interface Search {
	needle: string;
	matches: LogLine[];
	next?: number;
	at: number;
	error?: ApiError;
}

/** One answer covers some megabytes: it is gone on until something is found. */
async function searchOn(path: string, needle: string, from: number): Promise<LogMatches> {
	for (let offset = from; ;) {
		const part = logMatches(await get(path, { search: needle, direction: "forward", offset }));
		if (part.matches.length > 0 || part.next === undefined || part.next <= offset) return part;
		offset = part.next;
	}
}

function useSearch(path: string) {
	const [search, setSearch] = useState<Search>({ needle: "", matches: [], at: 0 });
	const find = async (needle: string) => {
		if (needle === "") return setSearch({ needle, matches: [], at: 0 });
		try {
			const found = await searchOn(path, needle, 0);
			setSearch({
				needle,
				matches: found.matches,
				at: 0,
				...(found.next !== undefined ? { next: found.next } : {}),
			});
		} catch (error) {
			setSearch({ needle, matches: [], at: 0, error: asError(error) });
		}
	};
	const move = async (by: number) => {
		const to = search.at + by;
		if (to < search.matches.length) return setSearch({ ...search, at: Math.max(0, to) });
		if (search.next === undefined) return;
		const more = await searchOn(path, search.needle, search.next);
		if (more.matches.length === 0) {
			const { next: _gone, ...all } = search;
			return setSearch(all);
		}
		const { next: _, ...rest } = search;
		setSearch({
			...rest,
			matches: [...search.matches, ...more.matches],
			at: to,
			...(more.next !== undefined ? { next: more.next } : {}),
		});
	};
	return { search, find, move };
}

function SearchBar({ search, find, move }: ReturnType<typeof useSearch>) {
	const [text, setText] = useState("");
	const done = search.needle !== "" && search.needle === text;
	return (
		<form
			class="search"
			role="search"
			onSubmit={(e) => {
				e.preventDefault();
				void (done ? move(1) : find(text));
			}}>
			<input
				type="search"
				aria-label="Search in this log"
				placeholder="Search"
				value={text}
				onInput={(e) => setText(e.currentTarget.value)}
			/>
			<button type="submit">{done && search.matches.length > 0 ? "Next" : "Search"}</button>
			<button
				type="button"
				disabled={search.matches.length === 0 || search.at === 0}
				onClick={() => void move(-1)}>
				Previous
			</button>
			<span role="status" class="meta">
				{search.needle === ""
					? ""
					: search.matches.length === 0
						? "nothing found"
						: `${search.at + 1} of ${search.matches.length}${search.next !== undefined ? "+" : ""}`}
			</span>
			{search.error && <Fault error={search.error} />}
		</form>
	);
}

function LogView({ job, file, live }: { job: string; file: LogFile; live: boolean }) {
	const path = logPath(job, file.id);
	const [follow, setFollow] = useState(live);
	const { held, end, jump, earlier, later } = useLog(path, follow, live);
	const finder = useSearch(path);
	const [chosen, setChosen] = useState<LogLine>();
	const hit = finder.search.matches[finder.search.at];
	useEffect(() => {
		if (!hit) return;
		setFollow(false);
		const w = held.window;
		if (!w || hit.at < w.from || hit.at >= w.to) void jump(hit.at);
	}, [hit?.at]);
	const w = held.window;
	return (
		<>
			<div class="tools">
				<SearchBar {...finder} />
				{live && (
					<button
						type="button"
						aria-pressed={follow}
						onClick={() => {
							setFollow(!follow);
							if (!follow) void end();
						}}>
						{follow ? "■ Stop following" : "▶ Follow"}
					</button>
				)}
				{!live && (
					<button type="button" onClick={() => void jump(0)}>
						Begin
					</button>
				)}
				{!live && (
					<button type="button" onClick={() => void end()}>
						End
					</button>
				)}
				<a class="button" href={apiUrl(path, { download: 1 })} download>
					Download
				</a>
			</div>
			{held.error && <Fault error={held.error} what="Log" />}
			{!w && !held.error && <Empty>Reading…</Empty>}
			{w && w.lines.length === 0 && <Empty>Nothing was written here so far.</Empty>}
			{w && w.lines.length > 0 && (
				<LogList
					window={w}
					follow={follow}
					setFollow={setFollow}
					mark={hit?.at}
					needle={finder.search.needle}
					onEarlier={earlier}
					onLater={later}
					chosen={chosen}
					onChoose={setChosen}
				/>
			)}
			{w && (
				<p class="meta">
					{bytes(w.size)} · held: {count(w.lines.length)} lines{follow ? " · following" : ""}. Long lines go
					on to the right; choose one to see all of it.
				</p>
			)}
			{chosen && <pre class="wholeline">{plainLine(chosen.text)}</pre>}
		</>
	);
}

export default function Logs({ route }: { route: Route }) {
	const { job } = useJob();
	const load = useLoad<{ files: LogFile[] }>(jobPath(job.id, "logs"));
	return (
		<Card title="Logs">
			<Show of={load} what="Logs">
				{({ files }) => {
					const file = choose(files, route.query);
					if (!file) return <Empty>This job has written nothing that vigil keeps.</Empty>;
					return (
						<>
							<div class="tools">
								<label class="pick">
									Output of{" "}
									<select
										value={file.id}
										onChange={(e) =>
											location.replace(
												link(["job", job.id, "logs"], { file: e.currentTarget.value }),
											)
										}>
										{files.map((f) => (
											<option key={f.id} value={f.id}>
												{fileName(f, files.every((o) => !o.rank))}
												{f.bytes !== undefined ? ` (${bytes(f.bytes)})` : ""}
											</option>
										))}
									</select>
								</label>
							</div>
							<LogView key={file.id} job={job.id} file={file} live={running(job)} />
						</>
					);
				}}
			</Show>
		</Card>
	);
}
