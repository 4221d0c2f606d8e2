// Runs first, while the page's own scripts are still fetched: sets the colours before anything is painted, and asks for
// what the first screen shows. A file of its own, because the page allows no script in its text.
import { firstOf, ME, type Begun } from "./ahead";
import { apiUrl, written } from "./api";
import { parseRoute, proofOf } from "./route";

try {
	const theme = localStorage.getItem("vigil-theme");
	if (theme === "dark" || theme === "light") document.documentElement.dataset["theme"] = theme;
} catch {
	/* Storage is denied: the system's theme holds. */
}

const proof = proofOf(location.hash);
const begun: Begun = { answers: new Map() };
if (proof !== undefined) {
	history.replaceState(null, "", `${location.pathname}${location.search}#/`);
	begun.login = fetch(apiUrl("login"), written("POST", proof));
}
/** Where the login is refused, too: the browser may have a session. */
const ask = (url: string) => (begun.login ? begun.login.then(() => fetch(url)) : fetch(url));
for (const [path, query] of [ME, ...firstOf(parseRoute(location.hash))]) {
	const url = apiUrl(path, query);
	const answer = ask(url);
	answer.catch(() => {});
	begun.answers.set(url, answer);
}
begun.login?.catch(() => {});
window.vigilBegun = begun;
