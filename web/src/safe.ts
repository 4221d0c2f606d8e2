// JSON whose texts cannot turn the direction of what stands beside them: a file "gnp.exe" that reads as a picture. Pure.

const TURNS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const ESCAPED = /\\u20(0[ef]|2[a-e]|6[6-9])/i;

/** Characters that change direction become a visible sign. Throws as JSON.parse does. */
export function parseAnswer(text: string): unknown {
	const plain = text.replace(TURNS, "␦");
	// A look at every value costs more than the parsing; it is needed only where such a character comes escaped.
	if (!ESCAPED.test(plain)) return JSON.parse(plain);
	return JSON.parse(plain, (_, value: unknown) => (typeof value === "string" ? value.replace(TURNS, "␦") : value));
}
