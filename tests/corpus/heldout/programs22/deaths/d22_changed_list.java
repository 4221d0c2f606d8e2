import java.util.ArrayList;
import java.util.List;

/** Trials that are bad are taken out of a list while it is gone through. */
class Trials {
	static void prune(List<Double> trials) {
		for (Double loss : trials)
			if (loss > 0.9)
				trials.remove(loss);
	}

	public static void main(String[] args) throws Exception {
		List<Double> trials = new ArrayList<>();
		for (int step = 0; step < 20; step++) {
			Thread.sleep(100);
			trials.add(1.0 / (1 + step));
			if (step % 5 == 0)
				System.out.println("step " + step + " trials " + trials.size());
		}
		prune(trials);
	}
}
