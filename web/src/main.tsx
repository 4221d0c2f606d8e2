import { render } from "preact";
import { adopt, answered } from "./ahead";
import { App, enter } from "./app";

/** For so long the first paint waits for what it shows: an answer that comes a moment later would be a second paint. */
const FIRST_MS = 100;

async function begin(): Promise<void> {
	const begun = window.vigilBegun;
	adopt(begun);
	const login = await enter(begun?.login);
	if (login.state === "in") await answered(FIRST_MS);
	const root = document.getElementById("app")!;
	root.textContent = "";
	render(<App first={login} />, root);
}
void begin();
