// Hands a profile of this server to speedscope, which knows nothing of vigil: the address after '#' names the profile,
// its data becomes the file that speedscope's own button would open. An address that speedscope itself would fetch
// (profileURL, localProfilePath) is taken out before it looks.
import { heapSpeedscope, stackSpeedscope } from "../flame/speedscope";
import type { RawHeap } from "../flame/model";
import { parseAnswer } from "../safe";
import type { Profile, Stacks } from "../types";

const API = "../api/v1/profiles/";
const id = /^#profile=([\w.-]{1,64})$/.exec(location.hash)?.[1];
history.replaceState(null, "", id ? `#profile=${id}` : location.pathname);

function say(text: string, fault = false): void {
	const line = document.getElementById("handover")!;
	line.textContent = text;
	line.setAttribute("role", fault ? "alert" : "status");
	line.hidden = text === "";
}

async function answer(path: string): Promise<string> {
	const response = await fetch(API + path, { credentials: "same-origin" });
	const text = await response.text();
	if (response.ok) return text;
	if (response.status === 401) throw new Error("The server does not know this browser: open vigil's page first.");
	let said: unknown;
	try {
		said = (parseAnswer(text) as { text?: unknown }).text;
	} catch {
		/* It is no JSON: the status has to do. */
	}
	throw new Error(typeof said === "string" ? said : `The server answered with status ${response.status}.`);
}

async function fileOf(profile: Profile): Promise<File> {
	const name = `${profile.kind}${profile.rank !== undefined ? ` of rank ${profile.rank}` : ""} ${profile.id}`;
	const data = (format: string) => answer(`${profile.id}/data?format=${format}`);
	let text: string;
	if (profile.kind === "flame") text = JSON.stringify(parseAnswer(await data("speedscope")));
	else if (profile.kind === "heap") text = JSON.stringify(heapSpeedscope(parseAnswer(await data("json")) as RawHeap, name));
	else if (profile.kind === "stack") text = JSON.stringify(stackSpeedscope(parseAnswer(await data("json")) as Stacks, name));
	else throw new Error("Call counts have no stacks: speedscope cannot show them.");
	return new File([text], `${profile.id}.speedscope.json`, { type: "application/json" });
}

/** The place where speedscope takes a file, once it is there with the canvas that it draws on. */
function input(): Promise<HTMLInputElement> {
	return new Promise((resolve) => {
		const look = () => {
			const found = document.querySelector<HTMLInputElement>("input[type=file]");
			if (!found || !document.querySelector("canvas")) return;
			seen.disconnect();
			// It knows its canvas after the next paint; a tab in the background is not painted.
			requestAnimationFrame(() => setTimeout(() => resolve(found)));
			setTimeout(() => resolve(found), 300);
		};
		const seen = new MutationObserver(look);
		seen.observe(document.documentElement, { childList: true, subtree: true });
		look();
	});
}

async function open(profile: string): Promise<void> {
	say("Reading the profile…");
	const about = parseAnswer(await answer(profile)) as Profile;
	const file = await fileOf(about);
	const to = await input();
	const files = new DataTransfer();
	files.items.add(file);
	to.files = files.files;
	say("");
	to.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("DOMContentLoaded", () => {
	if (id) open(id).catch((e: unknown) => say(e instanceof Error ? e.message : String(e), true));
	else say("No profile is named in this address; open one from vigil's page.", true);
});
