// What pages share: loading with its three states, the stream, the time, the theme.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { answerAhead, getAhead } from "./ahead";
import { ApiError } from "./api";
import { whenIdle } from "./idle";
import { live, type LinkState, type StreamKind, type Topic } from "./live";

export interface Loaded<T> {
	data?: T;
	error?: ApiError;
	/** true until the first answer, of either kind */
	loading: boolean;
	reload: () => void;
	set: (change: (old: T | undefined) => T | undefined) => void;
}

const RETRY_MS = [1000, 2000, 5000, 10_000];
const passing = (e: ApiError) => e.status === 0 || e.status === 200 || e.status === 429 || e.status >= 500;

/** Reads `path` again whenever it or its query changes. What passes by itself (500, cut off) is tried again; old data stays meanwhile. */
export function useLoad<T, Raw = T>(
	path: string | undefined,
	query: Record<string, string | number | undefined> = {},
	adapt?: (raw: Raw) => T,
): Loaded<T> {
	const key = path === undefined ? "" : JSON.stringify([path, query]);
	const [state, setState] = useState<{ key: string; data?: T; error?: ApiError }>(() => {
		const raw = path === undefined ? undefined : answerAhead<T & Raw>([path, query]);
		return raw === undefined ? { key: "" } : { key, data: adapt ? adapt(raw) : (raw as T) };
	});
	const [turn, setTurn] = useState(0);
	/** What was there before it was asked for. */
	const given = useRef(state.key);
	const tries = useRef(0);
	/** The request that is under way, and whether it is to be repeated once it has been answered. */
	const asking = useRef<AbortController | undefined>(undefined);
	const again = useRef(false);
	useEffect(() => {
		const known = given.current === key && key !== "";
		given.current = "";
		if (path === undefined || known) return;
		const abort = new AbortController();
		asking.current = abort;
		const answered = () => {
			if (asking.current !== abort) return;
			asking.current = undefined;
			if (again.current) whenIdle(() => setTurn((t) => t + 1));
			again.current = false;
		};
		let timer: ReturnType<typeof setTimeout> | undefined;
		getAhead<T & Raw>(path, query, abort.signal)
			.then((raw) => (adapt ? adapt(raw) : (raw as T)))
			.then(
				(data) => {
					tries.current = 0;
					setState({ key, data });
					answered();
				},
				(error: unknown) => {
					if (abort.signal.aborted) return;
					answered();
					const known = error instanceof ApiError ? error : new ApiError(0, "unknown", String(error));
					setState((old) => ({
						key,
						...(old.key === key && old.data !== undefined ? { data: old.data } : {}),
						error: known,
					}));
					if (passing(known))
						timer = setTimeout(
							() => setTurn((t) => t + 1),
							RETRY_MS[Math.min(tries.current++, RETRY_MS.length - 1)],
						);
				},
			);
		return () => {
			abort.abort();
			if (asking.current === abort) asking.current = undefined;
			clearTimeout(timer);
		};
	}, [key, turn]);
	// What is under way is not cut off: it is shown, and then read again.
	const reload = useCallback(() => {
		if (asking.current) again.current = true;
		else setTurn((t) => t + 1);
	}, []);
	const set = useCallback(
		(change: (old: T | undefined) => T | undefined) => setState((old) => ({ ...old, data: change(old.data) })),
		[],
	);
	const mine = state.key === key;
	return {
		...(mine && state.data !== undefined ? { data: state.data } : {}),
		...(mine && state.error ? { error: state.error } : {}),
		loading: path !== undefined && !mine,
		reload,
		set,
	};
}

/** Sets what the stream is about; one frame at a time does. */
export function useWanted(job: string | undefined, topics: Topic[]): void {
	useEffect(() => live.want({ ...(job !== undefined ? { job } : {}), topics }), [job, topics.join()]);
}

