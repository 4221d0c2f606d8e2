import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The vocabulary's file is not there; its error is inside of another one. */
class Vocabulary {
	static String read(String name) {
		try {
			return Files.readString(Path.of(name));
		} catch (IOException error) {
			throw new UncheckedIOException("cannot set up the tokenizer", error);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int step = 0; step < 20; step++) {
			Thread.sleep(100);
			if (step % 5 == 0)
				System.out.println("step " + step + " records " + 8 * step);
		}
		System.out.println(read("vocab-large.json").length());
	}
}
