import java.nio.file.*;

public class d10_cause {
    static byte[] tokens() {
        try {
            return Files.readAllBytes(Path.of("/data/tokens-0007.bin"));
        } catch (java.io.IOException e) {
            throw new IllegalStateException("pipeline stage 'read' failed", e);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int k = 0; k < 5; k++) {
            System.out.println("step " + k);
            Thread.sleep(200);
        }
        System.out.println(tokens().length);
    }
}
