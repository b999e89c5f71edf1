// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.augment.Augment;
import io.penstock.image.AffineRanges;
import io.penstock.image.AutoAugmentPolicy;
import io.penstock.image.Interpolation;
import io.penstock.image.Range;
import io.penstock.image.StepParameters;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.KeyedRandom;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Milliseconds of CPU time that one thread takes for a step of augmentation, on an RGB image: its own, less those of a
 * pipeline without steps, which copies. The parameters are drawn beforehand. Prints a JSON line a step, with the median
 * of the rounds.
 *
 * <pre>
 *   --size N            the image's side, 224 by default
 *   --only TEXT         steps whose name has that text
 *   --rounds N --seconds S --warmup S
 *   --serve --step NAME that step only, a round for each line {@code SECONDS …} of standard input
 * </pre>
 */
public final class AugmentRates {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int DRAWS = 64;

    private final Augment augment;
    private final List<List<StepParameters>> parameters = new ArrayList<>();
    private final Tensor image;
    private final Tensor out;

    private AugmentRates(Augment augment, Tensor image, Tensor out) {
        this.augment = augment;
        this.image = image;
        this.out = out;
        KeyedRandom random = new KeyedRandom(1, 0);
        for (int i = 0; i < DRAWS; i++) {
            parameters.add(augment.parameters(random, i, (int) image.dim(0), (int) image.dim(1)));
        }
    }

    private static Map<String, Augment> steps() {
        Map<String, Augment> steps = new LinkedHashMap<>();
        steps.put("none", Augment.images());
        steps.put("horizontalFlip", Augment.images().horizontalFlip(1));
        Range no = Range.of(1, 1);
        Range factors = Range.of(0.6, 1.4);
        steps.put("brightness", Augment.images().colorJitter(factors, no, no, Range.of(0, 0)));
        steps.put("contrast", Augment.images().colorJitter(no, factors, no, Range.of(0, 0)));
        steps.put("saturation", Augment.images().colorJitter(no, no, factors, Range.of(0, 0)));
        steps.put("hue", Augment.images().colorJitter(no, no, no, Range.of(-0.1, 0.1)));
        steps.put("colorJitter", Augment.images().colorJitter(0.4, 0.4, 0.4, 0.1));
        steps.put("grayscale", Augment.images().grayscale(1));
        steps.put("solarize", Augment.images().solarize(128, 1));
        steps.put("autocontrast", Augment.images().autocontrast(1));
        steps.put("equalize", Augment.images().equalize(1));
        steps.put("sharpness", Augment.images().sharpness(2, 1));
        for (Interpolation interpolation : Interpolation.values()) {
            steps.put("rotate " + interpolation, Augment.images().rotate(30, interpolation, 0));
            steps.put("affine " + interpolation, Augment.images().affine(
                    AffineRanges.degrees(15).translate(0.1, 0.1).scale(0.8, 1.2).shear(10, 10), interpolation, 0));
            steps.put("perspective " + interpolation, Augment.images().perspective(0.5, 1, interpolation, 0));
            steps.put("randAugment " + interpolation, Augment.images().randAugment(2, 9, interpolation));
            steps.put("trivialAugmentWide " + interpolation, Augment.images().trivialAugmentWide(interpolation));
        }
        steps.put("autoAugment", Augment.images().autoAugment(AutoAugmentPolicy.IMAGENET, Interpolation.NEAREST));
        steps.put("augMix", Augment.images().augMix());
        steps.put("gamma", Augment.images().gamma(Range.of(0.8, 1.2), 1));
        steps.put("brightnessContrast", Augment.images().brightnessContrast(0.2, 0.2, 1));
        steps.put("gaussianBlur 23", Augment.images().gaussianBlur(23));
        steps.put("gaussianNoise", Augment.images().gaussianNoise(Range.of(0.1, 0.1)));
        for (Augment each : List.of(Augment.images(), Augment.images().fused())) {
            String name = each.toString().endsWith("fused()") ? "fused" : "not fused";
            steps.put(name + " crop", each.randomResizedCrop(224, 224).horizontalFlip(0.5));
            steps.put(name + " crop and warps", each.randomResizedCrop(224, 224).horizontalFlip(0.5)
                    .rotate(15, Interpolation.BILINEAR, 0).perspective(0.2, 1));
        }
        return steps;
    }

