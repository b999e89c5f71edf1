// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one step of a pipeline does to one image: the numbers that it drew. They can be logged, changed, and given to
 * {@link io.penstock.augment.Augment#apply}.
 *
 * <p>Sizes and places are in pixels of the step's input image.
 *
 * @param step the step's name
 * @param values the numbers by name, in the order of {@code docs/spec/augment.md}
 */
public record StepParameters(String step, Map<String, Double> values) {

    /** Copies the values; their order stays. */
    public StepParameters {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    /** For example {@code penstock.augment.horizontalFlip{applied=1.0}}. */
    @Override
    public String toString() {
        return step + values;
    }
}
