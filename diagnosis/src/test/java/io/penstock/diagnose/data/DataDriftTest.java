// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.diagnose.data.DataFinding.Measure;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DataDriftTest {

    private static final int BATCHES = 64;

    private static DataProfile profile(long seed, int batches, Consumer<Corpus> change) {
        DataStatistics statistics = DataStatistics.builder().every(1).build();
        Corpus corpus = new Corpus(seed);
        change.accept(corpus);
        corpus.show(statistics, 0, batches);
        return statistics.profile().orElseThrow();
    }

    private static DataProfile healthy(long seed) {
        return profile(seed, BATCHES, corpus -> { });
    }

    @Tag("slow")
    @Test
    void healthyDataRaisesNoAlarmWhateverTheSeedAndTheSizes() {
        DriftLimits noSize = new DriftLimits(5, 0, 0, 0, 0, 0);
        int clusters = 0;
        List<DataFinding> alarms = new ArrayList<>();
        List<Double> sigmas = new ArrayList<>();
        for (int seed = 0; seed < 80; seed++) {
            DataProfile before = healthy(2 * seed);
            DataProfile now = profile(2 * seed + 1, seed % 3 == 0 ? BATCHES : 16 * (seed % 3), corpus -> { });
            // Noise alone keeps quiet: not the size of the change, which is below the limits anyhow.
            sigmas.add(Divergence.of(before.fields().getFirst(), now.fields().getFirst()).sigmas());
            alarms.addAll(DataDrift.compare(before, now, noSize));
            clusters += naiveSigmas(before.fields().getFirst(), now.fields().getFirst()) > 5 ? 1 : 0;
        }
        sigmas.sort(null);
        System.out.printf("no change, 80 seeds: %.2f sigma in the middle, %.2f at most; naively beyond 5: %d%n",
                sigmas.get(40), sigmas.getLast(), clusters);
        assertEquals(List.of(), alarms);
        // The test has teeth: its scale is right, and one that takes tokens as independent raises alarms.
        long far = sigmas.stream().filter(each -> each > 3).count();
        assertTrue(far <= 2, far + " of 80 beyond 3 sigma");
        assertTrue(sigmas.stream().filter(each -> each > 0.5).count() > 8, "a test that never stirs finds nothing");
        assertTrue(clusters > 40, "words repeat: " + clusters + " of 80");
    }

    /** The chi-square test of homogeneity for independent values (Wilson and Hilferty's z), as an oracle. */
    private static double naiveSigmas(FieldProfile before, FieldProfile now) {
        long[] a = before.histogram();
        long[] b = now.histogram();
        double ofA = before.values();
        double ofB = now.values();
        double chiSquare = 0;
        int cells = 0;
        for (int k = 0; k < a.length; k++) {
            if (a[k] + b[k] >= 5 * (ofA + ofB) / Math.min(ofA, ofB)) {
                double term = Math.sqrt(ofB / ofA) * a[k] - Math.sqrt(ofA / ofB) * b[k];
                chiSquare += term * term / (a[k] + b[k]);
                cells++;
            }
        }
        double scale = 2 / (9.0 * (cells - 1));
        return (Math.cbrt(chiSquare / (cells - 1)) - (1 - scale)) / Math.sqrt(scale);
    }

    @Test
    void foreignTokensAreFoundAndMeasured() {
        for (double share : new double[] {0.03, 0.1}) {
            DataProfile now = profile(1000, BATCHES, corpus -> corpus.foreign = share);
            List<DataFinding> findings = DataDrift.compare(healthy(1), now, DriftLimits.DEFAULT);
            assertEquals(1, findings.size(), findings::toString);
            DataFinding finding = findings.getFirst();
            assertEquals("tokens", finding.field());
            assertEquals(Measure.DISTRIBUTION, finding.measure());
            // Jensen-Shannon divergence of P and (1 - s) P + s Q, Q without anything of P
            double expected = 0.5 * log2(2 / (2 - share))
                    + 0.5 * ((1 - share) * log2(2 * (1 - share) / (2 - share)) + share * 1);
            double excess = finding.now() - finding.before();
            assertEquals(expected, excess, 0.3 * expected, share + ": " + finding);
        }
        DataProfile few = profile(1000, BATCHES, corpus -> corpus.foreign = 0.005);
        assertEquals(List.of(), DataDrift.compare(healthy(1), few, DriftLimits.DEFAULT), "below the limit of size");
    }

    private static double log2(double x) {
        return Math.log(x) / Math.log(2);
    }

    @Test
    void eachChangeIsFoundAndNamedAndNothingElse() {
        assertFinds(corpus -> corpus.light = 12, "image, channel 2: mean from 1");
        assertFinds(corpus -> corpus.mislabelled = 0.8, "label: distribution", "id 1 from 9");
        assertFinds(corpus -> corpus.broken = 0.001, "heat: share of non-finite values from 0 % to 0.");
        assertFinds(corpus -> corpus.longer = 1.3, "tokens: share of padding from 53", "tokens_lengths: mean from 6",
                "tokens_lengths: distribution");
        assertFinds(corpus -> corpus.black = 0.2, "image: share of constant rows from 0 % to ");
    }

    @Test
    void theShareOfNonFiniteValuesIsOfAllValuesWhereThereWereSomeBefore() {
        DataProfile before = profile(7, BATCHES, corpus -> corpus.broken = 0.01);
        for (double share : new double[] {0.5, 0.75, 1}) {
            DataProfile now = profile(8, BATCHES, corpus -> corpus.broken = share);
            List<DataFinding> found = DataDrift.compare(before, now, DriftLimits.DEFAULT).stream()
                    .filter(finding -> finding.measure() == Measure.NON_FINITE).toList();
            assertEquals(1, found.size(), share + ": " + found);
            assertEquals(0.01, found.getFirst().before(), 0.005);
            assertEquals(share, found.getFirst().now(), 0.03);
        }
    }

    private static void assertFinds(Consumer<Corpus> change, String... expected) {
        List<DataFinding> findings = DataDrift.compare(healthy(7), profile(8, BATCHES, change), DriftLimits.DEFAULT);
        String text = String.join("\n", findings.stream().map(DataFinding::toString).toList());
        for (String part : expected) {
            assertTrue(text.contains(part), () -> "'" + part + "' is not in:\n" + text);
        }
        long fields = findings.stream().map(DataFinding::field).distinct().count();
        assertEquals(List.of(expected).stream().map(part -> part.replaceAll("[:,].*", ""))
                .filter(part -> !part.startsWith("id ")).distinct().count(), fields, text);
    }

    @Test
    void smallChangesAreBelowTheLimitsThoughTheyAreReal() {
        Consumer<Corpus> change = corpus -> {
            corpus.light = 1.5;
            corpus.black = 0.01;
        };
        assertEquals(List.of(), DataDrift.compare(healthy(7), profile(8, BATCHES, change), DriftLimits.DEFAULT));
    }

    @Test
    void tooLittleDataSaysNothing() {
        DataProfile now = profile(8, DataDrift.LEAST_REPLICATES - 1, corpus -> corpus.foreign = 0.5);
        assertEquals(List.of(), DataDrift.compare(healthy(7), now, DriftLimits.DEFAULT));
        DataProfile enough = profile(8, DataDrift.LEAST_REPLICATES, corpus -> corpus.foreign = 0.5);
        assertEquals(1, DataDrift.compare(healthy(7), enough, DriftLimits.DEFAULT).size());
    }

    @Test
    void otherFieldsAreRefusedUnlessAsked() {
        DataProfile before = DataProfile.fromJson(healthy(7).toJson().replace("\"heat\"", "\"cold\""));
        DataProfile now = profile(8, BATCHES, corpus -> corpus.foreign = 0.1);
        DataShapeException refused = assertThrows(DataShapeException.class,
                () -> DataDrift.compare(before, now, DriftLimits.DEFAULT));
        assertEquals("the data has other fields: found heat: f32[4] as numbers, expected cold: f32[4] as numbers",
                refused.getMessage());
        assertEquals(1, DataDrift.compareShared(before, now, DriftLimits.DEFAULT).size());
    }
}
