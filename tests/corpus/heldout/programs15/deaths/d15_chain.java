// A shard ends too early, which is told as a failed epoch.
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;

class Chain {
    static int read(int step) throws IOException {
        byte[] shard = new byte[step == 70 ? 6 : 8];
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(shard));
        return in.readInt() + in.readInt();
    }

    static void epoch() throws InterruptedException {
        for (int step = 0; step < 120; step++) {
            Thread.sleep(100);
            if (step % 5 == 0)
                System.out.printf("step %d loss %.4f%n", step, 2.5 / (1 + step));
            try {
                read(step);
            } catch (IOException e) {
                throw new IllegalStateException("epoch 0 failed", e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        epoch();
    }
}
