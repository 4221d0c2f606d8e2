// The frame around all pages: where one is, whether the page is live, the theme, the login.
import { useEffect, useRef, useState } from "preact/hooks";
import { answered, askAhead, firstOf, getAhead, ME } from "./ahead";
import { apiUrl, responseOf, session, written } from "./api";
import { ago, clock } from "./format";
import { setTheme, theme, useGone, useLink, useNow, useWanted, type Theme } from "./hooks";
import { live } from "./live";
import { Events } from "./pages/events";
import { JobPage } from "./pages/job";
import { JobFrame } from "./pages/jobframe";
import { Overview } from "./pages/overview";
import { parseRoute, proofOf, type Proof, type Route } from "./route";
import type { Me } from "./types";
import { lazy } from "./ui/lazy";
import { Empty } from "./ui/parts";

const incident = () => import("./pages/incident");
interface Props {
	route: Route;
	me?: Me;
}
const IncidentPage = lazy<Props>(incident);
const Logs = lazy<Props>(() => import("./pages/logs"));
const Processes = lazy<Props>(() => import("./pages/processes"));
const Profiles = lazy<Props>(() => import("./pages/profiles"));
const ProfilePage = lazy<Props>(() => import("./pages/profile"));
const TimelinePage = lazy<Props>(() => import("./timeline/timeline"));
const NodePage = lazy<Props>(() => import("./pages/node"));

/** `known`: the server knows this browser, so that it can be asked for what the next page shows before that is drawn. */
function useRoute(known: boolean): Route {
	const [route, setRoute] = useState(() => parseRoute(location.hash));
	const [hash] = useState(location.hash);
	const shown = useRef(route);
	const asks = useRef(known);
	asks.current = known;
	useEffect(() => {
		let turns = 0;
		const changed = async () => {
			const [next, turn] = [parseRoute(location.hash), ++turns];
			if (next.page === "incident") incident().catch(() => {});
			const first = asks.current && proofOf(location.hash) === undefined ? firstOf(next, shown.current) : [];
			shown.current = next;
			if (first.length > 0) {
				document.getElementById("main")?.setAttribute("aria-busy", "true");
				askAhead(first);
				await answered();
			}
			if (turn !== turns) return;
			document.getElementById("main")?.removeAttribute("aria-busy");
			setRoute(next);
		};
		// A mouse is held down for a tenth of a second before it is a click. A finger may be about to scroll.
		const pressed = (event: PointerEvent) => {
			const to = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#/"]');
			if (to && asks.current && event.pointerType === "mouse" && event.button === 0)
				askAhead(firstOf(parseRoute(to.hash), shown.current));
		};
		addEventListener("hashchange", changed);
		// Where one went before anybody listened.
		if (location.hash !== hash && proofOf(hash) === undefined) void changed();
		addEventListener("pointerdown", pressed);
		return () => {
			removeEventListener("hashchange", changed);
			removeEventListener("pointerdown", pressed);
		};
	}, []);
	return route;
}

export type Login = { state: "in" | "out"; text?: string; me?: Me };

/** `login`: the answer to a code or token, where one was sent. */
export async function enter(login: Promise<Response> | undefined): Promise<Login> {
	let refused: Error | undefined;
	try {
		if (login) await responseOf(login).catch((error: Error) => (refused = error));
		const me = await getAhead<Me>(...ME);
		live.setClock(me.now_unix_ms);
		return { state: "in", me };
	} catch (error) {
		return { state: "out", text: (refused ?? (error as Error)).message };
	}
}

function useLogin(was: Login): [Login, (proof: Proof) => void] {
	const [login, setLogin] = useState(was);
	const go = (proof: Proof) => {
		history.replaceState(null, "", `${location.pathname}${location.search}#/`);
		void enter(fetch(apiUrl("login"), written("POST", proof))).then(setLogin);
	};
	useEffect(() => {
		session.onLost = () => {
			live.close();
			setLogin((old) => (old.state === "out" ? old : { state: "out" }));
		};
		const onHash = () => {
			const proof = proofOf(location.hash);
			if (proof !== undefined) go(proof);
		};
		addEventListener("hashchange", onHash);
		return () => removeEventListener("hashchange", onHash);
	}, []);
	return [login, go];
}

function LinkMark() {
	const link = useLink();
	useNow(1000);
	const quiet = link.seen === undefined ? undefined : Date.now() - link.seen;
	const fresh = link.state === "live" && quiet !== undefined && quiet < 25_000;
	const text = fresh
		? "live"
		: quiet === undefined
			? "connecting…"
			: ago(link.seen, Date.now());
	return (
		<span
			class={`link ${fresh ? "good" : "warn"}`}
			title={fresh ? "News arrive as they happen" : "The connection to vigil is broken; it is tried again"}>
			<span aria-hidden="true">{fresh ? "●" : "◌"}</span> {!fresh && link.seen && <span class="hint">last seen </span>}
			{text}
		</span>
	);
}

/** What stands on the page was true then. */
function GoneMark() {
	const gone = useGone();
	if (gone === undefined) return null;
	return (
		<p class="notice" role="status">
			No news from vigil since {clock(gone, Date.now())}: here stands what was seen then, and what is now cannot be told. The
			page goes on by itself once the server is there again. Where it ended with its job, <code>vigil dashboard</code>{" "}
			shows the page anew.
		</p>
	);
}

