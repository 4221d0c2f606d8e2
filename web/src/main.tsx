import "./common";
import { render } from "preact";
import { adopt, answered } from "./ahead";
import { App, enter } from "./app";

async function begin(): Promise<void> {
	const begun = window.vigilBegun;
	adopt(begun);
	const login = await enter(begun?.login);
	if (login.state === "in") await answered();
	const root = document.getElementById("app")!;
	root.textContent = "";
	render(<App first={login} />, root);
}
void begin();
