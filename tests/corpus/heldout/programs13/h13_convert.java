import java.io.*;
import java.util.*;

/**
 * Files are converted by a tool, one after the other, and waited for. The tool tells of each bad row on its
 * output, which nobody reads: with the fifth file it cannot tell more and waits. "slow": the output is read,
 * the fifth takes 45 s.
 */
class Convert {
    static void role(String name, long pid) throws IOException {
        String path = System.getenv("CORPUS_ROLES");
        if (path != null)
            try (FileWriter f = new FileWriter(path, true)) {
                f.write(name + " " + pid + "\n");
            }
    }

    public static void main(String[] args) throws Exception {
        boolean slow = args.length > 0;
        role("main", ProcessHandle.current().pid());
        for (int file = 0; file < 8; file++) {
            int bad = file == 4 && !slow ? 40000 : 20, seconds = file == 4 && slow ? 45 : 1;
            String tool = "sleep " + seconds + "; for (1 .. " + bad + ") { print \"row $_: no label, skipped\\n\" }";
            Process p = new ProcessBuilder("perl", "-e", tool).redirectErrorStream(true).start();
            if (file == 4)
                role("tool", p.pid());
            if (slow)
                p.getInputStream().readAllBytes();
            int code = p.waitFor();
            System.out.println("[INFO] part-0000" + file + ".csv -> part-0000" + file + ".bin, exit " + code);
        }
    }
}
