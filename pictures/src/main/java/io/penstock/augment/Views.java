// SPDX-License-Identifier: Apache-2.0
package io.penstock.augment;

import io.penstock.dataset.Dataset;
import java.util.ArrayList;
import java.util.List;

/**
 * Several augmented views of one image, a field each, as SimCLR, BYOL and DINO train on them. Views draw independently,
 * also those of one pipeline.
 *
 * {@snippet :
 * Augment small = Augment.images().randomResizedCrop(96, 96, Range.of(0.05, 0.4), Range.of(0.75, 1.33));
 * Augment large = Augment.images().randomResizedCrop(224, 224, Range.of(0.4, 1), Range.of(0.75, 1.33));
 * Dataset views = Views.of("large1", large).and("large2", large).and("small1", small).mapped(images, "image");
 * }
 *
 * <p>Each view reads the image again: a field of files is decoded once for each. Immutable.
 */
public final class Views {

    private record View(String field, Augment augment) {
    }

    private final List<View> views;

    private Views(List<View> views) {
        this.views = views;
    }

    /**
     * One view.
     *
     * @param field the name of its field
     * @param augment what makes it; its steps draw by the pipeline's name, a dot, and the field's name
     * @return the views
     */
    public static Views of(String field, Augment augment) {
        return new Views(List.of(new View(field, augment)));
    }

    /**
     * Adds a view.
     *
     * @param field the name of its field
     * @param augment what makes it
     * @return new views
     */
    public Views and(String field, Augment augment) {
        List<View> more = new ArrayList<>(views);
        more.add(new View(field, augment));
        return new Views(List.copyOf(more));
    }

    /**
     * Makes the views, in the workers, each time a sample is read.
     *
     * @param images samples with a field of {@code u8 [H, W, C]}; must stay open
     * @param field the field's name
     * @return the samples with the views in its place
     * @throws IllegalArgumentException if two fields would share a name, or as {@link Augment#mapped(Dataset, String)}
     */
    public Dataset mapped(Dataset images, String field) {
        Dataset mapped = images.duplicate(field, views.stream().map(View::field).toArray(String[]::new));
        for (View view : views) {
            mapped = view.augment.named(view.augment.name() + "." + view.field).mapped(mapped, view.field);
        }
        return mapped;
    }

    /** For example {@code large1: penstock.augment: randomResizedCrop(…)}. */
    @Override
    public String toString() {
        return String.join("; ", views.stream().map(view -> view.field + ": " + view.augment).toList());
    }
}
