import java.io.FileWriter;

class Threads {
    public static void main(String[] words) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        for (int n = 0; n < 100; n++) {
            System.out.println("partition " + n);
            Thread.sleep(200);
        }
    }
}
