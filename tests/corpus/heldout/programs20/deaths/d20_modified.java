import java.util.ArrayList;
import java.util.List;

/** A trainer removes samples of a list that it goes over, because they are too long. */
class Samples {
	static void drop(List<Integer> lengths, int most) {
		for (Integer length : lengths) {
			if (length > most) {
				lengths.remove(length);
			}
		}
	}

	public static void main(String[] args) throws Exception {
		List<Integer> lengths = new ArrayList<>();
		for (int step = 0; step < 60; step++) {
			Thread.sleep(100);
			lengths.add(step == 20 ? 900 : 100);
			if (step % 5 == 0) {
				System.out.printf("step %d loss %.4f%n", step, 2.5 / (1 + 0.1 * step));
			}
			if (step == 34) {
				drop(lengths, 512);
			}
		}
	}
}
