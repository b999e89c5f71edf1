// SPDX-License-Identifier: Apache-2.0
package io.penstock.image;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A step as {@link io.penstock.augment.AugmentText#parse} reads it.
 *
 * @param name the builder's method, for example {@code horizontalFlip}
 * @param shortName what {@link io.penstock.augment.AugmentText#of} writes, for example {@code flip}
 * @param parameters in the order in which they may be given without their names
 */
public record StepForm(String name, String shortName, List<Parameter> parameters) {

    /** Copies the parameters. */
    public StepForm {
        parameters = List.copyOf(parameters);
    }

    /**
     * A parameter of a step.
     *
     * @param name its name
     * @param form what is read, for example {@code a number from 0 to 1}
     * @param standard what it is if it is not given, as text; empty if it must be given
     */
    public record Parameter(String name, String form, String standard) {

        @Override
        public String toString() {
            return standard.isEmpty() ? name : "[" + name + "=" + standard + "]";
        }
    }

    /** For example {@code rrc=size:[scale=0.08..1]:[ratio=0.75..1.3333333333333333]}. */
    @Override
    public String toString() {
        return shortName + (parameters.isEmpty() ? "" : "=")
                + parameters.stream().map(Parameter::toString).collect(Collectors.joining(":"));
    }
}
