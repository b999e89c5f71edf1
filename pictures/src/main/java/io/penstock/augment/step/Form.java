// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment.step;

import io.penstock.memory.DType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;

/**
 * What is known of a step before it sees an image.
 *
 * @param operation its name, which is also the step's if the pipeline has one of it
 * @param parameters their names, in their order in the array: at most {@value Step#MAX_PARAMETERS}
 * @param types their dtypes in a row of the parameter table
 * @param traits what it does
 */
public record Form(String operation, List<String> parameters, List<DType> types, Set<Trait> traits) {

    /** What a step may do. */
    public enum Trait {
        /** It draws nothing: its parameters depend on the image's size only. */
        FIXED,
        /** It moves pixels: masks, boxes and keypoints move with them. */
        GEOMETRIC,
        /** The result's size is the same for images of all sizes. */
        SIZE,
        /** It takes gray and RGB images only. */
        COLOR
    }

    static Form of(String operation, Trait... traits) {
        return new Form(operation, List.of(), List.of(), Set.of(traits));
    }

    /** Adds parameters of a dtype. */
    Form with(DType type, String... names) {
        List<String> parametersAndMore = new ArrayList<>(parameters);
        Collections.addAll(parametersAndMore, names);
        List<DType> typesAndMore = new ArrayList<>(types);
        typesAndMore.addAll(Collections.nCopies(names.length, type));
        return new Form(operation, List.copyOf(parametersAndMore), List.copyOf(typesAndMore), traits);
    }

    /** Adds the parameters of another form. */
    Form with(Form other) {
        Form more = this;
        for (int i = 0; i < other.parameters.size(); i++) {
            more = more.with(other.types.get(i), other.parameters.get(i));
        }
        return more;
    }

    /** Adds the parameters of a rectangle, in pixels. */
    Form withRectangle() {
        return with(DType.I32, "top", "left", "height", "width");
    }

    public boolean is(Trait trait) {
        return traits.contains(trait);
    }
}
