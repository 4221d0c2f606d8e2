import java.io.FileWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;

/** Two shards are moved between two nodes; each mover takes the node it comes from first. */
class Transfers {
    static class Node {
        final String name;
        final List<Integer> rows = new ArrayList<>();

        Node(String name) {
            this.name = name;
        }
    }

    static void move(Node from, Node to, int row, int pause) {
        synchronized (from) {
            rest(pause);
            synchronized (to) {
                from.rows.remove(Integer.valueOf(row));
                to.rows.add(row);
            }
        }
    }

    static void rest(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write("main " + ProcessHandle.current().pid() + "\n");
            }
        Node a = new Node("a"), b = new Node("b");
        ArrayBlockingQueue<Integer> moved = new ArrayBlockingQueue<>(4);
        for (int k = 0; k < 2; k++) {
            boolean there = k == 0;
            new Thread(() -> {
                for (int n = 0; n < 1000; n++) {
                    rest(n < 10 && !there ? 120 : 200);
                    synchronized (n < 10 ? moved : new Object()) {
                        move(there ? a : b, there ? b : a, n, n < 10 ? 1 : 300);
                    }
                    moved.offer(n);
                }
            }).start();
        }
        while (true)
            System.out.println("moved " + moved.take());
    }
}
