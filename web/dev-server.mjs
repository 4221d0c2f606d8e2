// Plays vigil's API from recorded answers, for work on the page and for its tests: `npm run dev`.
// It misbehaves on request: see `control` (late answers, errors, a stream that is cut, a lost session).
import { createServer } from "node:http";
import { readFileSync, existsSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { answer } from "./dev/api.mjs";
import { makeWorld } from "./dev/world.mjs";
import { streamTo, tellRanks, tick } from "./dev/stream.mjs";

const TYPES = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript",
	".css": "text/css",
	".svg": "image/svg+xml",
	".txt": "text/plain",
	".png": "image/png",
	".woff2": "font/woff2",
};
/** As vigil's server sends it; speedscope makes an empty style element, whose text has this sum. */
const CSP = "default-src 'self'; frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'";
const SPEEDSCOPE_CSP = `${CSP}; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='`;

function sendJson(res, status, body) {
	if (res.destroyed) return;
	res.writeHead(status, { "Content-Type": "application/json", "Cache-Control": "no-store" });
	res.end(body === undefined ? "" : JSON.stringify(body));
}

export const fault = (status, error, text) => ({ status, body: { schema: "vigil.error/1", error, text } });

function sendFile(res, dist, names, path) {
	const name = path === "" ? "index.html" : path;
	if (!names.has(name)) return sendJson(res, 404, fault(404, "absent", "There is no such file.").body);
	res.writeHead(200, {
		"Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
		"Content-Security-Policy": name.startsWith("speedscope/") ? SPEEDSCOPE_CSP : CSP,
		"X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer",
	});
	res.end(readFileSync(join(dist, name)));
}

function bodyOf(req) {
	return new Promise((resolve) => {
		let text = "";
		req.on("data", (part) => {
			if (text.length < 65536) text += part;
		});
		req.on("end", () => {
			try {
				resolve(text === "" ? {} : JSON.parse(text));
			} catch {
				resolve(undefined);
			}
		});
	});
}

async function api(ctx, req, res, path, query) {
	const { control } = ctx;
	if (control.lateMs > 0) await new Promise((r) => setTimeout(r, control.lateMs));
	if (control.fail && new RegExp(control.fail.path).test(path)) {
		const { status } = control.fail;
		if (status === 0) return res.destroy();
		if (status === 502) {
			res.writeHead(502, { "Content-Type": "text/html" });
			return res.end("<h1>Bad gateway</h1>");
		}
		return sendJson(res, status, fault(status, "made", `The server was told to answer ${status}.`).body);
	}
	const write = req.method !== "GET";
	if (write && path !== "login" && req.headers["x-vigil-csrf"] !== "1")
		return sendJson(res, 403, fault(403, "csrf", "The header X-Vigil-CSRF is missing.").body);
	if (path === "login") {
		const body = await bodyOf(req);
		const known = body?.code === undefined ? body?.token === control.token : control.codes.delete(body.code);
		if (!known)
			return sendJson(
				res,
				401,
				fault(
					401,
					"no_token",
					body?.code === undefined
						? "that is no token of this server: 'vigil dashboard --port 9877' prints a new address"
						: "this address was used already, or its server has ended: 'vigil dashboard --port 9877' prints a new address",
				).body,
			);
		res.writeHead(204, { "Set-Cookie": `vigil_session=${control.session}; HttpOnly; SameSite=Strict; Path=/` });
		return res.end();
	}
	if (!(req.headers.cookie ?? "").includes(`vigil_session=${control.session}`))
		return sendJson(
			res,
			401,
			fault(401, "no_token", "No token came with this request; open the address that vigil dashboard printed.")
				.body,
		);
	if (path === "stream") return streamTo(ctx, req, res, query);
	const result = await answer(ctx, req.method, path, query, write ? await bodyOf(req) : undefined);
	if (result.text !== undefined) {
		res.writeHead(200, {
			"Content-Type": "text/plain; charset=utf-8",
			...(result.attachment ? { "Content-Disposition": `attachment; filename="${result.attachment}"` } : {}),
		});
		return res.end(control.cutAnswer ? result.text.slice(0, 10) : result.text);
	}
	return sendJson(res, result.status ?? 200, result.body);
}

/** `prefix`: the page is served below it, as behind a proxy. */
export async function startDevServer({
	port = 0,
	dist = join(dirname(fileURLToPath(import.meta.url)), "dist"),
	prefix = "/",
} = {}) {
	if (!existsSync(join(dist, "manifest.txt"))) throw new Error(`${dist} is not built; run: npm run build`);
	const names = new Set(readFileSync(join(dist, "manifest.txt"), "utf8").split("\n").filter(Boolean));
	const good = {
		token: "dev-token",
		session: "s1",
		lateMs: 0,
		fail: null,
		cutAnswer: false,
		refuseStream: false,
		refused: 0,
		role: "admin",
		noJobs: false,
		bigFlame: 0,
		thinned: 0,
	};
	const control = { ...good, codes: new Set(), requests: [], behave: () => Object.assign(control, good) };
	const ctx = { control, world: makeWorld(), streams: new Set(), profiles: new Map(), profileSeq: 1 };
	const server = createServer((req, res) => {
		const url = new URL(req.url, "http://dev");
		if (!url.pathname.startsWith(prefix))
			return sendJson(res, 404, fault(404, "absent", "Outside of the prefix.").body);
		const path = url.pathname.slice(prefix.length);
		control.requests.push(`${req.method} ${path}${url.search}`);
		if (path.startsWith("api/v1/"))
			return void api(ctx, req, res, path.slice(7), url.searchParams).catch((e) =>
				sendJson(res, 500, fault(500, "bug", String(e.stack)).body),
			);
		return sendFile(res, dist, names, path);
	});
	const timer = setInterval(() => tick(ctx), 1000);
	await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
	control.cut = () => {
		for (const s of ctx.streams) s.res.destroy();
		ctx.streams.clear();
	};
	control.emit = (event) => {
		const full = {
			schema: "vigil.event/1",
			seq: ++ctx.world.seq,
			time_unix_ms: Date.now(),
			attempt: 0,
			severity: "info",
			...event,
		};
		ctx.world.jobs.get(full.job)?.events.push(full);
		return full;
	};
	/** Rows of ranks that are other from now on; the stream tells them. */
	control.ranks = (job, rows) => {
		const entry = ctx.world.jobs.get(job);
		for (const row of rows) {
			const known = entry.ranks.find((r) => r.rank === row.rank);
			if (known) Object.assign(known, row);
			else entry.ranks.push(row);
		}
		tellRanks(ctx, job, rows);
	};
	return {
		control,
		world: ctx.world,
		port: server.address().port,
		url: `http://127.0.0.1:${server.address().port}${prefix}`,
		close: () =>
			new Promise((resolve) => {
				clearInterval(timer);
				control.cut();
				server.closeAllConnections();
				server.close(resolve);
			}),
	};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const server = await startDevServer({ port: Number(process.env.PORT ?? 9877) });
	console.log(`${server.url}#token=${server.control.token}`);
}