    /** Takes the options above. */
    public static void main(String[] args) throws IOException {
        Map<String, String> options = LoaderThroughput.options(args);
        int size = Integer.parseInt(options.getOrDefault("size", "224"));
        String only = options.getOrDefault("only", "");
        try (Arena arena = Arena.ofConfined()) {
            Tensor image = Tensor.of(arena.allocate(3L * size * size), DType.U8, size, size, 3);
            Tensor out = Tensor.of(arena.allocate(3L * size * size), DType.U8, size, size, 3);
            paint(image, size);
            if (options.containsKey("serve")) {
                serve(new AugmentRates(steps().get("none"), image, out),
                        new AugmentRates(steps().get(options.get("step")), image, out));
                return;
            }
            double copy = 0;
            for (Map.Entry<String, Augment> step : steps().entrySet()) {
                if (step.getKey().equals("none") || step.getKey().contains(only)) {
                    double millis = new AugmentRates(step.getValue(), image, out).median(options);
                    copy = step.getKey().equals("none") ? millis : copy;
                    Map<String, Object> line = new LinkedHashMap<>();
                    line.put("step", step.getKey());
                    line.put("size", size);
                    double own = step.getKey().equals("none") ? millis : millis - copy;
                    line.put("cpu_ms", Math.round(1000 * own) / 1000.0);
                    System.out.println(Json.write(line));
                }
            }
        }
    }

    /** Gradients with some noise, so that neither branches nor tables are spared. */
    private static void paint(Tensor image, int size) {
        Random random = new Random(1);
        for (int y = 0; y < size; y++) {
            for (int x = 0; x < size; x++) {
                for (int c = 0; c < 3; c++) {
                    double value = 128 + 90 * Math.sin((x * (c + 1) + y * (3 - c)) * 6.0 / size)
                            + 12 * random.nextGaussian();
                    image.segment().set(ValueLayout.JAVA_BYTE, ((long) y * size + x) * 3 + c,
                            (byte) Math.clamp((long) value, 0, 255));
                }
            }
        }
    }

    /** The copy and the step by turns, each for half a round. */
    private static void serve(AugmentRates copy, AugmentRates step) throws IOException {
        System.out.println("{\"ready\": true, \"slots\": 1}");
        var requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            double seconds = Double.parseDouble(line.split(" ")[0]) / 2;
            double none = copy.round(seconds);
            double all = step.round(seconds);
            System.out.println(Json.write(Map.of("seconds", 2 * seconds, "cpu_seconds", 2 * seconds, "samples",
                    Math.round(seconds * 1000 / all), "samples_per_second", 1000 / all, "cpu_ms", all - none)));
        }
    }

    private double median(Map<String, String> options) {
        round(Double.parseDouble(options.getOrDefault("warmup", "1")));
        int rounds = Integer.parseInt(options.getOrDefault("rounds", "5"));
        double[] millis = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            millis[i] = round(Double.parseDouble(options.getOrDefault("seconds", "0.3")));
        }
        Arrays.sort(millis);
        return millis[rounds / 2];
    }

    private double round(double seconds) {
        long start = THREADS.getCurrentThreadCpuTime();
        long end = start + (long) (seconds * 1e9);
        long now;
        long count = 0;
        do {
            augment.apply(parameters.get((int) (count % DRAWS)), image, out);
            count++;
            now = THREADS.getCurrentThreadCpuTime();
        } while (now < end);
        return (now - start) / 1e6 / count;
    }
}
