// What the tests of the page share: modules of the page as they are, the built page, the server that plays the API, a browser.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const WEB = join(dirname(fileURLToPath(import.meta.url)), "../../web");
export const need = createRequire(join(WEB, "package.json"));
const temp = mkdtempSync(join(tmpdir(), "vigil-web-"));
process.on("exit", () => rmSync(temp, { recursive: true, force: true }));

/** A module of src/, compiled as the build does it. */
export async function source(path) {
	const out = join(temp, path.replace(/[/.]/g, "_") + ".mjs");
	await need("esbuild").build({
		absWorkingDir: WEB,
		entryPoints: [join("src", path)],
		outfile: out,
		bundle: true,
		format: "esm",
		jsx: "automatic",
		jsxImportSource: "preact",
		logLevel: "error",
	});
	return import(pathToFileURL(out));
}

/** The page, built from the sources as they are now. */
export function built() {
	const out = join(temp, "dist");
	if (!existsSync(out))
		execFileSync(process.execPath, [join(WEB, "build.mjs"), out], { stdio: ["ignore", "ignore", "inherit"] });
	return out;
}

export async function serve(options = {}) {
	const { startDevServer } = await import(pathToFileURL(join(WEB, "dev-server.mjs")));
	return startDevServer({ dist: built(), ...options });
}

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const NODE = Number(process.versions.node.split(".")[0]);
/** Why the tests in a browser cannot run; false: they can. */
export const noBrowser =
	NODE < 20
		? `node ${NODE} is too old to drive a browser, 20 is needed`
		: existsSync(CHROMIUM)
			? false
			: `${CHROMIUM} is not installed; tools/setup web installs it`;

export async function browser(more = []) {
	const root = process.getuid() === 0 ? ["--no-sandbox"] : [];
	return need("playwright-core").chromium.launch({ executablePath: CHROMIUM, args: [...root, ...more] });
}

/** Where pictures are kept for a person to look at. */
export function artifacts() {
	const out = process.env.VIGIL_ARTIFACTS ? join(process.env.VIGIL_ARTIFACTS, "page") : join(tmpdir(), "vigil-page");
	mkdirSync(out, { recursive: true });
	return out;
}
