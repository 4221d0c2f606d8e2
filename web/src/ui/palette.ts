// Colours that differ for all kinds of colour vision (Okabe and Ito), in an order in which neighbours differ most.
const LIGHT = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#6a6a6a"];
const DARK = ["#4aa8e0", "#f0b429", "#2cc295", "#e39ac4", "#8fd0f5", "#f07f3c", "#e5da4f", "#a8a8a8"];

export function seriesColor(i: number, dark: boolean): string {
	const list = dark ? DARK : LIGHT;
	return list[i % list.length]!;
}

export function isDark(): boolean {
	const set = document.documentElement.dataset["theme"];
	return set === "dark" || (set !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}
