package io.penstock.bench;

import io.penstock.diagnose.Diagnosis;
import io.penstock.diagnose.Summary;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What diagnosis costs: two loaders on the same workload, one that keeps accounts and is diagnosed and one that does
 * neither, take turns in short rounds of one JVM. A pair of rounds beside each other meets the same machine, and which
 * goes first changes from pair to pair; the median of the pairs' ratios, with the interval that order statistics give
 * whatever the noise looks like, is the answer. A second pair without accounts on either side says what the method
 * itself sees where there is nothing to see. Options as in {@link LoaderThroughput}, with {@code --pairs} and
 * {@code --round-ms}.
 */
public final class DiagnosisOverhead {

    /** Of the normal distribution, for an interval of 95 %. */
    private static final double Z = 1.96;

    private final Map<String, String> options;
    private final int pairs;
    private final long roundNanos;

    private DiagnosisOverhead(Map<String, String> options) {
        this.options = options;
        this.pairs = Integer.parseInt(options.getOrDefault("pairs", "300"));
        this.roundNanos = Long.parseLong(options.getOrDefault("round-ms", "50")) * 1_000_000;
    }

    /** See {@code bench/README.md}. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = new HashMap<>(LoaderThroughput.options(args));
        options.putIfAbsent("store", "target/bench/tokens.bin");
        var overhead = new DiagnosisOverhead(options);
        overhead.compare("off over off", false);
        overhead.compare("on over off", true);
    }

    private void compare(String what, boolean accounts) throws IOException {
        try (LoaderFeed judged = open(accounts); LoaderFeed plain = open(false);
             Diagnosis diagnosis = Diagnosis.of(judged.loader())) {
            long warmUp = 20 * roundNanos;
            round(judged, warmUp);
            round(plain, warmUp);
            double[] ratios = new double[pairs];
            double sum = 0;
            for (int i = 0; i < pairs; i++) {
                boolean judgedFirst = i % 2 == 0;
                double first = round(judgedFirst ? judged : plain, roundNanos);
                double second = round(judgedFirst ? plain : judged, roundNanos);
                ratios[i] = judgedFirst ? first / second : second / first;
                sum += judgedFirst ? second : first;
            }
            Arrays.sort(ratios);
            int reach = (int) Math.ceil(Z * Math.sqrt(pairs) / 2);
            int middle = pairs / 2;
            System.out.printf(Locale.ROOT, "%-13s %.4f, 95 %% interval %.4f to %.4f, %d pairs of %d ms, plain %.0f "
                            + "samples/s%n", what, ratios[middle], ratios[Math.max(0, middle - reach)],
                    ratios[Math.min(pairs - 1, middle + reach)], pairs, roundNanos / 1_000_000, sum / pairs);
            if (accounts) {
                Summary.Overhead said = diagnosis.summary().overhead();
                System.out.printf(Locale.ROOT, "self-reported %.0f ns a step, %.2f %% of it%n", said.nanosPerStep(),
                        100 * said.share());
            }
        }
    }

    private LoaderFeed open(boolean accounts) throws IOException {
        Workload workload = Workload.open(options);
        workload.settings().accounts(accounts);
        return LoaderFeed.open(workload, options);
    }

    /** Samples a second. */
    private static double round(LoaderFeed feed, long nanos) {
        long begin = System.nanoTime();
        long samples = 0;
        long now = begin;
        while (now - begin < nanos) {
            samples += feed.take();
            feed.release();
            now = System.nanoTime();
        }
        return samples * 1e9 / (now - begin);
    }
}
