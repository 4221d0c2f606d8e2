// Samples are taken out of a list while it is gone over.
import java.util.ArrayList;
import java.util.List;

public class d17_modified {
    static void leaveOut(List<Integer> samples, int length) {
        for (Integer sample : samples)
            if (sample > length)
                samples.remove(sample);
    }

    public static void main(String[] args) throws Exception {
        List<Integer> samples = new ArrayList<>();
        for (int step = 0; step < 40; step++) {
            samples.add(step * 7);
            if (step % 5 == 0)
                System.out.printf("step %d loss %.3f%n", step, 2.5 / (1 + step));
            Thread.sleep(80);
            if (step == 30)
                leaveOut(samples, 100);
        }
    }
}
