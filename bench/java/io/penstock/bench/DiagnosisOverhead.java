// SPDX-License-Identifier: Apache-2.0
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
 * neither, take turns in short rounds of one JVM, and which goes first changes from pair to pair. Where a loader's
 * memory and threads come to lie makes some percent by itself, so there are several sessions, each with two new
 * loaders that are opened in the other order than before; a session gives the median of its pairs, and the answer is
 * the mean of the sessions with its interval. The same without accounts on either side says what the method sees where
 * there is nothing to see. Options as in {@link LoaderThroughput}, with {@code --sessions}, {@code --pairs} and
 * {@code --round-ms}.
 */
public final class DiagnosisOverhead {

    /** Of Student's distribution with some ten degrees of freedom, for an interval of 95 %. */
    private static final double T = 2.2;
    private static final int WARM_UP_ROUNDS = 10;

    private final Map<String, String> options;
    private final int sessions;
    private final int pairs;
    private final long roundNanos;

    private DiagnosisOverhead(Map<String, String> options) {
        this.options = options;
        this.sessions = Integer.parseInt(options.getOrDefault("sessions", "12"));
        this.pairs = Integer.parseInt(options.getOrDefault("pairs", "24"));
        this.roundNanos = Long.parseLong(options.getOrDefault("round-ms", "25")) * 1_000_000;
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
        double sum = 0;
        double squares = 0;
        for (int session = 0; session < sessions; session++) {
            double log = Math.log(session(accounts, session % 2 == 0, session == sessions - 1));
            sum += log;
            squares += log * log;
        }
        double mean = sum / sessions;
        double error = T * Math.sqrt((squares / sessions - mean * mean) / (sessions - 1));
        System.out.printf(Locale.ROOT, "%-13s %.4f, 95 %% interval %.4f to %.4f, %d sessions of %d pairs of %d ms%n",
                what, Math.exp(mean), Math.exp(mean - error), Math.exp(mean + error), sessions, pairs,
                roundNanos / 1_000_000);
    }

    private double session(boolean accounts, boolean judgedFirst, boolean last) throws IOException {
        try (LoaderFeed first = open(accounts && judgedFirst); LoaderFeed second = open(accounts && !judgedFirst)) {
            LoaderFeed judged = judgedFirst ? first : second;
            LoaderFeed plain = judgedFirst ? second : first;
            try (Diagnosis diagnosis = Diagnosis.of(judged.loader())) {
                double ratio = ratio(judged, plain);
                if (accounts && last) {
                    Summary.Overhead said = diagnosis.summary().overhead();
                    System.out.printf(Locale.ROOT, "self-reported %.0f ns a step, %.2f %% of it%n",
                            said.nanosPerStep(), 100 * said.share());
                }
                return ratio;
            }
        }
    }

    private double ratio(LoaderFeed judged, LoaderFeed plain) {
        round(judged, WARM_UP_ROUNDS * roundNanos);
        round(plain, WARM_UP_ROUNDS * roundNanos);
        double[] ratios = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            boolean judgedFirst = i % 2 == 0;
            double first = round(judgedFirst ? judged : plain, roundNanos);
            double second = round(judgedFirst ? plain : judged, roundNanos);
            ratios[i] = judgedFirst ? first / second : second / first;
        }
        Arrays.sort(ratios);
        return (ratios[(pairs - 1) / 2] + ratios[pairs / 2]) / 2;
    }

    private LoaderFeed open(boolean accounts) throws IOException {
        Workload workload = Workload.open(options);
        if (!accounts) {
            workload.settings().withoutAccounts();
        }
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
