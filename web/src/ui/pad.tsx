// What the two canvases that are zoomed have in common.
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** The browser lets only such a listener keep the page from scrolling. */
export function useWheel(canvas: RefObject<HTMLCanvasElement | null>, onWheel: (e: WheelEvent) => void): void {
	useEffect(() => {
		const element = canvas.current!;
		element.addEventListener("wheel", onWheel, { passive: false });
		return () => element.removeEventListener("wheel", onWheel);
	});
}

export function ZoomButtons({ onZoom, onAll }: { onZoom: (factor: number) => void; onAll: () => void }) {
	return (
		<div class="segmented" role="group" aria-label="Zoom">
			<button type="button" aria-label="Nearer" onClick={() => onZoom(0.6)}>
				+
			</button>
			<button type="button" aria-label="Farther" onClick={() => onZoom(1 / 0.6)}>
				−
			</button>
			<button type="button" onClick={onAll}>
				All
			</button>
		</div>
	);
}