/**
 * News of the stream while the page is shown. `again`: the stream is open, what came before it has to be read. Not so (`first`)
 * where it tells a state as a whole when it opens: jobs, health, ranks, the newest memory.
 */
export function useNews(on: (kind: StreamKind, data: never) => void, again: (first: boolean) => void): void {
	const handler = useRef(on);
	const onAgain = useRef(again);
	handler.current = on;
	onAgain.current = again;
	useEffect(
		() =>
			live.listen(
				(kind, data) => handler.current(kind, data as never),
				(first) => onAgain.current(first),
			),
		[],
	);
}

export function useLink(): LinkState {
	const [link, setLink] = useState(live.link);
	useEffect(() => live.watch(() => setLink(live.link)), []);
	return link;
}

/** When the server was last heard, by its clock, once it is gone: what is now cannot be told. */
export function useGone(): number | undefined {
	const [gone, setGone] = useState(live.gone());
	useEffect(() => live.watch(() => setGone(live.gone())), []);
	return gone;
}

/** The server's time, for what went on when it was last heard: that stands once the server is gone. */
export function useSeenNow(ms: number): number {
	const [gone, now] = [useGone(), useNow(ms)];
	return gone ?? now;
}

/** True from the first idle moment after `ready` was painted: what is below the first screen waits for it. */
export function useAfterPaint(ready: boolean): boolean {
	const [after, setAfter] = useState(false);
	useEffect(() => {
		if (!ready || after) return;
		let back = () => {};
		const frame = requestAnimationFrame(() => {
			back = whenIdle(() => setAfter(true));
		});
		return () => {
			cancelAnimationFrame(frame);
			back();
		};
	}, [ready, after]);
	return after;
}

/** Does it again and again while it is wanted and somebody looks. */
export function useEvery(ms: number, on: boolean, what: () => void): void {
	const act = useRef(what);
	act.current = what;
	useEffect(() => {
		if (!on) return;
		const timer = setInterval(() => {
			if (!document.hidden) act.current();
		}, ms);
		return () => clearInterval(timer);
	}, [ms, on]);
}

/** The server's time, renewed every `ms`. */
export function useNow(ms = 1000): number {
	const [now, setNow] = useState(live.now());
	useEffect(() => {
		const timer = setInterval(() => setNow(live.now()), ms);
		return () => clearInterval(timer);
	}, [ms]);
	return now;
}

export function useWidth<E extends HTMLElement>(): [(element: E | null) => void, number] {
	const [width, setWidth] = useState(0);
	const observer = useRef<ResizeObserver | undefined>(undefined);
	const ref = useCallback((element: E | null) => {
		observer.current?.disconnect();
		if (!element) return;
		setWidth(element.clientWidth);
		observer.current = new ResizeObserver(() => setWidth(element.clientWidth));
		observer.current.observe(element);
	}, []);
	return [ref, width];
}

export type Theme = "system" | "dark" | "light";
const themeWatchers = new Set<() => void>();

export function theme(): Theme {
	const set = document.documentElement.dataset["theme"];
	return set === "dark" || set === "light" ? set : "system";
}

export function setTheme(next: Theme): void {
	if (next === "system") delete document.documentElement.dataset["theme"];
	else document.documentElement.dataset["theme"] = next;
	try {
		if (next === "system") localStorage.removeItem("vigil-theme");
		else localStorage.setItem("vigil-theme", next);
	} catch {
		/* It holds until the page is left. */
	}
	for (const watcher of themeWatchers) watcher();
}

/** Grows whenever colours may have changed: canvases are drawn again. */
export function useThemeTurn(): number {
	const [turn, setTurn] = useState(0);
	useEffect(() => {
		const bump = () => setTurn((t) => t + 1);
		const query = matchMedia("(prefers-color-scheme: dark)");
		themeWatchers.add(bump);
		query.addEventListener("change", bump);
		return () => {
			themeWatchers.delete(bump);
			query.removeEventListener("change", bump);
		};
	}, []);
	return turn;
}

export function cssColor(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
