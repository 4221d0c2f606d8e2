// What stands beside a chart: times below it, and what its curves are at now. Pure.
import { clock } from "../format";

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
/** Seconds between marks of an axis of time, whose marks tell no less than seconds. */
export const TIME_STEPS = [
	...[1, 2, 5, 10, 15, 30].flatMap((n) => [n, n * MINUTE]),
	...[1, 2, 3, 6, 12].map((n) => n * HOUR),
	...[1, 2, 5, 10, 30, 100].map((n) => n * DAY),
].sort((a, b) => a - b);

/** "03:12:40", "03:12" or "01-25 03:12", as far as they are apart. */
export function timeTicks(ticks: readonly number[]): string[] {
	const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : 1;
	const days = ticks.length > 0 && ticks[ticks.length - 1]! - ticks[0]! >= DAY;
	return ticks.map((t) =>
		days ? clock(t * 1000, 0).slice(5, 16) : clock(t * 1000).slice(0, step >= MINUTE ? 5 : 8),
	);
}

/** What a curve is at, where that can be told of one of the last two looks. */
export const lastOf = (values: readonly (number | null)[]): number | undefined =>
	values.slice(-2).reduce<number | undefined>((last, v) => v ?? last, undefined);
