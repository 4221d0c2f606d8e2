import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** The trainer of h13_expect.py: after each epoch it sends its metrics, large ones with "Expect: 100-continue". */
class Expect {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        for (int epoch = 0; epoch < 10; epoch++) {
            Thread.sleep(600);
            int size = epoch < 5 ? 2000 : 2000000;
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + args[0] + "/metrics"))
                .expectContinue(size > 1000000).POST(BodyPublishers.ofByteArray(new byte[size])).build();
            int code = client.send(request, BodyHandlers.discarding()).statusCode();
            System.out.println("Epoch " + epoch + ": metrics sent, " + code);
        }
    }
}
