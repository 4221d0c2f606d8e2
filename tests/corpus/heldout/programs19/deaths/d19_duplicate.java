// Two samples of a table have one name, which a map of names does not take.
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

public class d19_duplicate {
    record Sample(String name, double loss) {
    }

    static Map<String, Double> byName(List<Sample> samples) {
        return samples.stream().collect(Collectors.toMap(Sample::name, Sample::loss));
    }

    public static void main(String[] args) throws Exception {
        List<Sample> samples = new ArrayList<>();
        for (int step = 0; step < 60; step++) {
            Thread.sleep(100);
            samples.add(new Sample(step == 28 ? "img_0007" : String.format("img_%04d", step), 0.4));
            if (step % 5 == 0)
                System.out.printf("step %d loss %.4f%n", step, 2.5 / (1 + 0.1 * step));
            if (step == 30)
                System.out.println(byName(samples).size() + " samples");
        }
    }
}
