import java.util.Map;

/** A record without a text is tokenized. */
class Tokenize {
	static int tokens(Map<String, String> row) {
		String text = row.get("text");
		return text.split(" ").length;
	}

	public static void main(String[] args) throws InterruptedException {
		for (int step = 0; step < 30; step++) {
			Thread.sleep(100);
			if (step % 5 == 0)
				System.out.println("step " + step + " tokens " + tokens(Map.of("text", "a b c")));
		}
		tokens(Map.of("title", "no body"));
	}
}
