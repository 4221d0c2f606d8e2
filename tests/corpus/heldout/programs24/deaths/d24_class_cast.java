import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A row has a text where a number should be; the error comes out of a future. */
class Rows {
	static double mean(Map<String, Object> row) {
		return ((Integer) row.get("length")) / 2.0;
	}

	public static void main(String[] args) throws Exception {
		List<Map<String, Object>> rows = List.of(Map.of("length", 12), Map.of("length", "12 tokens"));
		for (int step = 0; step < 60; step++) {
			Thread.sleep(100);
			Map<String, Object> row = rows.get(step < 23 ? 0 : 1);
			double x;
			try {
				x = CompletableFuture.supplyAsync(() -> mean(row)).join();
			} catch (CompletionException e) {
				throw new IllegalStateException("step " + step + " failed", e);
			}
			if (step % 5 == 0)
				System.out.println("step " + step + " mean " + x);
		}
	}
}
