// A real job beside the real server, for tests in a browser: VIGIL names the program, else the one of build/.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WEB } from "./kit.mjs";

const VIGIL = process.env.VIGIL ?? join(WEB, "../build/src/cli/vigil");
const state = mkdtempSync(join(tmpdir(), "vigil-live-"));
const started = [];
const env = { ...process.env, VIGIL_STATE_DIR: state, XDG_CONFIG_HOME: state };
process.on("exit", () => {
	for (const child of started) if (child.exitCode === null) child.kill("SIGTERM");
	rmSync(state, { recursive: true, force: true });
});

export async function until(what, say, ms = 60_000) {
	for (const end = Date.now() + ms; ; ) {
		const got = await what();
		if (got) return got;
		assert.ok(Date.now() < end, `not within ${ms / 1000} s: ${say}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

function start(args, program = VIGIL) {
	assert.ok(existsSync(program), `${program} is not built`);
	const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
	child.said = "";
	child.stderr.on("data", (part) => {
		child.said = (child.said + part).slice(-4000);
	});
	child.ended = new Promise((resolve) => child.on("exit", resolve));
	started.push(child);
	return child;
}

/** An answer of JSON over TLS, whose certificate has to be of this authority. */
function askTls(url, ca, { method = "GET", headers, body }) {
	return new Promise((resolve, reject) => {
		const asked = request(url, { method, headers, ca }, (response) => {
			let text = "";
			response.setEncoding("utf8");
			response.on("data", (part) => {
				text += part;
			});
			response.on("end", () => {
				const { statusCode } = response;
				resolve({
					ok: statusCode >= 200 && statusCode < 300,
					status: statusCode,
					text: async () => text,
					json: async () => JSON.parse(text),
				});
			});
		});
		asked.on("error", reject);
		asked.end(body);
	});
}

/**
 * {url, printed, token, get, post}; the address ends with '/', and the printed one has its code. `ca`: of a server that speaks TLS, the authority's certificate.
 * `program`: another vigil than that of the jobs.
 */
export async function server(args = [], ca = undefined, program = undefined) {
	const child = start(["dashboard", "--json", ...args], program);
	const line = await Promise.race([
		new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve)),
		child.ended.then(() => undefined),
	]);
	assert.ok(line, `the server did not begin: ${child.said}`);
	const { address, token, url: printed } = JSON.parse(line);
	const url = address.endsWith("/") ? address : `${address}/`;
	const ask = async (path, how = {}) => {
		const headers = { Authorization: `Bearer ${token}`, "X-Vigil-CSRF": "1" };
		const to = `${url}api/v1/${path}`;
		const response = await (ca ? askTls(to, ca, { ...how, headers }) : fetch(to, { ...how, headers }));
		assert.ok(response.ok, `${path}: ${response.status} ${response.ok ? "" : await response.text()}`);
		return response.status === 204 ? undefined : response.json();
	};
	return {
		url,
		printed,
		token,
		pid: child.pid,
		get: (path) => ask(path),
		post: (path, body) => ask(path, { method: "POST", body: JSON.stringify(body) }),
	};
}

/** A job that runs; its id, once the server has all its ranks. */
export async function job(at, name, nproc, command, more = [], ranks = nproc) {
	const child = start(["run", "--name", name, "--nproc", String(nproc), ...more, "--", ...command]);
	child.stdout.resume();
	return until(
		async () => {
			assert.equal(child.exitCode, null, `the job ended: ${child.said}`);
			const { jobs } = await at.get("jobs?running=1");
			const found = jobs.find((j) => j.name === name);
			if (!found) return undefined;
			const { total } = await at.get(`jobs/${found.id}/ranks?limit=1`);
			return total >= ranks ? found.id : undefined;
		},
		`${ranks} ranks of ${name}`,
		180_000,
	);
}

/** Runs a job of one process to its end. */
export function ran(name, command) {
	const child = start(["run", "--name", name, "--", ...command]);
	child.stdout.resume();
	return child.ended;
}

/** The command of a launcher with so many ranks that sleep. The program is a copy: `sleep` by its name is no rank. */
export function sleepers(ranks) {
	const trainer = join(state, "trainer");
	copyFileSync("/bin/sleep", trainer);
	const script = `r=0; while [ $r -lt ${ranks} ]; do RANK=$r WORLD_SIZE=${ranks} ${trainer} 900 & r=$((r + 1)); done; wait`;
	return ["sh", "-c", script];
}

/** The file that `vigil report` writes of a job. */
export async function report(id) {
	const file = join(state, `${id}.html`);
	const child = start(["report", id, "--html", file]);
	assert.equal(await child.ended, 0, child.said);
	return file;
}

export async function end() {
	for (const child of started.reverse()) {
		if (child.exitCode === null) child.kill("SIGTERM");
		await child.ended;
	}
}
