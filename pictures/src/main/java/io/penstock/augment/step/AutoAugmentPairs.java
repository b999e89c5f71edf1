// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.image.AutoAugmentPolicy;
import java.util.List;
import java.util.stream.Stream;

/** The learned pairs of operations of the policies, in the order of {@link AutoAugmentPolicy}. */
public enum AutoAugmentPairs {
    /** Learned on ImageNet. */
    IMAGENET("""
            POSTERIZE 0.4 8, ROTATE 0.6 9; SOLARIZE 0.6 5, AUTOCONTRAST 0.6 0
            EQUALIZE 0.8 0, EQUALIZE 0.6 0; POSTERIZE 0.6 7, POSTERIZE 0.6 6
            EQUALIZE 0.4 0, SOLARIZE 0.2 4; EQUALIZE 0.4 0, ROTATE 0.8 8
            SOLARIZE 0.6 3, EQUALIZE 0.6 0; POSTERIZE 0.8 5, EQUALIZE 1.0 0
            ROTATE 0.2 3, SOLARIZE 0.6 8; EQUALIZE 0.6 0, POSTERIZE 0.4 6
            ROTATE 0.8 8, COLOR 0.4 0; ROTATE 0.4 9, EQUALIZE 0.6 0
            EQUALIZE 0.0 0, EQUALIZE 0.8 0; INVERT 0.6 0, EQUALIZE 1.0 0
            COLOR 0.6 4, CONTRAST 1.0 8; ROTATE 0.8 8, COLOR 1.0 2
            COLOR 0.8 8, SOLARIZE 0.8 7; SHARPNESS 0.4 7, INVERT 0.6 0
            SHEAR_X 0.6 5, EQUALIZE 1.0 0; COLOR 0.4 0, EQUALIZE 0.6 0
            EQUALIZE 0.4 0, SOLARIZE 0.2 4; SOLARIZE 0.6 5, AUTOCONTRAST 0.6 0
            INVERT 0.6 0, EQUALIZE 1.0 0; COLOR 0.6 4, CONTRAST 1.0 8
            EQUALIZE 0.8 0, EQUALIZE 0.6 0
            """),
    /** Learned on CIFAR-10. */
    CIFAR10("""
            INVERT 0.1 0, CONTRAST 0.2 6; ROTATE 0.7 2, TRANSLATE_X 0.3 9
            SHARPNESS 0.8 1, SHARPNESS 0.9 3; SHEAR_Y 0.5 8, TRANSLATE_Y 0.7 9
            AUTOCONTRAST 0.5 0, EQUALIZE 0.9 0; SHEAR_Y 0.2 7, POSTERIZE 0.3 7
            COLOR 0.4 3, BRIGHTNESS 0.6 7; SHARPNESS 0.3 9, BRIGHTNESS 0.7 9
            EQUALIZE 0.6 0, EQUALIZE 0.5 0; CONTRAST 0.6 7, SHARPNESS 0.6 5
            COLOR 0.7 7, TRANSLATE_X 0.5 8; EQUALIZE 0.3 0, AUTOCONTRAST 0.4 0
            TRANSLATE_Y 0.4 3, SHARPNESS 0.2 6; BRIGHTNESS 0.9 6, COLOR 0.2 8
            SOLARIZE 0.5 2, INVERT 0.0 0; EQUALIZE 0.2 0, AUTOCONTRAST 0.6 0
            EQUALIZE 0.2 0, EQUALIZE 0.6 0; COLOR 0.9 9, EQUALIZE 0.6 0
            AUTOCONTRAST 0.8 0, SOLARIZE 0.2 8; BRIGHTNESS 0.1 3, COLOR 0.7 0
            SOLARIZE 0.4 5, AUTOCONTRAST 0.9 0; TRANSLATE_Y 0.9 9, TRANSLATE_Y 0.7 9
            AUTOCONTRAST 0.9 0, SOLARIZE 0.8 3; EQUALIZE 0.8 0, INVERT 0.1 0
            TRANSLATE_Y 0.7 9, AUTOCONTRAST 0.9 0
            """),
    /** Learned on SVHN, house numbers. */
    SVHN("""
            SHEAR_X 0.9 4, INVERT 0.2 0; SHEAR_Y 0.9 8, INVERT 0.7 0
            EQUALIZE 0.6 0, SOLARIZE 0.6 6; INVERT 0.9 0, EQUALIZE 0.6 0
            EQUALIZE 0.6 0, ROTATE 0.9 3; SHEAR_X 0.9 4, AUTOCONTRAST 0.8 0
            SHEAR_Y 0.9 8, INVERT 0.4 0; SHEAR_Y 0.9 5, SOLARIZE 0.2 6
            INVERT 0.9 0, AUTOCONTRAST 0.8 0; EQUALIZE 0.6 0, ROTATE 0.9 3
            SHEAR_X 0.9 4, SOLARIZE 0.3 3; SHEAR_Y 0.8 8, INVERT 0.7 0
            EQUALIZE 0.9 0, TRANSLATE_Y 0.6 6; INVERT 0.9 0, EQUALIZE 0.6 0
            CONTRAST 0.3 3, ROTATE 0.8 4; INVERT 0.8 0, TRANSLATE_Y 0.0 2
            SHEAR_Y 0.7 6, SOLARIZE 0.4 8; INVERT 0.6 0, ROTATE 0.8 4
            SHEAR_Y 0.3 7, TRANSLATE_X 0.9 3; SHEAR_X 0.1 6, INVERT 0.6 0
            SOLARIZE 0.7 2, TRANSLATE_Y 0.6 7; SHEAR_Y 0.8 4, INVERT 0.8 0
            SHEAR_X 0.7 9, TRANSLATE_Y 0.8 3; SHEAR_Y 0.8 5, AUTOCONTRAST 0.7 0
            SHEAR_X 0.7 2, INVERT 0.1 0
            """);

    /** The pairs of a policy. */
    public static final int PAIRS = 25;

    private static final List<AutoAugmentPairs> ALL = List.of(values());

    private final List<Pair> pairs;

    AutoAugmentPairs(String table) {
        pairs = Stream.of(table.strip().split(";\\s|\\n")).map(Pair::of).toList();
    }

    public static AutoAugmentPairs of(AutoAugmentPolicy policy) {
        return ALL.get(policy.ordinal());
    }

    public Pair pair(int number) {
        return pairs.get(number);
    }

    /**
     * Two operations, one after the other.
     *
     * @param first what is tried first
     * @param second what is tried then
     */
    public record Pair(Trial first, Trial second) {

        private static Pair of(String line) {
            String[] trials = line.split(", ");
            return new Pair(Trial.of(trials[0]), Trial.of(trials[1]));
        }
    }

    /**
     * An operation that may be applied.
     *
     * @param operation which
     * @param probability of the operation
     * @param bin its magnitude, 0 to 9
     */
    public record Trial(Policy.Operation operation, double probability, int bin) {

        private static Trial of(String text) {
            String[] words = text.split(" ");
            return new Trial(Policy.Operation.valueOf(words[0]), Double.parseDouble(words[1]),
                    Integer.parseInt(words[2]));
        }
    }
}
