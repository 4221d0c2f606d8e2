import "./common";
import { render } from "preact";
import { adopt, answered } from "./ahead";
import { App, enter } from "./app";
import { whenIdle } from "./idle";

/** Kept here, so that the letters of small cells are there when the first grid is painted. */
const letters = new Image();

function fetchLetters(): void {
	const value = getComputedStyle(document.documentElement).getPropertyValue("--letters");
	const [, url] = /url\("?([^")]+)/.exec(value) ?? [];
	if (url) letters.src = url;
}

async function begin(): Promise<void> {
	const begun = window.vigilBegun;
	adopt(begun);
	const login = await enter(begun?.login);
	if (login.state === "in") await answered();
	const root = document.getElementById("app")!;
	root.textContent = "";
	render(<App first={login} />, root);
	requestAnimationFrame(() => whenIdle(fetchLetters));
}
void begin();