const THEMES: Theme[] = ["system", "dark", "light"];
const THEME_GLYPHS: Record<Theme, string> = { system: "◐", dark: "☾", light: "☀" };

function ThemeSwitch() {
	const [now, setNow] = useState<Theme>(theme());
	const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]!;
	return (
		<button
			type="button"
			class="icon"
			aria-label={`Colours: ${now}; change to ${next}`}
			title={`Colours: ${now}`}
			onClick={() => {
				setTheme(next);
				setNow(next);
			}}>
			<span aria-hidden="true">{THEME_GLYPHS[now]}</span>
		</button>
	);
}

function Head({ route }: { route: Route }) {
	const here = (page: string) => (route.page === page && !route.job ? "page" : undefined);
	return (
		<header class="top">
			<a
				class="skip"
				href="#main"
				onClick={(e) => {
					e.preventDefault();
					document.getElementById("main")?.focus();
				}}>
				To the content
			</a>
			<a class="brand" href="#/">
				<span aria-hidden="true" class="mark" />
				vigil
			</a>
			<nav aria-label="Main">
				<a href="#/" aria-current={here("overview")}>
					Jobs
				</a>
				<a href="#/events" aria-current={here("events")}>
					Events
				</a>
				<a href="#/node" aria-current={here("node")}>
					Node
				</a>
			</nav>
			<div class="right">
				<LinkMark />
				<ThemeSwitch />
			</div>
		</header>
	);
}

function LoginPage({ login, onProof }: { login: Login; onProof: (proof: Proof) => void }) {
	const [token, setToken] = useState("");
	return (
		<main id="main" class="login" tabIndex={-1}>
			<h1>vigil</h1>
			<p>
				The address that <code>vigil dashboard</code> printed opens this page once, a token of the file{" "}
				<code>web-tokens</code> always.
			</p>
			<form
				onSubmit={(e) => {
					e.preventDefault();
					onProof({ token: token.trim() });
				}}>
				<label for="token">Token</label>
				<input
					id="token"
					type="password"
					autocomplete="off"
					required
					value={token}
					onInput={(e) => setToken(e.currentTarget.value)}
				/>
				<button type="submit" class="main">
					Open
				</button>
			</form>
			{login.text && (
				<p class="fault" role="alert">
					{login.text}
				</p>
			)}
		</main>
	);
}

function JobPart({ route, me }: { route: Route; me?: Me }) {
	switch (route.page) {
		case "logs":
			return <Logs route={route} me={me} />;
		case "events":
			return <Events route={route} />;
		case "processes":
		case "process":
			return <Processes route={route} me={me} />;
		case "profiles":
			return <Profiles route={route} me={me} />;
		case "timeline":
			return <TimelinePage route={route} me={me} />;
		default:
			return <JobPage route={route} me={me} />;
	}
}

function Page({ route, me }: { route: Route; me?: Me }) {
	if (route.job !== undefined)
		return (
			<JobFrame route={route}>
				<JobPart key={route.job + route.page} route={route} me={me} />
			</JobFrame>
		);
	return <OfAll route={route} me={me} />;
}

/** Pages of no single job: their stream tells of all. */
function OfAll({ route, me }: { route: Route; me?: Me }) {
	useWanted(undefined, ["jobs", "events", "profiles"]);
	switch (route.page) {
		case "overview":
			return <Overview />;
		case "events":
			return <Events route={route} />;
		case "incident":
			return <IncidentPage key={route.id} route={route} me={me} />;
		case "node":
			return <NodePage route={route} me={me} />;
		case "profile":
		case "compare":
			return <ProfilePage key={route.id! + (route.other ?? "")} route={route} me={me} />;
		default:
			return (
				<>
					<h1>Not found</h1>
					<Empty>
						There is no such page. <a href="#/">All jobs</a>
					</Empty>
				</>
			);
	}
}

export function App({ first: was }: { first: Login }) {
	const [login, go] = useLogin(was);
	const route = useRoute(login.state === "in");
	const main = useRef<HTMLElement>(null);
	const place = `${route.page} ${route.job ?? ""} ${route.id ?? ""}`;
	const first = useRef(true);
	useEffect(() => {
		document.title = route.job ? `${route.job} · vigil` : "vigil";
		if (first.current) {
			first.current = false;
			return;
		}
		if (route.page === "job" && route.id) return;
		scrollTo(0, 0);
		main.current?.focus({ preventScroll: true });
	}, [place]);
	if (login.state === "out") return <LoginPage login={login} onProof={go} />;
	return (
		<>
			<Head route={route} />
			<main id="main" ref={main} tabIndex={-1}>
				<GoneMark />
				<Page route={route} {...(login.me ? { me: login.me } : {})} />
			</main>
			<footer class="foot">
				vigil {login.me?.version ?? ""} on {login.me?.node ?? "this node"} · {login.me?.user ?? ""} (
				{login.me?.role ?? "viewer"})
			</footer>
		</>
	);
}
