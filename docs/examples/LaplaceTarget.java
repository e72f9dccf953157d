// A naive Laplace mechanism that speaks the protocol of docs/protocol.md, for data that are one number.
//   subnormal check "cmd: java LaplaceTarget.java" --in 1 --out 0 --epsilon 1
import java.io.*;
import java.security.SecureRandom;
import java.util.regex.*;
import java.util.stream.*;

public class LaplaceTarget {
    static final SecureRandom RANDOM = new SecureRandom();

    // Uniform on the multiples of 2^-53 in (0, 1]; then textbook noise.
    static double laplace(double scale) {
        double noise = -scale * Math.log(((RANDOM.nextLong() >>> 11) + 1) * 0x1p-53);
        return RANDOM.nextBoolean() ? noise : -noise;
    }

    // Enough of JSON for requests whose data are a number. Integers beyond 2^53 come as strings.
    static double field(String line, String name) {
        Matcher found = Pattern.compile("\"" + name + "\": *\"?([-+.0-9eE]+)").matcher(line);
        if (!found.find()) throw new IllegalArgumentException("no number " + name);
        return Double.parseDouble(found.group(1));
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line; (line = lines.readLine()) != null; ) {
            if (line.contains("\"protocol\"")) {
                System.out.println("{\"protocol\": 1}");
                continue;
            }
            double data = field(line, "data"), scale = 1 / field(line, "epsilon");
            // Double.toString writes enough digits to read back as the float, with a point.
            System.out.println(IntStream.range(0, (int) field(line, "runs"))
                .mapToObj(run -> Double.toString(data + laplace(scale)))
                .collect(Collectors.joining(", ", "{\"outcomes\": [", "]}")));
        }
    }
}
